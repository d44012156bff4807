#include "commands/shared/decode_counts.h"
#include "options/diagnostics.h"

#include <inttypes.h>

int cli_part_counts_open(struct cli_part_counts *p, const struct cli_window *window, const struct cli_trace *trace,
                         const struct cli_begin *begin, bool mid_stream) {
    *p = (struct cli_part_counts){.events = window, .messages = *window, .many = cli_trace_many_sources(trace)};
    p->messages.one_source = false; /* as for the whole trace */
    if (ntr_reader_init(&p->reader, &trace->params) != NTR_OK)
        return cli_fail("%s: wrong parameters", trace->input.name);
    ntr_reader_begin(&p->reader, begin->offset, begin->message);
    if (mid_stream) ntr_reader_seek_start(&p->reader);
    return cli_message_window_open(&p->selected, &p->messages, trace);
}

void cli_part_counts_close(struct cli_part_counts *p) {
    cli_message_window_close(&p->selected);
}

bool cli_part_counts_bytes(struct cli_part_counts *p, ntr_bytes piece, bool last) {
    ntr_message message;
    bool behind = false;

    if (ntr_reader_feed(&p->reader, piece.data, piece.size, last) != NTR_OK) return false;
    while (!behind && ntr_reader_next(&p->reader, &message) == NTR_OK) {
        if (!cli_message_window_has(&p->selected, &message, &behind)) continue;
        p->counts.messages++;
        p->counts.bytes += message.size;
    }
    return true;
}

static void count_span(ntr_counts *counts, const ntr_event *e) {
    const uint64_t times = ntr_event_times(e);

    counts->spans += times;
    counts->instructions += times * e->instructions;
    counts->halfwords += times * e->halfwords;
    counts->branches += times * (e->end == NTR_SPAN_TAKEN || e->end == NTR_SPAN_NOT_TAKEN);
    counts->taken += times * (e->end == NTR_SPAN_TAKEN);
    counts->calls += times * (e->end == NTR_SPAN_CALL || e->end == NTR_SPAN_INDIRECT_CALL);
    counts->returns += times * (e->end == NTR_SPAN_RETURN);
    counts->exceptions += times * (e->end == NTR_SPAN_EXCEPTION || e->end == NTR_SPAN_TRAP);
    counts->interrupts += times * (e->end == NTR_SPAN_INTERRUPT);
}

bool cli_part_counts_event(struct cli_part_counts *p, const ntr_event *e) {
    const enum cli_place place = cli_window_event(p->events, e);

    /* Events of several sources are not in order of time. */
    p->behind |= place == CLI_BEHIND && (p->events->to.unit != CLI_UNIT_TIME || !p->many);
    if (place != CLI_INSIDE) return false;
    p->counts.gaps += e->kind == NTR_EVENT_GAP;
    if (e->kind == NTR_EVENT_SPAN) count_span(&p->counts, e);
    return true;
}

static void write_count(struct cli_output *out, enum cli_format format, bool first, const char *name, uint64_t value) {
    static const char *const forms[] = {"%s%s %" PRIu64 "\n", "%s\"%s\":%" PRIu64, "%s%s,%" PRIu64 "\n"};

    cli_output_print(out, forms[format], format != CLI_FORMAT_JSONL ? "" : first ? "{" : ",", name, value);
}

void cli_write_counts(struct cli_output *out, enum cli_format format, const ntr_counts *c) {
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"instructions", c->instructions},
        {"halfwords", c->halfwords},
        {"spans", c->spans},
        {"branches", c->branches},
        {"taken", c->taken},
        {"calls", c->calls},
        {"returns", c->returns},
        {"exceptions", c->exceptions},
        {"interrupts", c->interrupts},
        {"gaps", c->gaps},
        {"messages", c->messages},
        {"bytes", c->bytes},
    };

    if (format == CLI_FORMAT_CSV) cli_output_text(out, "name,value\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        write_count(out, format, i == 0, rows[i].name, rows[i].value);
    if (format == CLI_FORMAT_JSONL) cli_output_text(out, "}\n");
}
