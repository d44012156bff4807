/* Reading of small parts of files. */
#ifndef CLI_READ_ALL_H
#define CLI_READ_ALL_H

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

/* Reads up to `size` bytes, also when the system returns them in pieces or a signal arrives. Returns how many there
 * are: fewer at the end of the file and where it cannot be read. */
static inline size_t cli_read_all(int fd, void *data, size_t size) {
    char *at = data;
    size_t have = 0;

    while (have < size) {
        const ssize_t got = read(fd, at + have, size - have);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        have += (size_t)got;
    }
    return have;
}

#endif
