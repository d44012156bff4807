// Calls of known numbers: the lines with "count" have theirs.
#include <setjmp.h>
#include <stdlib.h>
#define SEPARATE __attribute__((noinline, noclone, noipa))

static jmp_buf caught;
static volatile int sink;

SEPARATE static int fibonacci(int n) {
    if (n < 2)      // count 465
        return n;     // count 233
    return fibonacci(n - 1) + fibonacci(n - 2); // count 232
}

SEPARATE static int round_area(int n) {
    return n * n * 3;
} // count 10
SEPARATE static int square_area(int n) {
    return n * n;
}    // count 10

typedef int (*area)(int);
static area volatile const shapes[2] = {round_area, square_area};

SEPARATE static int deep(int n) {
    if (n == 0)             // count 70
        longjmp(caught, 1);   // count 7
    return deep(n - 1) + 1; // count 63
}

SEPARATE static int attempt(int n) {
    if (setjmp(caught)) // count 14
        return n;         // count 7
    return deep(n);
}

SEPARATE static int less(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return x - y;
}

SEPARATE static int odd(int n);
SEPARATE static int even(int n) {
    return n == 0 ? 1 : odd(n - 1);
} // count 41
SEPARATE static int odd(int n) {
    return n == 0 ? 0 : even(n - 1);
} // count 40

int main(void) {
    static int numbers[64];
    sink = fibonacci(12);
    for (int i = 0; i < 20; i++) sink += shapes[i & 1](i);
    for (int i = 0; i < 7; i++) sink += attempt(9);
    for (int i = 0; i < 64; i++) numbers[i] = i * 37 % 64;
    qsort(numbers, 64, sizeof numbers[0], less);
    sink += even(80);
    return numbers[5] != 5;
}
