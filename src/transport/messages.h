/* Message boundaries in a plain stream of N-Trace bytes, without decoding fields. */
#ifndef NTR_TRANSPORT_MESSAGES_H
#define NTR_TRANSPORT_MESSAGES_H

#include "wire/ends.h"

typedef enum byte_role { BYTE_IDLE, BYTE_FIRST, BYTE_NEXT } byte_role;

/* Returns the role of `byte` and updates `*inside`, which is true inside a message. N-Trace 1.0 section 2. */
static inline byte_role message_byte(bool *inside, uint8_t byte) {
    if (!*inside && byte == NTR_IDLE) return BYTE_IDLE;
    const byte_role role = *inside ? BYTE_NEXT : BYTE_FIRST;
    *inside = !ntr_ends_message(byte);
    return role;
}

#endif
