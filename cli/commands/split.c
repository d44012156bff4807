#include "options/options.h"
#include "io/atomic_file.h"
#include "io/defects.h"
#include "options/diagnostics.h"
#include "io/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct split_options {
    struct cli_stream stream;
    const char *prefix;
    int by;
    int64_t every;
};

enum { BY_SOURCE, BY_SYNC };

#define S struct split_options
static const struct cli_option split_table[] = {
    CLI_CHOICE(0, "parts", "source|sync", S, by, BY_SOURCE,
               "split by source (default; PREFIX-srcN.nex), or at synchronizing messages (PREFIX-partN.nex, N from 0)"),
    CLI_NUMBER(0, "part-size", "BYTES", S, every, 0, INT64_MAX, 0,
               "with --parts sync: smallest size of a part (default 0: split at every synchronizing message)"),
    CLI_STRING('o', "output", "PREFIX", S, prefix,
               "prefix of the file names (default: name of the trace without suffix)"),
    {0},
};
#undef S

static const struct cli_group groups[] = {
    CLI_OWN("options", split_table),
    CLI_GROUP("stream", cli_stream_options, struct split_options, stream),
    {0},
};

/* ---- the files: many at a time, named PREFIX-NAME.nex. Their number is not limited by the number of file descriptors
 */

enum { PART_BUFFER_SIZE = 16384 };

/* One output file. It is open only during a flush. */
struct split_file {
    struct cli_atomic_file *atomic;
    char *path;      /* NULL: not started */
    uint8_t *buffer; /* NULL: finished */
    size_t used;
};

struct split_files {
    const char *prefix;
    struct split_file *files;
    size_t count;
};

/* Returns NULL after reporting that there is no memory. `prefix` is not copied and must outlive the result. */
static struct split_files *open_files(const char *prefix) {
    struct split_files *p = calloc(1, sizeof *p);

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

static struct split_file *file_at(struct split_files *p, uint32_t index) {
    if (index >= p->count) {
        const size_t count = index >= 2 * p->count ? (size_t)index + 1 : 2 * p->count;
        struct split_file *files = realloc(p->files, count * sizeof *files);
        if (!files) return NULL;
        memset(files + p->count, 0, (count - p->count) * sizeof *files);
        p->files = files;
        p->count = count;
    }
    return &p->files[index];
}

static bool begin(const struct split_files *p, struct split_file *file, const char *name, uint32_t index) {
    size_t size = strlen(p->prefix) + strlen(name) + 32;

    file->path = malloc(size);
    file->buffer = malloc(PART_BUFFER_SIZE);
    if (!file->path || !file->buffer) return false;
    snprintf(file->path, size, "%s-%s%u.nex", p->prefix, name, index);
    return true;
}

/* Appends to file `index`, whose NAME is `name` followed by the index ("src", 3: PREFIX-src3.nex). Returns CLI_OK, or
 * CLI_FAILED after reporting the error. */
static int write_part(struct split_files *p, const char *name, uint32_t index, const void *data, size_t size) {
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

/* Flushes file `index` and frees its buffer; nothing more may be appended to it. Returns as write_part. */
static int finish_part(struct split_files *p, uint32_t index) {
    struct split_file *file = index < p->count ? &p->files[index] : NULL;

    if (!file || !file->buffer) return CLI_OK;
    int status = flush(file);
    free(file->buffer);
    file->buffer = NULL;
    return status;
}

/* Completes all files and frees `files`. `status` is the exit status so far: if it is CLI_FAILED, all files are
 * removed. Returns `status`, or CLI_FAILED after reporting an error. */
static int close_files(struct split_files *p, int status) {
    for (uint32_t i = 0; i < p->count; i++) {
        if (status != CLI_FAILED && finish_part(p, i) != CLI_OK) status = CLI_FAILED;
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

/* ---- the command */

struct split {
    const struct split_options *options;
    struct split_files *files;
    uint32_t part; /* with --parts sync: number of the current part */
    uint64_t part_size;
};

static int write_by_source(struct split *s, const ntr_message *m) {
    return write_part(s->files, "src", NTR_HAS(m, SRC) ? (uint32_t)m->src : 0, m->raw.data, m->raw.size);
}

static int write_by_sync(struct split *s, const ntr_message *m) {
    if (ntr_tcode_is_sync(m->tcode) && s->part_size && s->part_size >= (uint64_t)s->options->every) {
        if (finish_part(s->files, s->part++) != CLI_OK) return CLI_FAILED;
        s->part_size = 0;
    }
    s->part_size += m->raw.size;
    return write_part(s->files, "part", s->part, m->raw.data, m->raw.size);
}

/* Splits the trace. Damaged messages are reported and dropped, because their source is not known. */
static int split_messages(struct split *s, struct cli_trace *trace) {
    struct cli_defects defects = {.file = trace->input.name};
    ntr_message message;

    while (cli_trace_message(trace, &message) == NTR_OK) {
        if (message.defect) {
            cli_defect_add(&defects, &trace->params, &message);
            continue;
        }
        int status = (s->options->by == BY_SYNC ? write_by_sync : write_by_source)(s, &message);
        if (status != CLI_OK) return status;
    }
    return cli_trace_status(trace, trace->reader.number != 0, cli_defect_summary(&defects));
}

/* Derives the prefix from the name of the trace: "dir/trace.nex.zst" gives "dir/trace". */
static void default_prefix(const char *path, char *prefix, size_t size) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strchr(name, '.');

    if (strcmp(path, "-") == 0)
        snprintf(prefix, size, "trace");
    else
        snprintf(prefix, size, "%.*s", dot && dot > name ? (int)(dot - path) : (int)strlen(path), path);
}

static int split_run(const void *options, char **operands) {
    struct split s = {.options = options};
    struct cli_trace trace;
    char prefix[3072];

    if (s.options->prefix && !*s.options->prefix)
        return cli_fail("--output: expected a prefix of file names, found an empty string");
    default_prefix(operands[0], prefix, sizeof prefix);
    if (cli_trace_open(&trace, operands[0], &s.options->stream, NULL) != CLI_OK) return CLI_FAILED;
    s.files = open_files(s.options->prefix ? s.options->prefix : prefix);
    int status = s.files ? close_files(s.files, split_messages(&s, &trace)) : CLI_FAILED;
    cli_trace_close(&trace);
    return status;
}

const struct cli_command cli_split = {
    .operands = "TRACE",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .size = sizeof(struct split_options),
    .run = split_run,
    .about = "Writes the messages of each source to a separate file, or splits the stream of one source at its\n"
             "synchronizing messages into parts that can be decoded independently. Messages are copied unchanged:\n"
             "SRC is kept, so the files are decoded with the same options. Idle bytes are dropped.",
    .examples = "  ntrace split --src-bits 4 trace.nex              trace-src0.nex trace-src1.nex ...\n"
                "  ntrace split --parts sync --part-size 1048576 trace.nex -o part",
};
