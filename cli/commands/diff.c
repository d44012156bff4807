#include "options/options.h"
#include "io/debug_files.h"
#include "io/diff_side.h"
#include "io/document.h"
#include "io/memory.h"
#include "io/output.h"
#include "options/diagnostics.h"
#include "options/selection.h"
#include "text/quality.h"
#include "text/symbol_text.h"

#include <inttypes.h>
#include <ntrace/debug_info.h>
#include <stdlib.h>
#include <string.h>

struct diff_options {
    struct cli_stream stream;
    struct cli_images images;
    struct cli_result result;
    struct cli_selection selection; /* from, to */
    int64_t src, most;
    int pc, no_time;
};

#define S struct diff_options
static const struct cli_option diff_table[] = {
    CLI_FLAG(0, "pc-list", S, pc, "B is a list of program counters, one per line, as written by 'decode --show pc'"),
    CLI_FLAG(0, "no-time", S, no_time, "do not compare timestamps"),
    CLI_NUMBER(0, "src", "N", S, src, 0, NTR_SOURCES_MAX - 1, -1, "compare only this source"),
    CLI_NUMBER(0, "max", "N", S, most, 1, 1000000, 100, "print at most N differences (default 100)"),
    CLI_CHOICE(0, "format", "text|jsonl|json", S, result.format, CLI_FORMAT_TEXT,
               "output format (default text); json: one document with the differences"),
    {0},
};
#undef S

static const struct cli_group groups[] = {
    CLI_OWN("options", diff_table),
    CLI_GROUP("program", cli_image_options, struct diff_options, images),
    CLI_GROUP("output", cli_path_options, struct diff_options, result),
    CLI_GROUP("window", cli_selection_range_options, struct diff_options, selection),
    CLI_GROUP("stream", cli_stream_options, struct diff_options, stream),
    {0},
};

struct diff {
    const struct diff_options *options;
    char **paths;
    struct cli_window window; /* of each trace */
    struct cli_output out;
    struct cli_side a, b;
    ntr_debug_info *source;
    int hart;                    /* source being compared; -1: the stream has only one */
    uint64_t differences, equal, gaps; /* totals of all sources compared so far */
    bool rated;                        /* the answer has its quality: that of A, and of B */
    struct cli_quality quality[2];
};

/* ---- printing */

static void print_place(struct diff *d, const ntr_execution_step *s, uint64_t address) {
    char symbol[CLI_SYMBOL_MAX + 8];
    ntr_frame frame = {0};

    char *end = cli_put_symbol(symbol, " <", ">", d->a.trace.program, ntr_place_at(&s->context, s->offset, address));
    cli_output_print(&d->out, "0x%" PRIx64 "%.*s", address, (int)(end - symbol), symbol);
    if (d->source && ntr_debug_info_frames(d->source, ntr_place_at(&s->context, s->offset, address), &frame, 1) &&
        frame.file)
        cli_output_text(&d->out, " "), cli_output_source(&d->out, frame.file, frame.line);
}

static void print_text(struct diff *d, const char *name, const struct cli_side *side, const ntr_execution_step *s) {
    static const char *const kinds[] = {"", "a gap after ", "tracing stops at ", ""};

    cli_output_print(&d->out, "  %s ", name);
    if (s->kind == NTR_STEP_END) {
        cli_output_text(&d->out, "is at its end\n");
        return;
    }
    if (side->is_list)
        cli_output_print(&d->out, "line %" PRIu64 "  ", s->message);
    else
        cli_output_print(&d->out, "#%" PRIu64 " @0x%" PRIx64 "  ", s->message, s->offset);
    cli_output_text(&d->out, kinds[s->kind]);
    print_place(d, s, s->address);
    if (s->kind == NTR_STEP_RUN) {
        cli_output_print(&d->out, ", %" PRIu64 " instructions, %s -> ", s->instructions, ntr_span_end_name(s->end));
        print_place(d, s, s->target);
        if (s->timed) cli_output_print(&d->out, ", time %" PRIu64, s->time);
        if (s->context.has_scontext) cli_output_print(&d->out, ", scontext 0x%" PRIx64, s->context.scontext);
        if (s->context.prv != NTR_PRV_UNKNOWN) cli_output_print(&d->out, ", prv %u", s->context.prv);
    }
    cli_output_text(&d->out, "\n");
}

static void print_json(struct diff *d, const char *name, const ntr_execution_step *s) {
    static const char *const kinds[] = {"run", "gap", "stop", "pc", "end"};

    cli_output_print(&d->out, ",\"%s\":{\"kind\":\"%s\"", name, kinds[s->kind]);
    if (s->kind != NTR_STEP_END)
        cli_output_print(&d->out, ",\"message\":%" PRIu64 ",\"offset\":%" PRIu64 ",\"address\":\"0x%" PRIx64 "\"",
                         s->message, s->offset, s->address);
    if (s->kind == NTR_STEP_RUN)
        cli_output_print(&d->out, ",\"instructions\":%" PRIu64 ",\"end\":\"%s\",\"target\":\"0x%" PRIx64 "\"",
                         s->instructions, ntr_span_end_name(s->end), s->target);
    if (s->kind == NTR_STEP_RUN && s->timed) cli_output_print(&d->out, ",\"time\":%" PRIu64, s->time);
    cli_output_text(&d->out, "}");
}

