/* A byte stream from a file, a pipe or standard input, .zst-compressed or not, in spans of bounded size.
 *
 * Compression is seen by its first bytes (no N-Trace stream starts like that), so it works on pipes too.
 * Files are read, not mapped: memory stays the same however long the stream, and a file that shrinks
 * while it is read is the end of the stream, not a signal. */
#ifndef CLI_IO_INPUT_H
#define CLI_IO_INPUT_H

#include <ntrace/bytes.h>
#include <stdbool.h>
#include <stdint.h>

struct cli_input {
    const char *name; /* as shown to people: the path, or "standard input" */
    int fd;
    uint8_t *buffer;
    size_t capacity;
    size_t held;           /* bytes in the buffer that were read ahead */
    uint64_t size_hint;    /* size of the file; 0: not known */
    uint64_t consumed;     /* bytes read from the file or pipe so far */
    struct cli_zstd *zstd; /* NULL: plain */
    bool ended;
    bool damaged; /* compressed data was damaged or cut; it has been told, and what came before was given out */
};

/* "-" is standard input. Returns CLI_OK, or CLI_FAILED after telling why. */
int cli_input_open(struct cli_input *input, const char *path);

/* Leave out the first bytes of the stream, if that is done without reading them: before any was read, from a file that
 * is not compressed. Returns whether it was. */
bool cli_input_skip(struct cli_input *input, uint64_t bytes);

/* The next span; it lives until the next call. `*last` tells that nothing follows (the span may be empty), or
 * nothing that could be decompressed (`damaged`).
 * Returns CLI_OK, or CLI_FAILED after telling why. */
int cli_input_next(struct cli_input *input, ntr_bytes *span, bool *last);

void cli_input_close(struct cli_input *input);

/* The whole file, of at most so many bytes, as text with a terminating NUL (to be freed), or NULL after telling why. */
char *cli_input_whole(const char *path, uint64_t most, size_t *size);

#endif
