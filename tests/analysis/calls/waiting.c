/* Decisions during which the function waits, while others run on other stacks. */
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t home, one, two;
static int first, second, made;

__attribute__((noinline)) static int step(ucontext_t *u) {
    swapcontext(&home, u);
    return made < 40;
}

static void run_one(void) {
    for (;;) {
        first++, made++;
        if (first > 0 && swapcontext(&one, &home) == 0 && first < 1000) first += 2;
    }
}

static void run_two(void) {
    for (;;) {
        second++, made++;
        if (second > 0 && swapcontext(&two, &home) == 0 && second < 1000) second += 2;
    }
}

static void make(ucontext_t *u, void (*run)(void)) {
    enum { SIZE = 1 << 16 };
    getcontext(u);
    u->uc_stack.ss_sp = malloc(SIZE);
    u->uc_stack.ss_size = SIZE;
    makecontext(u, run, 0);
}

int main(void) {
    int sum = 0;
    make(&one, run_one);
    make(&two, run_two);
    for (int i = 0; i < 100 && step(&one) && step(&two); i++)
        if (i > 3 && step(&two) && sum < 10) sum++;
    return sum == 0;
}
