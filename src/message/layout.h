/* Widths of fields. */
#ifndef NTR_MESSAGE_LAYOUT_H
#define NTR_MESSAGE_LAYOUT_H

#include "message/table.h"
#include "wire/mdo.h"

#include <ntrace/message.h>

static inline unsigned ntr_significant_bits(uint64_t value) {
    return 64 - (unsigned)__builtin_clzll(value | 1);
}

/* Bits an encoder needs for this value, before rounding up to whole bytes. */
unsigned ntr_field_bits(const ntr_params *params, ntr_field field, uint64_t value);

/* The bits of TSTAMP on the wire when its width is fixed (ntr_params.ts_fixed), else 0. */
static inline unsigned ntr_tstamp_bits(const ntr_params *params) {
    if (!params->ts_fixed) return 0;
    unsigned bits = params->ts_width ? params->ts_width : 64;
    return (bits + NTR_MDO_BITS - 1) / NTR_MDO_BITS * NTR_MDO_BITS;
}

static inline bool ntr_tstamp_width_fits(const ntr_params *params, const ntr_message *message) {
    unsigned bits = ntr_tstamp_bits(params);
    return !bits || message->width[NTR_FIELD_TSTAMP] == bits;
}

/* Returns whether a field is sent without a byte when it begins at a byte boundary (ntr_dialect.empty_icnt). */
static inline bool ntr_may_be_empty(const ntr_params *params, const ntr_message *message, unsigned field) {
    return field == NTR_FIELD_ICNT && params->dialect && params->dialect->empty_icnt && !message->icnt &&
           !message->width[NTR_FIELD_ICNT];
}

/* Returns whether the field begins at a byte boundary after fixed fields. */
bool ntr_needs_no_byte(const ntr_message *message, unsigned field);

/* Returns whether the width of the field has to be said with its value, because an encoder would send this value in
 * another width. A decoded width always ends at a byte boundary, so fewer than 6 surplus bits are rounding. */
static inline bool ntr_shows_width(const ntr_params *params, const ntr_message *message, unsigned field) {
    unsigned sent = message->width[field];
    if (!(NTR_VARIABLE_FIELDS >> field & 1) || !sent) return false;
    if (field == NTR_FIELD_ICNT && params->dialect && params->dialect->empty_icnt && !message->icnt &&
        ntr_needs_no_byte(message, field))
        return true;
    unsigned needed = params->extend_addr || params->ts_fixed
                          ? ntr_field_bits(params, (ntr_field)field, message->value[field])
                          : ntr_significant_bits(message->value[field]);
    if (field == NTR_FIELD_TSTAMP && params->ts_fixed) return sent != needed;
    return sent < needed || sent - needed >= NTR_MDO_BITS; /* less than needed: extended */
}

/* ---- MSB extension of addresses. N-Trace 1.0 section 7.1. */

/* The smallest number of bits, a multiple of 6, from which MSB extension restores this F-ADDR or U-ADDR. */
unsigned ntr_address_bits(const ntr_params *params, uint64_t value);

#endif
