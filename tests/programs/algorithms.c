/* Sorting, recursion, function pointers, a switch table, qsort's callback, setjmp and longjmp. An argument is the
 * number of rounds of sorting. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 200 };

static unsigned seed = 1;
static int numbers[N];
static jmp_buf home;

static int next_number(void) {
    seed = seed * 1103515245 + 12345;
    return (int)(seed >> 16 & 0x3fff);
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int descending(const void *a, const void *b) { return ascending(b, a); }

static int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static __attribute__((noinline)) int select_one(int kind, int value) {
    switch (kind) {
    case 0: return value + 1;
    case 1: return value * 3;
    case 2: return value ^ 0x55;
    case 3: return -value;
    case 4: return value >> 1;
    case 5: return value - 7;
    case 6: return value % 11;
    default: return value;
    }
}

static __attribute__((noinline)) void descend(int depth) {
    if (depth == 0) longjmp(home, 42);
    descend(depth - 1);
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 4;
    int (*const orders[])(const void *, const void *) = {ascending, descending};
    long sum = 0;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < N; i++) numbers[i] = next_number();
        qsort(numbers, N, sizeof numbers[0], orders[round % 2]);
        sum = sum * 31 + numbers[N / 3];
    }
    for (int i = 0; i < 64; i++) sum += select_one(i % 9, i);
    volatile int came = setjmp(home);
    if (!came) descend(20);
    char text[64];
    memset(text, 'x', sizeof text);
    printf("%ld %d %d %.5s\n", sum, ackermann(2, 5), came, text);
    return 0;
}
