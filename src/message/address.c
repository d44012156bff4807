#include "message/address.h"

#include "dialect/rules.h"
#include "wire/mdo.h"

/* Bits of F-ADDR: an address without its bit 0. */
static unsigned field_bits(const ntr_params *params) {
    return (params->xlen == 32 ? 32u : 64u) - 1;
}

static uint64_t low_bits(uint64_t value, unsigned bits) {
    return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

/* MSB extension when decoding: every bit above the highest transmitted bit equals that bit. */
static uint64_t extend(const ntr_params *params, uint64_t value, unsigned sent) {
    unsigned all = field_bits(params);
    if (sent == 0 || sent >= all || !(value >> (sent - 1) & 1)) return value;
    return value | (low_bits(UINT64_MAX, all) & ~low_bits(UINT64_MAX, sent));
}

unsigned ntr_address_bits(const ntr_params *params, uint64_t value) {
    unsigned bits = NTR_MDO_BITS;
    while (bits < 64 && extend(params, low_bits(value, bits), bits) != value) bits += NTR_MDO_BITS;
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
        address = extend(params, message->value[field], message->width[field]) << 1;
    else if (fixed)
        address = sign_extend(address, fixed);
    return params->xlen == 32 ? low_bits(address, 32) : address;
}
