/* Time shared out: a message tells of many spans and bears one stamp, so the time since the stamp before it is
 * divided among what the spans executed in, by instructions. */
#ifndef NTR_ANALYSIS_TIME_ATTRIBUTION_H
#define NTR_ANALYSIS_TIME_ATTRIBUTION_H

#include <ntrace/allocator.h>
#include <ntrace/event.h>

typedef struct ntr_share {
    uint32_t owner;
    uint64_t instructions;
} ntr_share;

/* One source's. All zero at first. */
typedef struct ntr_time_attribution {
    uint64_t message, time; /* the message that is told now, and its stamp */
    uint64_t ticks;         /* to be divided */
    bool timed;             /* `time` is known and what follows it runs on from there */
    ntr_share *items;       /* of the message that is told now */
    size_t count, capacity;
} ntr_time_attribution;

typedef void (*ntr_share_taker)(void *user, uint32_t owner, uint64_t ticks);

/* Look at an event before what it ran in is told: divides what the message before left. */
void ntr_time_attribution_event(ntr_time_attribution *shares, const ntr_event *event, ntr_share_taker take, void *user);

/* The event's span ran in `owner`. Errors: NTR_E_MEMORY. */
ntr_status ntr_time_attribution_add(ntr_time_attribution *shares, uint32_t owner, uint64_t instructions,
                                    const ntr_allocator *allocator);

/* Divide what is left. */
void ntr_time_attribution_flush(ntr_time_attribution *shares, ntr_share_taker take, void *user);

void ntr_time_attribution_release(ntr_time_attribution *shares, const ntr_allocator *allocator);

#endif
