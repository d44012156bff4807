/* Decisions whose code misleads, for tests/analysis/mcdc.py: compilers join, thread and reorder their branches, and place
 * them outside of the decision. Inputs: argv[1] is the number of the first call, argv[2] of the last. */
#include <stdio.h>
#include <stdlib.h>

struct state { int count; unsigned bit : 1; struct state *next; };
static volatile int sink;
__attribute__((noinline)) static int get(int x) { return x & 1; }
__attribute__((noinline)) static int *pointer(int x) { static int z; z = x; return x > 1 ? &z : NULL; }

/* The true outcome of the second condition leads past the body, because it implies that a is not 0. */
__attribute__((noinline)) static int threaded(int a, int b, const struct state *s) {
    int x = 0;
    double f = b, g = a;
    if ((f != g && (x += a) > 2) || s->next) {
        if (!(a || s->bit)) return b + 1;
    }
    return x + b;
}

static int even(int x, int y) { return x > 1 && y < 2; }

/* Both outcomes count: the additions are joined, and one has the place of the other. */
__attribute__((noinline)) static int joined(int a, int b, int c, int d, struct state *s) {
    int x = 0, y = 0;
    _Bool more = a > 1;
    double f = b, g = c;
    if (!more) s->count++;
    else if (a <= 2 || ((more || get(f != g && s->count == 1)) && (x = get(d)))) y = get(b);
    else if (!more || ((unsigned char)(c - 2) > 200 || d != b)) f += 0.5;
    else get(c);
    s->count++;
    if (b == 1 && (c >= 1 || even(a, d))) y += x;
    return y + (f > g);
}

/* The second condition has no effects, and is evaluated first. */
__attribute__((noinline)) static int reordered(int a, int b, int c, int d) {
    if (!pointer(a) && b < c) {
        if ((c >= 1) == (d >= 1) || (!c || c < d)) return d + 1;
    }
    return c;
}

__attribute__((noinline)) static int choices(int a, int b, int c) {
    int t = 0;
    t += ((a ? b : c) || !pointer(b)) ? a : c + 1;
    if (get(c) && (a > 1 ? get(b) : c)) t++;
    if ((a && b ? c : get(a)) && get(b)) t += 2;
    return t;
}

__attribute__((noinline)) static int passed(int a, int b, int c) {
    int t = get(a || b) + get(a > 1 && get(c));
    if (get(a && !b) && c) t++;
    if ((t = (a > 1 || b)) && c) t += 2;
    for (int i = 0; i < 3 && !(a && i > c); i++) t++;
    return (a && b) + t > 1;
}

/* The result stays in the register of one of the conditions: different results lead to the same code. */
__attribute__((noinline)) static int kept(int a, int n) {
    int status = 1;
    for (; n--; a++) {
        if (get(n) == 0) status = status && (get(a) > 0);
        else status = status && *pointer(a + 2) == a + 2;
    }
    return status ? 1 : 2;
}

__attribute__((noinline)) static int *chosen(int a, int b) {
    int *found = NULL, *p = pointer(a);
    if (p && get(b)) found = p;
    return found;
}

/* What is executed after the decision shows its result: the statements that it controls have no code of their own. */
__attribute__((noinline)) static int left(int a, int b, int c) {
    int status = get(a), n = 0;
    if (status != 0 && b > c) return status;
    while (n < 3) {
        n++;
        if (n > a || !get(b + n)) continue;
        sink = n;
        if (n == b && get(c)) break;
        sink = c;
    }
    for (int i = 0; i < 3; i++)
        if (i > b && get(c + i)) return get(i);
    if (get(c) || !b) n = get(n + 1);
    return n;
}

/* Where e is 0, gcc leads past the second and the third decision, also with -Og. a is never 0, so that all their evaluations are there. */
__attribute__((noinline)) static int past(int a, int e, int f) {
    if (!(a && e)) {
        int x = e > 1 && f > 1;
        if (x || f > 2) sink++;
    }
    return 4;
}

/* Where b is even, the result is known, and a copy of `return 1` is executed. */
__attribute__((noinline)) static int returned(int a, int b) {
    int bits = b & 1 ? a + 2 : 0;
    return !bits || a == b;
}

/* A table leads to the condition of a loop, which its body falls into: nothing else leads to this case. */
__attribute__((noinline)) static int stepped(int kind, int a, int b) {
    int n = 0;
    switch (kind) {
    case 0: n = 1; break;
    case 1:
        while (n < a) n += get(1);
        if (a && get(b)) n += 2;
        break;
    case 2: n = 3; break;
    case 3: n = a; break;
    case 4: n = b; break;
    case 5: n = 7; break;
    }
    return n;
}

int main(int argc, char **argv) {
    unsigned first = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : 0;
    unsigned last = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : 0;
    int total = 0;
    for (unsigned n = first; n <= last; n++) {
        unsigned z = n * 2654435761u;
        int a = (int)(z % 3), b = (int)(z / 3 % 3), c = (int)(z / 9 % 3);
        int d = (int)(z / 27 % 3);
        struct state s = {(int)(z / 7 % 3), z / 5 % 2, NULL};
        if (z & 64) s.next = &s;
        total += threaded(a, b, &s) + joined(a, b, c, d, &s) + reordered(a, b, c, d) + choices(a, b, c) + passed(a, b, c)
                 + kept(a, b + 1) + (chosen(a, b) != NULL) + left(a, b, c) + past(a + 1, b, c) + returned(a, b & 2) + stepped((int)(z % 6), a, b);
    }
    sink = total;
    printf("%d\n", total);
    return 0;
}
