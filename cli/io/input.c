#include "io/input.h"
#include "io/input_zstd.h"
#include "io/input_guard.h"
#include "io/progress.h"
#include "options/diagnostics.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPAN_SIZE  (64u * 1024u) /* with what decoding needs beside it, stays in the second-level cache */
#define SPAN_LEAST 64u

/* Read once, at least one byte unless at the end. Returns -1 after telling. */
static ssize_t read_some(struct cli_input *input, uint8_t *to, size_t room) {
    for (;;) {
        ssize_t got = read(input->fd, to, room);
        if (got >= 0) {
            input->consumed += (uint64_t)got;
            return got;
        }
        if (errno == EINTR && cli_progress_stopped()) return 0;
        if (errno == EINTR) continue;
        cli_note("%s: byte 0x%llx: cannot be read: %s", input->name, (unsigned long long)input->consumed,
                 strerror(errno));
        return -1;
    }
}

/* Read the first bytes to see what this is. */
static int look(struct cli_input *input) {
    while (input->held < CLI_ZSTD_MAGIC_SIZE && !input->ended) {
        ssize_t got = read_some(input, input->buffer + input->held, CLI_ZSTD_MAGIC_SIZE - input->held);
        if (got < 0) return CLI_FAILED;
        if (got == 0) input->ended = true;
        input->held += (size_t)got;
    }
    if (!cli_zstd_seen(input->buffer, input->held)) return CLI_OK;
    return cli_zstd_open(&input->zstd, input->name);
}

/* Small files need no large buffer: 'ntrace merge' may have thousands of them open. */
static size_t capacity_for(uint64_t size) {
    return size == 0 || size >= SPAN_SIZE ? SPAN_SIZE : size < SPAN_LEAST ? SPAN_LEAST : (size_t)size + 1;
}

static bool standard_taken;

int cli_input_open(struct cli_input *input, const char *path) {
    struct stat info = {0};
    bool standard = strcmp(path, "-") == 0;

    *input = (struct cli_input){.name = standard ? "standard input" : path, .fd = STDIN_FILENO};
    if (standard && standard_taken) return cli_fail("-: standard input can be read only once");
    standard_taken |= standard;
    if (!standard) input->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (input->fd < 0) return cli_fail("%s: cannot be opened: %s", path, strerror(errno));
    if (!standard) cli_origin_add(path);
    if (fstat(input->fd, &info) == 0) {
        if (S_ISDIR(info.st_mode)) {
            cli_input_close(input);
            return cli_fail("%s: expected a trace, found a directory", path);
        }
        if (S_ISREG(info.st_mode)) input->size_hint = (uint64_t)info.st_size;
    }
    input->capacity = capacity_for(input->size_hint);
    input->buffer = malloc(input->capacity);
    int status = input->buffer ? look(input) : cli_fail("out of memory");
    if (status != CLI_OK) cli_input_close(input);
    return status;
}

/* The stream ends here, because of damage if `status` says so. */
static int end_compressed(struct cli_input *input, int status, bool *last) {
    input->damaged = status != CLI_OK;
    *last = true;
    return CLI_OK;
}

static int next_compressed(struct cli_input *input, ntr_bytes *span, bool *last) {
    *last = false;
    for (;;) {
        int status = cli_zstd_next(input->zstd, span);
        if (status == CLI_FAILED) return status;
        if (status != CLI_OK) return end_compressed(input, status, last);
        if (span->size) return CLI_OK;
        if (input->held == 0 && !input->ended) {
            ssize_t got = read_some(input, input->buffer, input->capacity);
            if (got < 0) return CLI_FAILED;
            if (got == 0) input->ended = true;
            input->held = (size_t)got;
        }
        if (cli_progress_stopped()) return end_compressed(input, CLI_OK, last);
        if (input->held == 0) return end_compressed(input, cli_zstd_finish(input->zstd, input->consumed), last);
        cli_zstd_give(input->zstd, input->buffer, input->held);
        input->held = 0;
    }
}

int cli_input_next(struct cli_input *input, ntr_bytes *span, bool *last) {
    if (input->zstd) return next_compressed(input, span, last);

    ssize_t got = 0;
    if (!input->ended) got = read_some(input, input->buffer + input->held, input->capacity - input->held);
    if (got < 0) return CLI_FAILED;
    if (got == 0) input->ended = true;
    *span = (ntr_bytes){input->buffer, input->held + (size_t)got};
    input->held = 0;
    *last = input->ended;
    return CLI_OK;
}

bool cli_input_skip(struct cli_input *input, uint64_t bytes) {
    if (input->zstd || bytes > input->size_hint || lseek(input->fd, (off_t)bytes, SEEK_SET) < 0) return false;
    input->held = 0;
    input->consumed = bytes;
    input->ended = false;
    return true;
}

void cli_input_close(struct cli_input *input) {
    if (input->fd > STDIN_FILENO) close(input->fd);
    free(input->buffer);
    cli_zstd_close(input->zstd);
    *input = (struct cli_input){.fd = -1};
}

/* Add a span to a text; false when there is no memory (the text is then freed). */
static bool append(char **text, size_t *used, ntr_bytes span) {
    char *grown = realloc(*text, *used + span.size + 1);

    if (!grown) return false;
    if (span.data) memcpy(grown + *used, span.data, span.size);
    *used += span.size;
    grown[*used] = 0;
    *text = grown;
    return true;
}

char *cli_input_whole(const char *path, uint64_t most, size_t *size) {
    struct cli_input input;
    ntr_bytes span;
    bool last = false;
    char *text = NULL;

    *size = 0;
    if (cli_input_open(&input, path) != CLI_OK) return NULL;
    while (!last) {
        if (cli_input_next(&input, &span, &last) != CLI_OK || input.damaged) {
            free(text);
            text = NULL;
            break;
        }
        const bool fits = span.size <= most - *size;
        if (!fits || !append(&text, size, span)) {
            if (fits) cli_note("%s: out of memory", input.name);
            else cli_note("%s: expected at most %llu bytes, found more", input.name, (unsigned long long)most);
            free(text);
            text = NULL;
            break;
        }
    }
    cli_input_close(&input);
    return text;
}
