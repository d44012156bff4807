/* The text form back into bytes. */
#include "base/text.h"
#include "message/layout.h"
#include "message/table.h"
#include "message/writer.h"

#include <ntrace/message.h>

#include <string.h>
#include <strings.h>

/* Part of the line, and its column. */
typedef struct ntr_draft_text {
    const char *text; /* NULL: not in the line */
    size_t size, column;
} ntr_draft_text;

typedef struct ntr_draft {
    ntr_message message;
    ntr_draft_text payload; /* DATA */
    ntr_draft_text bytes;   /* BYTES: replaces everything else */
    size_t column[NTR_FIELD_COUNT]; /* of each present field's value */
    size_t end;                     /* column where the name ends, reported for a missing field */
} ntr_draft;

/* ---- words to values --------------------------------------------------------------------------- */

static bool same(const char *name, const char *text, size_t size) {
    return strlen(name) == size && strncasecmp(name, text, size) == 0;
}

/* The TCODE of this name in any case, NTR_TCODE_NONE for "Malformed", or -1. */
static int ntr_tcode_called(const ntr_dialect *dialect, const char *name, size_t size) {
    for (unsigned tcode = 0; tcode < NTR_TCODES; tcode++)
        if (same(ntr_tcode_name(dialect, tcode), name, size)) return (int)tcode;
    return same(ntr_tcode_name(dialect, NTR_TCODE_NONE), name, size) ? NTR_TCODE_NONE : -1;
}

/* The field of this name in any case, hyphens aside, or NTR_FIELD_NONE. */
static ntr_field ntr_field_called(const char *name, size_t size) {
    static const struct {
        const char *name;
        ntr_field field;
    } aliases[] = {{"RDATA", NTR_FIELD_RDATA0}, {"HREPEAT", NTR_FIELD_RDATA1}};
    char plain[16];
    size_t length = 0;
    for (size_t i = 0; i < size; i++) {
        if (name[i] == '-') continue;
        if (length == sizeof plain) return NTR_FIELD_NONE;
        plain[length++] = name[i];
    }
    for (unsigned f = 0; f < NTR_FIELD_COUNT; f++)
        if (same(ntr_field_table[f].name, plain, length)) return (ntr_field)f;
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (same(aliases[i].name, plain, length)) return aliases[i].field;
    return NTR_FIELD_NONE;
}

/* ---- BYTES ------------------------------------------------------------------------------------- */

static int put_bytes(const ntr_draft_text *words, uint8_t *out, size_t capacity, size_t *column) {
    *column = words->column;
    if (words->size % 2 || !words->size) return NTR_E_SYNTAX;
    if (words->size / 2 > capacity) return NTR_E_SPACE;
    for (size_t i = 0; i < words->size; i += 2) {
        unsigned high = ntr_digit(words->text[i]), low = ntr_digit(words->text[i + 1]);
        if (high > 15 || low > 15) {
            *column += i;
            return NTR_E_SYNTAX;
        }
        out[i / 2] = (uint8_t)(high << 4 | low);
    }
    return (int)(words->size / 2);
}

/* ---- DATA: "0x1f:12,0x0:6" --------------------------------------------------------------------- */

/* A hexadecimal number of any length, from its last digit. */
static ntr_status put_wide_hex(ntr_writer *w, const char *digits, size_t size, unsigned bits) {
    for (size_t i = 0; i < size; i++) {
        unsigned digit = ntr_digit(digits[size - 1 - i]);
        if (digit > 15) return NTR_E_SYNTAX;
        unsigned here = bits > 4 ? 4 : bits;
        if (digit >> here) return NTR_E_FIELD_VALUE;
        ntr_writer_put(w, digit, here);
        bits -= here;
    }
    ntr_writer_put(w, 0, bits);
    return NTR_OK;
}

static ntr_status put_value(ntr_writer *w, const char *value, size_t size, unsigned bits) {
    if (size > 2 && value[0] == '0' && (value[1] == 'x' || value[1] == 'X'))
        return put_wide_hex(w, value + 2, size - 2, bits);
    uint64_t number;
    ntr_status status = ntr_parse_number(value, size, &number);
    if (status != NTR_OK) return status;
    if (bits < 64 && number >> bits) return NTR_E_FIELD_VALUE;
    ntr_writer_put(w, number, bits);
    return NTR_OK;
}

