/* Fields to bytes, the inverse of decode.c. */
#include "message/layout.h"
#include "message/table.h"
#include "message/writer.h"

/* Number of bits to send of a variable field: without leading zeros, but at least its `width`. An address that has a
 * width is not shortened by MSB extension. */
static unsigned bits_to_send(const ntr_params *params, const ntr_message *m, ntr_field field) {
    unsigned asked = m->width[field];
    if (!asked) return ntr_field_bits(params, field, m->value[field]);
    unsigned needed = ntr_significant_bits(m->value[field]);
    return asked > needed ? asked : needed;
}

/* `goes_on`: a field of shape MORE has further bits of it, so that it has all of its 64 bits and does not end. */
static ntr_status write_field(const ntr_params *params, ntr_writer *w, const ntr_message *m, unsigned field,
                              bool goes_on) {
    const ntr_field_info *info = &ntr_field_table[field];
    if (!(m->present & NTR_FIELD_BIT(field))) return NTR_E_FIELD_MISSING;
    if (info->shape == NTR_SHAPE_FIXED || info->shape == NTR_SHAPE_CONFIG) {
        unsigned bits = info->shape == NTR_SHAPE_FIXED ? info->bits : params->src_bits;
        if (m->value[field] >> bits) return NTR_E_FIELD_VALUE;
        ntr_writer_put(w, m->value[field], bits);
    } else if (goes_on) {
        ntr_writer_put(w, m->value[field], 64);
    } else {
        bool empty = ntr_may_be_empty(params, m, field) && w->size && !w->part_bits &&
                     ntr_mseo_of(w->out[w->size - 1]) == NTR_MSEO_MORE;
        if (!empty) ntr_writer_put(w, m->value[field], bits_to_send(params, m, (ntr_field)field));
        ntr_writer_end_field(w);
    }
    return NTR_OK;
}

static ntr_status write_payload(const ntr_params *params, ntr_writer *w, const ntr_message *m,
                                const ntr_message_info *row) {
    for (const ntr_message_field *entry = row->fields; entry->field != NTR_FIELD_NONE; entry++) {
        if (!ntr_field_applies(entry, m)) continue;
        if (entry->optional && !(m->present & NTR_FIELD_BIT(entry->field))) {
            ntr_writer_end_field(w);
            continue;
        }
        if (ntr_is_more(entry) && !(m->present & NTR_FIELD_BIT(entry->field))) continue;
        bool goes_on = ntr_is_more(entry + 1) && m->present & NTR_FIELD_BIT(entry[1].field);
        ntr_status status = write_field(params, w, m, entry->field, goes_on);
        if (status != NTR_OK) return status;
    }
    return NTR_OK;
}

static int careful_encode(const ntr_params *params, const ntr_message *message, const ntr_message_info *row,
                          uint8_t *out, size_t capacity) {
    ntr_writer w;
    ntr_writer_init(&w, out, capacity);
    ntr_writer_put(&w, message->tcode, NTR_TCODE_BITS);
    ntr_status status = NTR_OK;
    if (params->src_bits) status = write_field(params, &w, message, NTR_FIELD_SRC, false);
    if (status == NTR_OK) status = write_payload(params, &w, message, row);
    if (status == NTR_OK && NTR_HAS(message, TSTAMP))
        status = write_field(params, &w, message, NTR_FIELD_TSTAMP, false);
    return status == NTR_OK ? ntr_writer_end_message(&w) : status;
}

/* ---- quick encoder: messages as encoders make them, into a large buffer ----------------------------------------- */

static inline bool quick_field(const ntr_params *params, ntr_quick_writer *q, const ntr_message *m, unsigned field) {
    const ntr_field_info *info = &ntr_field_table[field];
    uint64_t value = m->value[field];
    bool fixed = info->shape == NTR_SHAPE_FIXED;
    if (!value && ntr_may_be_empty(params, m, field)) return false;
    if (field == NTR_FIELD_TSTAMP && params->ts_fixed) return false;
    if (!(m->present & NTR_FIELD_BIT(field)) || m->width[field]) return false;
    if (info->shape == NTR_SHAPE_ADDRESS && params->extend_addr) return false;
    unsigned bits = fixed ? info->bits : ntr_significant_bits(value);
    if (q->bits + bits > 64 || (fixed && value >> bits)) return false;
    ntr_quick_put(q, value, bits);
    if (!fixed) ntr_quick_end_field(q, NTR_MSEO_FIELD);
    return true;
}

/* Returns the message's size, or 0 when the message needs the exact encoder. */
static int quick_encode(const ntr_params *params, const ntr_message *m, const ntr_message_info *row, uint8_t *out) {
    ntr_quick_writer q = {
        .at = out, .part = m->tcode | m->src << NTR_TCODE_BITS, .bits = NTR_TCODE_BITS + params->src_bits};
    if (params->src_bits ? !NTR_HAS(m, SRC) || m->src >> params->src_bits : false) return 0;
    if (!params->src_bits) q.part = m->tcode;
    for (const ntr_message_field *entry = row->fields; entry->field != NTR_FIELD_NONE; entry++) {
        if (ntr_is_more(entry) && !(m->present & NTR_FIELD_BIT(entry->field))) continue;
        if (ntr_is_more(entry) || (ntr_field_applies(entry, m) && !quick_field(params, &q, m, entry->field))) return 0;
    }
    if (NTR_HAS(m, TSTAMP) && !quick_field(params, &q, m, NTR_FIELD_TSTAMP)) return 0;
    if (q.bits) return 0;
    q.at[-1] |= NTR_MSEO_MESSAGE;
    return (int)(q.at - out);
}

int ntr_message_encode(const ntr_params *params, const ntr_message *message, uint8_t *out, size_t capacity) {
    const ntr_message_info *row = ntr_message_get(params->dialect, message->tcode);
    if (!row) return NTR_E_INVALID;
    int size = capacity >= NTR_QUICK_ROOM ? quick_encode(params, message, row, out) : 0;
    return size ? size : careful_encode(params, message, row, out, capacity);
}
