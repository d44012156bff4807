#include "io/trace_facts.h"

#include <stdio.h>
#include <stdlib.h>

static void join(char *text, size_t size, const char *const *words, size_t count) {
    size_t used = 0;

    text[0] = 0;
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "", words[i]);
}

static void add(struct cli_trace_facts *f, ntr_analysis *answers, const char *label, const char *value) {
    if (value && *value) f->facts[answers->fact_count++] = (ntr_fact){label, value};
}

static void add_losses(struct cli_trace_facts *f, const ntr_capture *capture, ntr_analysis *answers) {
    f->losses = capture->loss_count ? calloc(capture->loss_count, sizeof *f->losses) : NULL;
    for (size_t i = 0; f->losses && i < capture->loss_count; i++) f->losses[i] = capture->losses[i].what;
    answers->losses = f->losses;
    answers->loss_count = f->losses ? capture->loss_count : 0;
}

void cli_trace_facts_find(struct cli_trace_facts *f, const struct cli_trace *trace, ntr_analysis *answers) {
    const ntr_capture *capture = trace->bundle ? ntr_bundle_capture(trace->bundle) : NULL;

    answers->facts = f->facts;
    add(f, answers, "trace", trace->input.name);
    if (!capture) return;
    join(f->command, sizeof f->command, capture->command, capture->command_count);
    add(f, answers, "program", f->command);
    add(f, answers, "ran on", capture->target);
    add(f, answers, "captured by", capture->tool);
    add(f, answers, "at", capture->date);
    add(f, answers, "one tick is a", capture->tick);
    add_losses(f, capture, answers);
}

void cli_trace_facts_release(struct cli_trace_facts *f) {
    free(f->losses);
    f->losses = NULL;
}
