#include "io/split_files.h"
#include "options/diagnostics.h"
#include "io/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PART_BUFFER_SIZE 16384u

/* A piece is a file that is open during each flush only. */
struct piece {
    struct cli_atomic_file *file;
    char *path;      /* NULL: not begun */
    uint8_t *buffer; /* NULL: finished */
    size_t used;
};

struct cli_split_files {
    const char *prefix;
    struct piece *pieces;
    uint32_t count;
};

struct cli_split_files *cli_split_files_open(const char *prefix) {
    struct cli_split_files *p = calloc(1, sizeof *p);

    if (p)
        p->prefix = prefix;
    else
        cli_note("out of memory");
    return p;
}

static int write_all(int fd, const uint8_t *data, size_t size) {
    while (size) {
        ssize_t put = write(fd, data, size);
        if (put < 0 && errno != EINTR) return -1;
        if (put > 0) {
            data += put;
            size -= (size_t)put;
        }
    }
    return 0;
}

static int open_again(const struct piece *piece, int *fd) {
    *fd = open(cli_atomic_file_name(piece->file), O_WRONLY | O_APPEND | O_CLOEXEC);
    return *fd >= 0 ? CLI_OK : cli_fail("%s: cannot be written: %s", piece->path, strerror(errno));
}

static int flush(struct piece *piece) {
    int fd;

    if ((piece->file ? open_again(piece, &fd) : cli_atomic_file_open(&piece->file, piece->path, &fd)) != CLI_OK)
        return CLI_FAILED;
    int failed = write_all(fd, piece->buffer, piece->used) != 0;
    int reason = errno;
    if (close(fd) != 0 && !failed) {
        failed = 1;
        reason = errno;
    }
    piece->used = 0;
    return failed ? cli_fail("%s: cannot be written: %s", piece->path, strerror(reason)) : CLI_OK;
}

static struct piece *piece_at(struct cli_split_files *p, uint32_t index) {
    if (index >= p->count) {
        uint32_t count = index + 1 > 2 * p->count ? index + 1 : 2 * p->count;
        struct piece *pieces = realloc(p->pieces, count * sizeof *pieces);
        if (!pieces) return NULL;
        memset(pieces + p->count, 0, (count - p->count) * sizeof *pieces);
        p->pieces = pieces;
        p->count = count;
    }
    return &p->pieces[index];
}

static bool begin(const struct cli_split_files *p, struct piece *piece, const char *name, uint32_t index) {
    size_t size = strlen(p->prefix) + strlen(name) + 32;

    piece->path = malloc(size);
    piece->buffer = malloc(PART_BUFFER_SIZE);
    if (!piece->path || !piece->buffer) return false;
    snprintf(piece->path, size, "%s-%s%u.nex", p->prefix, name, index);
    return true;
}

int cli_split_files_write(struct cli_split_files *p, const char *name, uint32_t index, const void *data, size_t size) {
    struct piece *piece = piece_at(p, index);

    if (!piece || (!piece->path && !begin(p, piece, name, index))) return cli_fail("out of memory");
    for (const uint8_t *bytes = data; size;) {
        size_t part = size < PART_BUFFER_SIZE - piece->used ? size : PART_BUFFER_SIZE - piece->used;
        memcpy(piece->buffer + piece->used, bytes, part);
        piece->used += part;
        bytes += part;
        size -= part;
        if (piece->used == PART_BUFFER_SIZE && flush(piece) != CLI_OK) return CLI_FAILED;
    }
    return CLI_OK;
}

int cli_split_files_finish(struct cli_split_files *p, uint32_t index) {
    struct piece *piece = index < p->count ? &p->pieces[index] : NULL;

    if (!piece || !piece->buffer) return CLI_OK;
    int status = flush(piece);
    free(piece->buffer);
    piece->buffer = NULL;
    return status;
}

int cli_split_files_close(struct cli_split_files *p, int status) {
    for (uint32_t i = 0; i < p->count; i++) {
        if (status != CLI_FAILED && cli_split_files_finish(p, i) != CLI_OK) status = CLI_FAILED;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        status = cli_atomic_file_finish(p->pieces[i].file, status);
        free(p->pieces[i].path);
        free(p->pieces[i].buffer);
    }
    free(p->pieces);
    free(p);
    return status;
}
