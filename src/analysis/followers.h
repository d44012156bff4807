/* Followers of a call stack: a call tree reconstructs the stacks, and others (timeline, interrupts) get the same
 * frames, so that the stacks are reconstructed once.
 *
 * Idea: each of them stores a value of its own with a frame. The handle of a frame is then the number of a record with
 * all values. Example: the tree's node of a frame is 7, the timeline's open slice is 2: the handle is 0, record 0 is {7, 2}. */
#ifndef NTR_ANALYSIS_FOLLOWERS_H
#define NTR_ANALYSIS_FOLLOWERS_H

#include "base/pool.h"

#include <ntrace/calltree.h>
#include <ntrace/interrupts.h>
#include <ntrace/timeline.h>

#define NTR_FOLLOWERS_MAX 2

/* Called for each event: `before` before the stacks change, `executed` when the frame of a span is on its stack, `after` when
 * the stacks have changed. `listener` gets the frames, with the value that its `enter` has returned as handle. */
typedef struct ntr_follower {
    void (*before)(void *user, const ntr_event *event);
    void (*executed)(void *user, const ntr_event *event);
    ntr_status (*after)(void *user, const ntr_event *event);
    ntr_stack_listener listener; /* its `user` is also that of the other functions */
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
uint32_t ntr_followers_enter(ntr_followers *followers, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool tail,
                             uint32_t own);
void ntr_followers_leave(ntr_followers *followers, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool lost);

/* Returns whether the tree has had no event yet. */
bool ntr_calltree_is_unused(const ntr_calltree *tree);

/* Adds a follower to an unused tree. Returns false when there is no room. From then on,
 * ntr_calltree_feed passes all events; the follower must be there until the last one. */
bool ntr_calltree_follow(ntr_calltree *tree, const ntr_follower *follower);

/* The followers get nothing afterwards. `finish`, at the end of the trace: all frames are left before. */
void ntr_calltree_end_following(ntr_calltree *tree, bool finish);

/* The timeline, or the interrupts, as a follower: ntr_timeline_feed and ntr_interrupts_feed must not be called then. */
ntr_follower ntr_timeline_follower(ntr_timeline *timeline);
ntr_follower ntr_interrupts_follower(ntr_interrupts *interrupts);

#endif
