/* A signal in a leaf function, which keeps its return address in ra. */
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

volatile int rung, sink;

__attribute__((noinline)) static void wait_for_it(void)
{
    while (!rung)
        sink++;
}

static void ring(int number)
{
    sink += number;
    rung = 1;
}

int main(void)
{
    struct itimerval soon = {.it_value = {.tv_usec = 1000}};
    signal(SIGALRM, ring);
    setitimer(ITIMER_REAL, &soon, NULL);
    wait_for_it();
    sink++;
    return 0;
}
