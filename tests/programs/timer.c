/* A timer's signal comes wherever it finds the program. */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile sig_atomic_t ticks;

static void on_tick(int signal) {
    (void)signal;
    ticks++;
}

static __attribute__((noinline)) unsigned churn(unsigned seed) {
    for (int i = 0; i < 200; i++) seed = seed & 1 ? seed >> 1 ^ 0xedb88320u : seed >> 1;
    return seed;
}

int main(void) {
    struct itimerval every = {{0, 2000}, {0, 2000}};
    unsigned seed = 1;
    signal(SIGALRM, on_tick);
    setitimer(ITIMER_REAL, &every, NULL);
    while (ticks < 20) seed = churn(seed);
    every = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &every, NULL);
    return seed == 0;
}
