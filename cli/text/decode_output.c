#include "text/decode_output.h"
#include "text/event_text.h"
#include "text/expand.h"
#include "text/insn_line.h"
#include "io/debug_files.h"
#include "io/memory.h"
#include "options/diagnostics.h"

#include <ntrace/export.h>
#include <ntrace/params.h>
#include <stdlib.h>
#include <string.h>

typedef void (*event_function)(struct cli_decode_output *o, const ntr_event *event);
typedef void (*spans_function)(struct cli_decode_output *o, const ntr_event *spans, size_t count);

struct cli_decode_output {
    struct cli_decode_settings settings;
    struct cli_output *out;
    event_function event;
    spans_function spans;
    struct cli_expand *expand;   /* pc, insn */
    struct cli_insn_lines lines; /* insn */
    struct cli_event_text text;
    bool *flowing; /* indexed by source: instructions were traced */
    uint64_t missing;
};

/* ---- one line per instruction */

/* A source that sends only events (ICT) has no instruction trace. The addresses of its events are then printed. */
static void event_without_flow(struct cli_decode_output *o, const ntr_event *e) {
    if (e->kind != NTR_EVENT_ICT || o->flowing[e->src % NTR_SOURCES_MAX] || e->flags & NTR_EVENT_ADDRESS_UNKNOWN)
        return;
    const struct cli_insn insn = {.span = e, .retired.address = e->address};
    char *line = cli_output_reserve(o->out, CLI_INSN_LINE_MAX);
    cli_output_commit(o->out, cli_pc_line(NULL, &insn, line));
}

static void expand_spans(struct cli_decode_output *o, const ntr_event *spans, size_t count) {
    for (size_t i = 0; i < count; i++) o->flowing[spans[i].src % NTR_SOURCES_MAX] = true;
    o->missing += cli_expand_spans(o->expand, spans, count, o->out);
}

static void expand_event(struct cli_decode_output *o, const ntr_event *e) {
    if (e->kind == NTR_EVENT_SYNC) o->flowing[e->src % NTR_SOURCES_MAX] = true;
    if (o->settings.show == CLI_SHOW_PC) {
        event_without_flow(o, e);
    } else if (o->settings.format == CLI_FORMAT_TEXT && e->kind != NTR_EVENT_NO_CODE) {
        cli_text_remark(&o->text, e);
    }
}

/* ---- one line per event */

static bool is_span(const ntr_event *e) {
    return e->kind == NTR_EVENT_SPAN || e->kind == NTR_EVENT_NO_CODE;
}

static inline bool is_call(const ntr_event *e) {
    return e->end != NTR_SPAN_CUT && e->end != NTR_SPAN_NOT_TAKEN && e->end != NTR_SPAN_TAKEN &&
           e->end != NTR_SPAN_JUMP && e->end != NTR_SPAN_INDIRECT_JUMP;
}

static inline bool is_shown(enum cli_show show, const ntr_event *e) {
    if (!is_span(e)) return true;
    return show == CLI_SHOW_CALL ? is_call(e) : show == CLI_SHOW_BRANCH ? e->end != NTR_SPAN_CUT : true;
}

size_t cli_decode_output_needed(enum cli_show show, const ntr_event *events, size_t count, ntr_event *to) {
    size_t needed = 0;

    for (size_t i = 0; i < count; i++)
        if (is_shown(show, &events[i])) to[needed++] = events[i];
    return needed;
}

static void put_event(struct cli_decode_output *o, size_t (*put)(const ntr_event *, char *, size_t),
                      const ntr_event *e) {
    cli_output_commit(o->out, put(e, cli_output_reserve(o->out, NTR_EVENT_TEXT_MAX), NTR_EVENT_TEXT_MAX));
}

static void json_event(struct cli_decode_output *o, const ntr_event *e) {
    if (is_shown(o->settings.show, e)) put_event(o, ntr_event_json, e);
}

static void csv_event(struct cli_decode_output *o, const ntr_event *e) {
    if (is_shown(o->settings.show, e)) put_event(o, ntr_event_csv, e);
}

static void text_spans(struct cli_decode_output *o, const ntr_event *spans, size_t count) {
    cli_text_spans(&o->text, spans, count);
}

static void text_branches(struct cli_decode_output *o, const ntr_event *spans, size_t count) {
    cli_text_branches(&o->text, spans, count);
}

/* The table below gives spans to text_spans and text_branches. */
static void span_event(struct cli_decode_output *o, const ntr_event *e) {
    (e->kind == NTR_EVENT_NO_CODE ? cli_text_no_code : cli_text_remark)(&o->text, e);
}

static void branch_event(struct cli_decode_output *o, const ntr_event *e) {
    (e->kind == NTR_EVENT_NO_CODE ? cli_text_no_code_branch : cli_text_remark)(&o->text, e);
}

static void call_event(struct cli_decode_output *o, const ntr_event *e) {
    (is_span(e) ? cli_text_call : cli_text_remark)(&o->text, e);
}

/* ---- text of an instrumentation channel */

static void itc_event(struct cli_decode_output *o, const ntr_event *e) {
    if (e->kind != NTR_EVENT_DATA || e->tag / 4 != o->settings.channel) return;
    for (unsigned i = 0; i < e->data_size && i < 8; i++) {
        char c = (char)(e->data >> (8 * i));
        if (c) cli_output_write(o->out, &c, 1);
    }
}

/* ---- data trace, watchpoints, data acquisition */

static bool is_data(const ntr_event *e) {
    return e->kind == NTR_EVENT_ACCESS || e->kind == NTR_EVENT_WATCHPOINT || e->kind == NTR_EVENT_DATA;
}

