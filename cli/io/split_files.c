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

/* One output file. It is open only during a flush. */
struct split_file {
    struct cli_atomic_file *atomic;
    char *path;      /* NULL: not started */
    uint8_t *buffer; /* NULL: finished */
    size_t used;
};

struct cli_split_files {
    const char *prefix;
    struct split_file *files;
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
        ssize_t written = write(fd, data, size);
        if (written < 0 && errno != EINTR) return -1;
        if (written > 0) {
            data += written;
            size -= (size_t)written;
        }
    }
    return 0;
}

static int reopen(const struct split_file *file, int *fd) {
    *fd = open(cli_atomic_file_name(file->atomic), O_WRONLY | O_APPEND | O_CLOEXEC);
    return *fd >= 0 ? CLI_OK : cli_fail("%s: cannot write: %s", file->path, strerror(errno));
}

static int flush(struct split_file *file) {
    int fd;

    if ((file->atomic ? reopen(file, &fd) : cli_atomic_file_open(&file->atomic, file->path, &fd)) != CLI_OK)
        return CLI_FAILED;
    int failed = write_all(fd, file->buffer, file->used) != 0;
    int reason = errno;
    if (close(fd) != 0 && !failed) {
        failed = 1;
        reason = errno;
    }
    file->used = 0;
    return failed ? cli_fail("%s: cannot write: %s", file->path, strerror(reason)) : CLI_OK;
}

static struct split_file *file_at(struct cli_split_files *p, uint32_t index) {
    if (index >= p->count) {
        uint32_t count = index + 1 > 2 * p->count ? index + 1 : 2 * p->count;
        struct split_file *files = realloc(p->files, count * sizeof *files);
        if (!files) return NULL;
        memset(files + p->count, 0, (count - p->count) * sizeof *files);
        p->files = files;
        p->count = count;
    }
    return &p->files[index];
}

static bool begin(const struct cli_split_files *p, struct split_file *file, const char *name, uint32_t index) {
    size_t size = strlen(p->prefix) + strlen(name) + 32;

    file->path = malloc(size);
    file->buffer = malloc(PART_BUFFER_SIZE);
    if (!file->path || !file->buffer) return false;
    snprintf(file->path, size, "%s-%s%u.nex", p->prefix, name, index);
    return true;
}

int cli_split_files_write(struct cli_split_files *p, const char *name, uint32_t index, const void *data, size_t size) {
    struct split_file *file = file_at(p, index);

    if (!file || (!file->path && !begin(p, file, name, index))) return cli_fail("out of memory");
    for (const uint8_t *bytes = data; size;) {
        size_t part = size < PART_BUFFER_SIZE - file->used ? size : PART_BUFFER_SIZE - file->used;
        memcpy(file->buffer + file->used, bytes, part);
        file->used += part;
        bytes += part;
        size -= part;
        if (file->used == PART_BUFFER_SIZE && flush(file) != CLI_OK) return CLI_FAILED;
    }
    return CLI_OK;
}

int cli_split_files_finish(struct cli_split_files *p, uint32_t index) {
    struct split_file *file = index < p->count ? &p->files[index] : NULL;

    if (!file || !file->buffer) return CLI_OK;
    int status = flush(file);
    free(file->buffer);
    file->buffer = NULL;
    return status;
}

int cli_split_files_close(struct cli_split_files *p, int status) {
    for (uint32_t i = 0; i < p->count; i++) {
        if (status != CLI_FAILED && cli_split_files_finish(p, i) != CLI_OK) status = CLI_FAILED;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        status = cli_atomic_file_finish(p->files[i].atomic, status);
        free(p->files[i].path);
        free(p->files[i].buffer);
    }
    free(p->files);
    free(p);
    return status;
}
