/* Events of several sources in the order of time. A decoder tells events in the order of the stream; what harts did
 * at the same moment may lie far apart there. */
#ifndef NTRACE_EVENT_SORTER_H
#define NTRACE_EVENT_SORTER_H

#include <ntrace/allocator.h>
#include <ntrace/event.h>
#include <ntrace/status.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NTR_EVENT_SORTER_WINDOW_DEFAULT 65536 /* events, about 9 MB */

/* Holds back the latest `window` events and gives out the earliest of them: what comes later than that by more than
 * the window comes out late. The events of one source keep their order. An event without time counts as its source's
 * last known time, or, where there was none yet, as that of the event before it in the stream; with equal times the
 * stream's order holds. Without any time nothing is held back. Where a source's time goes back (the trace was started
 * anew), everything held comes out first. */
typedef struct ntr_event_sorter ntr_event_sorter;

/* `window`: 0 for the default. NULL when out of memory. */
NTR_API ntr_event_sorter *ntr_event_sorter_new(size_t window, const ntr_allocator *allocator);
NTR_API void ntr_event_sorter_free(ntr_event_sorter *sorter);

/* Take one event in. Then ntr_event_sorter_take must be called until it gives nothing. */
NTR_API void ntr_event_sorter_put(ntr_event_sorter *sorter, const ntr_event *event);

/* Give an event out that is due; `all`: everything is, for the end of the trace. False: none is. */
NTR_API bool ntr_event_sorter_take(ntr_event_sorter *sorter, bool all, ntr_event *event);

#ifdef __cplusplus
}
#endif
#endif
