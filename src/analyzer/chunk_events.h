/* The worker threads of an analyzer: they decode chunks and put events, counted events, call trees, or several
 * of them into the chunk output.
 *
 * Where the consumers need calls and returns only, spans are joined. Each thread has a table of functions of its own to
 * decide which; the functions of all tables are the same.
 *
 * Call trees of one source without tasks are counted by the threads, too: each has an open tree for its chunk, which is
 * packed at the end of the chunk and applied to the tree of the whole. All other output of the chunk is behind it,
 * because the tree may be refused: the chunk is then decoded again, and its spans are delivered. An export that needs
 * events may follow the tree of the whole: the trees of the chunks then have the frames of their functions, too.
 *
 * Where spans are only counted, each thread has a tally over all its chunks, and the tallies are added at the end.
 *
 * Beside call trees, the counting decode reports the span of an indirect jump each time. Each thread collects equal
 * spans in a small table before it puts them, so that less is delivered. Example: an interpreter jumps 10,000 times in
 * a chunk, between 200 pairs of addresses: 200 counted events are put. */
#ifndef NTR_ANALYZER_CHUNK_EVENTS_H
#define NTR_ANALYZER_CHUNK_EVENTS_H

#include "analyzer/state.h"

#include <ntrace/parallel.h>
#include <stdatomic.h>

/* `what` of the chunk output: events; packed spans (packed_spans.h); ntr_counted_event; ntr_tree_head and a tree;
 * events of a chunk with a tree that are not of call stacks. */
enum { NTR_PUT_EVENTS, NTR_PUT_SPANS, NTR_PUT_COUNTED, NTR_PUT_TREE, NTR_PUT_OTHERS };

struct ntr_counted_event {
    ntr_event event;
    uint64_t times;
};

/* In front of a packed tree. */
struct ntr_tree_head {
    uint64_t size; /* of the packed tree; 0: it is refused */
    uint64_t any;  /* the chunk has an event */
};

/* What all threads share; `user` of the work. */
struct ntr_collecting {
    ntr_analyzer *analyzer;
    bool late; /* each thread counts spans over all its chunks */
    atomic_bool only_spans; /* too many trees were refused */
    _Atomic uint64_t shortest; /* ntr_calltree_shortest_frame of the tree of the whole */
};

/* Returns the work but for `deliver`. */
ntr_parallel_work ntr_collecting_work(struct ntr_collecting *collecting, bool counting);

#endif
