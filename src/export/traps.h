/* System calls, interrupts and exceptions by name, and what else is known about the operating system of a trace
 * (ntr_machine), as text and as JSON: a part of the summary of the timeline. */
#ifndef NTR_EXPORT_TRAPS_H
#define NTR_EXPORT_TRAPS_H

#include "export/export.h"

#include <ntrace/machine.h>

/* Returns whether the trace is one of a whole machine: it knows its threads, or begins outside of U-mode. */
bool ntr_traps_wanted(const ntr_export *x, const ntr_event *first);

void ntr_traps_text(ntr_export *x, const ntr_machine *machine);

/* Writes members of an object, with a comma before each. */
void ntr_traps_json(ntr_export *x, const ntr_machine *machine);

#endif
