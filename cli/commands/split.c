#include "options/command.h"
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
    CLI_CHOICE(0, "by", "source|sync", S, by, BY_SOURCE,
               "what makes a new file: another source (PREFIX-srcN.nex), or a synchronizing message "
               "(PREFIX-partN.nex, numbered from 0)"),
    CLI_NUMBER(0, "every", "BYTES", S, every, 0, INT64_MAX, 0,
               "with --by sync: a part has at least so many bytes (default 0: a part for every synchronizing message)"),
    CLI_STRING('o', "output-file", "PREFIX", S, prefix,
               "how the names begin (default: the trace's name without ending)"),
    {0},
};
#undef S

static const struct cli_group groups[] = {
    CLI_OWN("options", split_table),
    CLI_GROUP("the stream", cli_stream_options, struct split_options, stream),
    {0},
};

struct split {
    const struct split_options *options;
    struct cli_split_files *pieces;
    uint32_t part; /* by sync: the one being written */
    uint64_t part_size;
};

static int write_by_source(struct split *s, const ntr_message *m) {
    return cli_split_files_write(s->pieces, "src", NTR_HAS(m, SRC) ? (uint32_t)m->src : 0, m->raw.data, m->raw.size);
}

static int write_by_sync(struct split *s, const ntr_message *m) {
    if (ntr_tcode_is_sync(m->tcode) && s->part_size && s->part_size >= (uint64_t)s->options->every) {
        if (cli_split_files_finish(s->pieces, s->part++) != CLI_OK) return CLI_FAILED;
        s->part_size = 0;
    }
    s->part_size += m->raw.size;
    return cli_split_files_write(s->pieces, "part", s->part, m->raw.data, m->raw.size);
}

/* Bytes that are no sound message belong to nobody: they are told and left out. */
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

/* "dir/trace.nex.zst" to "dir/trace". */
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
        return cli_fail("--output-file '': expected how names of files begin, found nothing");
    default_prefix(operands[0], prefix, sizeof prefix);
    if (cli_trace_open(&trace, operands[0], &s.options->stream) != CLI_OK) return CLI_FAILED;
    s.pieces = cli_split_files_open(s.options->prefix ? s.options->prefix : prefix);
    int status = s.pieces ? cli_split_files_close(s.pieces, split_messages(&s, &trace)) : CLI_FAILED;
    cli_trace_close(&trace);
    return status;
}

const struct cli_command cli_split = {
    .operands = "TRACE",
    .least = 1,
    .most = 1,
    .groups = groups,
    .size = sizeof(struct split_options),
    .run = split_run,
    .about =
        "Writes the messages of each source to a file of its own, as they are (SRC stays in them, so the files decode\n"
        "with the same options), or cuts the stream of one source at its synchronizing messages into parts that each\n"
        "decode alone. Idle bytes are left out.",
    .examples = "  ntrace split --src-bits 4 trace.nex              trace-src0.nex trace-src1.nex ...\n"
                "  ntrace split --by sync --every 1048576 trace.nex -o part",
};
