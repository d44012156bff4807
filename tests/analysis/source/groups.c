/* Conditions that gcc -Og computes together, or leaves out because others decide them: each function is read wrongly
 * without one of the rules that groups have to meet. */
#include <stdio.h>
#include <stdlib.h>

static volatile int sink;
__attribute__((noinline)) static int get(int x) {
    return x & 1;
}

/* The branches of c and of e | d are both placed at the second &&. */
__attribute__((noinline)) static int places(int a, int c, int d, int e) {
    int n = 0;
    while ((c && !e) && !d) {
        a--;
        if (++n == 3) break;
    }
    return a;
}

/* a > 0 && !a is never true. What is left of it is the branch of the statement behind, of which both outcomes mean
 * false. */
__attribute__((noinline)) static int never(int a, int b, int c) {
    for (;;) {
        sink = get(b);
        if (b || (a > 0 && (c > 0 && !a))) break;
        if (a <= 0) return 2;
        a--;
    }
    return 3;
}

/* d == 2 is known to be false where it is evaluated, and left out: the branches are those of d | a and of get(c). */
__attribute__((noinline)) static int known(int a, int c, int d) {
    if ((d || a) || !(d == 2 || get(c))) return 1;
    sink = a;
    return 2;
}

/* c is known to be true behind f == 2 || c only if f is not 2. */
__attribute__((noinline)) static int behind(int a, int b, int c, int f) {
    int n = 0;
    while ((__builtin_expect((get(c) || get(b)) != 0, 0) || __builtin_expect((get(f) && get(c)) != 0, 0)) &&
           ((f == 2 || c) && !c)) {
        a--;
        if (++n == 3) break;
    }
    return a;
}

/* If a is 0, both statements return 0: only b is tested, and one instruction has the place of the first statement. */
__attribute__((noinline)) static int merged(int a, int b) {
    int value = a, result = 0;
    if (b && a) result = value;
    sink = value;
    return result;
}

int main(int argc, char **argv) {
    int total = 0;
    for (int k = atoi(argv[1]); k <= atoi(argv[2]); k++) {
        int a = k % 3, b = k / 3 % 2, c = k / 6 % 3, d = k / 18 % 3, e = k / 54 % 2;
        total += places(a, c, e, e) + never(a, b, c) + known(a, c, d) + behind(a, b, c, d) + merged(k / 200, b);
    }
    printf("%d\n", total);
    return 0;
}
