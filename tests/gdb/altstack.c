#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static sigjmp_buf out;
static volatile int depth, seen, sink;
static char other[65536];

__attribute__((noinline)) int leaf(int x)
{
    return x * 5 + sink;
}

__attribute__((noinline)) void escape(int code)
{
    sink = leaf(code);
    siglongjmp(out, code);
}

void inner(int number)
{
    seen += number;
    depth++;
    if (depth > 2)
        escape(depth);
    depth--;
}

void outer(int number)
{
    seen += 100 * number;
    depth++;
    raise(SIGUSR2);
    sink = leaf(depth);
    depth--;
}

__attribute__((noinline)) int recurse(int n)
{
    if (n == 0) {
        raise(SIGUSR1);
        return 1;
    }
    int below = recurse(n - 1);
    return below + leaf(n);
}

__attribute__((noinline)) int round_of(int start)
{
    int code = sigsetjmp(out, 1);
    if (code) {
        depth = 0;
        return -code;
    }
    depth = start;
    return recurse(5);
}

int main(void)
{
    stack_t stack = {.ss_sp = other, .ss_size = sizeof other};
    sigaltstack(&stack, NULL);
    struct sigaction a = {.sa_handler = outer, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &a, NULL);
    a.sa_handler = inner;
    sigaction(SIGUSR2, &a, NULL);
    int one = round_of(0);
    int two = round_of(1);
    int three = round_of(0);
    printf("%d %d %d %d\n", one, two, three, seen);
    return 0;
}
