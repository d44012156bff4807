#include "message/text.h"

#include "message/table.h"
#include "wire/mdo.h"

static const char pairs[] = "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
                            "5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
static const char hex_digits[] = "0123456789abcdef";

/* How many decimal digits: a guess by the number of bits, put right by one comparison. */
static unsigned dec_digits(uint64_t value) {
    static const uint64_t powers[] = {
        UINT64_C(0), /* one digit, also for 0 */
        UINT64_C(10),
        UINT64_C(100),
        UINT64_C(1000),
        UINT64_C(10000),
        UINT64_C(100000),
        UINT64_C(1000000),
        UINT64_C(10000000),
        UINT64_C(100000000),
        UINT64_C(1000000000),
        UINT64_C(10000000000),
        UINT64_C(100000000000),
        UINT64_C(1000000000000),
        UINT64_C(10000000000000),
        UINT64_C(100000000000000),
        UINT64_C(1000000000000000),
        UINT64_C(10000000000000000),
        UINT64_C(100000000000000000),
        UINT64_C(1000000000000000000),
        UINT64_C(10000000000000000000),
    };
    unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
    unsigned guess = bits * 1233 >> 12; /* log10(2) */
    return guess + (value >= powers[guess]);
}

char *ntr_text_dec(char *at, uint64_t value) {
    char *end = at + dec_digits(value), *first = end;
    for (; value >= 100; value /= 100) memcpy(first -= 2, pairs + 2 * (value % 100), 2);
    if (value >= 10) memcpy(first - 2, pairs + 2 * value, 2);
    else first[-1] = (char)('0' + value);
    return end;
}

/* Eight digits of a 32-bit number, the first in the lowest byte: nibbles are spread, then each becomes '0'..'9' or
 * 'a'..'f'. */
static uint64_t hex_of(uint32_t value) {
    uint64_t x = __builtin_bswap32(value);
    x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
    x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x >> 4 | x << 8) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    uint64_t letters = (x + UINT64_C(0x0606060606060606)) >> 4 & NTR_BYTES_LOW;
    return x + UINT64_C(0x3030303030303030) + letters * ('a' - '0' - 10);
}

char *ntr_text_hex(char *at, uint64_t value) {
    if (value >> 32) {
        at = ntr_text_hex(at, value >> 32);
        uint64_t low = htole64(hex_of((uint32_t)value));
        memcpy(at, &low, sizeof low);
        return at + sizeof low;
    }
    unsigned digits = (35 - (unsigned)__builtin_clz((uint32_t)value | 1)) / 4;
    uint64_t text = htole64(hex_of((uint32_t)value << (32 - 4 * digits)));
    memcpy(at, &text, sizeof text); /* the rest is overwritten by what follows */
    return at + digits;
}

char *ntr_text_number(char *at, ntr_field field, uint64_t value) {
    if (ntr_field_table[field].base == NTR_BASE_DEC) return ntr_text_dec(at, value);
    *at++ = '0';
    *at++ = 'x';
    return ntr_text_hex(at, value);
}

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

static size_t payload_start(const ntr_params *params) { return NTR_TCODE_BITS + params->src_bits; }

bool ntr_has_payload(const ntr_params *params, const ntr_message *m) {
    return m->tcode != NTR_TCODE_NONE && !ntr_message_get(params->dialect, m->tcode) &&
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
        if (end == first) *at++ = '0'; /* a field that ends with SRC and has no bits of its own */
        else at = wide_hex(at, m->raw, first, end);
        *at++ = ':';
        at = ntr_text_dec(at, end - first);
        first = end;
    }
    return at;
}

/* ------------------------------------------------------------------------------------------------ */

int ntr_text_make(ntr_text_form form, const ntr_params *params, const ntr_message *message, char *out,
                  size_t capacity) {
    char room[NTR_MESSAGE_TEXT_MAX];
    char *start = capacity < sizeof room ? room : out;
    size_t length = (size_t)(form(params, message, start) - start);
    if (length >= capacity) return NTR_E_SPACE;
    if (start == room) memcpy(out, room, length);
    out[length] = '\0';
    return (int)length;
}
