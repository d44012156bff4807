/* Signal handlers: raised synchronously, one inside of the other. */
#include <signal.h>
#include <stdlib.h>

volatile int sink;
#define NOINLINE __attribute__((noinline))

NOINLINE int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i * sink;
    return sum;
}

static void second(int number)
{
    sink += number;
    work(2);
}

static void first(int number)
{
    sink += number;
    raise(SIGUSR2);
    work(3);
}

int main(void)
{
    signal(SIGUSR1, first);
    signal(SIGUSR2, second);
    for (int round = 0; round < 30; round++) {
        work(4);
        raise(SIGUSR1);
        work(5);
    }
    return 0;
}
