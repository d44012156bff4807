/* Bytes to fields. A message is cut by MSEO into segments: some fixed fields, then the one variable field
 * that takes the rest. The MDO bits of a whole segment are gathered first; then its fields are shifted out, lowest
 * bits first. */
#include "message/decode.h"
#include "message/layout.h"
#include "message/quick.h"
#include "message/values.h"
#include "message/table.h"
#include "wire/ends.h"

enum { WORD_BITS = 64, SEGMENT_WORDS = 4 };

typedef struct segment {
    const uint8_t *at, *end; /* bytes after this segment */
    uint64_t
        word[SEGMENT_WORDS]; /* MDO bits; the fixed fields fit into word[0] and leave at least 192 to the variable */
    uint64_t over; /* not 0: the segment has set bits above these */
    unsigned taken; /* bits of word[0] that fixed fields have taken */
    unsigned bits; /* number of bits left, leading zeros included */
    ntr_mseo mseo; /* of the segment's last byte; MORE: the message ends inside the segment */
    bool open; /* its variable field has not been taken yet */
} segment;

/* Add up to 48 bits at bit position `at` of the segment. */
static void add_bits(segment *s, uint64_t bits, unsigned at) {
    unsigned index = at / WORD_BITS, shift = at % WORD_BITS;
    uint64_t above = shift ? bits >> (WORD_BITS - shift) : 0;
    if (index < SEGMENT_WORDS)
        s->word[index] |= bits << shift;
    else
        s->over |= bits;
    if (index + 1 < SEGMENT_WORDS)
        s->word[index + 1] |= above;
    else
        s->over |= above;
}

/* Gather the bytes up to the next one that ends a field. */
static void next_segment(segment *s) {
    memset(s->word, 0, sizeof s->word);
    s->over = 0;
    s->taken = 0;
    s->bits = 0;
    s->mseo = NTR_MSEO_MORE;
    s->open = true;
    while (s->at < s->end && s->mseo == NTR_MSEO_MORE) {
        size_t left = (size_t)(s->end - s->at);
        uint64_t word = left >= 8 ? ntr_load8(s->at) : ntr_load_upto8(s->at, left);
        uint64_t stops = ntr_word_stops(word);
        unsigned count = stops ? ntr_word_size(stops) : left < 8 ? (unsigned)left : 8;
        if (count < 8) word &= (UINT64_C(1) << 8 * count) - 1;
        add_bits(s, ntr_gather_mdo(word), s->bits);
        s->bits += count * NTR_MDO_BITS;
        s->at += count;
        s->mseo = ntr_mseo_of(s->at[-1]);
    }
}

/* The defect when a field needs more bits than its segment has. */
static ntr_status shortage(const segment *s) {
    switch (s->mseo) {
    case NTR_MSEO_MORE: return NTR_E_TRUNCATED;
    case NTR_MSEO_RESERVED: return NTR_E_MSEO_RESERVED;
    case NTR_MSEO_MESSAGE: return s->bits ? NTR_E_FIELD_SPLIT : NTR_E_FIELD_MISSING;
    default: return NTR_E_FIELD_SPLIT;
    }
}

/* Go on to the next segment if the variable field of this one has been taken. */
static ntr_status enter(segment *s) {
    if (s->open) return NTR_OK;
    if (s->mseo == NTR_MSEO_MESSAGE) return NTR_E_FIELD_MISSING;
    next_segment(s);
    return s->bits ? NTR_OK : shortage(s);
}

static ntr_status take_fixed(segment *s, unsigned bits, uint64_t *value) {
    ntr_status status = enter(s);
    if (status != NTR_OK) return status;
    if (s->bits < bits) return shortage(s);
    *value = s->word[0] >> s->taken & ((UINT64_C(1) << bits) - 1);
    s->taken += bits;
    s->bits -= bits;
    return NTR_OK;
}

