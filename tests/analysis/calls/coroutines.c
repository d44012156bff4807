/* Two coroutines that switch stacks: with swapcontext, and with a jump through t0 as Go's runtime does, which the
 * specification classifies as a return. Before, functions that have the names of others: that with which Linux switches
 * threads, and OpenJDK's interpreter, here a tail call of `step`. Each function counts its calls; the counts are
 * printed. */
#include <stdio.h>
#include <ucontext.h>

enum { ROUNDS = 20 };

#define NOINLINE __attribute__((noinline))

static ucontext_t main_context, worker_context;
static char worker_stack[1 << 16], jumper_stack[1 << 16];
static unsigned worker_calls, jumper_calls, step_calls, meet_calls, leap_calls, namesake_calls;

NOINLINE int step(int n) {
    step_calls++;
    return n * 3 + 1;
}

int Interpreter(int n);
__asm__(".text\n.balign 4\n"
        ".type Interpreter, @function\n"
        "Interpreter:\n"
        "    la t0, step\n"
        "    jr t0\n"
        ".size Interpreter, . - Interpreter\n");

int namesake(int n) __asm__("__switch_to");

NOINLINE int namesake(int n) {
    namesake_calls++;
    return Interpreter(n) + 1;
}

static NOINLINE void meet(ucontext_t *from, ucontext_t *to) {
    meet_calls++;
    swapcontext(from, to);
    __asm__ volatile("");
}

static NOINLINE void worker(void) {
    worker_calls++;
    for (volatile int i = 0; i < ROUNDS; i++) {
        step(i);
        meet(&worker_context, &main_context);
    }
}

/* void leap(void **leave, void *enter): stores the stack pointer, continues on the other stack. */
void leap(void **leave, void *enter);
void start(void **leave, void *stack, void (*function)(void));
__asm__(".text\n.balign 4\n"
        ".type leap, @function\n"
        "leap:\n"
        "    addi sp, sp, -32\n"
        "    sd ra, 0(sp)\n"
        "    sd s0, 8(sp)\n"
        "    sd s1, 16(sp)\n"
        "    sd sp, 0(a0)\n"
        "    mv sp, a1\n"
        "    ld t0, 0(sp)\n"
        "    ld s0, 8(sp)\n"
        "    ld s1, 16(sp)\n"
        "    addi sp, sp, 32\n"
        "    jr t0\n"
        ".size leap, . - leap\n"
        ".type start, @function\n"
        "start:\n"
        "    addi sp, sp, -32\n"
        "    sd ra, 0(sp)\n"
        "    sd s0, 8(sp)\n"
        "    sd s1, 16(sp)\n"
        "    sd sp, 0(a0)\n"
        "    mv sp, a1\n"
        "    jr a2\n"
        ".size start, . - start\n");

static void *main_side, *jumper_side;

static NOINLINE void cross(void **leave, void **enter) {
    leap_calls++;
    leap(leave, *enter);
    __asm__ volatile("");
}

static NOINLINE void jumper(void) {
    jumper_calls++;
    for (volatile int i = 0;; i++) {
        step(i);
        cross(&jumper_side, &main_side);
    }
}

int main(void) {
    for (int i = 0; i < 4; i++) namesake(i);
    getcontext(&worker_context);
    worker_context.uc_stack.ss_sp = worker_stack;
    worker_context.uc_stack.ss_size = sizeof worker_stack;
    worker_context.uc_link = &main_context;
    makecontext(&worker_context, worker, 0);
    for (int i = 0; i < ROUNDS; i++) meet(&main_context, &worker_context);
    start(&main_side, jumper_stack + sizeof jumper_stack - 64, jumper);
    for (int i = 0; i < ROUNDS; i++) cross(&main_side, &jumper_side);
    printf("worker %u\njumper %u\nstep %u\nmeet %u\ncross %u\nnamesake %u\nInterpreter %u\nmain 1\n", worker_calls,
           jumper_calls, step_calls, meet_calls, leap_calls, namesake_calls, namesake_calls);
    return 0;
}
