/* Where a message ends in a byte stream. N-Trace 1.0 section 2. */
#ifndef NTRACE_MESSAGE_END_H
#define NTRACE_MESSAGE_END_H

#include <stdbool.h>
#include <stdint.h>

/* Messages longer than this are reported as NTR_E_MESSAGE_LONG and skipped; the longest standard
 * message has 36 bytes (OQ-11), vendor messages may be longer. */
#define NTR_MESSAGE_BYTES_MAX 1024

/* Returns whether a message ends with this byte, that is, its MSEO is 11. Idle bytes (0xFF) also have MSEO 11. */
static inline bool ntr_ends_message(uint8_t byte) {
    return (byte & 3) == 3;
}

#endif
