#include "io/progress.h"
#include "io/atomic_file.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The line ends with a carriage return, so that the next message overwrites it. */
enum { QUIET_MS = 1000, INTERVAL_MS = 100, MOMENT_MS = 50 };

static atomic_int stopped; /* set in the thread that gets the signal */
static atomic_uint stopped_at; /* milliseconds, the lower bits */

static uint64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* The first signal requests a stop, the second one ends the process. */
static void on_signal(int number) {
    if (stopped) cli_atomic_file_die(number);
    stopped_at = (unsigned)now_ms();
    stopped = 1;
}

bool cli_progress_stopped(void) {
    return atomic_load_explicit(&stopped, memory_order_relaxed) != 0;
}

bool cli_progress_proceed(void *unused) {
    (void)unused;
    return !cli_progress_stopped() || (unsigned)now_ms() - stopped_at < MOMENT_MS;
}

void cli_progress_catch_stop(void) {
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void cli_progress_begin(struct cli_progress *p, const char *name, uint64_t total) {
    *p = (struct cli_progress){.name = name, .total = total, .started = now_ms(), .visible = isatty(STDERR_FILENO)};
}

void cli_progress_step(struct cli_progress *p, uint64_t done) {
    if (!p->visible) return;
    uint64_t now = now_ms();
    if (now - p->started < QUIET_MS || now - p->shown < INTERVAL_MS) return;
    p->shown = now;
    cli_write_harmless(p->name);
    if (p->total)
        fprintf(stderr, ": %" PRIu64 " %%\r", done * 100 / p->total);
    else
        fprintf(stderr, ": %" PRIu64 " MB\r", done / 1000000);
}

void cli_progress_end(const struct cli_progress *p) {
    if (p->shown) fputs("\033[K", stderr);
}
