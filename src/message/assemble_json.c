/* The JSON form back into bytes. */
#include "message/draft.h"

#include <jansson.h>
#include <string.h>

/* Jansson forgets where things stood: look for the quoted key. */
static size_t column_of(const char *line, const char *key) {
    size_t size = strlen(key);
    for (const char *at = strchr(line, '"'); at; at = strchr(at + 1, '"'))
        if (!strncmp(at + 1, key, size) && at[1 + size] == '"') return (size_t)(at - line);
    return 0;
}

static ntr_status get_number(const json_t *value, uint64_t *number) {
    if (json_is_string(value)) return ntr_parse_number(json_string_value(value), json_string_length(value), number);
    if (!json_is_integer(value)) return NTR_E_SYNTAX;
    json_int_t integer = json_integer_value(value);
    *number = (uint64_t)integer;
    return integer < 0 ? NTR_E_RANGE : NTR_OK;
}

static ntr_status get_tcode(const ntr_params *params, const json_t *object, ntr_draft *draft, const char **key) {
    const json_t *tcode = json_object_get(object, "tcode"), *name = json_object_get(object, "name");
    uint64_t number;
    *key = "tcode";
    if (json_is_integer(tcode)) {
        ntr_status status = get_number(tcode, &number);
        if (status != NTR_OK) return status;
        draft->message.tcode = (uint8_t)number;
        return number < 64 ? NTR_OK : NTR_E_NAME;
    }
    *key = "name";
    if (!json_is_string(name)) return NTR_E_SYNTAX;
    int found = ntr_tcode_called(params->dialect, json_string_value(name), json_string_length(name));
    draft->message.tcode = (uint8_t)found;
    return found < 0 ? NTR_E_NAME : NTR_OK;
}

static ntr_status get_fields(json_t *fields, ntr_draft *draft, const char *line, const char **key) {
    json_t *value;
    json_object_foreach(fields, *key, value) {
        ntr_field field = ntr_field_called(*key, strlen(*key));
        if (field == NTR_FIELD_NONE) return NTR_E_NAME;
        if (draft->message.present >> field & 1) return NTR_E_SYNTAX;
        draft->message.present |= (ntr_fields)1 << field;
        draft->column[field] = column_of(line, *key);
        ntr_status status = get_number(value, &draft->message.value[field]);
        if (status != NTR_OK) return status;
    }
    return NTR_OK;
}

static ntr_status get_widths(json_t *widths, ntr_draft *draft, const char **key) {
    json_t *value;
    json_object_foreach(widths, *key, value) {
        ntr_field field = ntr_field_called(*key, strlen(*key));
        uint64_t width;
        if (field == NTR_FIELD_NONE) return NTR_E_NAME;
        ntr_status status = get_number(value, &width);
        if (status != NTR_OK) return status;
        if (width > NTR_MESSAGE_BYTES_MAX * 8) return NTR_E_RANGE;
        draft->message.width[field] = (uint16_t)width;
    }
    return NTR_OK;
}

static ntr_draft_text get_words(const json_t *object, const char *key, const char *line) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value)) return (ntr_draft_text){0};
    return (ntr_draft_text){json_string_value(value), json_string_length(value), column_of(line, key)};
}

static ntr_status read_object(const ntr_params *params, json_t *object, ntr_draft *draft, const char *line,
                              size_t *column) {
    const char *key;
    ntr_status status = get_tcode(params, object, draft, &key);
    if (status == NTR_OK) status = get_fields(json_object_get(object, "fields"), draft, line, &key);
    if (status == NTR_OK) status = get_widths(json_object_get(object, "widths"), draft, &key);
    draft->bytes = get_words(object, "bytes", line);
    draft->payload = get_words(object, "data", line);
    draft->end = column_of(line, "fields");
    if (status != NTR_OK) *column = column_of(line, key);
    return status;
}

/* A message that was too long for a decoder has no bytes to give back. */
static bool was_too_long(const json_t *object) {
    const char *code = json_string_value(json_object_get(json_object_get(object, "defect"), "code"));
    return code && !strcmp(code, ntr_status_name(NTR_E_MESSAGE_LONG));
}

int ntr_assemble_json(const ntr_params *params, const char *line, uint8_t *out, size_t capacity, size_t *column) {
    ntr_draft draft;
    json_error_t error = {0};
    json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, &error);
    if (!object) {
        *column = error.position > 0 ? (size_t)error.position - 1 : 0;
        return json_error_code(&error) == json_error_out_of_memory ? NTR_E_MEMORY : NTR_E_SYNTAX;
    }
    memset(&draft, 0, sizeof draft);
    int result = NTR_E_MESSAGE_LONG;
    *column = column_of(line, "defect");
    if (!was_too_long(object)) {
        result = read_object(params, object, &draft, line, column);
        if (result == NTR_OK) result = ntr_draft_encode(params, &draft, out, capacity, column);
    }
    json_decref(object);
    return result;
}
