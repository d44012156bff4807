/* Events as lines of text: spans, branches, the call tree (docs/output.md). */
#ifndef CLI_TEXT_EVENT_TEXT_H
#define CLI_TEXT_EVENT_TEXT_H

#include "io/output.h"
#include "text/symbol_cache.h"

#include <ntrace/event.h>

struct cli_event_text {
    struct cli_output *out;
    struct cli_symbol_cache *symbols;
    uint16_t *depths; /* call depth, indexed by source */
    bool by_source;   /* lines start with the source */
};

/* Writes a line for a span, with or without code. */
void cli_text_span(struct cli_event_text *text, const ntr_event *event);

/* Writes the branch at the end of a span: its address and its target. */
void cli_text_branch(struct cli_event_text *text, const ntr_event *event);

/* As cli_text_branch, for calls, returns and traps only, indented by call depth. */
void cli_text_call(struct cli_event_text *text, const ntr_event *event);

/* Writes any other event as a line that starts with '#'. */
void cli_text_remark(struct cli_event_text *text, const ntr_event *event);

/* Returns the description of a gap for messages on standard error. The text is valid until the next call; not
 * thread-safe. */
const char *cli_gap_text(const ntr_event *gap);

#endif
