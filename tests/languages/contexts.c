/* Coroutines of ucontext that all yield in one function: their callers are those of the source. Lines with "count" have
 * theirs. */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { STACK = 1 << 16, COUNT = 6 };
typedef struct generator {
    ucontext_t own, caller;
    int value, over, argument;
    int (*work)(struct generator *, int);
    char *stack;
} generator;

static generator all[COUNT];

__attribute__((noinline)) static void yield(generator *g, int value) {
    g->value = value; /* count 186 */
    swapcontext(&g->own, &g->caller);
}

__attribute__((noinline)) static int leaf(int n) {
    return n % 7; /* count 192 */
}

/* Yields at many depths. */
__attribute__((noinline)) static int tree(generator *g, int n) {
    if (n == 0) return 1;
    int sum = tree(g, n - 1); /* count 76 */
    yield(g, n);
    return sum + tree(g, n - 1);
}

__attribute__((noinline)) static int squares(generator *g, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        yield(g, i * i);
        sum += i; /* count 110 */
    }
    return sum;
}

__attribute__((noinline)) static int both(generator *g, int n) {
    return squares(g, n) + tree(g, n / 8);
}

static void start(int number) {
    generator *g = &all[number];
    g->value = g->work(g, g->argument);
    g->over = 1; /* count 6 */
}

__attribute__((noinline)) static int next(generator *g) {
    swapcontext(&g->caller, &g->own);
    return leaf(g->value + g->over);
}

int main(void) {
    static int (*const works[COUNT])(generator *, int) = {tree, squares, both, tree, squares, both};
    static const int arguments[COUNT] = {5, 31, 24, 5, 31, 24};
    int sum = 0;
    for (int i = 0; i < COUNT; i++) {
        all[i] = (generator){.work = works[i], .argument = arguments[i], .stack = malloc(STACK)};
        getcontext(&all[i].own);
        all[i].own.uc_stack.ss_sp = all[i].stack;
        all[i].own.uc_stack.ss_size = STACK;
        all[i].own.uc_link = &all[i].caller;
        makecontext(&all[i].own, (void (*)(void))start, 1, i);
    }
    for (int left = COUNT; left;) {
        left = 0;
        for (int i = 0; i < COUNT; i++) {
            if (all[i].over) continue;
            sum += next(&all[i]); /* count 192 */
            left++;
        }
    }
    for (int i = 0; i < COUNT; i++) free(all[i].stack);
    return sum == 0;
}
