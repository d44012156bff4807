/* The stack, for those who ask for every span. */
#ifndef NTR_ANALYSIS_CALLSTACK_H
#define NTR_ANALYSIS_CALLSTACK_H

#include "analysis/functions.h"

/* ntr_callstack_frame and ntr_callstack_feed of a span in one: `handle` is that of the frame it ran in. */
ntr_status ntr_callstack_span(ntr_callstack *callstack, const ntr_event *event, uint32_t *handle);

/* Where a source is after a span: while it stays in `code`, its stack stays as it is, with a frame of `handle` on
 * top. False: that is not known. */
bool ntr_callstack_stays(ntr_callstack *callstack, const ntr_event *event, ntr_function_range *code, uint32_t *handle);

#endif
