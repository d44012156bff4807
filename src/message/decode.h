/* The exact decoder: slower than quick.h, but it reports what is wrong with a message. */
#ifndef NTR_MESSAGE_DECODE_H
#define NTR_MESSAGE_DECODE_H

#include <ntrace/message.h>

/* As ntr_message_decode, without the quick decoder. */
ntr_status ntr_message_decode_exactly(const ntr_params *params, ntr_bytes raw, ntr_message *message);

#endif