/* Whether the fixed fields took all bits of the segment: a variable field of value 0 may have no byte. */
static bool ends_empty(const segment *s) {
    return s->open && !s->bits && (s->mseo == NTR_MSEO_FIELD || s->mseo == NTR_MSEO_MESSAGE);
}

/* Move the bits after the fixed fields to the beginning of the words. */
static void drop_taken(segment *s) {
    if (!s->taken) return;
    for (unsigned i = 0; i + 1 < SEGMENT_WORDS; i++)
        s->word[i] = s->word[i] >> s->taken | s->word[i + 1] << (WORD_BITS - s->taken);
    s->word[SEGMENT_WORDS - 1] >>= s->taken;
    s->taken = 0;
}

/* Whether the segment has set bits above the 64 of its variable field. */
static bool above(const segment *s) {
    return s->word[1] | s->word[2] | s->word[3] | s->over;
}

static ntr_status take_variable(segment *s, bool may_be_empty, uint64_t *value, uint16_t *width) {
    ntr_status status = enter(s);
    if (status != NTR_OK) return status;
    if (may_be_empty && ends_empty(s)) {
        *value = *width = 0;
        s->open = false;
        return NTR_OK;
    }
    if (!s->bits || s->mseo == NTR_MSEO_MORE || s->mseo == NTR_MSEO_RESERVED) return shortage(s);
    drop_taken(s);
    *value = s->word[0];
    *width = (uint16_t)s->bits;
    s->bits = 0;
    s->open = false;
    return above(s) ? NTR_E_FIELD_LONG : NTR_OK;
}

/* Whether an optional field is left out: no bits remain for it in the segment or in the message. */
static bool left_out(const segment *s) {
    return s->open ? ends_empty(s) : s->mseo == NTR_MSEO_MESSAGE;
}

static void note(ntr_message *m, ntr_status defect, unsigned field) {
    if (m->defect != NTR_OK) return;
    m->defect = (int16_t)defect;
    m->defect_field = (uint8_t)field;
}

/* Read one field; `long_too`: it may have more than 64 bits. Returns false when the fields after it cannot be read. */
static bool read_field(const ntr_params *params, segment *s, ntr_message *m, unsigned field, bool long_too) {
    const ntr_field_info *info = &ntr_field_table[field];
    ntr_status status;
    if (info->shape == NTR_SHAPE_FIXED || info->shape == NTR_SHAPE_CONFIG) {
        unsigned bits = info->shape == NTR_SHAPE_FIXED ? info->bits : params->src_bits;
        status = take_fixed(s, bits, &m->value[field]);
        m->width[field] = (uint16_t)bits;
    } else {
        bool may_be_empty = params->dialect && params->dialect->empty_icnt;
        status = take_variable(s, may_be_empty, &m->value[field], &m->width[field]);
        if (status == NTR_E_FIELD_LONG && long_too) status = NTR_OK;
    }
    if (status != NTR_OK) note(m, status, field);
    if (status != NTR_OK && status != NTR_E_FIELD_LONG) return false;
    m->present |= NTR_FIELD_BIT(field);
    status = ntr_field_check(params->dialect, m, (ntr_field)field);
    if (status != NTR_OK) note(m, status, field);
    return status == NTR_OK;
}

/* Read a field of shape MORE: the next 64 bits of the one before it. It is present when there are set bits in it or
 * above it, and takes the width that is left. */
static void read_more(segment *s, ntr_message *m, const ntr_message_field *entry) {
    unsigned field = entry->field, before = entry[-1].field;
    if (!above(s)) return;
    m->present |= NTR_FIELD_BIT(field);
    m->value[field] = s->word[1];
    m->width[field] = (uint16_t)(m->width[before] - WORD_BITS);
    m->width[before] = WORD_BITS;
    memmove(s->word, s->word + 1, (SEGMENT_WORDS - 1) * sizeof *s->word);
    s->word[SEGMENT_WORDS - 1] = 0;
    if (above(s) && !ntr_is_more(entry + 1)) note(m, NTR_E_FIELD_LONG, field);
}

