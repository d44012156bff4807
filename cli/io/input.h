/* Reads a file, a pipe or standard input, optionally compressed with zstd, in pieces of bounded size.
 *
 * <ntrace/stream_reader.h> decompresses; this file adds opening, standard input and error messages. Files
 * are read, not mapped: memory use does not depend on their length, and a file that becomes shorter while it is read
 * ends there instead of raising a signal. */
#ifndef CLI_IO_INPUT_H
#define CLI_IO_INPUT_H

#include "options/limits.h"

#include <ntrace/bytes.h>
#include <ntrace/stream_reader.h>

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/* ---- Reading of small parts of files. */

/* Opens a file whose name comes from an input: only a regular file of at most `most` bytes, and without waiting.
 * Returns the descriptor; -1, and errno: EINVAL (not a regular file), EFBIG, those of open. */
int cli_open_regular(const char *path, uint64_t most);

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

/* Must not be moved in memory while it is open. */
struct cli_input {
    const char *name; /* name in messages: the path, or "standard input" */
    int fd;
    uint64_t size_hint; /* size of the file; 0: not known */
    ntr_stream_reader *reader;
    bool damaged; /* compressed data is damaged or incomplete (reported); the bytes before the damage were returned */
};

/* Opens `path`; "-" is standard input. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_input_open(struct cli_input *input, const char *path);

/* The same for an open file, which is closed with the input. */
int cli_input_adopt(struct cli_input *input, const char *name, int fd);

/* Reads the next piece; it is valid until the next call. *last is set for the last piece, which may be empty, also when
 * the rest cannot be decompressed (`damaged`). Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_input_next(struct cli_input *input, ntr_bytes *piece, bool *last);

/* The same into `to`: up to `capacity` bytes, *got of them. */
int cli_input_read(struct cli_input *input, uint8_t *to, size_t capacity, size_t *got, bool *last);

/* Returns the number of bytes read from the file or pipe so far, before decompression. */
uint64_t cli_input_position(const struct cli_input *input);

void cli_input_close(struct cli_input *input);

/* Reads the whole file, of at most `max` bytes. Returns its contents with a terminating NUL, to be freed, or NULL after
 * reporting the error. *size excludes the NUL. */
char *cli_input_whole(const char *path, uint64_t max, size_t *size);

/* The same with a limit that --limit can raise. */
char *cli_input_limited(const char *path, enum cli_limit limit, size_t *size);

#endif
