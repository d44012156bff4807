/* The bytes of a file, a pipe or standard input, compressed with zstd or not, in spans of bounded size.
 *
 * Decompression is the library's (<ntrace/stream_reader.h>); this adds opening, standard input and error messages. Files
 * are read, not mapped: memory use does not depend on their length, and a file that becomes shorter while it is read
 * ends there instead of raising a signal. */
#ifndef CLI_IO_INPUT_H
#define CLI_IO_INPUT_H

#include <ntrace/bytes.h>
#include <ntrace/stream_reader.h>
#include <stdbool.h>
#include <stdint.h>

/* Must not be moved in memory while it is open. */
struct cli_input {
    const char *name; /* in messages: the path, or "standard input" */
    int fd;
    uint64_t size_hint; /* size of the file; 0: not known */
    ntr_stream_reader *reader;
    bool damaged; /* compressed data was damaged or incomplete; a message said so, the bytes before it were given out */
};

/* "-" is standard input. Returns CLI_OK, or CLI_FAILED after a message. */
int cli_input_open(struct cli_input *input, const char *path);

/* The next span; it lives until the next call. `*last`: nothing follows (the span may be empty), or nothing that could
 * be decompressed (`damaged`). Returns CLI_OK, or CLI_FAILED after a message. */
int cli_input_next(struct cli_input *input, ntr_bytes *span, bool *last);

/* Bytes read from the file or pipe so far. */
uint64_t cli_input_position(const struct cli_input *input);

void cli_input_close(struct cli_input *input);

/* The whole file, of at most `most` bytes, as text with a terminating NUL (to be freed), or NULL after a message. */
char *cli_input_whole(const char *path, uint64_t most, size_t *size);

#endif
