/* The decoder that knows what is wrong. */
#ifndef NTR_MESSAGE_DECODE_H
#define NTR_MESSAGE_DECODE_H

#include <ntrace/message.h>

/* As ntr_message_decode, without trying the quick way first. */
ntr_status ntr_message_decode_exactly(const ntr_params *params, ntr_bytes raw, ntr_message *message);

#endif
