/* Saved call stacks: the state of a call stack object at many places of a trace.
 *
 * Idea: the stacks at two places share their outer frames. A frame store keeps each frame once, with the number of the
 * frame below it; a saved state is the number of the top frame of each stack. Memory is therefore proportional to the
 * frames that are entered, not to the depth at each place. Frame numbers are kept in `handle` of the frames: the
 * listener of the call stack object must return 0 from `enter` for frames that are not in a store. */
#ifndef NTR_ANALYSIS_SAVED_STACKS_H
#define NTR_ANALYSIS_SAVED_STACKS_H

#include <ntrace/callstack.h>

typedef struct ntr_stored_frame {
    ntr_stack_frame frame;
    uint32_t below; /* number of the frame below; 0: none */
} ntr_stored_frame;

/* Frames are numbered from 1: items[0] is not used. A zeroed struct with `allocator` set is empty. */
typedef struct ntr_frame_store {
    const ntr_allocator *allocator;
    ntr_stored_frame *items;
    size_t count, capacity;
} ntr_frame_store;

/* Adds a frame. Returns its number, or 0 when out of memory. */
uint32_t ntr_frame_store_add(ntr_frame_store *store, const ntr_stack_frame *frame, uint32_t below);
void ntr_frame_store_release(ntr_frame_store *store);

/* A saved state. There is one for each index point of a trace. */
typedef struct ntr_saved_stacks {
    struct ntr_saved_stack *stacks;
    struct hart *harts; /* without the caches of function ranges */
    uint32_t stack_count, hart_count;
    uint64_t switches;
    size_t waiting;
    size_t found, found_as;
} ntr_saved_stacks;

/* Calls `visit` for all frames of all stacks, each stack from its outermost frame on. It returns the new handle of the
 * frame; `below` is that of the frame below (0: none). Returns NTR_E_MEMORY when `visit` returns 0. */
typedef uint32_t ntr_visit_frame(void *user, const ntr_stack_frame *frame, uint32_t below);
ntr_status ntr_callstack_visit(ntr_callstack *callstack, ntr_visit_frame *visit, void *user);

/* Saves the stacks; frames with handle 0 are added to `store`. Errors: NTR_E_MEMORY. */
ntr_status ntr_callstack_save(ntr_callstack *callstack, ntr_frame_store *store, ntr_saved_stacks *saved);

/* Replaces the stacks by saved ones, without calls of the listener. Errors: NTR_E_MEMORY. */
ntr_status ntr_callstack_restore(ntr_callstack *callstack, const ntr_frame_store *store, const ntr_saved_stacks *saved);

void ntr_saved_stacks_release(ntr_saved_stacks *saved, const ntr_allocator *allocator);

/* Returns the handle of the top frame of the current stack of a source; 0: none. */
uint32_t ntr_callstack_top(const ntr_callstack *callstack, uint16_t src);

#endif
