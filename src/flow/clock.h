/* The time of one source. N-Trace 1.0 section 7.4, OQ-22, OQ-23; XOR rule: dialects.md section 1.1. */
#ifndef NTR_FLOW_CLOCK_H
#define NTR_FLOW_CLOCK_H

#include <ntrace/params.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct ntr_clock {
    uint64_t time; /* last full time; its high part stays the epoch while the time is not known */
    bool known;
} ntr_clock;

/* A synchronizing message: TSTAMP is absolute, cut to the counter's width. */
void ntr_clock_sync(ntr_clock *clock, const ntr_params *params, bool has_tstamp, uint64_t tstamp);

/* Any other message that carries a TSTAMP. */
void ntr_clock_advance(ntr_clock *clock, const ntr_params *params, uint64_t tstamp);

/* Messages were lost: differences have no base until the next absolute time. */
static inline void ntr_clock_lose(ntr_clock *clock) {
    clock->known = false;
}

#endif
