/* The text form of a message: what `ntrace dump` prints. */
#include "message/layout.h"
#include "message/text.h"

/* Text of a known length. The whole array is copied, which is quicker than copying the exact length; what follows
 * overwrites the excess. */
typedef struct label {
    char text[23];
    uint8_t size;
} label;

#define LABEL(text) {text, sizeof(text) - 1}

static inline char *add_label(char *at, const label *l) {
    memcpy(at, l->text, sizeof l->text);
    return at + l->size;
}

#define NTR_FIELD(id, member, text, shape, bits, base, about) [NTR_FIELD_##id] = LABEL(" " text "="),
static const label field_labels[NTR_FIELD_COUNT] = {
#include <ntrace/fields.def>
};
#undef NTR_FIELD

/* In the order of ntr_message_at. */
#define NTR_MESSAGE(id, tcode, text, ...) LABEL(text),
static const label message_labels[] = {
#include <ntrace/messages.def>
};
#undef NTR_MESSAGE

static char *add_field(char *at, const ntr_params *params, const ntr_message *m, ntr_field field) {
    at = ntr_text_number(add_label(at, &field_labels[field]), field, m->value[field]);
    if (!ntr_is_padded(params, m, field)) return at;
    *at++ = ':';
    return ntr_text_dec(at, m->width[field]);
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

/* Vendor defined and reserved messages, and bytes that are no message. */
static char *add_opaque(char *at, const ntr_params *params, const ntr_message *m) {
    at = ntr_text(at, ntr_tcode_name(params->dialect, m->tcode));
    if (NTR_HAS(m, SRC)) at = add_field(at, params, m, NTR_FIELD_SRC);
    if (m->defect != NTR_OK || !ntr_has_payload(params, m)) return at;
    return ntr_text_payload(ntr_text(at, " DATA="), params, m);
}

static char *add_known(char *at, const ntr_params *params, const ntr_message *m, const ntr_message_info *row) {
    at = add_label(at, &message_labels[row - ntr_message_at(0)]);
    for (ntr_fields left = m->present; left; left &= left - 1) at = add_field(at, params, m, ntr_first_field(left));
    return at;
}

static char *line(const ntr_params *params, const ntr_message *m, char *at) {
    *at++ = '#';
    at = ntr_text_hex(ntr_text(ntr_text_dec(at, m->number), " @0x"), m->offset);
    *at++ = ' ';
    const ntr_message_info *row = ntr_message_get(params->dialect, m->tcode);
    at = row ? add_known(at, params, m, row) : add_opaque(at, params, m);
    return m->defect == NTR_OK ? at : add_defect(at, m);
}

int ntr_message_format(const ntr_params *params, const ntr_message *message, char *out, size_t capacity) {
    return ntr_text_make(line, params, message, out, capacity);
}
