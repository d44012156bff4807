/* What each source's hart looks at now: its privilege and contexts, as Ownership told them. */
#ifndef CLI_TEXT_CONTEXTS_H
#define CLI_TEXT_CONTEXTS_H

#include <ntrace/event.h>

struct cli_views;

/* NULL: out of memory. */
struct cli_views *cli_views_new(void);
void cli_views_free(struct cli_views *views);

/* Follow an event; only NTR_EVENT_CONTEXT changes anything. */
void cli_views_follow(struct cli_views *views, const ntr_event *event);

/* Nothing is known any more. */
void cli_views_forget(struct cli_views *views);

const ntr_context *cli_views_get(const struct cli_views *views, uint16_t source);

#endif
