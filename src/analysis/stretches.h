/* How long interrupts and preemption are off: the marks of code_marks.h, followed through traps and switches of
 * threads. */
#ifndef NTR_ANALYSIS_STRETCHES_H
#define NTR_ANALYSIS_STRETCHES_H

#include "analysis/functions.h"

#include <ntrace/machine.h>

typedef struct ntr_stretch_state ntr_stretch_state;

/* What belongs to a thread: a stack of saved states, and one of the states before traps; the newest bit is the lowest.
 * All zero at first. */
typedef struct ntr_stretch_thread {
    uint64_t saved, traps; /* set bits: it was off */
    uint8_t saved_count;
    int32_t count; /* of preemption */
} ntr_stretch_thread;

/* Returns NULL when out of memory. */
ntr_stretch_state *ntr_stretch_state_new(const ntr_program *program, ntr_functions *functions,
                                         const ntr_allocator *allocator);
void ntr_stretch_state_free(ntr_stretch_state *state);

/* A span is executed by the thread. `timed`: `time` is the time of the hart. Returns false when out of memory. */
bool ntr_stretch_state_span(ntr_stretch_state *state, const ntr_event *span, ntr_stretch_thread *thread, uint64_t time,
                            bool timed);

/* A part of the trace is missing: what is off is not known. */
void ntr_stretch_state_lose(ntr_stretch_state *state, uint16_t src);

/* NTR_STRETCH_KINDS elements. */
const ntr_stretches *ntr_stretch_state_all(const ntr_stretch_state *state);

#endif
