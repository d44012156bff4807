/* Origin of a trace for reports: program, machine, tool and date of the capture, and its losses, from the bundle. */
#ifndef CLI_IO_TRACE_FACTS_H
#define CLI_IO_TRACE_FACTS_H

#include "io/trace.h"

#include <ntrace/export.h>

#include <limits.h>

struct cli_trace_facts {
    ntr_fact facts[8];
    char path[PATH_MAX]; /* of the stream, from the root on */
    char command[1024]; /* truncated if longer */
    const char **losses;
};

/* Sets the members `facts` and `losses` of `analysis`; they are valid as long as `facts` and `trace`. A raw stream has
 * only its name. */
void cli_trace_facts_find(struct cli_trace_facts *facts, const struct cli_trace *trace, ntr_analysis *analysis);
void cli_trace_facts_release(struct cli_trace_facts *facts);

#endif
