/* Signals, jumps and contexts one in the other: handlers on an alternate stack that are interrupted, that jump out of several
 * handlers, that continue another context, and that return into code which the handler chose. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static sigjmp_buf outer, inner;
static ucontext_t main_context, other_context, third_context;
static volatile int sum, depth, turns;
static volatile int *volatile nowhere = (int *)8;

static __attribute__((noinline)) int down(int n) {
    if (n == 0) {
        raise(SIGUSR1);
        return 1;
    }
    return down(n - 1) + 1;
}

/* Interrupted by SIGUSR2 below several calls of its own; jumps out of both, out of itself, or returns. */
static void on_usr1(int signal) {
    (void)signal;
    depth++;
    if (sigsetjmp(inner, 1) == 0) {
        if (depth < 4) raise(SIGUSR2);
    }
    sum += depth;
    if (depth % 3 == 2) siglongjmp(outer, depth);
}

static __attribute__((noinline)) void leave(int n) {
    if (n) leave(n - 1);
    else siglongjmp(turns & 1 ? inner : outer, 1);
}

static void on_usr2(int signal) {
    (void)signal;
    turns++;
    if (turns % 4 == 1) return;
    leave(turns % 3);
}

/* The program continues in another function, as if the instruction had called it: it returns to the instruction behind. */
static __attribute__((noinline)) void after_fault(void) {
    sum += 7;
}

static void on_fault(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info;
    ucontext_t *u = context;
    u->uc_mcontext.__gregs[REG_RA] = u->uc_mcontext.__gregs[REG_PC] + 4;
    u->uc_mcontext.__gregs[REG_PC] = (unsigned long)after_fault;
}

static __attribute__((noinline)) int touch(void) {
    register unsigned long keep __asm__("s1");
    __asm__ volatile("mv %0, ra\n\t.option push\n\t.option norvc\n\tlw zero, 0(%1)\n\t.option pop\n\tmv ra, %0" : "=&r"(keep) : "r"(nowhere)
                     : "ra", "memory", "t0", "t1", "t2", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "t3", "t4", "t5", "t6");
    return sum;
}

static void worker(int number) {
    for (int i = 0; i < 6; i++) {
        sum += down(i % 3);
        swapcontext(number ? &third_context : &other_context, &main_context);
    }
}

/* Leaves a handler by another context: it never returns. */
static void on_switch(int signal) {
    (void)signal;
    sum += 3;
    swapcontext(&third_context, &main_context);
    sum += 5;
}

int main(void) {
    static char alternate[1 << 16], stacks[2][1 << 16];
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_handler = on_usr1, .sa_flags = SA_ONSTACK | SA_NODEFER};
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = on_usr2;
    sigaction(SIGUSR2, &action, NULL);
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    action.sa_sigaction = on_fault;
    sigaction(SIGSEGV, &action, NULL);
    for (volatile int i = 0; i < 12; i++) {
        if (sigsetjmp(outer, 1)) {
            sum++;
            continue;
        }
        sum += down(i % 5);
        sum += touch();
        depth = i % 5;
    }
    signal(SIGUSR1, SIG_IGN);
    for (int i = 0; i < 2; i++) {
        ucontext_t *own = i ? &third_context : &other_context;
        getcontext(own);
        own->uc_stack.ss_sp = stacks[i];
        own->uc_stack.ss_size = sizeof stacks[i];
        own->uc_link = &main_context;
        makecontext(own, (void (*)(void))worker, 1, i);
    }
    for (int i = 0; i < 6; i++) {
        swapcontext(&main_context, &other_context);
        swapcontext(&main_context, &third_context);
    }
    action.sa_flags = 0;
    action.sa_handler = on_switch;
    sigaction(SIGUSR1, &action, NULL);
    volatile int passes = 0;
    getcontext(&main_context);
    if (passes++ == 0) raise(SIGUSR1);
    else if (passes == 2) setcontext(&third_context);
    printf("%d %d %d\n", sum, turns, passes);
    return 0;
}
