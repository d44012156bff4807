/* Widths of fields. */
#ifndef NTR_MESSAGE_LAYOUT_H
#define NTR_MESSAGE_LAYOUT_H

#include <ntrace/message.h>

static inline unsigned ntr_significant_bits(uint64_t value) {
    return value ? 64 - (unsigned)__builtin_clzll(value) : 1;
}

/* Bits an encoder needs for this value, before rounding up to whole bytes. */
unsigned ntr_field_bits(const ntr_params *params, ntr_field field, uint64_t value);

#endif
