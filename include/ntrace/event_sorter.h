/* Event sorter: events of several sources in the order of time. A decoder reports events in the order of the stream,
 * where events that happened at the same time on different harts may be far apart.
 *
 *     ntr_event_sorter_put(sorter, &event);
 *     while (ntr_event_sorter_take(sorter, false, &event)) ...
 *     at the end:
 *     while (ntr_event_sorter_take(sorter, true, &event)) ... */
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

/* Holds the latest `window` events and returns the earliest of them. An event that arrives later than that comes out of
 * order. Events of one source always keep their order. An event without time has the last known time of its source or,
 * if there is none, that of the event before it in the stream; events with equal times keep the order of the stream.
 * Without any time, events are not held. When the time of a source goes back (the trace was started again), all held
 * events are returned first. */
typedef struct ntr_event_sorter ntr_event_sorter;

/* `window`: number of events; 0: the default. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_event_sorter_new(size_t window, const ntr_allocator *allocator, ntr_event_sorter **out);
NTR_API void ntr_event_sorter_free(ntr_event_sorter *sorter);

/* Add one event. Then call ntr_event_sorter_take until it returns false. */
NTR_API void ntr_event_sorter_put(ntr_event_sorter *sorter, const ntr_event *event);

/* Returns true and the next event in *event, or false when none is due. `all`: return all held events (end of the
 * trace). */
NTR_API bool ntr_event_sorter_take(ntr_event_sorter *sorter, bool all, ntr_event *event);

#ifdef __cplusplus
}
#endif
#endif
