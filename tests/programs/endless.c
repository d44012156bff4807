/* Runs until a signal ends it. With an argument, it catches SIGINT, prints the number of iterations and exits. The loop is
 * one block that branches to itself; with a second argument, it has several blocks; with a third one, SIGINT and SIGTERM are
 * ignored. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;

static void on_signal(int signal) { stopped = signal; }

int main(int argc, char **argv) {
    volatile unsigned sum = 0;
    (void)argv;
    if (argc > 1) signal(SIGINT, argc > 3 ? SIG_IGN : on_signal);
    if (argc > 3) signal(SIGTERM, SIG_IGN);
    if (write(1, "ready\n", 6) != 6) return 1;
    while (!stopped && argc < 3) sum++;
    if (argc == 2) printf("%u\n", sum);
    while (!stopped) {
        sum += 3;
        if (sum & 64) sum += 1;
    }
    return 42;
}
