/* Where the fields of a message lie. */
#include "message/layout.h"

#include "message/address.h"
#include "message/table.h"
#include "wire/mdo.h"

size_t ntr_message_list(const ntr_params *params, const ntr_message *m, ntr_field fields[NTR_FIELDS_MAX]) {
    size_t count = 0;
    const ntr_message_info *row = ntr_message_get(params->dialect, m->tcode);
    if (NTR_HAS(m, SRC)) fields[count++] = NTR_FIELD_SRC;
    for (const ntr_message_field *entry = row ? row->fields : NULL; entry && entry->field != NTR_FIELD_NONE; entry++)
        if (m->present >> entry->field & 1) fields[count++] = (ntr_field)entry->field;
    if (NTR_HAS(m, TSTAMP)) fields[count++] = NTR_FIELD_TSTAMP;
    return count;
}

unsigned ntr_field_bits(const ntr_params *params, ntr_field field, uint64_t value) {
    const ntr_field_info *info = &ntr_field_table[field];
    if (info->shape == NTR_SHAPE_FIXED) return info->bits;
    if (info->shape == NTR_SHAPE_CONFIG) return params->src_bits;
    if (info->shape == NTR_SHAPE_ADDRESS && params->extend_addr) return ntr_address_bits(params, value);
    return ntr_significant_bits(value);
}

/* A decoded width fills its last byte, so a surplus of less than one byte is the rounding up. */
bool ntr_message_is_padded(const ntr_params *params, const ntr_message *m, ntr_field field) {
    unsigned sent = m->width[field], needed = ntr_field_bits(params, field, m->value[field]);
    return sent && (sent < needed || sent - needed >= NTR_MDO_BITS);
}

/* Mark what ends in the byte whose MDO bits begin at `first`. */
static void mark_fields(const ntr_params *params, const ntr_message *m, unsigned first, ntr_message_byte *byte) {
    ntr_field fields[NTR_FIELDS_MAX];
    size_t count = ntr_message_list(params, m, fields);
    unsigned at = NTR_TCODE_BITS;
    for (size_t i = 0; i < count; i++) {
        if (!m->width[fields[i]]) continue;
        at += m->width[fields[i]];
        if (at > first && at <= first + NTR_MDO_BITS) byte->ends |= NTR_FIELD_BIT(fields[i]);
    }
}

ntr_status ntr_message_byte_at(const ntr_params *params, const ntr_message *m, size_t index, ntr_message_byte *byte) {
    if (index >= m->raw.size) return NTR_E_RANGE;
    uint8_t raw = m->raw.data[index];
    *byte = (ntr_message_byte){.mdo = raw >> NTR_MSEO_BITS, .mseo = (uint8_t)ntr_mseo_of(raw)};
    if (m->tcode == NTR_TCODE_NONE) return NTR_OK;
    byte->tcode = index == 0;
    mark_fields(params, m, (unsigned)index * NTR_MDO_BITS, byte);
    if (!ntr_message_get(params->dialect, m->tcode))
        byte->data = (index + 1) * NTR_MDO_BITS > (size_t)(NTR_TCODE_BITS + params->src_bits) &&
                     (byte->mseo == NTR_MSEO_FIELD || byte->mseo == NTR_MSEO_MESSAGE);
    return NTR_OK;
}
