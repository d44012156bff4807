#include "pieces.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_SIZE 16384u

/* A piece is written under a temporary name, which is opened for each flush only. */
struct piece {
    char *path;      /* NULL: not begun */
    uint8_t *buffer; /* NULL: finished */
    size_t used;
};

struct cli_pieces {
    const char *prefix;
    struct piece *pieces;
    uint32_t count;
};

struct cli_pieces *cli_pieces_open(const char *prefix) {
    struct cli_pieces *p = calloc(1, sizeof *p);

    if (p)
        p->prefix = prefix;
    else
        cli_note("out of memory");
    return p;
}

/* The temporary name of a piece; false when it is too long. */
static bool temporary_name(const struct piece *piece, char name[4096]) {
    int size = snprintf(name, 4096, "%s.%ld.tmp", piece->path, (long)getpid());

    return size > 0 && size < 4096;
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

static int flush(struct piece *piece) {
    char name[4096];

    if (!temporary_name(piece, name)) return cli_fail("%s: name too long", piece->path);
    int fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    int failed = fd < 0 || write_all(fd, piece->buffer, piece->used) != 0;
    int reason = errno;
    if (fd >= 0 && close(fd) != 0 && !failed) {
        failed = 1;
        reason = errno;
    }
    piece->used = 0;
    return failed ? cli_fail("%s: cannot be written: %s", piece->path, strerror(reason)) : CLI_OK;
}

static struct piece *piece_at(struct cli_pieces *p, uint32_t index) {
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

static bool begin(const struct cli_pieces *p, struct piece *piece, const char *name, uint32_t index) {
    size_t size = strlen(p->prefix) + strlen(name) + 32;

    piece->path = malloc(size);
    piece->buffer = malloc(BUFFER_SIZE);
    if (!piece->path || !piece->buffer) return false;
    snprintf(piece->path, size, "%s-%s%u.nex", p->prefix, name, index);
    return true;
}

int cli_pieces_write(struct cli_pieces *p, const char *name, uint32_t index, const void *data, size_t size) {
    struct piece *piece = piece_at(p, index);

    if (!piece || (!piece->path && !begin(p, piece, name, index))) return cli_fail("out of memory");
    for (const uint8_t *bytes = data; size;) {
        size_t part = size < BUFFER_SIZE - piece->used ? size : BUFFER_SIZE - piece->used;
        memcpy(piece->buffer + piece->used, bytes, part);
        piece->used += part;
        bytes += part;
        size -= part;
        if (piece->used == BUFFER_SIZE && flush(piece) != CLI_OK) return CLI_FAILED;
    }
    return CLI_OK;
}

int cli_pieces_finish(struct cli_pieces *p, uint32_t index) {
    struct piece *piece = index < p->count ? &p->pieces[index] : NULL;

    if (!piece || !piece->buffer) return CLI_OK;
    int status = flush(piece);
    free(piece->buffer);
    piece->buffer = NULL;
    return status;
}

/* Give the piece its name, or take it away. */
static int settle(const struct piece *piece, int status) {
    char name[4096];

    if (!piece->path || !temporary_name(piece, name)) return status;
    if (status == CLI_FAILED) {
        unlink(name);
        return status;
    }
    return rename(name, piece->path) == 0 ? status : cli_fail("%s: %s", piece->path, strerror(errno));
}

int cli_pieces_close(struct cli_pieces *p, int status) {
    for (uint32_t i = 0; i < p->count; i++) {
        if (status != CLI_FAILED && cli_pieces_finish(p, i) != CLI_OK) status = CLI_FAILED;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        status = settle(&p->pieces[i], status);
        free(p->pieces[i].path);
        free(p->pieces[i].buffer);
    }
    free(p->pieces);
    free(p);
    return status;
}
