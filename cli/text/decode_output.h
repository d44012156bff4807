/* The answers of 'ntrace decode': which events each --output shows, and in which form. */
#ifndef CLI_TEXT_DECODE_OUTPUT_H
#define CLI_TEXT_DECODE_OUTPUT_H

#include "io/output.h"
#include "options/result.h"

#include <ntrace/event.h>
#include <ntrace/program.h>

/* The order of --output's choices. */
#define CLI_SHOW_NAMES "pc|insn|branch|span|call|count|itc|event|none"
enum cli_show {
    CLI_SHOW_PC,
    CLI_SHOW_INSN,
    CLI_SHOW_BRANCH,
    CLI_SHOW_SPAN,
    CLI_SHOW_CALL,
    CLI_SHOW_COUNT, /* not made from events */
    CLI_SHOW_ITC,
    CLI_SHOW_EVENT,
    CLI_SHOW_NONE,
};

struct cli_decode_settings {
    enum cli_show show;
    enum cli_format format;
    const ntr_program *program;
    bool by_source;   /* several sources may come: text lines start with the source */
    unsigned channel; /* itc */
    bool part;        /* of an output: no heading */
};

/* Who may see the spans, when many threads decode. */
enum cli_span_place {
    CLI_SPANS_IN_ORDER, /* the output depends on the spans before, or on what only one thread may use */
    CLI_SPANS_INDEPENDENT,    /* any output, opened as part */
    CLI_SPANS_NOWHERE,  /* nobody wants them */
};
enum cli_span_place cli_decode_output_spans(enum cli_show show);

struct cli_decode_output;

/* NULL: out of memory (told). Also writes the heading that the form has. */
struct cli_decode_output *cli_decode_output_open(const struct cli_decode_settings *settings, struct cli_output *out);
void cli_decode_output_close(struct cli_decode_output *output);

void cli_decode_output_event(struct cli_decode_output *output, const ntr_event *event);

/* Spans whose code could not be read again for pc and insn. */
uint64_t cli_decode_output_missing(const struct cli_decode_output *output);

#endif
