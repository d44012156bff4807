/* Call stacks from the call trails of a counting decode (decoder/call_trail.h), without events.
 *
 * Between two places, if all changes of a stack are calls and their returns, the stack at the second place follows from
 * that at the first one and from the trail: frames below the least depth are the same, the others are those of the
 * trail. The function of a frame is the one with the call of the frame above it; that of the top frame, the one that is
 * executed. ntr_trail_regular tells whether a span is such a change. Entry i of the trail belongs to frame i + 1 of the
 * stack, above the root. */
#ifndef NTR_ANALYSIS_TRAIL_STACKS_H
#define NTR_ANALYSIS_TRAIL_STACKS_H

#include <ntrace/callstack.h>

#include "decoder/call_trail.h"

/* Returns whether the stack after the span follows from the trail. Not if the context has changed, for example, or
 * after a jump to behind a call in another function, which leaves frames. */
bool ntr_trail_regular(ntr_callstack *callstack, const ntr_program *program, const ntr_event *event);

/* Where a source is. */
typedef struct ntr_trail_place {
    uint64_t address; /* of its next instruction */
    uint64_t offset; /* in the stream */
    bool address_known;
    bool stopped; /* no instruction was executed since it stopped at `stopped_at` */
    uint64_t stopped_at;
} ntr_trail_place;

/* Makes the trail that of the source's current stack; a broken one if the stack has no frames. Stores whether the
 * source is stopped, and where. */
void ntr_trail_from_stack(const ntr_callstack *callstack, uint16_t src, ntr_call_trail *trail, ntr_trail_place *place);

/* Makes the source's current stack that of the trail, and sets the least depth of the trail to its depth. Errors:
 * NTR_E_MEMORY. */
ntr_status ntr_trail_to_stack(ntr_callstack *callstack, uint16_t src, ntr_call_trail *trail,
                              const ntr_trail_place *place);

#endif
