/* Widths of fields. */
#ifndef NTR_MESSAGE_LAYOUT_H
#define NTR_MESSAGE_LAYOUT_H

#include "message/table.h"
#include "wire/mdo.h"

static inline unsigned ntr_significant_bits(uint64_t value) { return 64 - (unsigned)__builtin_clzll(value | 1); }

/* Bits an encoder needs for this value, before rounding up to whole bytes. */
unsigned ntr_field_bits(const ntr_params *params, ntr_field field, uint64_t value);

/* As ntr_message_is_padded. A decoded width always ends at a byte boundary, so fewer than 6 surplus bits are
 * rounding, not padding. */
static inline bool ntr_is_padded(const ntr_params *params, const ntr_message *message, unsigned field) {
    unsigned sent = message->width[field];
    if (!(NTR_VARIABLE_FIELDS >> field & 1) || !sent) return false;
    unsigned needed = params->extend_addr ? ntr_field_bits(params, (ntr_field)field, message->value[field])
                                          : ntr_significant_bits(message->value[field]);
    return sent - needed >= NTR_MDO_BITS; /* or less than needed: extended */
}

#endif
