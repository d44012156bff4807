/* Runs until it is told to stop; with an argument, it says so and stops in its own way. */
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t told;

static void on_signal(int signal) { told = signal; }

int main(int argc, char **argv) {
    volatile unsigned sum = 0;
    (void)argv;
    if (argc > 1) signal(SIGINT, on_signal);
    if (write(1, "ready\n", 6) != 6) return 1;
    while (!told)
        if ((sum += 3) & 4) sum ^= 9; /* no two rounds in a row are equal: the trace grows all the time */
    return 42;
}
