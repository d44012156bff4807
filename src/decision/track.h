/* Condition vectors of an execution: the outcomes of the branches of each evaluation.
 *
 * An evaluation is open from its first branch until a branch decides the result. It belongs to a frame of the call
 * stack: a condition may call functions that evaluate the same decision. A branch without an open evaluation that waits
 * for it is a misfit, unless the beginning of the frame was not traced. An evaluation that a gap interrupts is unknown.
 */
#ifndef NTR_DECISION_TRACK_H
#define NTR_DECISION_TRACK_H

#include "decision/code_map.h"

typedef struct ntr_tracker ntr_tracker;

/* Returns a tracker, or NULL when out of memory. `map` and `functions` must outlive it. `run`: number of the run. */
ntr_tracker *ntr_tracker_new(ntr_code_map *map, ntr_functions *functions, uint64_t run, const ntr_allocator *allocator);
void ntr_tracker_free(ntr_tracker *tracker);
/* Errors: NTR_E_MEMORY. */
ntr_status ntr_tracker_feed(ntr_tracker *tracker, const ntr_event *events, size_t count);
/* Ends the trace: evaluations that are open are unknown. */
ntr_status ntr_tracker_finish(ntr_tracker *tracker);

#endif
