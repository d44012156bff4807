/* Call trail: the return addresses of all calls of a source that have not returned, in a counting decode.
 *
 * Idea: a counting decode makes no events from which a consumer could follow calls. Its return stack does not replace
 * them: it has a limited depth, and synchronizing messages clear it. The trail is a second stack beside it, with the
 * same pushes, and with a pop for each return, also for one that finds the return stack empty. A memo that is applied
 * pushes and pops as its messages did.
 *
 * Invariant: as long as `broken` is not set, each return has gone to the newest address of the trail. A return to
 * another address (longjmp, exceptions, coroutines) sets `broken`: the consumer then decodes the span of the stream
 * again, with events. Such a message never becomes a memo. What no return shows (traps, gaps, changes of context) is
 * reported to the count callback. */
#ifndef NTR_DECODER_CALL_TRAIL_H
#define NTR_DECODER_CALL_TRAIL_H

#include <ntrace/decoder.h>

#include "program/blocks.h"

enum { NTR_TRAIL_MOST = (1 << 16) - 2 };

/* An entry that no return goes to. */
#define NTR_TRAIL_NO_RETURN UINT64_MAX

typedef struct ntr_call_trail {
    uint64_t *returns; /* return addresses; bit 0: the call has 4 bytes, else 2 */
    uint32_t depth, capacity;
    uint32_t least; /* least depth since the consumer has set it */
    bool broken;
    const ntr_allocator *allocator;
} ntr_call_trail;

/* Keep trails from now on. Call it before the first message. The trails of new sources are broken. */
NTR_API void ntr_decoder_follow_calls(ntr_decoder *d);

/* Returns the trail of a source, or NULL when there is no such source. */
NTR_API ntr_call_trail *ntr_decoder_call_trail(ntr_decoder *d, uint16_t src);

/* Returns how many messages a counting decode has decoded in full, because they had no memo. */
NTR_API uint64_t ntr_decoder_without_memo(const ntr_decoder *d);

/* As ntr_decoder_set_repeats(decoder, true), for consumers that need the order of execution: a pass is short, and no
 * pass with repetitions is inside of another one. */
NTR_API void ntr_decoder_repeat_in_order(ntr_decoder *d);

/* Makes room for `count` entries. Returns false, and sets `broken`, when these are too many or out of memory. */
NTR_API bool ntr_trail_reserve(ntr_call_trail *trail, size_t count);

/* Returns a new trail, which is broken, or NULL when out of memory. */
ntr_call_trail *ntr_trail_new(const ntr_allocator *allocator);
void ntr_trail_free(ntr_call_trail *trail);

/* The call that ends the block. `trail` may be NULL, here and below. */
static inline void ntr_trail_push(ntr_call_trail *trail, const ntr_block *call) {
    if (!trail || trail->broken) return;
    if (trail->depth == trail->capacity && !ntr_trail_reserve(trail, (size_t)trail->depth + 1)) return;
    trail->returns[trail->depth++] = call->next | (call->last_halfwords == 2);
}

/* A return to the address. */
static inline void ntr_trail_pop(ntr_call_trail *trail, uint64_t address) {
    if (!trail || trail->broken) return;
    if (trail->depth == 0 || (trail->returns[trail->depth - 1] & ~UINT64_C(1)) != address) {
        trail->broken = true;
        return;
    }
    if (--trail->depth < trail->least) trail->least = trail->depth;
}

#endif
