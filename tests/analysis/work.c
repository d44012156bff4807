/* A program with counts that can be calculated: recursion, a callback, loops, a call that is never made. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static int fib(int n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int compare(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static int mix(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += i % 3 == 0 ? i * 7 : i ^ sum;
    return sum;
}

int main(void) {
    int values[100], sum = 0;
    for (int i = 0; i < 100; i++) values[i] = i * 7919 % 1000;
    qsort(values, 100, sizeof values[0], compare);
    for (int i = 0; i < 50; i++) sum += mix(60 + i);
    printf("%d %d %d\n", values[3], fib(15), sum);
    return 0;
}
