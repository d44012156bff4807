/* Functions that gcc -O2 splits: the rare part of check() has a name of its own, that of add() is inlined again. */
#include <setjmp.h>
#include <stdio.h>
static jmp_buf place;
static volatile int sum;
volatile int sink;
int fails;
static int check(int n) {
    if (n < 4) return 0;
    printf("%d\n", n);
    for (int i = 0; i < n; i++) sink += i * n;
    fails++;
    printf("%d %d\n", n, sink);
    return fails;
}
static void add(int n) {
    sum += n;
    if (sum > 25) longjmp(place, 3);
}
static void (*volatile adder)(int) = add;
__attribute__((noinline)) int one(int n) {
    return check(n) + 1;
}
__attribute__((noinline)) int two(int n) {
    return check(n + 1) * 2;
}
__attribute__((noinline)) int three(int n) {
    return check(n * 2) - 3;
}
int main(void) {
    int s = 0;
    for (int i = 0; i < 9; i++) s += one(i) + two(i) + three(i);
    if (setjmp(place) == 0)
        for (;;) adder(10);
    return s == 1000;
}
