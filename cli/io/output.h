/* Buffered output to standard output or to a file.
 *
 * A regular file is written under a temporary name and renamed by cli_output_close, so that it is either complete or
 * absent. Fast writers reserve space in the buffer, write in place and commit. A closed pipe is not an error: `done` is
 * set, and all further output is dropped. */
#ifndef CLI_IO_OUTPUT_H
#define CLI_IO_OUTPUT_H

#include "io/atomic_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CLI_OUTPUT_RESERVE_MAX 16384 /* largest size for cli_output_reserve, in bytes */

struct cli_output {
    char *buffer;
    size_t used, capacity;
    uint64_t total;                    /* bytes flushed so far */
    const char *path;                  /* name in messages */
    struct cli_atomic_file *file; /* NULL: written in place */
    int fd;
    bool done; /* the reader closed the pipe, or writing failed: stop early */
    bool failed;
    bool listing;   /* lines are written as the elements of a list: a comma precedes each but the first */
    bool listed;    /* ... there is an element */
    bool inside;    /* ... the last byte was not a line feed */
    bool text_only; /* standard output is a terminal, and -o does not name it */
    void (*refill)(void *user); /* not NULL: called instead of writing to `fd` (cli_output_open_into) */
    void *refill_user;
};

/* Opens `path`; NULL or "-" is standard output. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_output_open(struct cli_output *out, const char *path);

bool cli_writes_to_terminal(void);
/* Reports that binary data is not written to a terminal, and returns CLI_FAILED. */
int cli_refuse_terminal(void);

/* Writes into buffers of the caller. When the buffer is full, `refill` takes its `used` bytes and sets `buffer`, `used`
 * and `capacity` for at least CLI_OUTPUT_RESERVE_MAX more bytes. Such an output is not closed. */
void cli_output_open_into(struct cli_output *out, void (*refill)(void *user), void *user);

/* Writes the buffer. */
void cli_output_flush(struct cli_output *out);

/* Flushes and closes the output. `status` is the exit status so far: if it is CLI_FAILED, the temporary file is
 * removed, otherwise renamed to its final name. Returns `status`, or CLI_FAILED after reporting a write error. */
int cli_output_close(struct cli_output *out, int status);

/* Returns a pointer to space for `size` <= CLI_OUTPUT_RESERVE_MAX bytes; valid until the next call. */
static inline char *cli_output_reserve(struct cli_output *out, size_t size) {
    if (out->capacity - out->used < size) cli_output_flush(out);
    return out->buffer + out->used;
}

/* Appends `size` bytes that were written to the reserved space. */
static inline void cli_output_commit(struct cli_output *out, size_t size) {
    out->used += size;
}

/* Appends the bytes from the reserved space up to `end`. */
static inline void cli_output_end(struct cli_output *out, const char *end) {
    out->used = (size_t)(end - out->buffer);
}

void cli_output_write(struct cli_output *out, const void *data, size_t size);
void cli_output_text(struct cli_output *out, const char *text);
/* Writes a name in one line: '?' in place of what breaks lines or controls a terminal (ntr_text_hazard). */
void cli_output_line(struct cli_output *out, const char *text);
/* Writes "FILE:LINE", FILE as cli_output_line. */
void cli_output_source(struct cli_output *out, const char *file, uint32_t line);
/* Replaces what controls a terminal (ntr_text_hazard, except for line feeds and tabs): names of inputs may be among the
 * arguments. */
void cli_output_print(struct cli_output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes text as a JSON string, with quotes; a byte that is not UTF-8 as if the text were ISO 8859-1. */
void cli_output_json(struct cli_output *out, const char *text);

/* Writes text, of which at most 4096 bytes are used, as a CSV cell. */
void cli_output_csv(struct cli_output *out, const char *text);

/* Writes text of HTML or XML, with escaped characters; a byte that is not UTF-8 as if the text were ISO 8859-1. `text`
 * NULL: nothing. */
void cli_output_xml(struct cli_output *out, const char *text);
void cli_output_xml_bytes(struct cli_output *out, const char *text, size_t size);

/* As cli_output_json, into a buffer of at least 6 * length + 2 characters. Returns the end. */
char *cli_put_json(char *at, const char *text);

/* Writes a CSV cell, quoted if necessary (RFC 4180), into a buffer of at least 2 * length + 3 characters. Returns the
 * end. */
char *cli_put_csv(char *at, const char *text);

static inline char *cli_put_bytes(char *at, const char *bytes, size_t size) {
    memcpy(at, bytes, size);
    return at + size;
}

/* Writes the text without its NUL. Returns the end. */
static inline char *cli_put_text(char *at, const char *text) {
    return cli_put_bytes(at, text, strlen(text));
}

/* Writes lower-case hexadecimal without 0x and padding, at most 16 characters. Returns the end. */
char *cli_put_hex(char *at, uint64_t value);

/* Writes a decimal number, at most 20 characters. Returns the end. */
char *cli_put_decimal(char *at, uint64_t value);

#endif
