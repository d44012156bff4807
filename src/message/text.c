#include "message/text.h"

#include "message/table.h"
#include "wire/mdo.h"

static const char hex_digits[] = "0123456789abcdef";

char *ntr_text_hex_bytes(char *at, ntr_bytes bytes) {
    for (size_t i = 0; i < bytes.size; i++) {
        *at++ = hex_digits[bytes.data[i] >> 4];
        *at++ = hex_digits[bytes.data[i] & 15];
    }
    return at;
}

/* ---- payload of vendor defined and reserved messages ------------------------------------------- */

static unsigned mdo_bit(ntr_bytes raw, size_t at) {
    return (unsigned)raw.data[at / NTR_MDO_BITS] >> (NTR_MSEO_BITS + at % NTR_MDO_BITS) & 1u;
}

/* The MDO bits first..end of a message as one hexadecimal number of any length. */
static char *wide_hex(char *at, ntr_bytes raw, size_t first, size_t end) {
    while (end > first + 1 && !mdo_bit(raw, end - 1)) end--;
    for (size_t digit = (end - first + 3) / 4; digit--;) {
        unsigned value = 0;
        for (size_t bit = 0; bit < 4 && first + 4 * digit + bit < end; bit++)
            value |= mdo_bit(raw, first + 4 * digit + bit) << bit;
        *at++ = hex_digits[value];
    }
    return at;
}

static size_t payload_start(const ntr_params *params) {
    return NTR_TCODE_BITS + params->src_bits;
}

bool ntr_has_payload(const ntr_params *params, const ntr_message *m) {
    return m->tcode != NTR_TCODE_NONE && !ntr_is_known(params->dialect, m->tcode) &&
           m->raw.size * NTR_MDO_BITS > payload_start(params);
}

char *ntr_text_payload(char *at, const ntr_params *params, const ntr_message *m) {
    if (!ntr_has_payload(params, m)) return at;
    char *start = at;
    size_t first = payload_start(params);
    for (size_t i = 0; i < m->raw.size; i++) {
        size_t end = (i + 1) * NTR_MDO_BITS;
        if (ntr_mseo_of(m->raw.data[i]) == NTR_MSEO_MORE || end < first) continue;
        if (at != start) *at++ = ',';
        at = ntr_text(at, "0x");
        if (end == first)
            *at++ = '0'; /* a field that ends in the byte where SRC ends has no bits left */
        else
            at = wide_hex(at, m->raw, first, end);
        *at++ = ':';
        at = ntr_text_dec(at, end - first);
        first = end;
    }
    return at;
}

/* ------------------------------------------------------------------------------------------------ */

int ntr_text_fit(ntr_text_form form, const ntr_params *params, const ntr_message *message, char *out, size_t capacity) {
    char room[NTR_MESSAGE_TEXT_MAX];
    size_t length = (size_t)(form(params, message, room) - room);
    if (length >= capacity) return NTR_E_SPACE;
    memcpy(out, room, length);
    out[length] = '\0';
    return (int)length;
}
