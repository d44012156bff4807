/* Decisions of all shapes, for tests/analysis/mcdc.py: each function is called with the bits of many numbers, so that the
 * decisions see many condition vectors. Inputs: argv[1] is the number of the first call, argv[2] of the last. */
#include <stdio.h>
#include <stdlib.h>

#define BOTH(x, y) ((x) && (y))
#define EITHER(x, y) ((x) || (y))
#define IN_RANGE(x, low, high) ((x) >= (low) && (x) <= (high))
#define STEP(x, y, z) do { if ((x) && (y)) total++; if ((y) || (z)) total += 2; } while (0)

static volatile int total;
static int bit(unsigned bits, unsigned number) { return (int)(bits >> number & 1); }
static int positive(int value) { return value > 0; }

static inline __attribute__((always_inline)) int inlined(int a, int b, int c) {
    if (a && (b || c)) return 1;
    return 0;
}

static int two(int a, int b) {
    int r = 0;
    if (a && b) r += 1;
    if (a || b) r += 2;
    if (!a && b) r += 4;
    if (a || !b) r += 8;
    return r;
}

static int three(int a, int b, int c) {
    int r = 0;
    if (a && b && c) r += 1;
    if (a || b || c) r += 2;
    if (a && (b || c)) r += 4;
    if ((a && b) || c) r += 8;
    if (a || (b && c)) r += 16;
    if ((a || b) && c) r += 32;
    return r;
}

static int four(int a, int b, int c, int d) {
    int r = 0;
    if (a && b && c && d) r += 1;
    if (a || b || c || d) r += 2;
    if ((a && b) || (c && d)) r += 4;
    if ((a || b) && (c || d)) r += 8;
    if (a && (b || (c && d))) r += 16;
    if (((a || b) && c) || d) r += 32;
    if (a || (b && (c || d))) r += 64;
    return r;
}

static int five(int a, int b, int c, int d, int e) {
    int r = 0;
    if ((a && b && c) || (d && e)) r += 1;
    if ((a || b) && (c || d) && e) r += 2;
    if (a && (b || c || (d && e))) r += 4;
    if (a > 0 && b == 0 && (c != d || e < 1)) r += 8;
    return r;
}

static int six(int a, int b, int c, int d, int e, int f) {
    int r = 0;
    if ((a && b) || (c && d) || (e && f)) r += 1;
    if ((a || b) && (c || d) && (e || f)) r += 2;
    if (a && b && c && d && e && f) r += 4;
    if (a || (b && (c || (d && (e || f))))) r += 8;
    return r;
}

static int values(int a, int b, int c) {
    int x = a && b;
    int y = a || (b && c);
    int z = (a && b) ? c : (b || c);
    int w = positive(a || c) + positive(b && c);
    return x + 2 * y + 4 * z + 8 * w + (c && (a || b));
}

static int returned(int a, int b, int c, int d) {
    return (a && b) || (c && !d);
}

static int loops(int a, int b, unsigned bits) {
    int count = 0;
    for (int i = 0; i < 4 && bit(bits, (unsigned)i); i++) count++;
    while (count < 6 && (a || b)) count += 2;
    do count++;
    while (count < 9 && a && !b);
    for (unsigned i = 0; (i < 3 && a) || (i < 2 && b); i++) count++;
    return count;
}

static int switched(int kind, int a, int b, int c) {
    switch (kind) {
    case 0:
        if (a && b) return 1;
        break;
    case 1: return a || c;
    case 2:
        if (b && (a || c)) return 2;
        /* fall through */
    case 3:
        if (a && c) return 3;
        break;
    case 4: return b && c && a;
    default: return a && b && c;
    }
    return kind;
}

static int macros(int a, int b, int c) {
    int r = 0;
    if (BOTH(a, b)) r += 1;
    if (EITHER(a, c)) r += 2;
    if (BOTH(a, b) || c) r += 4;
    if (EITHER(BOTH(a, b), c)) r += 8;
    if (IN_RANGE(a + b, 1, 2) && c) r += 16;
    STEP(a, b, c);
    return r;
}

static int nested(int a, int b, int c, int d) {
    int r = 0;
    if (a && positive(b || c)) r += 1;
    if ((b && c) == d && a) r += 2;
    if (a && (b ? c : d)) r += 4;
    if (a || b) {
        if (c && d) r += 8;
        else if (c || (d && b)) r += 16;
    }
    return r;
}

static int inside(int a, int b, int c, int d) {
    int r = inlined(a, b, c) + 2 * inlined(b, c, d);
    if (inlined(a, c, d) && b) r += 4;
    return r;
}

static int recursive(int depth, unsigned bits) {
    if (depth > 0 && (bit(bits, (unsigned)depth) || recursive(depth - 1, bits)) && bits != 5) return 1;
    return depth == 2 && bit(bits, 0);
}

static int constants(int a, int b) {
    int r = 0;
    if (a && sizeof(int) == 4 && b) r += 1;
    if (a || 0 || b) r += 2;
    return r;
}

static int negated(int a, int b, int c) {
    int r = 0;
    if (!(a && b)) r += 1;
    if (!(a || b) && c) r += 2;
    if (c || !(a && !b)) r += 4;
    return r;
}

int main(int argc, char **argv) {
    unsigned first = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : 0;
    unsigned last = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : 0;
    for (unsigned n = first; n <= last; n++) {
        int a = bit(n, 0), b = bit(n, 1), c = bit(n, 2), d = bit(n, 3), e = bit(n, 4), f = bit(n, 5);
        total += two(a, b) + three(a, b, c) + four(a, b, c, d) + five(a, b, c, d, e) + six(a, b, c, d, e, f);
        total += values(a, b, c) + returned(a, b, c, d) + loops(a, b, n >> 2) + switched((int)(n % 6), b, c, d);
        total += macros(a, b, c) + nested(a, b, c, d) + inside(a, b, c, d) + recursive(3, n);
        total += constants(a, b) + negated(a, b, c);
    }
    printf("%d\n", total);
    return 0;
}
