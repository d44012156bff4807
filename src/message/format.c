/* The text forms of a message: what `ntrace dump` prints, CSV, and JSON. */
#include "base/digits.h"
#include "message/layout.h"
#include "message/table.h"
#include "wire/mdo.h"

#include <ntrace/message_layout.h>
#include <string.h>

static inline char *ntr_text_bytes(char *at, const char *text, size_t size) {
    memcpy(at, text, size);
    return at + size;
}

static inline char *ntr_text(char *at, const char *text) {
    return ntr_text_bytes(at, text, strlen(text));
}

/* In the field's own base, with 0x. */
static inline char *ntr_text_number(char *at, ntr_field field, uint64_t value) {
    if (!(NTR_HEX_FIELDS >> field & 1)) return ntr_text_dec(at, value);
    *at++ = '0';
    *at++ = 'x';
    return ntr_text_hex(at, value);
}

/* Writes a message as one line at `at`, without NUL; there is room for NTR_MESSAGE_TEXT_MAX bytes. */
typedef char *(*ntr_text_form)(const ntr_params *params, const ntr_message *message, char *at);

static const char hex_digits[] = "0123456789abcdef";

static char *ntr_text_hex_bytes(char *at, ntr_bytes bytes) {
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

static size_t payload_start(const ntr_params *params) {
    return NTR_TCODE_BITS + params->src_bits;
}

/* Whether ntr_text_payload would write anything. */
static bool ntr_has_payload(const ntr_params *params, const ntr_message *m) {
    return m->tcode != NTR_TCODE_NONE && !ntr_is_known(params->dialect, m->tcode) &&
           m->raw.size * NTR_MDO_BITS > payload_start(params);
}

/* The payload of a vendor defined or reserved message, "0x1f:12,0x0:6"; nothing when there is none. */
static char *ntr_text_payload(char *at, const ntr_params *params, const ntr_message *m) {
    if (!ntr_has_payload(params, m)) return at;
    char *start = at;
    size_t first = payload_start(params);
    for (size_t i = 0; i < m->raw.size; i++) {
        size_t end = (i + 1) * NTR_MDO_BITS;
        if (ntr_mseo_of(m->raw.data[i]) == NTR_MSEO_MORE || end < first) continue;
        if (at != start) *at++ = ',';
        at = ntr_text(at, "0x");
        if (end == first)
            *at++ = '0'; /* a field that ends in the byte where SRC ends has no bits left */
        else
            at = wide_hex(at, m->raw, first, end);
        *at++ = ':';
        at = ntr_text_dec(at, end - first);
        first = end;
    }
    return at;
}

/* ------------------------------------------------------------------------------------------------ */

/* Where it may not fit. */
static int ntr_text_fit(ntr_text_form form, const ntr_params *params, const ntr_message *message, char *out,
                        size_t capacity) {
    char room[NTR_MESSAGE_TEXT_MAX];
    size_t length = (size_t)(form(params, message, room) - room);
    if (length >= capacity) return NTR_E_SPACE;
    memcpy(out, room, length);
    out[length] = '\0';
    return (int)length;
}

/* Run a form into a buffer of any size, with NUL; returns the length or NTR_E_SPACE. */
static inline int ntr_text_make(ntr_text_form form, const ntr_params *params, const ntr_message *message, char *out,
                                size_t capacity) {
    if (capacity <= NTR_MESSAGE_TEXT_MAX) return ntr_text_fit(form, params, message, out, capacity);
    char *end = form(params, message, out);
    *end = '\0';
    return (int)(end - out);
}

/* ---- The text form of a message: what `ntrace dump` prints. */

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
    if (!ntr_shows_width(params, m, field)) return at;
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

/* ---- The CSV form of a message: one column for every field there is. */

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

static char *csv_add_fields(char *at, const ntr_message *m) {
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
    at = csv_add_fields(at, m);
    *at++ = ',';
    at = add_payload(at, params, m);
    *at++ = ',';
    return m->defect == NTR_OK ? at : ntr_text(at, ntr_status_name(m->defect));
}

int ntr_message_format_csv(const ntr_params *params, const ntr_message *message, char *out, size_t capacity) {
    return ntr_text_make(message ? row : names, params, message, out, capacity);
}

/* ---- The JSON Lines form of a message. No string needs escaping: all come from the tables. */

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

static char *json_add_fields(char *at, const ntr_message *m) {
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
        if (!ntr_shows_width(params, m, field)) continue;
        at = any ? ntr_text(at, ",") : ntr_text(at, ",\"widths\":{");
        at = ntr_text_dec(add_key(at, ntr_field_name(field)), m->width[field]);
        any = true;
    }
    return any ? ntr_text(at, "}") : at;
}

static char *json_add_defect(char *at, const ntr_message *m) {
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
    at = json_add_fields(at, m);
    at = add_widths(at, params, m);
    if (m->defect == NTR_OK && ntr_has_payload(params, m))
        at = ntr_text(ntr_text_payload(ntr_text(at, ",\"data\":\""), params, m), "\"");
    return ntr_text(json_add_defect(at, m), "}");
}

int ntr_message_format_json(const ntr_params *params, const ntr_message *message, char *out, size_t capacity) {
    return ntr_text_make(object, params, message, out, capacity);
}
