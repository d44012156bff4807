/* Handlers of messages without effect on the flow, for the table of messages.c. They return NTR_OK. */
#ifndef NTRACE_DECODER_DATA_MESSAGES_H
#define NTRACE_DECODER_DATA_MESSAGES_H

#include "decoder/state.h"

ntr_status ntr_take_data(ntr_decoder *d, ntr_source *s);
ntr_status ntr_take_acquisition(ntr_decoder *d, ntr_source *s);
ntr_status ntr_take_access(ntr_decoder *d, ntr_source *s);
ntr_status ntr_take_watchpoint(ntr_decoder *d, ntr_source *s);
ntr_status ntr_take_trap_value(ntr_decoder *d, ntr_source *s);
ntr_status ntr_take_other(ntr_decoder *d, ntr_source *s);

#endif
