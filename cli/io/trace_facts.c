/* Facts about a trace: its sources, and, when it was read, its gaps and the status of the command; its origin, for the
 * answers that name it. */
#include "io/trace.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cli_trace_many_sources(const struct cli_trace *trace) {
    return trace->params.src_bits && !(trace->bundle && ntr_bundle_capture(trace->bundle)->source_count == 1);
}

const ntr_bundle_source *cli_trace_source(const struct cli_trace *trace, uint16_t src) {
    const ntr_capture_info *capture = trace->bundle ? ntr_bundle_capture(trace->bundle) : NULL;

    for (size_t i = 0; capture && i < capture->source_count; i++)
        if (capture->sources[i].src == src) return &capture->sources[i];
    return NULL;
}

const char *cli_trace_hint(const struct cli_trace *trace) {
    const bool known = trace->fit.other || trace->bundle || trace->stream->infer || cli_stream_given(trace->stream);

    return known ? "" : "; the stream parameters are not given; --auto infers them";
}

void cli_trace_reserved(const struct cli_trace *trace, uint64_t reserved) {
    if (reserved)
        cli_note("%s: messages with a reserved TCODE or with bytes after their last field: %" PRIu64
                 "; the stream may be damaged, 'ntrace check' reports where",
                 trace->input.name, reserved);
}

int cli_trace_totals(struct cli_trace *trace, const ntr_counts *counts) {
    cli_trace_reserved(trace, counts->doubtful);
    if (!counts->gaps) return CLI_OK;
    cli_trace_explains(trace);
    if (!trace->fit.other)
        cli_note("%s: %" PRIu64 " gaps; 'ntrace decode --show none' reports where%s", trace->input.name, counts->gaps,
                 cli_trace_hint(trace));
    return CLI_DEFECTS;
}

int cli_trace_status(const struct cli_trace *trace, bool any, int status) {
    if (trace->failed) return CLI_FAILED;
    if (status != CLI_OK) return status;
    if (!any)
        cli_note("%s: byte 0x0: expected messages, found %s", trace->input.name,
                 cli_input_position(&trace->input) ? "none" : "an empty file");
    return any && !trace->input.damaged ? CLI_OK : CLI_DEFECTS;
}

int cli_trace_part_status(const struct cli_trace *trace, const struct cli_window *window, bool any, int status) {
    const bool chosen = !cli_window_is_whole(window) && cli_input_position(&trace->input);

    if (chosen && !any && status == CLI_OK && !trace->failed) {
        cli_window_report_empty(window, trace->input.name);
        status = CLI_DEFECTS;
    }
    return cli_trace_status(trace, any || chosen, status);
}

/* ---- origin */

static void join(char *text, size_t size, const char *const *words, size_t count) {
    size_t used = 0;

    text[0] = 0;
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "", words[i]);
}

static void add(struct cli_trace_facts *f, ntr_analysis *analysis, const char *label, const char *value) {
    if (value && *value) f->facts[analysis->fact_count++] = (ntr_fact){label, value};
}

static void add_losses(struct cli_trace_facts *f, const ntr_capture_info *capture, ntr_analysis *analysis) {
    f->losses = capture->loss_count ? calloc(capture->loss_count, sizeof *f->losses) : NULL;
    for (size_t i = 0; f->losses && i < capture->loss_count; i++) f->losses[i] = capture->losses[i].what;
    analysis->losses = f->losses;
    analysis->loss_count = f->losses ? capture->loss_count : 0;
}

void cli_trace_facts_find(struct cli_trace_facts *f, const struct cli_trace *trace, ntr_analysis *analysis) {
    const ntr_capture_info *capture = trace->bundle ? ntr_bundle_capture(trace->bundle) : NULL;

    analysis->facts = f->facts;
    /* The same text wherever the command runs, as in partial answers. */
    const char *path = realpath(trace->input.name, f->path);
    add(f, analysis, "trace", path ? path : trace->input.name);
    if (trace->fit.other || trace->fit.open) {
        f->warning = &f->facts[analysis->fact_count++];
        *f->warning = (ntr_fact){"warning", ""};
        cli_trace_facts_judged(f, trace);
    }
    if (!capture) return;
    join(f->command, sizeof f->command, capture->command, capture->command_count);
    add(f, analysis, "program", f->command);
    add(f, analysis, "ran on", capture->target);
    add(f, analysis, "captured by", capture->tool);
    add(f, analysis, "at", capture->date);
    add(f, analysis, "one tick is a", capture->tick);
    add_losses(f, capture, analysis);
}

void cli_trace_facts_judged(struct cli_trace_facts *f, const struct cli_trace *trace) {
    if (f->warning && trace->fit.other) f->warning->value = "the program is not the one that ran";
}

void cli_trace_facts_release(struct cli_trace_facts *f) {
    free(f->losses);
    f->losses = NULL;
}
