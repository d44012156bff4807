/* Calls in loops, recursion, and a callback from a library without call frame information. */
#include <stdio.h>
#include <stdlib.h>
static int table[32];
volatile int sink;
#define NOINLINE __attribute__((noinline))

NOINLINE int leaf(int x)
{
    return x * 3 + sink;
}

NOINLINE int middle(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += leaf(i);
    return sum;
}

NOINLINE int fib(int n)
{
    if (n < 2)
        return n;
    return fib(n - 1) + fib(n - 2);
}

NOINLINE int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

int main(void)
{
    int a = middle(4);
    int b = fib(6);
    for (int i = 0; i < 32; i++)
        table[i] = (i * 17) % 32;
    qsort(table, 32, sizeof *table, compare);
    printf("%d %d %d\n", a, b, table[5]);
    return 0;
}
