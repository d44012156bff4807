/* A timeline that follows a tree gets chunks that were decoded by other threads (chunk_frames.h).
 *
 * Slices that were too short when the chunk began are too short when it is applied. So the slices that are kept are
 * those that the events of the chunk would have made. */
#include "analysis/timeline_state.h"

/* Returns whether a trap of a stack is open, or, with `named`, has a name, which becomes a function when the trap ends:
 * functions are numbered in the order of execution, and those of a chunk all at once. */
static bool has_trap(const ntr_timeline *t, bool named) {
    for (size_t i = 0; i < t->trap_count; i++)
        for (uint32_t at = t->traps[i]; at != TIMELINE_NONE; at = t->open[at].outer)
            if (!named || t->open[at].name.name) return true;
    return false;
}

bool ntr_timeline_begin_chunk(void *user, const ntr_chunk_facts *facts) {
    ntr_timeline *t = user;

    if (t->timed || facts->src >= NTR_SOURCES_MAX || has_trap(t, true)) return false;
    if (facts->names && (facts->traps || has_trap(t, false))) return false;
    t->chunk_src = facts->src;
    t->chunk_now = t->harts[facts->src].now;
    t->chunk_entered = t->entered;
    return true;
}

void ntr_timeline_move(void *user, uint64_t instructions, uint64_t entered) {
    ntr_timeline *t = user;

    t->harts[t->chunk_src].now = t->chunk_now + instructions;
    t->entered = t->chunk_entered + entered;
}

void ntr_timeline_left(void *user, const ntr_chunk_frame *frame) {
    ntr_timeline *t = user;
    const ntr_timeslice slice = {.begin = t->chunk_now + frame->begin,
                                 .end = t->chunk_now + frame->end,
                                 .value = frame->function,
                                 .context = frame->context,
                                 .order = t->chunk_entered + frame->order,
                                 .src = t->chunk_src,
                                 .kind = NTR_SLICE_FUNCTION,
                                 .frame = (uint8_t)frame->kind};

    ntr_timeline_add(t, &slice);
}

uint32_t ntr_timeline_enter_open(void *user, const ntr_chunk_frame *frame) {
    ntr_timeline *t = user;
    const uint32_t index = ntr_timeline_open_frame(t);

    if (index == TIMELINE_NONE) return index;
    t->open[index] = (struct open_frame){.begin = t->chunk_now + frame->begin,
                                         .order = t->chunk_entered + frame->order,
                                         .function = frame->function,
                                         .outer = TIMELINE_NONE};
    return index;
}

uint64_t ntr_timeline_kept(const void *user) {
    const ntr_timeline *t = user;

    return t->shortest;
}