static void print_difference(struct diff *d, const ntr_difference *difference) {
    static const char *const kinds[] = {"execution", "gap", "context", "time"};
    const uint64_t equal = d->equal + difference->equal;
    const char *kind = kinds[difference->kind];

    d->differences++;
    if (d->options->result.format != CLI_FORMAT_TEXT) {
        cli_output_print(&d->out, "{\"difference\":%" PRIu64 ",\"kind\":\"%s\",\"src\":%d,\"after\":%" PRIu64,
                         d->differences, kind, d->hart < 0 ? 0 : d->hart, equal);
        print_json(d, "a", difference->a);
        print_json(d, "b", difference->b);
        cli_output_text(&d->out, "}\n");
        return;
    }
    cli_output_print(&d->out, "difference %" PRIu64 ": %s", d->differences, kind);
    if (d->hart >= 0) cli_output_print(&d->out, " of source %d", d->hart);
    cli_output_print(&d->out, ", after %" PRIu64 " equal instructions\n", equal);
    print_text(d, "A", &d->a, difference->a);
    print_text(d, "B", &d->b, difference->b);
}

/* ---- comparing */

static int compare(struct diff *d, ntr_comparison *comparison) {
    const ntr_difference *difference;
    ntr_status status = NTR_OK;

    while (!d->out.done && d->differences < (uint64_t)d->options->most &&
           (status = ntr_comparison_next(comparison, &difference)) == NTR_OK) {
        print_difference(d, difference);
        if (difference->last)
            cli_note("cannot be aligned from difference %" PRIu64
                     " on: no common execution within %d steps; the rest is not "
                     "compared",
                     d->differences, NTR_DIFFERENCE_WINDOW);
    }
    d->equal += ntr_comparison_equal(comparison);
    if (status >= 0) return CLI_OK;
    if (d->a.failed || d->b.failed) return CLI_FAILED; /* the failure of an input was reported when it happened */
    return cli_fail("%s", ntr_comparison_error(comparison));
}

static int compare_sides(struct diff *d) {
    ntr_comparison_config config;

    ntr_comparison_config_init(&config);
    config.a = &d->a.execution;
    config.b = &d->b.execution;
    config.program = d->a.trace.program;
    config.ignore_time = d->options->no_time != 0;
    ntr_comparison *comparison;
    ntr_comparison_new(&config, &comparison);
    if (!comparison) return cli_fail("out of memory");
    int status = compare(d, comparison);
    for (unsigned side = 0; side < 2; side++) {
        const uint64_t gaps = ntr_comparison_gaps(comparison, side);
        cli_side_report(side ? &d->b : &d->a, gaps);
        d->gaps += gaps;
    }
    ntr_comparison_free(comparison);
    return status;
}

/* Lets the quality of a side take what is compared. Messages are counted with the first source. */
static int rate(const struct diff *d, struct cli_side *side, struct cli_quality *q) {
    if (!d->rated) return CLI_OK;
    if (!q->executed && !cli_window_is_part(&d->window)) cli_quality_count(q, &side->trace);
    q->program = side->trace.program;
    side->take = cli_quality_take;
    side->take_user = q;
    return cli_trace_fit(&side->trace);
}

static void end_rating(const struct diff *d, struct cli_side *side, struct cli_quality *q) {
    if (!d->rated || side->is_list) return;
    cli_quality_images(q, &side->trace);
    if (side->status != NTR_END || side->at != side->count) q->read = false; /* the comparison ended before */
}

static int open_sides(struct diff *d) {
    const struct diff_options *o = d->options;

    d->a = (struct cli_side){0};
    d->b = (struct cli_side){0};
    int status = cli_side_open(&d->a, d->paths[0], &o->stream, &o->images, &d->window, d->hart);
    if (status == CLI_OK) status = rate(d, &d->a, &d->quality[0]);
    if (status != CLI_OK) return status;
    ntr_debug_info_new(d->a.trace.program, &cli_memory, &d->source);
    if (o->pc) return cli_side_open_list(&d->b, d->paths[1], ntr_program_xlen(d->a.trace.program));
    status = cli_side_open(&d->b, d->paths[1], &o->stream, &o->images, &d->window, d->hart);
    return status == CLI_OK ? rate(d, &d->b, &d->quality[1]) : status;
}

static int compare_source(struct diff *d, int hart) {
    d->hart = hart;
    int status = open_sides(d);
    if (status == CLI_OK) status = compare_sides(d);
    if (d->a.failed || d->b.failed) status = CLI_FAILED;
    if (status == CLI_OK) {
        end_rating(d, &d->a, &d->quality[0]);
        end_rating(d, &d->b, &d->quality[1]);
    }
    cli_debug_info_close(d->source);
    d->source = NULL;
    cli_side_close(&d->a);
    cli_side_close(&d->b);
    return status;
}

