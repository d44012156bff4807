/* Handlers of messages, for the table of messages.c. They emit events, change the state, or set d->request. Errors:
 * NTR_E_MEMORY. */
#ifndef NTRACE_DECODER_MESSAGE_HANDLERS_H
#define NTRACE_DECODER_MESSAGE_HANDLERS_H

#include "decoder/state.h"

/* branch_messages.c */
ntr_status ntr_take_branch(ntr_decoder *d, ntr_source *s);
ntr_status ntr_take_cached_branch(ntr_decoder *d, ntr_source *s);
ntr_status ntr_take_prediction(ntr_decoder *d, ntr_source *s);
ntr_status ntr_take_repeat(ntr_decoder *d, ntr_source *s);

/* What RepeatBranch would repeat after this message. */
ntr_repeatable ntr_repeatable_of(const ntr_message *m);

/* The last message was handled by a message memo: decode its bytes to find `last_branch`. */
void ntr_decode_last_branch(const ntr_decoder *d, ntr_source *s);

/* sync_messages.c */
ntr_status ntr_take_sync(ntr_decoder *d, ntr_source *s);
ntr_status ntr_take_self_loop(ntr_decoder *d, ntr_source *s);
ntr_status ntr_take_stop(ntr_decoder *d, ntr_source *s);
ntr_status ntr_take_error(ntr_decoder *d, ntr_source *s);

/* The walk of a message with F-ADDR, or of ProgTraceCorrelation, has ended. */
void ntr_sync_reached(ntr_decoder *d, ntr_source *s);
void ntr_stop_reached(ntr_decoder *d, ntr_source *s);

/* data_messages.c: messages without effect on the flow */
ntr_status ntr_take_data(ntr_decoder *d, ntr_source *s);
ntr_status ntr_take_acquisition(ntr_decoder *d, ntr_source *s);
ntr_status ntr_take_access(ntr_decoder *d, ntr_source *s);
ntr_status ntr_take_watchpoint(ntr_decoder *d, ntr_source *s);
ntr_status ntr_take_trap_value(ntr_decoder *d, ntr_source *s);
ntr_status ntr_take_other(ntr_decoder *d, ntr_source *s);

#endif
