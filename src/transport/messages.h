/* Where messages begin and end in a plain stream of N-Trace bytes: all that a writer has to know. */
#ifndef NTR_TRANSPORT_MESSAGES_H
#define NTR_TRANSPORT_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

typedef enum byte_role { BYTE_IDLE, BYTE_FIRST, BYTE_NEXT } byte_role;

/* What `byte` is, when `*inside` tells whether a message has begun; updates it. N-Trace 1.0 section 2. */
static inline byte_role message_byte(bool *inside, uint8_t byte) {
    if (!*inside && byte == 0xff) return BYTE_IDLE;
    const byte_role role = *inside ? BYTE_NEXT : BYTE_FIRST;
    *inside = (byte & 3) != 3;
    return role;
}

#endif
