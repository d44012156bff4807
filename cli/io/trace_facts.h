/* Where a trace is from, for people: what its bundle tells of the program and of the capture. */
#ifndef CLI_IO_TRACE_FACTS_H
#define CLI_IO_TRACE_FACTS_H

#include "io/trace.h"

#include <ntrace/export.h>

struct cli_trace_facts {
    ntr_fact facts[8];
    char command[1024]; /* long ones are cut */
    const char **losses;
};

/* Set facts and losses of `answers`; a raw stream has none but its name. They live as long as `facts`
 * and `trace`. */
void cli_trace_facts_find(struct cli_trace_facts *facts, const struct cli_trace *trace, ntr_analysis *answers);
void cli_trace_facts_release(struct cli_trace_facts *facts);

#endif