static ntr_status put_item(ntr_writer *w, const char *item, size_t size) {
    const char *colon = memchr(item, ':', size);
    uint64_t bits;
    if (!colon || ntr_parse_number(colon + 1, (size_t)(item + size - colon - 1), &bits) != NTR_OK) return NTR_E_SYNTAX;
    if (bits > NTR_MESSAGE_BYTES_MAX * NTR_MDO_BITS) return NTR_E_RANGE;
    ntr_status status = put_value(w, item, (size_t)(colon - item), (unsigned)bits);
    ntr_writer_end_field(w);
    return status;
}

static ntr_status put_payload(ntr_writer *w, const ntr_draft_text *words, size_t *column) {
    for (size_t at = 0; words->text && at <= words->size;) {
        const char *item = words->text + at;
        const char *comma = memchr(item, ',', words->size - at);
        size_t size = comma ? (size_t)(comma - item) : words->size - at;
        *column = words->column + at;
        ntr_status status = put_item(w, item, size);
        if (status != NTR_OK) return status;
        at += size + 1;
    }
    return NTR_OK;
}

static int encode_opaque(const ntr_params *params, const ntr_draft *draft, uint8_t *out, size_t capacity,
                         size_t *column) {
    ntr_writer w;
    ntr_writer_init(&w, out, capacity);
    ntr_writer_put(&w, draft->message.tcode, NTR_TCODE_BITS);
    ntr_writer_put(&w, draft->message.src, params->src_bits);
    ntr_status status = put_payload(&w, &draft->payload, column);
    return status == NTR_OK ? ntr_writer_end_message(&w) : status;
}

/* ---- the whole --------------------------------------------------------------------------------- */

/* The fields a message of this row and these values has. */
static ntr_fields wanted(const ntr_params *params, const ntr_message *m, const ntr_message_info *row,
                         ntr_fields *needed) {
    ntr_fields all = params->src_bits ? NTR_FIELD_BIT(NTR_FIELD_SRC) : 0;
    *needed = all;
    if (!row) return all;
    for (const ntr_message_field *entry = row->fields; entry->field != NTR_FIELD_NONE; entry++) {
        if (!ntr_field_applies(entry, m)) continue;
        all |= NTR_FIELD_BIT(entry->field);
        bool more = ntr_is_more(entry);
        if (more && m->present & NTR_FIELD_BIT(entry->field)) *needed |= NTR_FIELD_BIT(entry[-1].field);
        if (!entry->optional && !more) *needed |= NTR_FIELD_BIT(entry->field);
    }
    return all | NTR_FIELD_BIT(NTR_FIELD_TSTAMP);
}

/* Every given field belongs to the message and fits, and none is missing. */
static ntr_status check_fields(const ntr_params *params, const ntr_draft *draft, const ntr_message_info *row,
                               size_t *column) {
    ntr_fields needed, all = wanted(params, &draft->message, row, &needed);
    for (unsigned f = 0; f < NTR_FIELD_COUNT; f++) {
        if (!(draft->message.present >> f & 1)) continue;
        uint8_t shape = ntr_field_table[f].shape;
        bool fixed = shape == NTR_SHAPE_FIXED || shape == NTR_SHAPE_CONFIG;
        *column = draft->column[f];
        if (!(all >> f & 1)) return NTR_E_FIELD_NAME;
        if (fixed && draft->message.value[f] >> ntr_field_bits(params, (ntr_field)f, 0)) return NTR_E_FIELD_VALUE;
    }
    *column = draft->end;
    return needed & ~draft->message.present ? NTR_E_FIELD_MISSING : NTR_OK;
}

/* Turn the draft into bytes; returns as ntr_message_assemble. */
static int ntr_draft_encode(const ntr_params *params, const ntr_draft *draft, uint8_t *out, size_t capacity,
                            size_t *column) {
    if (draft->bytes.text) return put_bytes(&draft->bytes, out, capacity, column);
    *column = draft->end;
    if (draft->message.tcode == NTR_TCODE_NONE) return NTR_E_FIELD_MISSING;
    const ntr_message_info *row = ntr_message_get(params->dialect, draft->message.tcode);
    ntr_status status = check_fields(params, draft, row, column);
    if (status != NTR_OK) return status;
    if (!row) return encode_opaque(params, draft, out, capacity, column);
    *column = draft->payload.column;
    if (draft->payload.text) return NTR_E_FIELD_NAME;
    *column = draft->end;
    return ntr_message_encode(params, &draft->message, out, capacity);
}

