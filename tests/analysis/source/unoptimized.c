/* Shapes of code that clang does not optimize: the end of a loop, constants that decide, large frames, and results
 * without a branch. */
#include <stdio.h>
#include <stdlib.h>

static volatile int sink;

__attribute__((noinline)) static int get(int x) {
    return x & 1;
}

static int block(int a, int b) {
    do {
        a--;
        if (a > 5 || b) sink = a;
    } while (a > 0 && get(a + b));
    return a;
}

static int statement(int a, int b) {
    do a--;
    while (a > 0 && b);
    return a;
}

static int empty(int a, int b) {
    int n = 0;
    do {
    } while (n++ < a && (get(n) || b));
    return n;
}

static int nested(int a, int b) {
    do {
        do {
            a -= 2;
        } while (a > 3 && b);
    } while (a-- > 1 || get(a));
    return a;
}

/* The second condition is never evaluated: the types decide. */
static int constant(int a, long b) {
    return (sizeof(int) == sizeof(long) && b > 7) || a > 2 ? a : get(a);
}

static int large_frame(int a, int b) {
    volatile char room[5000];
    room[0] = (char)a;
    while (a > 0 && b) {
        a -= room[0] > 2 ? 2 : 1;
        room[1] = (char)a;
    }
    for (; a < 3 && room[1] < 2; a++) room[1]++;
    return a;
}

int main(int argc, char **argv) {
    int total = 0;
    for (int k = atoi(argv[1]); k <= atoi(argv[2]); k++) {
        const int a = k % 9, b = k / 2 % 2;
        total += block(a, b) + statement(a, b) + empty(a, b) + nested(a, b) + constant(a, k) + large_frame(a, b);
    }
    printf("%d\n", total);
    return 0;
}
