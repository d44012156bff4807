#include "command.h"
#include "defect.h"
#include "output.h"
#include "report.h"
#include "result.h"
#include "statistics.h"
#include "trace.h"

#include <stdlib.h>

struct stat_options {
    struct cli_stream stream;
    struct cli_result result;
};

static const struct cli_option stat_table[] = {
    CLI_CHOICE(0, "format", "text|jsonl", struct stat_options, result.format, CLI_FORMAT_TEXT,
               "form of the output: tables for people, or JSON lines"),
    {0},
};

static const struct cli_group groups[] = {
    CLI_OWN("options", stat_table),
    CLI_GROUP("output", cli_path_options, struct stat_options, result),
    CLI_GROUP("the stream", cli_stream_options, struct stat_options, stream),
    {0},
};

static int count_messages(struct cli_trace *trace, struct cli_statistics *statistics) {
    struct cli_defects defects = {trace->input.name, 0};
    ntr_message message;

    while (cli_trace_message(trace, &message) == NTR_OK) {
        if (message.defect) cli_defect_add(&defects, &trace->params, &message);
        cli_statistics_add(statistics, &message);
    }
    return cli_trace_status(trace, statistics->messages != 0, cli_defect_summary(&defects));
}

static int stat_trace(struct cli_trace *trace, struct cli_rows *rows) {
    struct cli_statistics *statistics = calloc(1, sizeof *statistics);

    if (!statistics) return cli_fail("out of memory");
    int status = count_messages(trace, statistics);
    if (status != CLI_FAILED)
        cli_statistics_write(statistics, trace->params.dialect, trace->input.name, ntr_reader_idle(&trace->reader),
                             rows);
    free(statistics);
    return status;
}

static int stat_run(const void *options, char **operands) {
    const struct stat_options *o = options;
    struct cli_trace trace;
    struct cli_output out;

    if (cli_trace_open(&trace, operands[0], &o->stream) != CLI_OK) return CLI_FAILED;
    int status = cli_output_open(&out, o->result.path);
    if (status == CLI_OK) {
        struct cli_rows rows = {&out, (enum cli_format)o->result.format, NULL};
        status = cli_output_close(&out, stat_trace(&trace, &rows));
    }
    cli_trace_close(&trace);
    return status;
}

const struct cli_command cli_stat = {
    .operands = "TRACE",
    .least = 1,
    .most = 1,
    .groups = groups,
    .size = sizeof(struct stat_options),
    .run = stat_run,
    .about =
        "Sizes of the stream, its mix of messages and fields, why it synchronizes and stops, and the share of each\n"
        "source. 'longest gap' is the longest run of bytes without a synchronizing message.",
    .examples = "  ntrace stat trace.nex\n"
                "  ntrace stat --src-bits 2 --format jsonl capture.nex.zst",
};
