/* Functions that an optimizer copies into their callers: with and without code of their own, run and not run. */
#include <stdio.h>
#include <stdlib.h>

int twice(int n) {
    if (n > 3) return n * 2;
    return n;
}

static inline int summed(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += i ^ n;
    return sum;
}

static inline int nested(int n) {
    return twice(n) + summed(n + 1);
}

static inline int unwanted(int n) {
    printf("%d is too much\n", n);
    return n / 2;
}

__attribute__((noinline)) int called(int n) {
    if (n > 1000) return unwanted(n);
    return n * 3;
}

int unused(int n) {
    return n + 1;
}

int main(int argc, char **argv) {
    (void)argv;
    int sum = 0;
    for (int i = 0; i < 7; i++) sum += called(i * argc) + twice(i * argc) + nested(i + argc);
    printf("%d\n", sum);
    return 0;
}
