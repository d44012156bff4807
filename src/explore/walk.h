/* Walk: the executed spans of a range of positions, from the windows of the replay, with the calling context of each.
 *
 * The range is divided into *sections* by the user. For each section the walk sums instructions and calls by node; it
 * reports functions that were left (*slices*), gaps and contexts as they come. What it reports for a section does not
 * depend on where the walk began: the sums of adjacent ranges add up. A loop costs its windows of one kind once: the
 * others are added by multiplication. */
#ifndef NTR_EXPLORE_WALK_H
#define NTR_EXPLORE_WALK_H

#include "explore/nodes.h"
#include "replay/state.h"

/* A function, from the position at which it was entered to the one after its last instruction. */
typedef struct ntr_stack_slice {
    uint64_t begin, end;
    uint32_t node;
    bool cut_begin, cut_end; /* it began before the walk, continues after it */
} ntr_stack_slice;

/* What a walk reports. Each function may be NULL; a result other than NTR_OK ends the walk with it. */
struct ntr_span_walk;
typedef struct ntr_span_walk_user {
    /* The section that ends at `end` is complete: the sums are in the walk. Returns the end of the next section. */
    ntr_status (*section)(void *user, struct ntr_span_walk *walk, uint64_t end, uint64_t *next);
    ntr_status (*slice)(void *user, const ntr_stack_slice *slice);
    ntr_status (*gap)(void *user, uint64_t position, const ntr_event *gap);
    ntr_status (*context)(void *user, uint64_t position, uint16_t src, const ntr_context *context);
    void *user;
} ntr_span_walk_user;

/* A frame on the stack of a hart. */
typedef struct ntr_lane_frame {
    uint64_t begin;
    uint32_t frame, node;
    bool cut;
} ntr_lane_frame;

typedef struct ntr_lane {
    ntr_lane_frame *items; /* the outermost first */
    size_t count, capacity;
    uint32_t root; /* node of the hart */
    uint32_t origin;
    ntr_context context;
    uint16_t src;
    bool stale; /* the frames are those of the window before */
    bool begun, has_context;
} ntr_lane;

/* What is known about a frame of the replay. */
typedef struct ntr_frame_memo {
    uint32_t node, depth;
    uint32_t window; /* number of the window to which it belongs; 0: none */
    uint16_t src;
    bool seen; /* its call was counted, or is not one of this window */
} ntr_frame_memo;

/* What the last pass of a window of a loop adds to the sums, in its order. */
typedef struct ntr_walk_part {
    uint32_t node;
    uint64_t self, calls;
} ntr_walk_part;

typedef struct ntr_walk_pass {
    bool begun;
    uint64_t begin; /* position */
    size_t lane;
    size_t depth; /* frames of the lane before it, and the innermost node */
    uint32_t node;
    uint64_t longest; /* slice that ends in it */
    ntr_walk_part *parts;
    size_t count, capacity;
} ntr_walk_pass;

typedef struct ntr_span_walk {
    ntr_replay *replay;
    ntr_nodes *nodes;
    const ntr_allocator *allocator;
    ntr_span_walk_user user;
    uint64_t begin, at, end; /* the range; all before `at` was walked */
    uint64_t least; /* shorter slices are not reported */
    uint64_t section_end;

    uint64_t *self, *calls; /* of the section, by node */
    size_t sums; /* elements of these arrays */
    uint32_t *touched; /* nodes with a value */
    size_t touched_count, touched_capacity;
    uint64_t time; /* latest time of the section, if `timed` */
    bool timed;

    ntr_lane *lanes; /* by number of the hart */
    size_t lane_count, lane_capacity;
    ntr_frame_memo *memos, *store_memos; /* by number of the frame of the window, of the replay */
    size_t memo_capacity, store_memo_capacity;
    uint32_t window; /* number of the current window, from 1 */
    uint32_t *chain;
    size_t chain_capacity;
    ntr_walk_pass pass;
} ntr_span_walk;

/* Prepares to walk over [begin, end). The first section ends at `section_end`. */
void ntr_span_walk_begin(ntr_span_walk *walk, ntr_replay *replay, ntr_nodes *nodes, const ntr_span_walk_user *user,
                         uint64_t begin, uint64_t end);

/* Walks over the rest of one window. Returns NTR_OK when the end of the range, or of the trace, is reached; then all
 * functions were reported as left. Returns NTR_END when there is more, or when interrupted. Errors: as ntr_replay_go,
 * those of the user. */
ntr_status ntr_span_walk_window(ntr_span_walk *walk);

/* Walks to the end. Returns NTR_END when interrupted. */
ntr_status ntr_span_walk_all(ntr_span_walk *walk);

void ntr_span_walk_release(ntr_span_walk *walk);

#endif
