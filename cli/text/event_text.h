/* Events as text for people: spans, branches, the tree of calls (docs/output.md). */
#ifndef CLI_TEXT_EVENT_TEXT_H
#define CLI_TEXT_EVENT_TEXT_H

#include "io/output.h"
#include "text/symbol_cache.h"

#include <ntrace/event.h>

struct cli_event_text {
    struct cli_output *out;
    struct cli_symbol_cache *places;
    uint16_t *depths; /* by source, for calls */
    bool by_source;   /* lines start with the source */
};

/* A line for a span or a blind span. */
void cli_text_span(struct cli_event_text *text, const ntr_event *event);

/* From where to where flow went at its end. */
void cli_text_branch(struct cli_event_text *text, const ntr_event *event);

/* The same for calls, returns and traps only, indented by depth. */
void cli_text_call(struct cli_event_text *text, const ntr_event *event);

/* Everything that is no span, as a line that starts with '#'. */
void cli_text_remark(struct cli_event_text *text, const ntr_event *event);

/* What a gap is, for messages on standard error; the text lives until the next call. */
const char *cli_gap_words(const ntr_event *gap);

#endif
