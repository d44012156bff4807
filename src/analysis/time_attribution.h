/* Attribution of time to code. A message describes many spans and has at most one timestamp. The time between two
 * timestamps is divided among the owners of the spans, in proportion to their instructions.
 *
 * Example: a message at time 100 is followed by one at time 130. The spans of the second message executed 20
 * instructions in owner A and 10 in owner B. A gets 20 ticks and B gets 10. */
#ifndef NTR_ANALYSIS_TIME_ATTRIBUTION_H
#define NTR_ANALYSIS_TIME_ATTRIBUTION_H

#include <ntrace/allocator.h>
#include <ntrace/event.h>

typedef struct ntr_time_item {
    uint32_t owner;
    uint64_t instructions;
} ntr_time_item;

/* State of one source. Initially all zero. */
typedef struct ntr_time_attribution {
    uint64_t message, time; /* the current message and its timestamp */
    uint64_t ticks;         /* time to be divided */
    bool timed;             /* `time` is known and time is continuous from there */
    ntr_time_item *items;       /* instructions by owner, for the current message */
    size_t count, capacity;
} ntr_time_attribution;

typedef void (*ntr_ticks_callback)(void *user, uint32_t owner, uint64_t ticks);

/* Processes an event before the owner of its span is added: divides the time of the previous message. */
void ntr_time_attribution_event(ntr_time_attribution *time, const ntr_event *event, ntr_ticks_callback take,
                                void *user);

/* Adds the instructions of the event's span to `owner`. Errors: NTR_E_MEMORY. */
ntr_status ntr_time_attribution_add(ntr_time_attribution *time, uint32_t owner, uint64_t instructions,
                                    const ntr_allocator *allocator);

/* Divides the remaining time. */
void ntr_time_attribution_flush(ntr_time_attribution *time, ntr_ticks_callback take, void *user);

void ntr_time_attribution_release(ntr_time_attribution *time, const ntr_allocator *allocator);

#endif
