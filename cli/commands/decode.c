#include "commands/decode/run.h"
#include "options/options.h"
#include "commands/shared/decode_threads.h"
#include "io/debug_files.h"
#include "io/document.h"
#include "io/follow.h"
#include "options/diagnostics.h"

#define S struct decode_options
static const struct cli_option decode_table[] = {
    CLI_CHOICE(
        0, "show", CLI_SHOW_NAMES, S, output, CLI_SHOW_SPAN,
        "what to print: pc (program counters), insn (instructions), branch, span (default), call, count (totals), itc "
        "(text of an instrumentation channel), event (all events, as JSON lines), none, or data (loads and stores, "
        "watchpoints, data acquisition)"),
    CLI_NUMBER(0, "channel", "N", S, channel, 0, 63, 0, "with --show itc: channel number, 0 to 63 (default 0)"),
    CLI_NUMBER('j', "jobs", "N", S, jobs, 1, 256, 0, CLI_JOBS_HELP),
    CLI_DEBUG_PATH(S, debug_path),
    CLI_FLAG(
        'f', "follow", S, follow,
        "read on as the trace grows, until interrupted: a file, a pipe, or a TCP stream (tcp:HOST:PORT); sources are "
        "not ordered by time"),
    CLI_FLAG(0, "strict", S, strict, "stop at the first damaged message or gap"),
    CLI_PARTS(S),
    CLI_FLAG(0, "mid-stream", S, mid_stream, "the stream starts in the middle of a message (a wrapped buffer)"),
    {0},
};
#undef S

static const struct cli_group groups[] = {
    CLI_OWN("options", decode_table),
    CLI_GROUP("program", cli_image_options, struct decode_options, images),
    CLI_GROUP("output", cli_result_options, struct decode_options, result),
    CLI_GROUP("window", cli_selection_options, struct decode_options, selection),
    CLI_GROUP("stream", cli_stream_options, struct decode_options, stream),
    {0},
};

static bool needs_program(const struct decode_options *o) {
    return o->output != CLI_SHOW_EVENT && o->output != CLI_SHOW_ITC && o->output != CLI_SHOW_DATA;
}

/* Returns whether the output has symbols. */
static bool shows_names(const struct decode_options *o) {
    return o->output == CLI_SHOW_INSN || o->output == CLI_SHOW_BRANCH || o->output == CLI_SHOW_SPAN ||
           o->output == CLI_SHOW_CALL || o->output == CLI_SHOW_DATA;
}

static int decode_trace(struct decode *d) {
    const struct decode_options *o = d->options;

    d->trace.only = d->window.one_source ? d->window.source + 1 : 0;
    d->trace.whole = !cli_window_is_part(&d->window) && !d->options->strict;
    if (cli_trace_program(&d->trace, &o->images, &o->stream, needs_program(o)) != CLI_OK) return CLI_FAILED;
    if (cli_trace_check_window(&d->trace, &d->window) != CLI_OK) return CLI_FAILED;
    d->defects.explained = cli_trace_explains;
    d->defects.user = &d->trace;
    if (shows_names(o) && cli_debug_files_load(d->trace.program, o->debug_path) != CLI_OK) return CLI_FAILED;
    if (cli_decode_open(d) != CLI_OK) return CLI_FAILED;
    d->quality.program = d->trace.program;
    if (d->rated && !d->part) cli_quality_count(&d->quality, &d->trace);
    if (d->rated && cli_trace_fit(&d->trace) != CLI_OK) return CLI_FAILED;
    if (cli_document_open(&d->out, &d->options->result, cli_decode_form(d)) != CLI_OK) return CLI_FAILED;
    int status = d->options->output == CLI_SHOW_COUNT ? cli_decode_show_totals(d) : cli_decode_show(d, NULL);
    cli_trace_reserved(&d->trace, d->reserved);
    d->defects.hint = cli_trace_hint(&d->trace);
    int defects = cli_defect_summary(&d->defects);
    status = cli_trace_part_status(&d->trace, &d->window, d->any, status == CLI_OK ? defects : status);
    if (d->rated) cli_quality_images(&d->quality, &d->trace);
    if (status != CLI_FAILED) cli_quality_document(&d->quality, &d->out);
    return cli_output_close(&d->out, status);
}

/* Shows what was decoded so far while the trace does not grow. */
static bool show_now(void *user) {
    struct decode *d = user;
    if (d->out.used) cli_output_flush(&d->out);
    return !d->out.done;
}

static int decode_run(const void *options, char **operands) {
    struct decode d = {.options = options, .defects.file = operands[0]};

    if (d.options->output == CLI_SHOW_ITC && d.options->result.format == CLI_FORMAT_JSON)
        return cli_fail("--show itc prints the text of a channel; --show event --format json has its messages");
    if (d.options->follow) cli_follow_begin(show_now, &d);

    if (cli_selection_window(&d.options->selection, &d.window) != CLI_OK) return CLI_FAILED;
    if (d.options->partial || cli_partials_seen(operands[0])) return cli_decode_partial(&d, operands[0]);
    if (d.options->shard)
        return cli_fail(
            "--shard %s: expected --partial FILE too, which writes this part's answer; 'ntrace combine' adds the parts",
            d.options->shard);
    if (cli_trace_open(&d.trace, operands[0], &d.options->stream, &d.options->images) != CLI_OK) return CLI_FAILED;
    d.trace.index_file = d.options->index;
    d.rated = d.options->result.format == CLI_FORMAT_JSON;
    d.quality.mid_stream = d.options->mid_stream;
    d.trace.no_names = !d.rated && (d.options->output == CLI_SHOW_COUNT || d.options->output == CLI_SHOW_NONE);
    int status = decode_trace(&d);
    ntr_decoder_free(d.decoder);
    ntr_event_sorter_free(d.sorter);
    cli_quality_release(&d.quality);
    cli_trace_close(&d.trace);
    return status;
}

const struct cli_command cli_decode = {
    .operands = "TRACE",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .size = sizeof(struct decode_options),
    .run = decode_run,
    .next = "view",
    .about = "Reconstructs the execution from the trace and the image of the program.\n"
             "\n"
             "Where the trace does not determine the execution (lost or damaged messages, code without image) there\n"
             "is a gap. Each gap is reported on standard error with its place and reason. Decoding resumes at the\n"
             "next synchronizing message, and the exit status is 1. docs/output.md describes the forms of the\n"
             "output.",
    .examples = "  ntrace decode trace.nex -e program.elf --show insn\n"
                "  ntrace decode - -e program.elf --show pc <trace.nex.zst\n"
                "  ntrace decode capture.nex -e vmlinux -e app:ctx=738 --src-bits 2 --src 1 --show call\n"
                "  ntrace decode trace.nex -e libfoo.so@0x4000801000 -e app --show count",
};