/* ---- sources */

/* Sets found[] for the sources of a trace. Sets *many if its messages carry SRC. */
static int find_sources(const struct diff *d, const char *path, bool *found, bool *many) {
    struct cli_trace trace;
    ntr_message message;

    int status = cli_trace_open(&trace, path, &d->options->stream, &d->options->images);
    if (status == CLI_OK) status = cli_trace_program(&trace, &d->options->images, &d->options->stream, true);
    if (status == CLI_OK && cli_trace_many_sources(&trace)) {
        *many = true;
        if (!strcmp(path, "-")) status = cli_fail("-: several sources: choose one with --src");
        while (status == CLI_OK && cli_trace_message(&trace, &message) == NTR_OK)
            if (NTR_HAS(&message, SRC)) found[message.src % NTR_SOURCES_MAX] = true;
    }
    cli_trace_close(&trace);
    return status;
}

static int compare_sources(struct diff *d) {
    bool found[NTR_SOURCES_MAX] = {false}, many = false;
    int status = CLI_OK;

    if (d->options->src >= 0) return compare_source(d, (int)d->options->src);
    for (int i = 0; i < (d->options->pc ? 1 : 2) && status == CLI_OK; i++)
        if (strcmp(d->paths[i], "-") != 0) status = find_sources(d, d->paths[i], found, &many);
    if (status != CLI_OK) return status;
    if (!many) return compare_source(d, -1);
    for (int i = 0; i < NTR_SOURCES_MAX && status == CLI_OK; i++)
        if (found[i]) status = compare_source(d, i);
    return status;
}

/* Ends the document with the quality of both traces together. */
static void end_document(struct diff *d, int status) {
    if (d->rated && status != CLI_FAILED) {
        if (!d->options->pc) cli_quality_add(&d->quality[0], &d->quality[1], false);
        cli_quality_document(&d->quality[0], &d->out);
    } else {
        cli_document_end(&d->out, NULL);
    }
    for (unsigned side = 0; side < 2; side++) cli_quality_release(&d->quality[side]);
}

/* Reports what keeps executions without a difference from being the same. */
static int check_same(struct diff *d) {
    if (d->differences) return CLI_DEFECTS;
    const bool empty = !d->equal && !cli_window_is_whole(&d->window);
    if (empty) cli_window_report_empty(&d->window, d->paths[0]);
    if (d->options->result.format == CLI_FORMAT_TEXT)
        cli_output_print(&d->out, "same%s: %" PRIu64 " instructions\n", d->gaps ? ", outside of gaps" : "", d->equal);
    return empty || d->gaps ? CLI_DEFECTS : CLI_OK;
}

static int diff_run(const void *options, char **operands) {
    struct diff *d = calloc(1, sizeof *d);

    if (!d) return cli_fail("out of memory");
    d->options = options;
    d->paths = operands;
    int status = cli_selection_window(&d->options->selection, &d->window);
    const struct cli_result result = cli_result_of_third(d->options->result);
    d->rated = result.format == CLI_FORMAT_JSON;
    if (status == CLI_OK) status = cli_document_open(&d->out, &result, "diff");
    if (status == CLI_OK) {
        status = compare_sources(d);
        d->window.one_source = d->options->src >= 0;
        d->window.source = (uint16_t)d->options->src;
        if (status == CLI_OK) status = check_same(d);
        end_document(d, status);
        status = cli_output_close(&d->out, status);
    }
    free(d);
    return status;
}

const struct cli_command cli_diff = {
    .operands = "A B",
    .min_operands = 2,
    .max_operands = 2,
    .groups = groups,
    .size = sizeof(struct diff_options),
    .run = diff_run,
    .next = "view",
    .about =
        "Compares the executions of two traces. Reports differences in execution, context and time; how an\n"
        "execution is divided into messages is not compared. Times are compared where every encoder sends a\n"
        "message immediately: at uninferable jumps, returns that were not inferred, and traps.\n"
        "\n"
        "After a difference the comparison continues at the nearest place where both executions are equal\n"
        "again, up to 32,768 steps away; after a gap, at the place from which most of what follows is equal. A step\n"
        "is straight-line code up to the next taken branch, jump or trap.\n"
        "Each source is compared separately. The exit status is 0 when the executions are equal, 1 when they\n"
        "differ or a trace has gaps, which are not compared, 2 when an input cannot be read.\n"
        "\n"
        "--from and --until apply to both traces; where their messages differ, only times select the same part.\n"
        "Stream options apply to both traces. With a capture bundle or --auto, each trace has its own\n"
        "parameters.",
    .examples = "  ntrace diff rtl.nex model.nex -e program.elf\n"
                "  ntrace diff trace.nex expected.pc --pc-list -e program.elf",
};
