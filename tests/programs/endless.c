/* Runs until it is told to stop; with an argument, it catches SIGINT, says how often it went round and stops in its own
 * way. It is one block that branches to itself; with a second argument, there are more blocks than that. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t told;

static void on_signal(int signal) { told = signal; }

int main(int argc, char **argv) {
    volatile unsigned sum = 0;
    (void)argv;
    if (argc > 1) signal(SIGINT, on_signal);
    if (write(1, "ready\n", 6) != 6) return 1;
    while (!told && argc < 3) sum++;
    if (argc == 2) printf("%u\n", sum);
    while (!told) {
        sum += 3;
        if (sum & 64) sum += 1;
    }
    return 42;
}
