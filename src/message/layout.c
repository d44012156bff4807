/* The positions of fields in a message. */
#include "message/layout.h"
#include "dialect/rules.h"
#include "message/table.h"
#include "wire/mdo.h"

#include <ntrace/message_layout.h>

/* Bits of F-ADDR: an address without its bit 0. */
static unsigned field_bits(const ntr_params *params) {
    return (params->xlen == 32 ? 32u : 64u) - 1;
}

static uint64_t low_bits(uint64_t value, unsigned bits) {
    return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

/* MSB extension when decoding: every bit above the highest transmitted bit equals that bit. */
static uint64_t address_extended(const ntr_params *params, uint64_t value, unsigned sent) {
    unsigned all = field_bits(params);
    if (sent == 0 || sent >= all || !(value >> (sent - 1) & 1)) return value;
    return value | (low_bits(UINT64_MAX, all) & ~low_bits(UINT64_MAX, sent));
}

unsigned ntr_address_bits(const ntr_params *params, uint64_t value) {
    unsigned bits = NTR_MDO_BITS;
    while (bits < 64 && address_extended(params, low_bits(value, bits), bits) != value) bits += NTR_MDO_BITS;
    return bits;
}

static uint64_t sign_extend(uint64_t value, unsigned bits) {
    uint64_t sign = UINT64_C(1) << (bits - 1);
    return (low_bits(value, bits) ^ sign) - sign;
}

uint64_t ntr_message_address(const ntr_params *params, const ntr_message *message, ntr_field field) {
    unsigned fixed = ntr_addr_bits_of(params);
    uint64_t address = message->value[field] << 1;
    if (params->extend_addr)
        address = address_extended(params, message->value[field], message->width[field]) << 1;
    else if (fixed)
        address = sign_extend(address, fixed);
    return params->xlen == 32 ? low_bits(address, 32) : address;
}

size_t ntr_message_list(const ntr_message *m, ntr_field fields[NTR_FIELDS_MAX]) {
    size_t count = 0;
    for (ntr_fields left = m->present; left && count < NTR_FIELDS_MAX; left &= left - 1)
        fields[count++] = ntr_first_field(left);
    return count;
}

unsigned ntr_field_bits(const ntr_params *params, ntr_field field, uint64_t value) {
    const ntr_field_info *info = &ntr_field_table[field];
    if (info->shape == NTR_SHAPE_FIXED) return info->bits;
    if (info->shape == NTR_SHAPE_CONFIG) return params->src_bits;
    if (field == NTR_FIELD_TSTAMP && params->ts_fixed) return ntr_tstamp_bits(params);
    if (info->shape == NTR_SHAPE_ADDRESS && params->extend_addr) return ntr_address_bits(params, value);
    return ntr_significant_bits(value);
}

bool ntr_needs_no_byte(const ntr_message *m, unsigned field) {
    unsigned at = NTR_TCODE_BITS;
    for (ntr_fields left = m->present & (NTR_FIELD_BIT(field) - 1); left; left &= left - 1) {
        if (NTR_VARIABLE_FIELDS & left & -left) return false;
        at += m->width[ntr_first_field(left)];
    }
    return at % NTR_MDO_BITS == 0;
}

bool ntr_message_is_padded(const ntr_params *params, const ntr_message *m, ntr_field field) {
    if (!params->extend_addr || ntr_field_table[field].shape != NTR_SHAPE_ADDRESS)
        return ntr_shows_width(params, m, field);
    /* Extension keeps the address when more equal bits are dropped: count from the extended one. */
    const unsigned sent = m->width[field];
    return sent >= ntr_address_bits(params, address_extended(params, m->value[field], sent)) + NTR_MDO_BITS;
}

/* Mark the fields that end in the byte whose first MDO bit is number `first` of the message. */
static void mark_fields(const ntr_message *m, unsigned first, ntr_message_byte *byte) {
    unsigned at = NTR_TCODE_BITS;
    for (ntr_fields left = m->present; left; left &= left - 1) {
        ntr_field field = ntr_first_field(left);
        if (!m->width[field]) continue;
        at += m->width[field];
        if (at > first && at <= first + NTR_MDO_BITS) byte->ends |= NTR_FIELD_BIT(field);
    }
}

ntr_status ntr_message_byte_at(const ntr_params *params, const ntr_message *m, size_t index, ntr_message_byte *byte) {
    if (index >= m->raw.size) return NTR_E_RANGE;
    uint8_t raw = m->raw.data[index];
    *byte = (ntr_message_byte){.mdo = raw >> NTR_MSEO_BITS, .mseo = (uint8_t)ntr_mseo_of(raw)};
    if (m->tcode == NTR_TCODE_NONE) return NTR_OK;
    byte->tcode = index == 0;
    mark_fields(m, (unsigned)index * NTR_MDO_BITS, byte);
    if (!ntr_message_get(params->dialect, m->tcode))
        byte->data = (index + 1) * NTR_MDO_BITS > (size_t)(NTR_TCODE_BITS + params->src_bits) &&
                     (byte->mseo == NTR_MSEO_FIELD || byte->mseo == NTR_MSEO_MESSAGE);
    return NTR_OK;
}
