/* Events as JSON lines or CSV (docs/output.md, "events"). Both forms are made from columns.def. */
#ifndef CLI_EVENT_ROW_H
#define CLI_EVENT_ROW_H

#include "output.h"

#include <ntrace/event.h>

void cli_event_json(const ntr_event *event, struct cli_output *out);

/* NULL: the row of column names. */
void cli_event_csv(const ntr_event *event, struct cli_output *out);

#endif
