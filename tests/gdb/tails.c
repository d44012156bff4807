#include <stdio.h>

static volatile int sink;
typedef int step(int n, int sum);

__attribute__((noinline)) static int pong(int n, int sum);
__attribute__((noinline)) static int pang(int n, int sum);

__attribute__((noinline)) static int ping(int n, int sum)
{
    if (n == 0)
        return sum;
    return pong(n - 1, sum + n);
}

__attribute__((noinline)) static int pong(int n, int sum)
{
    sink = n;
    if (n % 7 == 3)
        return pang(n - 1, sum) + 1;
    return ping(n, sum ^ 1);
}

static step *const table[] = {ping, pong, pang};

__attribute__((noinline)) static int pang(int n, int sum)
{
    if (n <= 0)
        return sum;
    return table[n % 3](n - 1, sum + 2);
}

__attribute__((noinline)) static int deep(int n)
{
    if (n == 0)
        return ping(9, 0);
    int below = deep(n - 1);
    return below + sink;
}

__attribute__((noinline)) static int wide(int n)
{
    if (n < 2)
        return pang(n + 3, 1);
    return wide(n - 1) + wide(n - 2);
}

int main(void)
{
    int a = ping(40, 0);
    int b = deep(300);
    int c = wide(6);
    int d = pang(25, 3);
    printf("%d %d %d %d\n", a, b, c, d);
    return 0;
}
