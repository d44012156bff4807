/* The index of an explorer: what is kept of the whole trace, in bounded memory, so that any zoom is answered at once.
 *
 * *Cells* divide the positions: cell i has [i * width, (i + 1) * width). Each has the instructions and calls of each
 * node, sorted by node. Answers about a range add up the cells inside of it and walk over its two ends, so that they
 * are exact at every zoom. When there are too many cells or counts, two cells become one.
 *
 * *Slices* are the functions that took at least `least` instructions; when there are too many, `least` is doubled.
 * *Runs*, of a context on a hart, are kept in the same way. *Gaps* are a list; those beyond its length are counted. */
#ifndef NTR_EXPLORE_INDEX_H
#define NTR_EXPLORE_INDEX_H

#include "explore/walk.h"

enum {
    NTR_CELLS_MAX = 1 << 14,
    NTR_CELL_COUNTS_MAX = 2 << 20,
    NTR_SLICES_MAX = 1 << 19,
    NTR_GAPS_MAX = 1 << 14,
    NTR_RUNS_MAX = 1 << 17,
};

typedef struct ntr_cell_count {
    uint32_t node;
    uint64_t self, calls;
} ntr_cell_count;

typedef struct ntr_cell {
    size_t first; /* index of its first count; those of the next cell follow */
    uint64_t time; /* latest time in it */
    bool timed;
} ntr_cell;

typedef struct ntr_index_gap {
    uint64_t position;
    ntr_event event;
} ntr_index_gap;

/* A hart was in this context. */
typedef struct ntr_run {
    uint64_t begin, end;
    uint16_t src;
    ntr_context context;
} ntr_run;

/* A list of runs of bounded length: when it is full, `least` is doubled. */
typedef struct ntr_runs {
    const ntr_allocator *allocator;
    ntr_run *items; /* in the order of their ends */
    size_t count, capacity;
    ntr_run *open; /* the last one of each hart */
    size_t open_count, open_capacity;
    uint64_t least; /* shorter ones are not in the list */
} ntr_runs;

/* A hart is in another context. Errors: NTR_E_MEMORY. */
ntr_status ntr_runs_change(ntr_runs *runs, uint64_t position, uint16_t src, const ntr_context *context);

/* All runs end here. Errors: NTR_E_MEMORY. */
ntr_status ntr_runs_end(ntr_runs *runs, uint64_t position);
void ntr_runs_release(ntr_runs *runs);

typedef struct ntr_explore_index {
    const ntr_allocator *allocator;
    ntr_cell *cells;
    size_t cell_count, cell_capacity;
    ntr_cell_count *counts;
    size_t count_count, count_capacity;
    uint64_t width;
    ntr_stack_slice *slices; /* in the order of their ends */
    size_t slice_count, slice_capacity;
    uint64_t least;
    ntr_index_gap *gaps;
    size_t gap_count, gap_capacity;
    uint64_t gaps_left_out;
    ntr_runs runs;
    ntr_span_walk walk;
    uint64_t done; /* positions of complete cells */
    bool begun, complete;
} ntr_explore_index;

/* Indexes some more of the trace, at most one window. Returns NTR_OK when all is indexed; NTR_END when there is more to
 * do. Errors: as ntr_replay_go. */
ntr_status ntr_explore_index_step(ntr_explore_index *index, ntr_replay *replay, ntr_nodes *nodes);

/* Returns the counts of a cell. */
static inline const ntr_cell_count *ntr_cell_counts(const ntr_explore_index *index, size_t cell, size_t *count) {
    const size_t first = index->cells[cell].first;
    const size_t end = cell + 1 < index->cell_count ? index->cells[cell + 1].first : index->count_count;
    *count = end - first;
    return index->counts + first;
}

void ntr_explore_index_release(ntr_explore_index *index);

#endif
