/* Fields to bytes: the mirror of decode.c. */
#include "message/layout.h"
#include "message/table.h"
#include "message/writer.h"

/* How many bits of a variable field are sent: all that count, more where asked for. An address that has a
 * width is sent as it is, not shortened. */
static unsigned bits_to_send(const ntr_params *params, const ntr_message *m, ntr_field field) {
    unsigned asked = m->width[field];
    if (!asked) return ntr_field_bits(params, field, m->value[field]);
    unsigned needed = ntr_significant_bits(m->value[field]);
    return asked > needed ? asked : needed;
}

static ntr_status write_field(const ntr_params *params, ntr_writer *w, const ntr_message *m, unsigned field) {
    const ntr_field_info *info = &ntr_field_table[field];
    if (!(m->present & NTR_FIELD_BIT(field))) return NTR_E_FIELD_MISSING;
    if (info->shape == NTR_SHAPE_FIXED || info->shape == NTR_SHAPE_CONFIG) {
        unsigned bits = info->shape == NTR_SHAPE_FIXED ? info->bits : params->src_bits;
        if (m->value[field] >> bits) return NTR_E_FIELD_VALUE;
        ntr_writer_put(w, m->value[field], bits);
    } else {
        ntr_writer_put(w, m->value[field], bits_to_send(params, m, (ntr_field)field));
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
        ntr_status status = write_field(params, w, m, entry->field);
        if (status != NTR_OK) return status;
    }
    return NTR_OK;
}

int ntr_message_encode(const ntr_params *params, const ntr_message *message, uint8_t *out, size_t capacity) {
    const ntr_message_info *row = ntr_message_get(params->dialect, message->tcode);
    if (!row) return NTR_E_INVALID;
    ntr_writer w;
    ntr_writer_init(&w, out, capacity);
    ntr_writer_put(&w, message->tcode, NTR_TCODE_BITS);
    ntr_status status = NTR_OK;
    if (params->src_bits) status = write_field(params, &w, message, NTR_FIELD_SRC);
    if (status == NTR_OK) status = write_payload(params, &w, message, row);
    if (status == NTR_OK && NTR_HAS(message, TSTAMP)) status = write_field(params, &w, message, NTR_FIELD_TSTAMP);
    return status == NTR_OK ? ntr_writer_end_message(&w) : status;
}
