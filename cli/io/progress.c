#include "io/progress.h"
#include "io/atomic_file.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* The line ends with a carriage return, so that the next message overwrites it. */
enum { QUIET_MS = 1000, INTERVAL_MS = 100, MOMENT_MS = 50, WAIT_MICROSECONDS = 100000 };

static atomic_int stopped; /* set in the thread that gets the signal */
static atomic_uint stopped_at; /* milliseconds, the lower bits */

static uint64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void cli_progress_stop(void) {
    const struct itimerval tick = {{0, WAIT_MICROSECONDS}, {0, WAIT_MICROSECONDS}};

    if (stopped) return;
    stopped_at = (unsigned)now_ms();
    stopped = 1;
    setitimer(ITIMER_REAL, &tick, NULL);
}

static void interrupt(int number) {
    (void)number;
}

void cli_progress_catch(const int *signals, size_t count, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler}, tick = {.sa_handler = interrupt}; /* no SA_RESTART */

    sigemptyset(&action.sa_mask);
    sigemptyset(&tick.sa_mask);
    sigaction(SIGALRM, &tick, NULL);
    for (size_t i = 0; i < count; i++) sigaction(signals[i], &action, NULL);
}

/* The first signal requests a stop, the second one ends the process. */
static void on_signal(int number) {
    if (stopped) cli_atomic_file_die(number);
    cli_progress_stop();
}

bool cli_progress_stopped(void) {
    return atomic_load_explicit(&stopped, memory_order_relaxed) != 0;
}

bool cli_progress_proceed(void *unused) {
    (void)unused;
    return !cli_progress_stopped() || (unsigned)now_ms() - stopped_at < MOMENT_MS;
}

void cli_progress_catch_stop(void) {
    static const int caught[] = {SIGINT, SIGTERM};

    cli_progress_catch(caught, sizeof caught / sizeof caught[0], on_signal);
}

void cli_progress_begin(struct cli_progress *p, const char *name, uint64_t total) {
    *p = (struct cli_progress){.name = name, .total = total, .started = now_ms(), .visible = isatty(STDERR_FILENO)};
}

void cli_progress_step(struct cli_progress *p, uint64_t done) {
    if (!p->visible) return;
    uint64_t now = now_ms();
    if (now - p->started < QUIET_MS || now - p->shown < INTERVAL_MS) return;
    p->shown = now;
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s", p->name);
    cli_text_disarm(name, "");
    if (p->total)
        fprintf(stderr, "%s: %" PRIu64 " %%\r", name, done * 100 / p->total);
    else
        fprintf(stderr, "%s: %" PRIu64 " MB\r", name, done / 1000000);
}

void cli_progress_end(const struct cli_progress *p) {
    if (p->shown) fputs("\033[K", stderr);
}
