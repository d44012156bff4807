/* Loops inside of a walk: what a message, or several, repeat without saying anything new is walked once and counted by
 * multiplication.
 *
 * Idea: a walk goes where program, outcomes and return stack lead it. When it is at a block again, with the same return
 * stack and at the same place of a repeated history (or without an outcome since then), it does again what it did since
 * then. The next pass is walked with ntr_decoder.times = factor, and stands for `factor` passes. The starting point is
 * renewed at growing intervals (1, 3, 7, ... visits), so that loops that the walk enters late are found, too.
 *
 * Invariant: totals, counts of the callback, and spans times their repetitions are those of a walk without loops. A
 * multiplied pass ends inside of the request: the last block, where message and code must agree, is walked by itself.
 *
 * Example: ResourceFull with I-CNT 4,000,000 at "j ." of 2 halfwords. The first pass is walked, then the walk is at the
 * same block; the second pass stands for 1,999,998, and the walk end takes the last one.
 *
 * Walks look for loops at the pattern of a repeated history, and at each block when they are *watched*: they are long
 * for the outcomes that they have. */
#ifndef NTR_DECODER_WALK_LOOP_H
#define NTR_DECODER_WALK_LOOP_H

#include "decoder/walk.h"

/* Slow paths of the functions below. */
void ntr_loop_turn(ntr_decoder *d, ntr_walk_state *walk);
void ntr_loop_end(ntr_decoder *d, ntr_walk_state *walk);

/* The walk is between two blocks: it may be at the starting point of a loop, or at the end of a multiplied pass.
 * Changes d->times and walk->left. Errors become ntr_decoder.failed. */
static inline void ntr_loop_visit(ntr_decoder *d, ntr_walk_state *walk) {
    ntr_walk_loop *loop = &d->loop;
    if (loop->factor < 2 && loop->block && loop->block != walk->block && loop->visits < loop->most_visits)
        loop->visits++;
    else
        ntr_loop_turn(d, walk);
}

/* The walk has ended: a multiplied pass that has not, ends here. */
static inline void ntr_loop_leave(ntr_decoder *d, ntr_walk_state *walk) {
    if (d->loop.factor > 1) ntr_loop_end(d, walk);
}

/* Returns whether `halfwords` may be executed `times` times: the totals of a decoder stay below 2 to the power of 63.
 * If not, the decoder fails with NTR_E_TOTAL. */
bool ntr_loop_fits(ntr_decoder *d, uint64_t halfwords, uint64_t times);

/* A span ended in this way. */
static inline void ntr_loop_note_end(ntr_decoder *d, unsigned end) {
    d->loop.spans.calls += end == NTR_SPAN_CALL || end == NTR_SPAN_INDIRECT_CALL || end == NTR_SPAN_CO_SWAP;
    d->loop.spans.returns += end == NTR_SPAN_RETURN || end == NTR_SPAN_CO_SWAP;
}

/* Returns whether spans of a loop are returned with repetitions: the loop has `factor` passes, and of the spans since
 * `before`, calls and returns are in pairs and none is kept in this mode (ntr_decoder_set_join_except). */
bool ntr_loop_is_level(const ntr_decoder *d, const ntr_loop_spans *before, uint64_t factor);

#endif
