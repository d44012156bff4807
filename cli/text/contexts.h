/* What each source's hart looks at now: its privilege and contexts, as Ownership told them. */
#ifndef CLI_TEXT_CONTEXTS_H
#define CLI_TEXT_CONTEXTS_H

#include <ntrace/event.h>

struct cli_contexts;

/* NULL: out of memory. */
struct cli_contexts *cli_contexts_new(void);
void cli_contexts_free(struct cli_contexts *views);

/* Follow an event; only NTR_EVENT_CONTEXT changes anything. */
void cli_contexts_follow(struct cli_contexts *views, const ntr_event *event);

/* Nothing is known any more. */
void cli_contexts_forget(struct cli_contexts *views);

const ntr_context *cli_contexts_get(const struct cli_contexts *views, uint16_t source);

#endif
