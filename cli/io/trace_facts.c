/* Facts about a trace, for the answers that name them. */
#include "io/trace.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
