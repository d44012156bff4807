/* Collects what was executed for the count callback. See count_callback.c. */
#ifndef NTR_DECODER_COUNT_CALLBACK_H
#define NTR_DECODER_COUNT_CALLBACK_H

#include "decoder/history_memo.h"

/* Block `b` was executed d->times times, after the linear code walk->run. */
void ntr_count_step(ntr_decoder *d, const ntr_walk_state *walk, ntr_block *b, const ntr_step *step);
/* The memo was walked d->times times; the number is added to memo->times. */
void ntr_count_history_memo(ntr_decoder *d, ntr_history_memo *memo);
/* Report the executions collected in memo->times. */
void ntr_count_flush_memo(ntr_decoder *d, ntr_history_memo *memo);

#endif