/* A word of the line. */
typedef struct token {
    const char *text;
    size_t size;
} token;

static token next_token(const char **at) {
    while (**at == ' ' || **at == '\t' || **at == '\r' || **at == '\n') ++*at;
    token t = {*at, strcspn(*at, " \t\r\n")};
    *at += t.size;
    return t;
}

static ntr_status parse_value(ntr_draft *draft, ntr_field field, token value, const char *line) {
    const char *colon = memchr(value.text, ':', value.size);
    size_t digits = colon ? (size_t)(colon - value.text) : value.size;
    draft->column[field] = (size_t)(value.text - line);
    ntr_status status = ntr_parse_number(value.text, digits, &draft->message.value[field]);
    if (status != NTR_OK || !colon) return status;
    uint64_t width;
    status = ntr_parse_number(colon + 1, value.size - digits - 1, &width);
    if (status != NTR_OK) return status;
    if (width > NTR_MESSAGE_BYTES_MAX * 8) return NTR_E_RANGE;
    draft->message.width[field] = (uint16_t)width;
    return NTR_OK;
}

/* Take one KEY=VALUE. On error *at is the position of the error in the line. */
static ntr_status parse_pair(ntr_draft *draft, token pair, const char *line, const char **at) {
    const char *equals = memchr(pair.text, '=', pair.size);
    *at = pair.text;
    if (!equals) return NTR_E_SYNTAX;
    size_t key = (size_t)(equals - pair.text);
    token value = {equals + 1, pair.size - key - 1};
    ntr_draft_text words = {value.text, value.size, (size_t)(value.text - line)};
    if (key == 4 && !strncasecmp(pair.text, "DATA", key)) {
        draft->payload = words;
        return NTR_OK;
    }
    if (key == 5 && !strncasecmp(pair.text, "BYTES", key)) {
        draft->bytes = words;
        return NTR_OK;
    }
    if (key == 4 && !strncasecmp(pair.text, "SIZE", key)) return NTR_E_MESSAGE_LONG;
    ntr_field field = ntr_field_called(pair.text, key);
    if (field == NTR_FIELD_NONE) return NTR_E_NAME;
    if (draft->message.present >> field & 1) return NTR_E_SYNTAX;
    draft->message.present |= (ntr_fields)1 << field;
    *at = value.text;
    return parse_value(draft, field, value, line);
}

/* Skip "#12" and "@0x1f": the message number and the offset are not encoded. */
static ntr_status skip_place(const char **at, token *t) {
    for (const char *mark = "#@"; *mark; mark++) {
        uint64_t ignored;
        if (!t->size || *t->text != *mark) continue;
        ntr_status status = ntr_parse_number(t->text + 1, t->size - 1, &ignored);
        if (status != NTR_OK) return status;
        *t = next_token(at);
    }
    return t->size ? NTR_OK : NTR_E_SYNTAX;
}

static bool is_blank(token t) {
    return !t.size || (*t.text == '#' && (t.size == 1 || t.text[1] < '0' || t.text[1] > '9'));
}

int ntr_message_assemble(const ntr_params *params, const char *line, uint8_t *out, size_t capacity, size_t *column) {
    size_t ignored;
    if (!column) column = &ignored;
    ntr_draft draft;
    const char *at = line;
    token t = next_token(&at);
    if (is_blank(t)) return 0;
    memset(&draft, 0, sizeof draft);
    ntr_status status = skip_place(&at, &t);
    *column = (size_t)(t.text - line);
    if (status != NTR_OK) return status;
    int tcode = ntr_tcode_called(params->dialect, t.text, t.size);
    if (tcode < 0) return NTR_E_NAME;
    draft.message.tcode = (uint8_t)tcode;
    draft.end = (size_t)(at - line);
    for (t = next_token(&at); t.size && *t.text != '!'; t = next_token(&at)) {
        const char *mistake;
        status = parse_pair(&draft, t, line, &mistake);
        *column = (size_t)(mistake - line);
        if (status != NTR_OK) return status;
    }
    return ntr_draft_encode(params, &draft, out, capacity, column);
}
