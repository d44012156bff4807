#include "io/end_signal.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { END_SIGNALS = sizeof signals / sizeof signals[0] };

static volatile sig_atomic_t arrived;

static void note(int number) {
    arrived = number;
}

static void change(int how, int number) {
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(how, &set, NULL);
}

void cli_end_signal_catch(void) {
    for (size_t i = 0; i < END_SIGNALS; i++) {
        struct sigaction old, action = {.sa_handler = note};
        if (sigaction(signals[i], NULL, &old) != 0 || old.sa_handler == SIG_IGN) continue;
        change(SIG_BLOCK, signals[i]);
        sigaction(signals[i], &action, NULL);
    }
}

int cli_end_signal_poll(struct pollfd *files, nfds_t count, int milliseconds) {
    const struct timespec time = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000L};
    sigset_t none;

    sigemptyset(&none);
    return ppoll(files, count, milliseconds < 0 ? NULL : &time, &none);
}

int cli_end_signal(void) {
    return arrived;
}

void cli_end_signal_restore(void) {
    for (size_t i = 0; i < END_SIGNALS; i++) {
        signal(signals[i], SIG_DFL);
        change(SIG_UNBLOCK, signals[i]);
    }
}

void cli_end_signal_pass(void) {
    if (!arrived) return;
    cli_end_signal_restore();
    raise(arrived);
}
