/* The memory of a CoreSight TMC (ETR, ETF, ETB): its frames, oldest first. */
#ifndef CLI_IO_TMC_H
#define CLI_IO_TMC_H

#include "options/stream_options.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

/* Returns whether a file beside the trace has the registers of a TMC. */
bool cli_tmc_beside(const char *path);

/* Writes the frames in the memory of a TMC to a temporary file, oldest first: *fd, at its beginning. *wrapped: they
 * begin inside a message. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_tmc_open(const char *path, const struct cli_tmc *options, int *fd, bool *wrapped);

/* Returns a descriptor of the file, at its beginning, that outlives it; -1: error. */
static inline int cli_file_of(FILE *file) {
    const int fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);

    if (fd >= 0 && lseek(fd, 0, SEEK_SET) == 0) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

#endif
