/* Call trees of a part of a trace, whose beginning was not decoded: the frames of the stacks at the beginning are not
 * known.
 *
 * Idea: most calls of a part also return in it. They are counted in subtrees below *base* nodes. A base stands for the
 * frame that was on top of a stack when execution there was seen first, or again after an event that changed unknown
 * frames. Such events are logged, with the frames above the base at that time. When the parts before are known, the log
 * is applied to their stacks: each logged event is processed as it would have been, and each subtree is added to the
 * frame that its base stands for.
 *
 * Invariant: a base is of the function that executed in it. This is the guess which is checked when the log is applied:
 * the frame that the base stands for must be of that function.
 *
 * Example: a part begins in `f`, which main called. `f` calls `g` three times and returns. Base 1 is in `f` and has the
 * child `g` with three calls. The return is logged. Base 2 is in main. The log has two bases and one event, whatever
 * `f` did. */
#ifndef NTR_ANALYSIS_OPEN_LOG_H
#define NTR_ANALYSIS_OPEN_LOG_H

#include "analysis/callstack.h"
#include "analysis/chunk_applier.h"
#include "analysis/chunk_frames.h"
#include "analysis/chunk_head.h"
#include "analysis/time_attribution.h"

#include <ntrace/calltree.h>

typedef enum ntr_open_kind {
    NTR_OPEN_BASE = 0, /* `event` is the first span in the base `node` */
    NTR_OPEN_EVENT,    /* `event` changes frames that are not known */
    NTR_OPEN_END,      /* the end of the part: the frames of one stack */
    NTR_OPEN_KINDS,
} ntr_open_kind;

typedef struct ntr_open_entry {
    uint8_t kind;         /* ntr_open_kind */
    uint8_t stopped;      /* hart_stopped */
    uint64_t stopped_at;
    uint32_t nodes;       /* number of nodes of the tree at that time */
    uint32_t node;        /* BASE */
    ntr_event event;      /* its position on the stack, and what changes it */
    size_t first_frame, frame_count; /* frames above the base, outermost first */
    uint64_t now, entered; /* with `kept`, before the event: instructions and frames so far, and */
    size_t left;           /* ... the number of frames in the list */
} ntr_open_entry;

/* A frame: function, kind and site are those of its node. */
typedef struct ntr_open_frame {
    uint32_t node;
    uint64_t return_to;
    uint64_t begin, order; /* with `kept` */
} ntr_open_frame;

typedef struct ntr_open_log {
    const ntr_allocator *allocator;
    ntr_open_entry *entries;
    size_t count, capacity;
    ntr_open_frame *frames;
    size_t frame_count, frame_capacity;
    uint64_t bases;
    ntr_chunk_frames
        *kept; /* frames of a chunk are kept, and handles are those of `kept`; else NULL: handles are nodes */
    bool dependent; /* threads of an operating system, coroutines, or a stack of more than the deepest depth: the part
                       cannot stand alone */
} ntr_open_log;

void ntr_open_log_release(ntr_open_log *log);

/* Forgets the log and all frames; the contexts of the harts, and where they stopped, remain. */
void ntr_open_log_restart(ntr_open_log *log, ntr_callstack *stacks);

/* Returns whether the event, a span whose frame was returned by ntr_callstack_frame or another event, changes frames
 * that are not known, or depends on them. */
bool ntr_open_log_touches(ntr_open_log *log, ntr_callstack *stacks, const ntr_event *event);

/* Takes a span that does neither, as ntr_callstack_shallow_span, which is faster than to ask first. */
bool ntr_open_log_passes(ntr_callstack *stacks, const ntr_event *event, uint32_t *handle, ntr_status *status);

/* Logs that event, or the end (NTR_OPEN_END) of the stack of the event, and forgets the frames of the stack. Errors:
 * NTR_E_MEMORY. */
ntr_status ntr_open_log_event(ntr_open_log *log, ntr_callstack *stacks, ntr_open_kind kind, const ntr_event *event,
                              size_t nodes);

/* Logs a new base. Returns the site of its node, which no other node has. */
uint64_t ntr_open_log_base(ntr_open_log *log, const ntr_stack_moment *moment, size_t nodes);

/* Logs the end of all stacks. Errors: NTR_E_MEMORY. */
ntr_status ntr_open_log_finish(ntr_open_log *log, ntr_callstack *stacks, size_t nodes);

/* ---- trees (calltree.c, calltree_count.c) */

/* Returns the log of a tree of a part, complete after ntr_calltree_finish; NULL: of another tree. */
const ntr_open_log *ntr_calltree_log(const ntr_calltree *tree);

/* The call stacks of the tree, for applying a log, and its functions. */
ntr_callstack *ntr_calltree_stacks(ntr_calltree *tree);
ntr_functions *ntr_calltree_functions(const ntr_calltree *tree);

/* The stacks were changed by an applied log. */
void ntr_calltree_moved(ntr_calltree *tree);

/* What applying chunks needs (tree_chunk.c); NULL: nothing yet. It is freed with the tree. */
ntr_chunk_applier **ntr_calltree_applier(ntr_calltree *tree);

/* Returns the head of the chunk, which the tree keeps from then on; NULL when out of memory. */
ntr_chunk_head *ntr_calltree_head(ntr_calltree *tree);

/* The attribution of time in a source, NULL when out of memory; and setting it, but for its items, after the time so
 * far was divided. */
ntr_time_attribution *ntr_calltree_time(ntr_calltree *tree, uint16_t src);
void ntr_calltree_set_time(ntr_calltree *tree, uint16_t src, const ntr_time_attribution *time);
void ntr_calltree_forget_times(ntr_calltree *tree);

/* ---- applying a log */

/* Pushes frames on the stack of entry->event, and sets where its hart stopped. `frames[i].handle` is a node of the
 * tree. Errors: NTR_E_MEMORY; NTR_E_LIMIT: the stack becomes too deep. */
ntr_status ntr_open_log_push(ntr_callstack *stacks, const ntr_open_entry *entry, const ntr_stack_frame *frames,
                             size_t count);

/* Returns whether the stacks are those of threads of an operating system. */
bool ntr_callstack_threaded(const ntr_callstack *stacks);

#endif
