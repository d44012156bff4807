/* Capture files of Andes' tools, version 1 and 2, and their text twin. docs/dialects.md section 10.
 *
 * Byte 3 is the version. Version 1: SRC bits, no-addr-diff, VALEN, 1. Version 2: a length L of 24 bits that counts from
 * byte 3, the version, then tagged values (tag, length, value) up to byte L + 3; L = 4 has the three values without
 * tags. The text twin has the same bytes as 32-bit words in hexadecimal, in records of 32 bytes or in lines. */
#include "transport/container.h"
#include "base/bytes.h"

#include <ctype.h>
#include <stdio.h>

enum { VERSION_AT = 3, VERSION_1 = 1, VERSION_2 = 2, ANDES_SRC_BITS = 12, LENGTH_MAX = 64, LENGTH_EARLY = 4 };
enum { TAG_SRC_BITS = 1, TAG_NO_ADDR_DIFF = 2, TAG_VALEN = 3, TAG_TS_MODE = 4, TAGS_NEEDED = 1 << 1 | 1 << 2 | 1 << 3 };
enum { DIGITS = 8, RECORD = 32 };

typedef struct header {
    uint8_t value[5]; /* by tag */
    unsigned seen;    /* tags */
    size_t size;
} header;

static bool is_valen(unsigned bits) {
    return bits == 32 || bits == 39 || bits == 48 || bits == 57 || bits == 64;
}

static bool is_plausible(const header *h) {
    return h->value[TAG_SRC_BITS] <= ANDES_SRC_BITS && h->value[TAG_NO_ADDR_DIFF] <= 1 && h->value[TAG_TS_MODE] <= 1 &&
           is_valen(h->value[TAG_VALEN]);
}

static ntr_status refuse(ntr_container *c, const char *what) {
    snprintf(c->facts, sizeof c->facts, "header: %s", what);
    return NTR_E_SYNTAX;
}

static void take_plain(header *h, const uint8_t *values) {
    for (unsigned tag = TAG_SRC_BITS; tag <= TAG_VALEN; tag++) h->value[tag] = values[tag - 1];
}

static ntr_status take_tags(ntr_container *c, header *h, const uint8_t *at, const uint8_t *end) {
    while (at < end) {
        if (end - at < 2 || end - at - 2 < at[1]) return refuse(c, "a value runs over the end");
        if (at[0] >= TAG_SRC_BITS && at[0] <= TAG_TS_MODE) {
            if (at[1] != 1) return refuse(c, "a value has the wrong length");
            h->value[at[0]] = at[2];
            h->seen |= 1u << at[0];
        }
        at += 2 + at[1];
    }
    return (h->seen & TAGS_NEEDED) == TAGS_NEEDED ? NTR_OK
                                                  : refuse(c, "SRC bits, address rule or address width is missing");
}

static ntr_status take_header(ntr_container *c, const uint8_t *data, size_t size, header *h) {
    *h = (header){.size = VERSION_AT + 1};
    if (size <= VERSION_AT) return NTR_END;
    size_t length = (size_t)ntr_little(data, 3);
    if (data[VERSION_AT] == VERSION_1) {
        take_plain(h, data);
        return is_plausible(h) ? NTR_OK : NTR_END;
    }
    if (data[VERSION_AT] != VERSION_2 || length < LENGTH_EARLY || length > LENGTH_MAX) return NTR_END;
    h->size = length + VERSION_AT;
    if (size < h->size) return refuse(c, "the file ends inside it");
    ntr_status status = NTR_OK;
    if (length == LENGTH_EARLY)
        take_plain(h, data + VERSION_AT + 1);
    else
        status = take_tags(c, h, data + VERSION_AT + 1, data + h->size);
    if (status == NTR_OK && !is_plausible(h)) status = refuse(c, "a value is outside its limits");
    return status;
}

static void set_params(ntr_container *c, const header *h) {
    ntr_params *p = &c->params;
    p->src_bits = h->value[TAG_SRC_BITS];
    p->no_addr_diff = h->value[TAG_NO_ADDR_DIFF];
    p->addr_bits = h->value[TAG_VALEN];
    c->given |= 1u << NTR_PARAMETER_SRC_BITS | 1u << NTR_PARAMETER_NO_ADDR_DIFF | 1u << NTR_PARAMETER_ADDR_BITS;
    snprintf(c->facts, sizeof c->facts, "%s%u-bit addresses%s", p->src_bits ? "" : "no SRC, ", p->addr_bits,
             h->value[TAG_TS_MODE] ? ", timestamp compression mode 1 (see --ts-rule)" : "");
}

static ntr_status find(ntr_bytes beginning, ntr_container *c) {
    header h;
    ntr_status status = take_header(c, beginning.data, beginning.size, &h);
    if (status != NTR_OK) return status;
    set_params(c, &h);
    c->skip = h.size;
    return NTR_OK;
}

const container_ops ntr_container_andes = {
    .name = "andes", .producer = "Andes capture file", .dialect = "andes", .find = find};

/* ---- the text twin */

static int digit_of(uint8_t byte) {
    if (byte >= '0' && byte <= '9') return byte - '0';
    byte = (uint8_t)tolower(byte);
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* Convert text to bytes. Four bytes come from at least nine, so `out` may be the input if it begins with a word. */
static size_t convert(ntr_container *c, ntr_bytes text, uint8_t *out) {
    size_t size = 0;
    for (size_t i = 0; i < text.size; i++) {
        uint8_t byte = text.data[i];
        int digit = digit_of(byte);
        bool line_end = !c->record && byte == '\n';
        if (c->at < DIGITS && digit >= 0) {
            c->word = c->word << 4 | (unsigned)digit;
            if (c->at == DIGITS - 1)
                for (unsigned k = 0; k < 4; k++) out[size++] = (uint8_t)(c->word >> (8 * k));
        } else if (c->at < DIGITS && !line_end) {
            c->at = DIGITS; /* not a number: leave out the rest of the record */
        }
        if (c->at < UINT8_MAX) c->at++;
        if (line_end || (c->record && c->at >= c->record)) c->at = 0;
    }
    return size;
}

static size_t read_text(ntr_container *c, ntr_bytes bytes, uint8_t *out) {
    size_t size = convert(c, bytes, out);
    size_t skip = c->skip < size ? (size_t)c->skip : size;
    c->skip -= skip;
    for (size_t i = skip; i < size; i++) out[i - skip] = out[i];
    return size - skip;
}

static bool is_text(ntr_bytes beginning) {
    if (beginning.size <= DIGITS || beginning.data[DIGITS] != '\n') return false;
    for (unsigned i = 0; i < DIGITS; i++)
        if (digit_of(beginning.data[i]) < 0) return false;
    return true;
}

static ntr_status find_text(ntr_bytes beginning, ntr_container *c) {
    uint8_t bytes[NTR_CONTAINER_HEADER_MAX];
    header h;
    if (!is_text(beginning)) return NTR_END;
    if (beginning.size > sizeof bytes) beginning.size = sizeof bytes;
    c->record = beginning.size > DIGITS + 1 && beginning.data[DIGITS + 1] == 0 ? RECORD : 0;
    size_t size = convert(c, beginning, bytes);
    c->at = 0;
    ntr_status status = take_header(c, bytes, size, &h);
    if (status != NTR_OK) return status;
    set_params(c, &h);
    c->skip = h.size;
    return NTR_OK;
}

const container_ops ntr_container_andes_text = {.name = "andes-text",
                                                .producer = "Andes capture file as text",
                                                .dialect = "andes",
                                                .find = find_text,
                                                .read = read_text};
