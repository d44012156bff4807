/* The text form of a message: what `ntrace dump` prints. */
#include "message/table.h"
#include "message/text.h"

/* " ICNT=", with its length: copying a fixed size is quicker than looking for the end. */
typedef struct label {
    char text[15];
    uint8_t size;
} label;

#define NTR_FIELD(id, member, text, shape, bits, base, about) [NTR_FIELD_##id] = {" " text "=", sizeof(" " text "=") - 1},
static const label labels[NTR_FIELD_COUNT] = {
#include <ntrace/fields.def>
};
#undef NTR_FIELD

static char *add_field(char *at, const ntr_params *params, const ntr_message *m, ntr_field field) {
    memcpy(at, labels[field].text, sizeof labels[field].text);
    at = ntr_text_number(at + labels[field].size, field, m->value[field]);
    if (ntr_message_is_padded(params, m, field)) {
        *at++ = ':';
        at = ntr_text_dec(at, m->width[field]);
    }
    return at;
}

static char *add_defect(char *at, const ntr_message *m) {
    if (m->defect == NTR_E_MESSAGE_LONG) {
        at = ntr_text_dec(ntr_text(at, " SIZE="), m->size);
    } else {
        at = ntr_text_hex_bytes(ntr_text(at, " BYTES="), m->raw);
    }
    at = ntr_text(at, " !");
    if (m->defect_field != NTR_FIELD_NONE)
        at = ntr_text(ntr_text(at, ntr_field_name((ntr_field)m->defect_field)), ": ");
    return ntr_text(at, ntr_status_text(m->defect));
}

static char *line(const ntr_params *params, const ntr_message *m, char *at) {
    ntr_field fields[NTR_FIELDS_MAX];
    *at++ = '#';
    at = ntr_text_hex(ntr_text_bytes(ntr_text_dec(at, m->number), " @0x", 4), m->offset);
    *at++ = ' ';
    at = ntr_text(at, ntr_tcode_name(params->dialect, m->tcode));
    size_t count = ntr_message_list(params, m, fields);
    for (size_t i = 0; i < count; i++) at = add_field(at, params, m, fields[i]);
    if (m->defect != NTR_OK) return add_defect(at, m);
    if (ntr_has_payload(params, m)) at = ntr_text_payload(ntr_text(at, " DATA="), params, m);
    return at;
}

int ntr_message_format(const ntr_params *params, const ntr_message *message, char *out, size_t capacity) {
    return ntr_text_make(line, params, message, out, capacity);
}
