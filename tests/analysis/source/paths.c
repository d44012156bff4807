/* What runs depends on the argument: each run covers a part, both together all but one function. */
#include <stdio.h>
#include <string.h>

__attribute__((noinline)) static int forward(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += i;
    return sum;
}

__attribute__((noinline)) static int backward(int n) {
    int sum = 1;
    while (n > 0) {
        sum ^= n * 3;
        n -= 2;
    }
    return sum;
}

__attribute__((noinline, used)) static int nowhere(int n) {
    if (n > 4) return n * 2;
    return n;
}

int main(int argc, char **argv) {
    int result = 0;
    if (argc > 1 && strcmp(argv[1], "forward") == 0)
        result = forward(30);
    else
        result = backward(21);
    printf("%d\n", result);
    return 0;
}
