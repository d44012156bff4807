/* The quick way through the well-formed messages that nearly every stream is made of. */
#ifndef NTR_MESSAGE_QUICK_H
#define NTR_MESSAGE_QUICK_H

#include <ntrace/reader.h>

/* This many bytes from the first one on must be readable, whatever they are. */
enum { NTR_QUICK_READABLE = 48, NTR_QUICK_LONGEST = 32 };

/* Decode the message that begins at `bytes`. Returns its size; 0 when it is longer than NTR_QUICK_LONGEST, vendor
 * defined, reserved or anything but perfect: then decode.c has to look, and `message` is undefined. Fills what
 * ntr_message_decode fills. */
size_t ntr_quick_decode(const ntr_params *params, const uint8_t *bytes, ntr_message *message);

/* Pass over such messages, back to back, and count them in *mix and *count. Returns how many bytes were passed. */
size_t ntr_quick_check(const ntr_params *params, const uint8_t *bytes, size_t size, ntr_message_mix *mix,
                       uint64_t *count);

#endif
