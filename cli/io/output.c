#include "io/output.h"
#include "io/memory.h"
#include "io/progress.h"
#include "options/diagnostics.h"
#include "io/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <ntrace/bytes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_SIZE (256u * 1024u)

/* Open MPI gives each process a terminal, wherever its output goes. */
bool cli_writes_to_terminal(void) {
    return isatty(STDOUT_FILENO) && !getenv("OMPI_COMM_WORLD_RANK");
}

int cli_refuse_terminal(void) {
    return cli_fail("refusing to write binary data to a terminal; name a file with -o, or force it with -o -");
}

/* ---- opening and closing */

static int open_file(struct cli_output *out) {
    char real[PATH_MAX];
    const char *path = cli_atomic_file_target(out->path, real);

    if (path) return cli_atomic_file_open(&out->file, path, &out->fd);
    out->fd = open(out->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (out->fd < 0) return cli_fail("%s: cannot write: %s", out->path, strerror(errno));
    return CLI_OK;
}

static void release(struct cli_output *out) {
    free(out->buffer);
    *out = (struct cli_output){.fd = -1};
}

int cli_output_open(struct cli_output *out, const char *path) {
    *out = (struct cli_output){.fd = STDOUT_FILENO, .path = "standard output", .capacity = BUFFER_SIZE};
    out->buffer = malloc(BUFFER_SIZE);
    if (!out->buffer) return cli_fail("out of memory");
    out->text_only = !path && cli_writes_to_terminal();
    if (path && strcmp(path, "-") != 0) {
        out->path = path;
        if (open_file(out) != CLI_OK) {
            release(out);
            return CLI_FAILED;
        }
    }
    return CLI_OK;
}

void cli_output_open_into(struct cli_output *out, void (*refill)(void *user), void *user) {
    *out = (struct cli_output){.fd = -1, .refill = refill, .refill_user = user};
}

int cli_output_close(struct cli_output *out, int status) {
    if (cli_memory_short() && status != CLI_FAILED) {
        status = cli_fail("out of memory");
        out->used = 0;
    }
    cli_output_flush(out);
    if (out->fd != STDOUT_FILENO && close(out->fd) != 0 && !out->failed) {
        cli_note("%s: %s", out->path, strerror(errno));
        out->failed = true;
    }
    if (out->failed) status = CLI_FAILED;
    status = cli_atomic_file_finish(out->file, status);
    release(out);
    return status;
}

/* ---- writing */

/* How often cli_progress_stop interrupts a call that makes no progress, before the output is given up. */
enum { WAITS_MAX = 4 };

/* A terminal takes text; `-o -` says that it is meant. */
static bool refuses(struct cli_output *out, const char *data, size_t size) {
    if (!out->text_only || !memchr(data, 0, size)) return false;
    cli_refuse_terminal();
    return out->done = out->failed = true;
}

static void put_all(struct cli_output *out, const char *data, size_t size) {
    unsigned waits = 0;

    if (refuses(out, data, size)) return;
    while (size && !out->done) {
        ssize_t put = write(out->fd, data, size);
        if (put >= 0) {
            data += put;
            size -= (size_t)put;
            out->total += (uint64_t)put;
            waits = 0;
        } else if (errno != EINTR || (cli_progress_stopped() && ++waits > WAITS_MAX)) {
            out->done = true;
            if (errno == EPIPE) return;
            cli_note("%s: %s", out->path,
                     errno == EINTR ? "expected a reader of the output, found none after a signal" : strerror(errno));
            out->failed = true;
        }
    }
}

/* Writes lines as elements of a list. */
static void put_listed(struct cli_output *out, const char *data, size_t size) {
    enum { LISTED_BYTES = 4096 };
    char part[2 * LISTED_BYTES];

    while (size) {
        const size_t taken = size < LISTED_BYTES ? size : LISTED_BYTES;
        size_t used = 0;
        for (size_t i = 0; i < taken; i++) {
            if (!out->inside && out->listed) part[used++] = ',';
            out->listed = true;
            out->inside = data[i] != '\n';
            part[used++] = data[i];
        }
        put_all(out, part, used);
        data += taken;
        size -= taken;
    }
}

static void put(struct cli_output *out, const char *data, size_t size) {
    (out->listing ? put_listed : put_all)(out, data, size);
}

void cli_output_flush(struct cli_output *out) {
    if (out->refill) {
        out->refill(out->refill_user);
        return;
    }
    put(out, out->buffer, out->used);
    out->used = 0;
}

/* Writes more than CLI_OUTPUT_RESERVE_MAX bytes. */
static void put_large(struct cli_output *out, const char *data, size_t size) {
    if (!out->refill) {
        cli_output_flush(out);
        put(out, data, size);
        return;
    }
    for (size_t some; size; data += some, size -= some) {
        some = size < CLI_OUTPUT_RESERVE_MAX ? size : CLI_OUTPUT_RESERVE_MAX;
        memcpy(cli_output_reserve(out, some), data, some);
        cli_output_commit(out, some);
    }
}

void cli_output_write(struct cli_output *out, const void *data, size_t size) {
    if (size <= CLI_OUTPUT_RESERVE_MAX) {
        memcpy(cli_output_reserve(out, size), data, size);
        cli_output_commit(out, size);
    } else {
        put_large(out, data, size);
    }
}

void cli_output_text(struct cli_output *out, const char *text) {
    cli_output_write(out, text, strlen(text));
}

void cli_output_line(struct cli_output *out, const char *text) {
    while (*text) {
        size_t good = 0, hazard = 0;
        while (text[good] && !(hazard = cli_text_hazard(text + good))) good += ntr_text_step(text + good);
        cli_output_write(out, text, good);
        if (hazard) cli_output_write(out, "?", 1);
        text += good + hazard;
    }
}

void cli_output_source(struct cli_output *out, const char *file, uint32_t line) {
    cli_output_line(out, file);
    cli_output_print(out, ":%" PRIu32, line);
}

void cli_output_print(struct cli_output *out, const char *format, ...) {
    char line[CLI_OUTPUT_RESERVE_MAX];
    va_list arguments;

    va_start(arguments, format);
    int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (size < 0) return;
    cli_text_disarm(line, "\n\t"); /* paths and other texts of inputs may be among the arguments */
    cli_output_text(out, line);
}

/* Writes one character of a JSON string, escaped if necessary, and moves behind it. A byte that is not UTF-8 is written
 * as if the text were ISO 8859-1. Returns the end. */
static char *put_escaped(char *at, const char **text) {
    static const char hex[] = "0123456789abcdef";
    const unsigned char c = (unsigned char)**text;
    const size_t length = ntr_utf8_length(*text, 4);

    if (c < 0x20 || !length) {
        at = cli_put_text(at, "\\u00");
        *at++ = hex[c >> 4];
        *at++ = hex[c & 15];
    } else {
        if (c == '"' || c == '\\') *at++ = '\\';
        for (size_t i = 0; i < length; i++) *at++ = (*text)[i];
    }
    *text += length ? length : 1;
    return at;
}

void cli_output_json(struct cli_output *out, const char *text) {
    cli_output_write(out, "\"", 1);
    while (*text) {
        char escaped[6];
        cli_output_write(out, escaped, (size_t)(put_escaped(escaped, &text) - escaped));
    }
    cli_output_write(out, "\"", 1);
}

char *cli_put_json(char *at, const char *text) {
    *at++ = '"';
    while (*text) at = put_escaped(at, &text);
    *at++ = '"';
    return at;
}

/* A spreadsheet takes a cell that begins with one of these for a formula; with a quote it is text. */
char *cli_put_csv(char *at, const char *text) {
    bool quote = strpbrk(text, ",\"\r\n") != NULL;

    if (quote) *at++ = '"';
    if (*text && strchr("=+-@\t\r", *text)) *at++ = '\'';
    for (; *text; text++) {
        if (*text == '"') *at++ = '"';
        const size_t length = ntr_utf8_length(text, 4);
        *at++ = length ? *text : '?';
        for (size_t i = 1; i < length; i++) *at++ = *++text;
    }
    if (quote) *at++ = '"';
    return at;
}

void cli_output_csv(struct cli_output *out, const char *text) {
    enum { TEXT_BYTES_MAX = 4096 };
    char part[TEXT_BYTES_MAX + 1], cell[2 * TEXT_BYTES_MAX + 3];

    snprintf(part, sizeof part, "%s", text);
    cli_output_write(out, cell, (size_t)(cli_put_csv(cell, part) - cell));
}

static const char *entity_of(char c) {
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    default: return (unsigned char)c < 0x20 && c != '\n' && c != '\t' ? "?" : NULL;
    }
}

