/* The stack, for those who ask for every span. */
#ifndef NTR_ANALYSIS_CALLSTACK_H
#define NTR_ANALYSIS_CALLSTACK_H

#include <ntrace/callstack.h>

/* ntr_callstack_frame and ntr_callstack_feed of a span in one: `handle` is that of the frame it ran in. */
ntr_status ntr_callstack_span(ntr_callstack *callstack, const ntr_event *event, uint32_t *handle);

#endif
