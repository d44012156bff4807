/* State of ntr_timeline, shared by timeline.c (events, tracks) and timeline_frames.c (slices, frames, threads). */
#ifndef NTR_ANALYSIS_TIMELINE_STATE_H
#define NTR_ANALYSIS_TIMELINE_STATE_H

#include "analysis/followers.h"
#include "analysis/late_listener.h"
#include "analysis/trap_names.h"

#include <ntrace/timeline.h>

#define TIMELINE_NONE NTR_POOL_NONE

/* State of a hart. */
struct timeline_hart {
    uint64_t now, context_since, context, guest;
    uint64_t task_since;
    const ntr_task *task; /* that runs; NULL: not known */
    bool in_context;
};

/* A frame that was entered and not yet left. */
struct open_frame {
    uint64_t begin, order;
    const ntr_task *task;
    ntr_trap_naming name; /* of a trap */
    uint32_t thread, outer; /* of a trap: its stack, and the trap around it there, or TIMELINE_NONE */
    uint32_t function;      /* of a trap: first function, or the one that it jumps to */
    bool tailed;            /* ... it has jumped */
};

/* A trap whose frame was left. It has ended, unless the next change is a tail call that continues it in another
 * function. */
struct left_trap {
    uint32_t index; /* TIMELINE_NONE: none */
    ntr_timeslice slice;
};

struct ntr_timeline {
    const ntr_allocator *allocator;
    ntr_callstack *stack;
    struct timeline_hart *harts;
    struct open_frame *open;
    ntr_pool pool; /* of `open` */
    uint32_t *traps; /* of each stack, the innermost trap; TIMELINE_NONE: none */
    size_t trap_count, trap_capacity;
    struct left_trap left;
    uint64_t late[NTR_LATE_CHANGES]; /* when frames changed that a stack did not have yet */
    ntr_functions *functions;
    ntr_timeslice *slices;
    size_t count, most;
    uint64_t shortest, entered;
    uint64_t begin; /* time before the current event */
    uint64_t chunk_now,
        chunk_entered; /* `now` of the hart and `entered` at the beginning of the chunk that is applied */
    uint16_t chunk_src;
    bool timed, failed;
    bool follows; /* the frames are those of another one's stack */
    ntr_event last;
};

/* Adds a slice, unless it is too short for the space that there is. */
void ntr_timeline_add(ntr_timeline *timeline, const ntr_timeslice *slice);

/* The listener of the call stacks. */
uint32_t ntr_timeline_enter(void *timeline, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool tail);
void ntr_timeline_leave(void *timeline, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool lost);

/* The listener of stacks that wait for their frames. */
void ntr_timeline_note_late(void *timeline, uint32_t number, uint16_t src, uint32_t thread);
void ntr_timeline_join_late(void *timeline, uint32_t from, uint32_t to);

/* Chunks, as for ntr_follower (timeline_chunk.c). */
bool ntr_timeline_begin_chunk(void *timeline, const ntr_chunk_facts *facts);
void ntr_timeline_move(void *timeline, uint64_t instructions, uint64_t entered);
void ntr_timeline_left(void *timeline, const ntr_chunk_frame *frame);
uint32_t ntr_timeline_enter_open(void *timeline, const ntr_chunk_frame *frame);
uint64_t ntr_timeline_kept(const void *timeline);

/* Returns the number of a new open frame, TIMELINE_NONE when out of memory. */
uint32_t ntr_timeline_open_frame(ntr_timeline *timeline);

/* Ends the trap whose frame was left. */
void ntr_timeline_finish_trap(ntr_timeline *timeline);

/* What runs on the hart is not known any more. */
void ntr_timeline_end_run(ntr_timeline *timeline, uint16_t src);

#endif
