/* The JSON Lines form of a message. No string needs escaping: all come from the tables. */
#include "message/layout.h"
#include "message/text.h"

#define EXACT_MAX ((UINT64_C(1) << 53) - 1) /* RFC 8259 section 6: whole numbers that every reader keeps exact */

static char *add_key(char *at, const char *key) {
    *at++ = '"';
    at = ntr_text(at, key);
    return ntr_text_bytes(at, "\":", 2);
}

static char *add_string(char *at, const char *key, const char *text) {
    at = add_key(at, key);
    *at++ = '"';
    at = ntr_text(at, text);
    *at++ = '"';
    return at;
}

static char *add_number(char *at, uint64_t value) {
    if (value <= EXACT_MAX) return ntr_text_dec(at, value);
    at = ntr_text_hex(ntr_text(at, "\"0x"), value);
    *at++ = '"';
    return at;
}

static char *add_fields(char *at, const ntr_message *m) {
    at = ntr_text(at, ",\"fields\":{");
    for (ntr_fields left = m->present; left; left &= left - 1) {
        ntr_field field = ntr_first_field(left);
        if (left != m->present) *at++ = ',';
        at = add_number(add_key(at, ntr_field_name(field)), m->value[field]);
    }
    *at++ = '}';
    return at;
}

static char *add_widths(char *at, const ntr_params *params, const ntr_message *m) {
    bool any = false;
    for (ntr_fields left = m->present; left; left &= left - 1) {
        ntr_field field = ntr_first_field(left);
        if (!ntr_is_padded(params, m, field)) continue;
        at = any ? ntr_text(at, ",") : ntr_text(at, ",\"widths\":{");
        at = ntr_text_dec(add_key(at, ntr_field_name(field)), m->width[field]);
        any = true;
    }
    return any ? ntr_text(at, "}") : at;
}

static char *add_defect(char *at, const ntr_message *m) {
    if (m->defect == NTR_OK) return ntr_text(at, ",\"defect\":null");
    if (m->defect != NTR_E_MESSAGE_LONG) {
        at = ntr_text_hex_bytes(ntr_text(at, ",\"bytes\":\""), m->raw);
        *at++ = '"';
    }
    at = add_string(ntr_text(at, ",\"defect\":{"), "code", ntr_status_name(m->defect));
    *at++ = ',';
    if (m->defect_field == NTR_FIELD_NONE)
        at = ntr_text(at, "\"field\":null");
    else
        at = add_string(at, "field", ntr_field_name((ntr_field)m->defect_field));
    *at++ = ',';
    return ntr_text(add_string(at, "text", ntr_status_text(m->defect)), "}");
}

static char *object(const ntr_params *params, const ntr_message *m, char *at) {
    at = ntr_text_dec(ntr_text(at, "{\"number\":"), m->number);
    at = ntr_text_dec(ntr_text(at, ",\"offset\":"), m->offset);
    at = ntr_text_dec(ntr_text(at, ",\"size\":"), m->size);
    at = add_string(ntr_text(at, ","), "name", ntr_tcode_name(params->dialect, m->tcode));
    at = ntr_text(at, ",\"tcode\":");
    at = m->tcode == NTR_TCODE_NONE ? ntr_text(at, "null") : ntr_text_dec(at, m->tcode);
    at = add_fields(at, m);
    at = add_widths(at, params, m);
    if (m->defect == NTR_OK && ntr_has_payload(params, m))
        at = ntr_text(ntr_text_payload(ntr_text(at, ",\"data\":\""), params, m), "\"");
    return ntr_text(add_defect(at, m), "}");
}

int ntr_message_format_json(const ntr_params *params, const ntr_message *message, char *out, size_t capacity) {
    return ntr_text_make(object, params, message, out, capacity);
}
