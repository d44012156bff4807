/* The text form back into bytes. */
#include "base/text.h"
#include "message/draft.h"

#include <string.h>

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
