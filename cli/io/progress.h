/* Progress of long work on a terminal, and a clean stop by Ctrl-C. */
#ifndef CLI_IO_PROGRESS_H
#define CLI_IO_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct cli_progress {
    const char *name;
    uint64_t whole;   /* 0: not known */
    uint64_t started, shown; /* milliseconds */
    bool visible;
};

/* From now on SIGINT and SIGTERM only ask to stop, and input that is waited for counts as over; a second one ends the
 * program at once. */
void cli_progress_catch_stop(void);

void cli_progress_begin(struct cli_progress *progress, const char *name, uint64_t whole);
/* For each piece of input; draws at most ten times a second, and only after the first second. */
void cli_progress_step(struct cli_progress *progress, uint64_t done);
void cli_progress_end(const struct cli_progress *progress);

/* Whether somebody asked to stop. */
bool cli_progress_stopped(void);

#endif