static void data_text(struct cli_decode_output *o, const ntr_event *e) {
    if (is_data(e)) cli_text_data(&o->text, e);
}

static void data_json(struct cli_decode_output *o, const ntr_event *e) {
    if (is_data(e)) put_event(o, ntr_event_json, e);
}

static void data_csv(struct cli_decode_output *o, const ntr_event *e) {
    if (is_data(e)) put_event(o, ntr_event_csv, e);
}

static void no_event(struct cli_decode_output *o, const ntr_event *e) {
    (void)o, (void)e;
}

/* ---- the table of outputs and formats */

static const struct {
    event_function event[3]; /* indexed by enum cli_format */
    spans_function spans[3]; /* NULL: `event` also prints spans */
    cli_render render[3];
    const char *csv_heading; /* NULL: column names of events */
} shows[] = {
    [CLI_SHOW_PC] = {{expand_event, expand_event, expand_event},
                     {expand_spans, expand_spans, expand_spans},
                     {cli_pc_line, cli_pc_json, cli_pc_csv},
                     "src,address\n"},
    [CLI_SHOW_INSN] = {{expand_event, expand_event, expand_event},
                       {expand_spans, expand_spans, expand_spans},
                       {cli_insn_text, cli_insn_json, cli_insn_csv},
                       cli_insn_csv_heading},
    [CLI_SHOW_BRANCH] = {{branch_event, json_event, csv_event}, {text_branches}, {0}, NULL},
    [CLI_SHOW_SPAN] = {{span_event, json_event, csv_event}, {text_spans}, {0}, NULL},
    [CLI_SHOW_CALL] = {{call_event, json_event, csv_event}, {0}, {0}, NULL},
    [CLI_SHOW_ITC] = {{itc_event, itc_event, itc_event}, {0}, {0}, ""},
    [CLI_SHOW_EVENT] = {{json_event, json_event, csv_event}, {0}, {0}, NULL},
    [CLI_SHOW_DATA] = {{data_text, data_json, data_csv}, {0}, {0}, NULL},
    [CLI_SHOW_NONE] = {{no_event, no_event, no_event}, {0}, {0}, ""},
};

static void write_heading(struct cli_decode_output *o) {
    const char *heading = shows[o->settings.show].csv_heading;

    if (o->settings.format != CLI_FORMAT_CSV || o->settings.part) return;
    if (heading)
        cli_output_text(o->out, heading);
    else
        put_event(o, ntr_event_csv, NULL);
}

/* Opens disassembler and debug information. Both are optional; a missing disassembler is reported once. */
static void open_annotations(struct cli_decode_output *o) {
    const char *why;

    o->lines.disasm = cli_disasm_open(&why);
    if (!o->lines.disasm && !o->settings.part) cli_note("no disassembly: %s", why);
    o->lines.source = o->settings.source;
    if (!o->lines.source) ntr_debug_info_new(o->settings.program, &cli_memory, &o->lines.source);
    o->lines.by_source = o->settings.by_source;
}

static bool open_parts(struct cli_decode_output *o) {
    enum cli_show show = o->settings.show;
    cli_render render = shows[show].render[o->settings.format];

    o->flowing = calloc(NTR_SOURCES_MAX, sizeof *o->flowing);
    if (!cli_event_text_open(&o->text, o->settings.program) || !o->flowing) return false;
    if (show == CLI_SHOW_INSN) open_annotations(o);
    if (!render) return true;
    bool by_source = o->settings.by_source && render != cli_pc_line;
    o->expand = cli_expand_open(o->settings.program, render, &o->lines, by_source, render == cli_insn_json);
    return o->expand != NULL;
}

struct cli_decode_output *cli_decode_output_open(const struct cli_decode_settings *settings, struct cli_output *out) {
    struct cli_decode_output *o = calloc(1, sizeof *o);

    if (o) {
        o->settings = *settings;
        o->out = out;
        o->event = shows[settings->show].event[settings->format];
        o->spans = shows[settings->show].spans[settings->format];
    }
    if (!o || !open_parts(o)) {
        cli_decode_output_close(o);
        cli_note("out of memory");
        return NULL;
    }
    o->text.out = out;
    o->text.by_source = settings->by_source;
    write_heading(o);
    return o;
}

void cli_decode_output_close(struct cli_decode_output *o) {
    if (!o) return;
    cli_expand_close(o->expand);
    cli_disasm_close(o->lines.disasm);
    if (!o->settings.source) cli_debug_info_close(o->lines.source);
    cli_event_text_close(&o->text);
    free(o->flowing);
    free(o);
}

void cli_decode_output_events(struct cli_decode_output *o, const ntr_event *events, size_t count) {
    while (count) {
        size_t some = o->spans ? cli_count_spans(events, count) : 0;
        if (some)
            o->spans(o, events, some);
        else
            o->event(o, &events[some++]);
        events += some;
        count -= some;
    }
}

void cli_decode_output_event(struct cli_decode_output *o, const ntr_event *event) {
    cli_decode_output_events(o, event, 1);
}

ntr_debug_info *cli_decode_output_source(const struct cli_decode_output *o) {
    return o->lines.source;
}

uint64_t cli_decode_output_missing(const struct cli_decode_output *o) {
    return o->missing;
}

enum cli_span_place cli_decode_output_spans(enum cli_show show, enum cli_format format) {
    switch (show) {
    case CLI_SHOW_CALL:
        return format == CLI_FORMAT_TEXT ? CLI_SPANS_IN_ORDER : CLI_SPANS_INDEPENDENT; /* text is indented */
    case CLI_SHOW_ITC:
    case CLI_SHOW_DATA:
    case CLI_SHOW_NONE: return CLI_SPANS_NOWHERE;
    default: return CLI_SPANS_INDEPENDENT;
    }
}
