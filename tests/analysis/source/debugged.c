#include <stdio.h>
#include <stdlib.h>
static volatile int sink;
__attribute__((noinline)) static int get(int x) {
    return x & 1;
}
__attribute__((noinline)) static int step(int x) {
    sink = x;
    return x + 1;
}
/* the value is in a register of which a branch has shown that it is 0 */
__attribute__((noinline)) static int stored(int a, int b) {
    return get(a) && get(b);
}
__attribute__((noinline)) static int third(int a, int b, int c) {
    int x = get(a) && (get(b) || get(c));
    sink = x;
    return x + 1;
}
/* `break` has no code; the loop has no condition */
__attribute__((noinline)) static int endless(int a, int b) {
    while (1) {
        sink = step(a);
        if (a > 2 && get(b + a)) break;
        a++;
    }
    sink = 9;
    return a;
}
/* `return` of both outcomes is one instruction */
__attribute__((noinline)) static void shared(int *p, int *q) {
    if (p == NULL || q == NULL) return;
    switch (*p) {
    case 0: sink = *q; return;
    case 1: step(*q); return;
    default: step(*p); return;
    }
}
/* a label, a case and a call before the decision: how often it is evaluated */
__attribute__((noinline)) static int counted(int a, int b, int c) {
    int error = 5;
    switch (c) {
    case 0: goto failed;
    case 1:
        a = step(a);
        if (a > 2 && get(b)) goto failed;
        break;
    default:
        error = step(c);
        if (get(error) || get(a)) return 3;
    }
    return b;
failed:
    step(error);
    if (get(b) && get(a + 1)) sink = 4;
    return -1;
}
/* the second decision follows the first one, of which the graph shows that nothing passes by */
__attribute__((noinline)) static int follows(int a, int b) {
    for (;;) {
        if (get(a) && get(b)) sink = step(a);
        if (a > 4 || get(b)) break;
        a++;
    }
    return a;
}
int main(int argc, char **argv) {
    int total = 0, numbers[] = {0, 1, 2};
    for (int k = atoi(argv[1]); k <= atoi(argv[2]); k++) {
        int a = k % 2, b = k / 2 % 2, c = k / 4 % 3;
        total += stored(a, b) + third(a, b, c) + endless(a + b, 1 - a + a * b) % 7 + counted(a + b * 2, b, c) +
                 follows(a, b);
        shared(a ? &numbers[c] : NULL, b ? &numbers[c] : NULL);
        shared(&numbers[c], &numbers[b]);
    }
    printf("%d\n", total);
    return 0;
}