void cli_output_xml_bytes(struct cli_output *out, const char *text, size_t size) {
    for (const char *const end = text + size; text < end;) {
        const char *entity = entity_of(*text);
        const size_t left = (size_t)(end - text), length = ntr_utf8_length(text, left);
        char some[4] = {0}; /* `text` has no end of its own */
        for (size_t i = 0; i < 3 && i < left; i++) some[i] = text[i];
        /* A byte that is not UTF-8 becomes a reference; HTML takes those for Windows-1252, which has no controls. */
        const size_t control = entity || !length || *text == '\n' || *text == '\t' ? 0 : ntr_text_hazard(some);
        if (control) {
            cli_output_text(out, "?");
            text += control;
            continue;
        }
        if (entity)
            cli_output_text(out, entity);
        else if (length)
            cli_output_write(out, text, length);
        else
            cli_output_print(out, "&#%u;", (unsigned char)*text);
        text += length ? length : 1;
    }
}

void cli_output_xml(struct cli_output *out, const char *text) {
    if (text) cli_output_xml_bytes(out, text, strlen(text));
}

char *cli_put_hex(char *at, uint64_t value) {
    static const char pairs[] =
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f"
        "303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f"
        "606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f"
        "909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf"
        "c0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeef"
        "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";
    char *end = at + (67u - (unsigned)__builtin_clzll(value | 1)) / 4u, *first = end;

    for (; first - at >= 2; value >>= 8) memcpy(first -= 2, pairs + 2 * (value & 255), 2);
    if (first > at) *at = pairs[2 * (value & 15) + 1];
    return end;
}

char *cli_put_decimal(char *at, uint64_t value) {
    char digits[20];
    unsigned count = 0;

    do {
        digits[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    while (count) *at++ = digits[--count];
    return at;
}
