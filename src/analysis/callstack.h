/* Private functions of the call stack for modules that process each span. */
#ifndef NTR_ANALYSIS_CALLSTACK_H
#define NTR_ANALYSIS_CALLSTACK_H

#include "analysis/functions.h"

/* Combines ntr_callstack_frame and ntr_callstack_feed for a span. *handle is the handle of the frame in which the span
 * executed. */
ntr_status ntr_callstack_span(ntr_callstack *callstack, const ntr_event *event, uint32_t *handle);

/* The same, but only if the span changes nothing but frames above the first one of its stack, which has fewer than
 * `most` frames, and this is found without a search: most calls, returns and jumps. Otherwise returns false, and no
 * frame has changed or been entered but the first one. *status is that of the change. */
bool ntr_callstack_shallow_span(ntr_callstack *callstack, const ntr_event *event, size_t most, uint32_t *handle,
                                ntr_status *status);

/* Describes the position of a source after a span. While execution stays in *code, the stack does not change and its
 * top frame has the handle *handle. Returns false when this is not known. */
bool ntr_callstack_stays(ntr_callstack *callstack, const ntr_event *event, ntr_function_range *code, uint32_t *handle);

/* What runs on a source, after its first event. */
typedef struct ntr_callstack_run {
    uint32_t thread; /* number of the stack (ntr_stack_moment.thread) */
    uint64_t number; /* of switches of threads before */
    bool fresh;      /* the thread had no frames when it began to run: the number may have been that of another one */
} ntr_callstack_run;

ntr_callstack_run ntr_callstack_running(ntr_callstack *callstack, uint16_t src);

/* Returns whether the last event showed which thread had been running, on a stack of its own, since the last switch.
 * *from is the number of that stack, which is free from then on, *to that of the thread. */
bool ntr_callstack_found(ntr_callstack *callstack, uint32_t *from, uint32_t *to);

/* Returns the range of the function at an address, as the source of the event sees it. */
ntr_function_range ntr_callstack_range(ntr_callstack *callstack, const ntr_event *event, uint64_t address);

/* Forgets everything: the next event is one from inside of a trace, so that it is not known whether the harts have
 * stopped. */
void ntr_callstack_restart(ntr_callstack *callstack);

/* Makes `to` a copy of the stacks of `from`. `function` gives the number in the functions of `to`, UINT32_MAX when out
 * of memory. Handles are copied; no listener is called. Errors: NTR_E_MEMORY. */
ntr_status ntr_callstack_copy(ntr_callstack *to, const ntr_callstack *from,
                              uint32_t (*function)(void *user, uint32_t number), void *user);

/* Sets the listener. No frame must be on a stack. */
void ntr_callstack_listen(ntr_callstack *callstack, const ntr_stack_listener *listener);

/* Returns the number of switches of threads. */
uint64_t ntr_callstack_switches(const ntr_callstack *callstack);

/* Returns what is known about the thread of a source at a stream offset, or NULL. */
const ntr_task *ntr_callstack_task(ntr_callstack *callstack, uint16_t src, uint64_t offset);

#endif
