/* Private functions of the call stack for modules that process each span. */
#ifndef NTR_ANALYSIS_CALLSTACK_H
#define NTR_ANALYSIS_CALLSTACK_H

#include "analysis/functions.h"

/* Combines ntr_callstack_frame and ntr_callstack_feed for a span. *handle is the handle of the frame in which the span
 * executed. */
ntr_status ntr_callstack_span(ntr_callstack *callstack, const ntr_event *event, uint32_t *handle);

/* Describes the position of a source after a span. While execution stays in *code, the stack does not change and its
 * top frame has the handle *handle. Returns false when this is not known. */
bool ntr_callstack_stays(ntr_callstack *callstack, const ntr_event *event, ntr_function_range *code, uint32_t *handle);

#endif
