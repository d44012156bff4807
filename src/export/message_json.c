/* Reads the JSON form of a message.
 *
 * The object is rewritten as a line of the text form, which ntr_message_assemble reads. Each token of the line
 * records its JSON key, so that an error is reported with its column in the JSON text:
 *
 *   {"name":"DirectBranch","fields":{"ICNT":3},"widths":{"ICNT":18}}   ->   DirectBranch ICNT=3:18 */
#include <ntrace/export.h>
#include <ntrace/message.h>

#include "base/allocator.h"

#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* The name, BYTES, DATA and one token per field. */
enum { TOKENS_MAX = 3 + NTR_FIELD_COUNT };

typedef struct json_token {
    size_t start, value; /* offsets in the text line: of the token, and of its value */
    size_t column;       /* column of the key in the JSON text */
    bool exact;          /* the characters of the value are equal to those of the JSON string */
} json_token;

typedef struct rewriter {
    const char *json;
    char *text;
    size_t size;
    json_token tokens[TOKENS_MAX];
    size_t count;
} rewriter;

/* Returns the column of a key. Jansson does not record positions, so the quoted key is searched in the text. */
static size_t column_of(const char *line, const char *key) {
    size_t size = strlen(key);
    for (const char *at = strchr(line, '"'); at; at = strchr(at + 1, '"'))
        if (!strncmp(at + 1, key, size) && at[1 + size] == '"') return (size_t)(at - line);
    return 0;
}

static void put(rewriter *r, const char *text, size_t size) {
    memcpy(r->text + r->size, text, size);
    r->size += size;
    r->text[r->size] = 0;
}

/* Returns whether the text can be part of a token. */
static bool is_word(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '-') return false;
    return size != 0;
}

static ntr_status begin_token(rewriter *r, const char *name, const char *key, bool exact) {
    if (r->count == TOKENS_MAX) return NTR_E_NAME;
    put(r, " ", 1);
    r->tokens[r->count] = (json_token){r->size, r->size + strlen(name) + 1, column_of(r->json, key), exact};
    put(r, name, strlen(name));
    put(r, "=", 1);
    r->count++;
    return NTR_OK;
}

static ntr_status put_number(rewriter *r, const json_t *value) {
    if (json_is_string(value)) {
        if (!is_word(json_string_value(value), json_string_length(value))) return NTR_E_SYNTAX;
        put(r, json_string_value(value), json_string_length(value));
        return NTR_OK;
    }
    if (!json_is_integer(value)) return NTR_E_SYNTAX;
    if (json_integer_value(value) < 0) return NTR_E_RANGE;
    char digits[24];
    int size = snprintf(digits, sizeof digits, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    put(r, digits, (size_t)size);
    return NTR_OK;
}

static ntr_status put_name(rewriter *r, const ntr_params *params, json_t *object, const char **key) {
    const json_t *tcode = json_object_get(object, "tcode"), *name = json_object_get(object, "name");
    r->tokens[r->count++] = (json_token){0};
    *key = "tcode";
    if (json_is_integer(tcode)) {
        json_int_t number = json_integer_value(tcode);
        if (number < 0) return NTR_E_RANGE;
        if (number > 63) return NTR_E_NAME;
        const char *text = ntr_tcode_name(params->dialect, (unsigned)number);
        put(r, text, strlen(text));
        return NTR_OK;
    }
    *key = "name";
    if (!json_is_string(name)) return NTR_E_SYNTAX;
    if (!is_word(json_string_value(name), json_string_length(name))) return NTR_E_NAME;
    put(r, json_string_value(name), json_string_length(name));
    r->tokens[0].column = column_of(r->json, "name");
    return NTR_OK;
}

/* Returns whether the text form uses the key for something else than a field. The JSON form has no such field. */
static bool is_text_key(const char *key) {
    static const char *const TEXT_KEYS[] = {"BYTES", "DATA", "SIZE"};
    for (size_t i = 0; i < sizeof TEXT_KEYS / sizeof *TEXT_KEYS; i++)
        if (!strcasecmp(key, TEXT_KEYS[i])) return true;
    return false;
}

static ntr_status put_fields(rewriter *r, json_t *fields, json_t *widths, const char **key) {
    json_t *value;
    json_object_foreach(fields, *key, value) {
        if (!is_word(*key, strlen(*key)) || is_text_key(*key)) return NTR_E_NAME;
        ntr_status status = begin_token(r, *key, *key, false);
        if (status == NTR_OK) status = put_number(r, value);
        const json_t *width = json_object_get(widths, *key);
        if (status == NTR_OK && width) {
            put(r, ":", 1);
            status = put_number(r, width);
        }
        if (status != NTR_OK) return status;
    }
    return NTR_OK;
}

/* A width without its field is ignored. A name that is not a field is an error. */
static ntr_status check_widths(json_t *widths, json_t *fields, const char **key) {
    json_t *value;
    json_object_foreach(widths, *key, value) {
        bool known = json_object_get(fields, *key) != NULL;
        for (unsigned f = 0; f < NTR_FIELD_COUNT && !known; f++)
            known = !strcasecmp(*key, ntr_field_name((ntr_field)f));
        if (!known) return NTR_E_NAME;
    }
    return NTR_OK;
}

static ntr_status put_string(rewriter *r, const char *name, const char *key, json_t *object) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value)) return NTR_OK;
    ntr_status status = begin_token(r, name, key, true);
    const char *text = json_string_value(value);
    for (size_t i = 0; status == NTR_OK && i < json_string_length(value); i++)
        if (isspace((unsigned char)text[i]) || !text[i]) status = NTR_E_SYNTAX;
    if (status == NTR_OK) put(r, text, json_string_length(value));
    return status;
}

