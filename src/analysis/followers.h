/* Followers of a call stack: a call tree reconstructs the stacks, and others (timeline, interrupts) get the same
 * frames, so that the stacks are reconstructed once.
 *
 * Idea: each of them stores a value of its own with a frame. The handle of a frame is then the number of a record with
 * all values. Example: the tree's node of a frame is 7, the timeline's open slice is 2: the handle is 0, record 0 is
 * {7, 2}.
 *
 * Chunks that were decoded by other threads are applied to the tree (tree_chunk.c). The followers then get the frames
 * of the chunk (chunk_frames.h) instead of its events. */
#ifndef NTR_ANALYSIS_FOLLOWERS_H
#define NTR_ANALYSIS_FOLLOWERS_H

#include "analysis/chunk_frames.h"

#include <ntrace/calltree.h>
#include <ntrace/interrupts.h>
#include <ntrace/timeline.h>

#define NTR_FOLLOWERS_MAX 2

/* What is known about a chunk before it is applied. */
typedef struct ntr_chunk_facts {
    uint16_t src; /* its only source */
    bool names;   /* it uses functions that can name a trap (roles.def), or */
    bool traps;   /* ... it has events that can enter a trap */
} ntr_chunk_facts;

/* Called for each event: `before` before the stacks change, `executed` when the frame of a span is on its stack,
 * `after` when the stacks have changed. `listener` gets the frames, with the value that its `enter` has returned as
 * handle; its functions may be NULL.
 *
 * Chunks without times: `begin_chunk` returns false if the events of the chunk are needed; NULL: they always are.
 * `move` is called before each logged event, and at the end: so many instructions of the chunk were executed, and
 * frames were entered. `left` gets a frame of the list; `enter_open` one that remains on a stack, and returns its
 * value; either may be NULL. `shortest` returns the minimum length in instructions of the frames that are needed; it
 * never decreases. */
typedef struct ntr_follower {
    void (*before)(void *user, const ntr_event *event);
    void (*executed)(void *user, const ntr_event *event);
    ntr_status (*after)(void *user, const ntr_event *event);
    ntr_stack_listener listener; /* its `user` is also that of the other functions */
    bool (*begin_chunk)(void *user, const ntr_chunk_facts *facts);
    void (*move)(void *user, uint64_t instructions, uint64_t entered);
    void (*left)(void *user, const ntr_chunk_frame *frame);
    uint32_t (*enter_open)(void *user, const ntr_chunk_frame *frame);
    uint64_t (*shortest)(const void *user); /* NULL: no frame is needed */
} ntr_follower;

typedef struct ntr_frame_values {
    uint32_t own;                      /* of the tree */
    uint32_t values[NTR_FOLLOWERS_MAX];
} ntr_frame_values;

typedef struct ntr_followers {
    const ntr_allocator *allocator;
    ntr_follower list[NTR_FOLLOWERS_MAX];
    unsigned count;
    ntr_frame_values *records;
    ntr_pool pool; /* of `records` */
    bool failed;
} ntr_followers;

void ntr_followers_release(ntr_followers *followers);

void ntr_followers_before(const ntr_followers *followers, const ntr_event *event);
void ntr_followers_executed(const ntr_followers *followers, const ntr_event *event);
ntr_status ntr_followers_after(const ntr_followers *followers, const ntr_event *event);

/* A frame is entered, with the value `own` of the tree. Returns its handle. */
uint32_t ntr_followers_enter(ntr_followers *followers, const ntr_stack_moment *moment, const ntr_stack_frame *frame,
                             bool tail, uint32_t own);
void ntr_followers_leave(ntr_followers *followers, const ntr_stack_moment *moment, const ntr_stack_frame *frame,
                         bool lost);

/* Chunks, as for ntr_follower. ntr_followers_enter_open returns the handle of the frame, whose value of the tree is
 * `own`. */
bool ntr_followers_begin_chunk(const ntr_followers *followers, const ntr_chunk_facts *facts);
void ntr_followers_move(const ntr_followers *followers, uint64_t instructions, uint64_t entered);
void ntr_followers_left(const ntr_followers *followers, const ntr_chunk_frame *frame);
uint32_t ntr_followers_enter_open(ntr_followers *followers, const ntr_chunk_frame *frame, uint32_t own);
uint64_t ntr_followers_shortest(const ntr_followers *followers);

/* Returns whether the tree has had no event yet. */
bool ntr_calltree_is_unused(const ntr_calltree *tree);

/* Adds a follower to an unused tree. Returns false when there is no room. From then on,
 * ntr_calltree_feed passes all events; the follower must be there until the last one. */
bool ntr_calltree_follow(ntr_calltree *tree, const ntr_follower *follower);

/* Feeds a follower and a call stack of its own, without a tree: `stack` has its listener. Events of sources that do not
 * exist are skipped. Errors: NTR_E_MEMORY, and those of `after`. */
ntr_status ntr_follower_feed(const ntr_follower *follower, ntr_callstack *stack, const ntr_event *events, size_t count);

/* The followers get nothing afterwards. `finish`, at the end of the trace: all frames are left before. */
void ntr_calltree_end_following(ntr_calltree *tree, bool finish);

/* The timeline, or the interrupts, as a follower: ntr_timeline_feed and ntr_interrupts_feed must not be called then. */
ntr_follower ntr_timeline_follower(ntr_timeline *timeline);
ntr_follower ntr_interrupts_follower(ntr_interrupts *interrupts);

#endif
