/* Buffered output to standard output or to a file.
 *
 * A file appears whole or not at all: it is written under a temporary name and renamed by close. Writers
 * that must be fast reserve room, write in place and commit. A reader that leaves (closed pipe) is no
 * error: `done` is set, everything written from then on is dropped. */
#ifndef CLI_IO_OUTPUT_H
#define CLI_IO_OUTPUT_H

#include "io/atomic_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CLI_OUTPUT_ROOM 16384 /* the most that one reserve may ask for */

struct cli_output {
    char *buffer;
    size_t used, capacity;
    uint64_t total;                    /* bytes flushed so far */
    const char *path;                  /* as shown to people */
    struct cli_atomic_file *unfinished; /* NULL: written in place */
    int fd;
    bool done; /* stop early: nobody reads, or writing failed */
    bool failed;
    void (*turn)(void *user); /* NULL, or who takes what is buffered instead of `fd` */
    void *turn_user;
};

/* `path` NULL or "-": standard output. Returns CLI_OK, or CLI_FAILED after telling why. */
int cli_output_open(struct cli_output *out, const char *path);

/* The buffer is somebody else's: whenever it is full, `turn` takes what is used and gives room for CLI_OUTPUT_ROOM
 * bytes at least, here or elsewhere. Nothing is to be closed. */
void cli_output_open_into(struct cli_output *out, void (*turn)(void *user), void *user);

/* Write out what is buffered. */
void cli_output_flush(struct cli_output *out);

/* Finish with the command's exit status so far: CLI_FAILED takes the temporary file away, anything else
 * gives it its name. Returns the status, or CLI_FAILED when writing failed (after telling). */
int cli_output_close(struct cli_output *out, int status);

/* Room for `size` <= CLI_OUTPUT_ROOM bytes. */
static inline char *cli_output_reserve(struct cli_output *out, size_t size) {
    if (out->capacity - out->used < size) cli_output_flush(out);
    return out->buffer + out->used;
}

static inline void cli_output_commit(struct cli_output *out, size_t size) {
    out->used += size;
}

void cli_output_write(struct cli_output *out, const void *data, size_t size);
void cli_output_text(struct cli_output *out, const char *text);
void cli_output_print(struct cli_output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A JSON string, quotes included. */
void cli_output_json(struct cli_output *out, const char *text);

/* The same into a buffer; returns the end, at most 6 characters for each of the text's and 2 on. */
char *cli_put_json(char *at, const char *text);

/* A CSV cell, quoted where it must be (RFC 4180); returns the end, at most twice the text and 2 on. */
char *cli_put_csv(char *at, const char *text);

static inline char *cli_put_bytes(char *at, const char *bytes, size_t size) {
    memcpy(at, bytes, size);
    return at + size;
}

/* The text without its NUL; returns the end. */
static inline char *cli_put_text(char *at, const char *text) {
    return cli_put_bytes(at, text, strlen(text));
}

/* Lower-case hexadecimal without padding, no 0x; returns the end. At most 16 characters. */
char *cli_put_hex(char *at, uint64_t value);

/* Decimal; returns the end. At most 20 characters. */
char *cli_put_decimal(char *at, uint64_t value);

#endif