static ntr_status rewrite(rewriter *r, const ntr_params *params, json_t *object, size_t *column) {
    const char *key = "name";
    json_t *fields = json_object_get(object, "fields"), *widths = json_object_get(object, "widths");
    ntr_status status = put_name(r, params, object, &key);
    if (status == NTR_OK) status = put_fields(r, fields, widths, &key);
    if (status == NTR_OK) status = check_widths(widths, fields, &key);
    if (status == NTR_OK) status = put_string(r, "BYTES", key = "bytes", object);
    if (status == NTR_OK) status = put_string(r, "DATA", key = "data", object);
    if (status != NTR_OK) *column = column_of(r->json, key);
    return status;
}

/* Returns the column in the JSON text of an error at offset `at` of the text line. */
static size_t json_column(const rewriter *r, size_t at) {
    size_t name_end = strcspn(r->text, " ");
    if (at == name_end) return column_of(r->json, "fields");
    const json_token *last = &r->tokens[0];
    for (size_t i = 1; i < r->count && r->tokens[i].start <= at; i++) last = &r->tokens[i];
    return last->column + (last->exact && at > last->value ? at - last->value : 0);
}

/* A message that exceeds the decoder's limit has no bytes that could be reproduced. */
static bool was_too_long(const json_t *object) {
    const char *code = json_string_value(json_object_get(json_object_get(object, "defect"), "code"));
    return code && !strcmp(code, ntr_status_name(NTR_E_MESSAGE_LONG));
}

static int assemble(const ntr_params *params, rewriter *r, json_t *object, uint8_t *out, size_t capacity,
                    size_t *column) {
    if (was_too_long(object)) {
        *column = column_of(r->json, "defect");
        return NTR_E_MESSAGE_LONG;
    }
    ntr_status status = rewrite(r, params, object, column);
    if (status != NTR_OK) return status;
    int size = ntr_message_assemble(params, r->text, out, capacity, column);
    if (size < 0) *column = json_column(r, *column);
    return size;
}

int ntr_message_assemble_json(const ntr_params *params, const char *line, uint8_t *out, size_t capacity,
                              size_t *column) {
    size_t ignored;
    if (!column) column = &ignored;
    json_error_t error = {0};
    json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, &error);
    if (!object) {
        *column = error.position > 0 ? (size_t)error.position - 1 : 0;
        return json_error_code(&error) == json_error_out_of_memory ? NTR_E_MEMORY : NTR_E_SYNTAX;
    }
    /* A token is not longer than its JSON text, except for "Reserved" or "Vendor" before a TCODE. */
    rewriter r = {.json = line, .text = ntr_alloc(NULL, 2 * strlen(line) + 64, 1)};
    *column = 0;
    int result = r.text ? assemble(params, &r, object, out, capacity, column) : NTR_E_MEMORY;
    ntr_dealloc(NULL, r.text);
    json_decref(object);
    return result;
}
