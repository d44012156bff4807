/* Calls the library and functions of its own. */
#include <stdlib.h>

int shown_one(int n);
int shown_two(int n);
int unsized(int n);

static volatile int sink;

static __attribute__((noinline)) int own(int n) {
    for (int i = 0; i < n; i++) sink += i;
    return sink & 3;
}

int main(void) {
    int sum = 0;
    for (int i = 0; i < 20; i++) sum += own(i) + shown_one(i) + shown_two(i) + unsized(i) + abs(-i);
    return sum == 7;
}
