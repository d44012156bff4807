/* The CSV form of a message: one column for every field there is. */
#include "message/text.h"

static const char head[] = "number,offset,size,tcode,name"
#define NTR_FIELD(id, member, text, shape, bits, base, about) "," text
#include <ntrace/fields.def>
#undef NTR_FIELD
                           ",data,defect";

static char *names(const ntr_params *params, const ntr_message *m, char *at) {
    (void)params;
    (void)m;
    return ntr_text(at, head);
}

static char *add_fields(char *at, const ntr_message *m) {
    for (unsigned f = 0; f < NTR_FIELD_COUNT; f++) {
        *at++ = ',';
        if (m->present >> f & 1) at = ntr_text_number(at, (ntr_field)f, m->value[f]);
    }
    return at;
}

/* The payload is quoted because it contains commas: "0x1f:12,0x0:6". */
static char *add_payload(char *at, const ntr_params *params, const ntr_message *m) {
    if (m->defect != NTR_OK || !ntr_has_payload(params, m)) return at;
    *at++ = '"';
    at = ntr_text_payload(at, params, m);
    *at++ = '"';
    return at;
}

static char *row(const ntr_params *params, const ntr_message *m, char *at) {
    at = ntr_text_dec(at, m->number);
    *at++ = ',';
    at = ntr_text_dec(at, m->offset);
    *at++ = ',';
    at = ntr_text_dec(at, m->size);
    *at++ = ',';
    if (m->tcode != NTR_TCODE_NONE) at = ntr_text_dec(at, m->tcode);
    *at++ = ',';
    at = ntr_text(at, ntr_tcode_name(params->dialect, m->tcode));
    at = add_fields(at, m);
    *at++ = ',';
    at = add_payload(at, params, m);
    *at++ = ',';
    return m->defect == NTR_OK ? at : ntr_text(at, ntr_status_name(m->defect));
}

int ntr_message_format_csv(const ntr_params *params, const ntr_message *message, char *out, size_t capacity) {
    return ntr_text_make(message ? row : names, params, message, out, capacity);
}
