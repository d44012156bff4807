/* A program whose execution is told by its output: what each function returns is a count of what it did. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ROUNDS
#define ROUNDS 20
#endif
#define APART __attribute__((noinline, noclone))

static int depths[40];

APART static int sum_of(const char *text) {
    int sum = 0;
    while (*text) sum += *text++;
    return sum;
}

APART static int fall(int depth) {
    depths[depth] = depth;
    if (depth == 0) return 1;
    return fall(depth - 1) + depths[depth - 1];
}

APART static int compare(const void *left, const void *right) {
    return *(const int *)left - *(const int *)right;
}

APART static int arrange(int *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[0];
}

APART static int work(int rounds) {
    int values[64], total = 0;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < 64; i++) values[i] = (i * 37 + round) % 64;
        total += arrange(values, 64);
        total += sum_of("the quick brown fox jumps over the lazy dog");
    }
    return total;
}

int main(void) {
    int total = work(ROUNDS);
    total += fall(30);
    printf("%d\n", total);
    return 0;
}
