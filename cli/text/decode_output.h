/* Outputs of `ntrace decode`: which events each --show prints, and in which format. */
#ifndef CLI_TEXT_DECODE_OUTPUT_H
#define CLI_TEXT_DECODE_OUTPUT_H

#include "io/output.h"
#include "options/options.h"

#include <ntrace/debug_info.h>
#include <ntrace/event.h>
#include <ntrace/program.h>

/* Names of --show, in the order of enum cli_show. */
#define CLI_SHOW_NAMES "pc|insn|branch|span|call|count|itc|event|none|data"
enum cli_show {
    CLI_SHOW_PC,
    CLI_SHOW_INSN,
    CLI_SHOW_BRANCH,
    CLI_SHOW_SPAN,
    CLI_SHOW_CALL,
    CLI_SHOW_COUNT, /* totals; not printed from events */
    CLI_SHOW_ITC,
    CLI_SHOW_EVENT,
    CLI_SHOW_NONE,
    CLI_SHOW_DATA,
};

struct cli_decode_settings {
    enum cli_show show;
    enum cli_format format;
    const ntr_program *program;
    bool by_source;   /* the trace has several sources: text lines start with the source */
    unsigned channel; /* with CLI_SHOW_ITC */
    bool part;        /* the output is a part of another one: no heading */
    ntr_debug_info
        *source; /* with CLI_SHOW_INSN: source lines, shared with the other output; NULL: opened by the output */
};

/* How spans may be printed when several threads decode. */
enum cli_span_place {
    CLI_SPANS_IN_ORDER, /* in stream order: the output depends on earlier spans */
    CLI_SPANS_INDEPENDENT,    /* in any order, each thread with an output opened as part */
    CLI_SPANS_NOWHERE,  /* spans are not printed */
};
/* Returns how the spans of `show` may be printed. */
enum cli_span_place cli_decode_output_spans(enum cli_show show, enum cli_format format);

/* Copies the events that the output needs: all but spans that leave no trace in it. Returns their number. */
size_t cli_decode_output_needed(enum cli_show show, const ntr_event *events, size_t count, ntr_event *to);

struct cli_decode_output;

/* Opens an output and writes the heading of the format, if it has one. Returns NULL after reporting that there is no
 * memory. */
struct cli_decode_output *cli_decode_output_open(const struct cli_decode_settings *settings, struct cli_output *out);
void cli_decode_output_close(struct cli_decode_output *output);

/* Prints an event, or several, which is faster. */
void cli_decode_output_event(struct cli_decode_output *output, const ntr_event *event);
void cli_decode_output_events(struct cli_decode_output *output, const ntr_event *events, size_t count);

/* Returns how many of the events are spans, up to the first other one. */
static inline size_t cli_count_spans(const ntr_event *events, size_t count) {
    size_t spans = 0;

    while (spans < count && events[spans].kind == NTR_EVENT_SPAN) spans++;
    return spans;
}

/* Returns the source lines of the output, or NULL. */
ntr_debug_info *cli_decode_output_source(const struct cli_decode_output *output);

/* Returns the number of spans without code in any image (pc, insn). */
uint64_t cli_decode_output_missing(const struct cli_decode_output *output);

#endif
