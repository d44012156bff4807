/* Events as lines of text: spans, branches, the call tree (docs/output.md). */
#ifndef CLI_TEXT_EVENT_TEXT_H
#define CLI_TEXT_EVENT_TEXT_H

#include "io/output.h"
#include "text/symbol_text.h"
#include "text/text_cache.h"

#include <ntrace/event.h>

struct cli_event_text {
    struct cli_output *out;
    struct cli_symbol_cache *symbols;
    struct cli_text_cache lines;
    bool one_view;    /* cli_symbol_one_view */
    uint16_t *depths; /* call depth, indexed by source */
    bool by_source;   /* lines start with the source */
};

/* Sets `symbols`, `lines` and `depths` of a zeroed struct. Returns false when out of memory; close it then, too. */
bool cli_event_text_open(struct cli_event_text *text, const ntr_program *program);
void cli_event_text_close(struct cli_event_text *text);

/* Writes a line for each span. One struct cli_event_text is used for one kind of lines. */
void cli_text_spans(struct cli_event_text *text, const ntr_event *spans, size_t count);

/* Writes the branches at the ends of spans: address and target. */
void cli_text_branches(struct cli_event_text *text, const ntr_event *spans, size_t count);

/* As cli_text_spans and cli_text_branches, for code that no image has (NTR_EVENT_NO_CODE). */
void cli_text_no_code(struct cli_event_text *text, const ntr_event *event);
void cli_text_no_code_branch(struct cli_event_text *text, const ntr_event *event);

/* Writes the call, return or trap at the end of a span, with or without code, indented by call depth. */
void cli_text_call(struct cli_event_text *text, const ntr_event *event);

/* Writes a load or store, hits of watchpoints, or data acquisition. */
void cli_text_data(struct cli_event_text *text, const ntr_event *event);

/* Writes any other event as a line that starts with '#'. */
void cli_text_remark(struct cli_event_text *text, const ntr_event *event);

/* Returns the description of a gap for messages on standard error. The text is valid until the next call; not
 * thread-safe. */
const char *cli_gap_text(const ntr_event *gap);

#endif