static bool read_payload(const ntr_params *params, segment *s, ntr_message *m, const ntr_message_info *row) {
    for (const ntr_message_field *entry = row->fields; entry->field != NTR_FIELD_NONE; entry++) {
        if (!ntr_field_applies(entry, m)) continue;
        if (entry->optional && left_out(s)) {
            m->value[entry->field] = 0;
            m->width[entry->field] = 0;
            s->open = false;
        } else if (ntr_is_more(entry)) {
            read_more(s, m, entry);
        } else if (!read_field(params, s, m, entry->field, ntr_is_more(entry + 1))) {
            return false;
        }
    }
    return true;
}

/* What follows the payload is TSTAMP; anything after TSTAMP is a defect (OQ-22). */
static void read_end(const ntr_params *params, segment *s, ntr_message *m) {
    if (s->mseo == NTR_MSEO_FIELD) {
        if (params->timestamps == NTR_TIMESTAMPS_OFF) {
            note(m, NTR_E_FIELD_EXTRA, NTR_FIELD_TSTAMP);
            return;
        }
        if (!read_field(params, s, m, NTR_FIELD_TSTAMP, false)) return;
        if (!ntr_tstamp_width_fits(params, m)) note(m, NTR_E_FIELD_SPLIT, NTR_FIELD_TSTAMP);
    }
    if (s->mseo != NTR_MSEO_MESSAGE || s->at != s->end) note(m, NTR_E_FIELD_EXTRA, NTR_FIELD_NONE);
}

/* Vendor defined and reserved messages: only the framing can be checked. */
static void check_opaque(segment *s, ntr_message *m) {
    while (s->mseo == NTR_MSEO_FIELD) next_segment(s);
    if (s->mseo != NTR_MSEO_MESSAGE)
        note(m, shortage(s), NTR_FIELD_NONE);
    else if (s->at != s->end)
        note(m, NTR_E_FIELD_EXTRA, NTR_FIELD_NONE);
}

ntr_status ntr_message_decode_exactly(const ntr_params *params, ntr_bytes raw, ntr_message *m) {
    segment s = {.at = raw.data, .end = raw.data + raw.size};
    uint64_t tcode;
    m->raw = raw;
    m->size = raw.size;
    m->present = 0;
    m->defect = NTR_OK;
    m->defect_field = NTR_FIELD_NONE;
    m->tcode = NTR_TCODE_NONE;
    ntr_status status = take_fixed(&s, NTR_TCODE_BITS, &tcode);
    if (status != NTR_OK) {
        note(m, status, NTR_FIELD_NONE);
        return status;
    }
    m->tcode = (uint8_t)tcode;
    if (params->src_bits && !read_field(params, &s, m, NTR_FIELD_SRC, false)) return m->defect;
    const ntr_message_info *row = ntr_message_get(params->dialect, m->tcode);
    if (!row)
        check_opaque(&s, m);
    else if (read_payload(params, &s, m, row))
        read_end(params, &s, m);
    return m->defect;
}

/* Decode with the quick decoder. Returns false when the message is too long or has a defect. */
static bool is_perfect(const ntr_params *params, ntr_bytes raw, ntr_message *m) {
    uint8_t padded[NTR_QUICK_READABLE] = {0};
    if (raw.size > NTR_QUICK_LONGEST) return false;
    if (raw.size) memcpy(padded, raw.data, raw.size);
    if (ntr_quick_native.decode(params, padded, m) != raw.size) return false;
    m->raw = raw;
    return raw.size != 0;
}

ntr_status ntr_message_decode(const ntr_params *params, ntr_bytes raw, ntr_message *m) {
    return is_perfect(params, raw, m) ? NTR_OK : ntr_message_decode_exactly(params, raw, m);
}
