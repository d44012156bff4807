#include "options/options.h"
#include "io/defects.h"
#include "io/split_files.h"
#include "options/diagnostics.h"
#include "io/trace.h"

#include <stdio.h>
#include <string.h>

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

struct split {
    const struct split_options *options;
    struct cli_split_files *files;
    uint32_t part; /* with --parts sync: number of the current part */
    uint64_t part_size;
};

static int write_by_source(struct split *s, const ntr_message *m) {
    return cli_split_files_write(s->files, "src", NTR_HAS(m, SRC) ? (uint32_t)m->src : 0, m->raw.data, m->raw.size);
}

static int write_by_sync(struct split *s, const ntr_message *m) {
    if (ntr_tcode_is_sync(m->tcode) && s->part_size && s->part_size >= (uint64_t)s->options->every) {
        if (cli_split_files_finish(s->files, s->part++) != CLI_OK) return CLI_FAILED;
        s->part_size = 0;
    }
    s->part_size += m->raw.size;
    return cli_split_files_write(s->files, "part", s->part, m->raw.data, m->raw.size);
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
    s.files = cli_split_files_open(s.options->prefix ? s.options->prefix : prefix);
    int status = s.files ? cli_split_files_close(s.files, split_messages(&s, &trace)) : CLI_FAILED;
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
