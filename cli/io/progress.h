/* Progress display on a terminal, and a clean stop on SIGINT and SIGTERM. */
#ifndef CLI_IO_PROGRESS_H
#define CLI_IO_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_progress {
    const char *name;
    uint64_t total;   /* bytes; 0: not known */
    uint64_t started, shown; /* milliseconds */
    bool visible;
};

/* Requests a stop, from a handler of a signal: cli_progress_stopped returns true, and each call that waits ends with
 * EINTR within 0.1 s. cli_progress_catch must have been called. */
void cli_progress_stop(void);

/* Installs a handler for these signals, and what cli_progress_stop needs. */
void cli_progress_catch(const int *signals, size_t count, void (*handler)(int));

/* Installs handlers for SIGINT and SIGTERM. The first signal requests a stop: cli_progress_stopped returns true, and a
 * read that waits for input ends it. The second signal ends the process. */
void cli_progress_catch_stop(void);

/* Starts the display. `name` is shown and not copied; `total` is the size of the input in bytes, or 0. */
void cli_progress_begin(struct cli_progress *progress, const char *name, uint64_t total);
/* Updates the display; `done` is the number of bytes read. Draws at most ten times per second, after the first
 * second. */
void cli_progress_step(struct cli_progress *progress, uint64_t done);
/* Removes the display. */
void cli_progress_end(const struct cli_progress *progress);

/* Returns whether a stop was requested. */
bool cli_progress_stopped(void);

/* For ntr_decoder_config.proceed: returns false when a stop was requested a moment ago. What ends within that moment is
 * complete. */
bool cli_progress_proceed(void *unused);

#endif
