#include "system/topology_options.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

ntr_status topology_fail(const json_place *place, ntr_status status, const char *format, ...) {
    const ntr_system_config *config = &place->system->config;
    char what[160];
    va_list arguments;
    if (!config->error || !config->error_size) return status;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(config->error, config->error_size, "components[%zu]%s%.40s: %s", place->index, place->key ? "." : "",
             place->key ? place->key : "", what);
    return status;
}

const char *topology_found(const json_t *value, char *out, size_t size) {
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "a list";
    case JSON_STRING: snprintf(out, size, "\"%.40s\"", json_string_value(value)); return out;
    case JSON_INTEGER: snprintf(out, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value)); return out;
    case JSON_REAL: snprintf(out, size, "%g", json_real_value(value)); return out;
    case JSON_TRUE: return "true";
    case JSON_FALSE: return "false";
    default: return "null";
    }
}

bool topology_number(const json_t *value, uint64_t *number) {
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        *number = (uint64_t)json_integer_value(value);
        return true;
    }
    const char *text = json_string_value(value);
    const char *end = text ? text + json_string_length(value) : NULL;
    return text && ntr_read_number(text, end, number) == end;
}

static ntr_status take_number(const json_place *place, const json_t *value, const option_info *info, uint64_t *number) {
    char found[64];
    if (topology_number(value, number) && *number >= info->least && *number <= info->most) return NTR_OK;
    return topology_fail(place, NTR_E_FORMAT, "expected a number from %" PRIu64 " to %" PRIu64 ", found %s",
                         info->least, info->most, topology_found(value, found, sizeof found));
}

static ntr_status take_set(const json_place *place, const json_t *value, const option_info *info, uint64_t *set) {
    char found[64];
    size_t i;
    json_t *item;
    if (!json_is_array(value))
        return topology_fail(place, NTR_E_FORMAT, "expected a list of numbers, found %s",
                             topology_found(value, found, sizeof found));
    *set = 0;
    json_array_foreach(value, i, item) {
        uint64_t number = 0;
        ntr_status status = take_number(place, item, info, &number);
        if (status != NTR_OK) return status;
        *set |= 1ull << number;
    }
    return NTR_OK;
}

static ntr_status take_option(const json_place *place, const json_t *value, const option_info *info, uint64_t *out) {
    char found[64];
    if (info->type == OPTION_SET) return take_set(place, value, info, out);
    if (info->type == OPTION_NUMBER) return take_number(place, value, info, out);
    *out = json_is_true(value);
    if (json_is_boolean(value)) return NTR_OK;
    return topology_fail(place, NTR_E_FORMAT, "expected true or false, found %s",
                         topology_found(value, found, sizeof found));
}

/* Returns whether the key is read elsewhere. */
static bool is_structure(const char *key) {
    static const char *const keys[] = {"name", "type", "base", "to", "preset", "ts_source", "set"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(keys[i], key) == 0) return true;
    return false;
}

static ntr_status take_preset(const json_place *place, const json_t *object, option_values *options) {
    const json_t *value = json_object_get(object, "preset");
    struct json_place here = *place;
    char found[64];
    here.key = "preset";
    const preset_id preset = !value                  ? PRESET_TYPICAL
                             : json_is_string(value) ? preset_find(json_string_value(value))
                                                     : PRESET_COUNT;
    if (preset == PRESET_COUNT)
        return topology_fail(&here, NTR_E_FORMAT, "expected minimal, typical or maximal, found %s",
                             topology_found(value, found, sizeof found));
    options_preset(options, preset);
    return NTR_OK;
}

/* A fixed buffer in system memory: the sink has no other memory, unless the file says so. */
static void imply_smem(const json_t *object, ntr_component kind, option_values *options) {
    if (kind != NTR_COMPONENT_RAM || !json_object_get(object, "smem_start")) return;
    if (!json_object_get(object, "smem")) options->value[OPTION_SMEM] = true;
    if (!json_object_get(object, "sram")) options->value[OPTION_SRAM] = 0;
}

ntr_status topology_options(const json_place *place, const json_t *object, ntr_component kind, option_values *options) {
    struct json_place here = *place;
    const char *key;
    json_t *value;
    ntr_status status = take_preset(place, object, options);
    if (status != NTR_OK) return status;
    json_object_foreach((json_t *)(uintptr_t)object, key, value) {
        here.key = key;
        if (is_structure(key)) continue;
        const option_id which = option_find(kind, key);
        if (which == OPTION_COUNT)
            return topology_fail(&here, NTR_E_FORMAT, "no such key for a component of type \"%s\"",
                                 ntr_component_get(kind)->name);
        status = take_option(&here, value, option_get(which), &options->value[which]);
        if (status != NTR_OK) return status;
    }
    imply_smem(object, kind, options);
    option_id blamed;
    const char *wrong = options_check(options, kind, &blamed);
    if (!wrong) return NTR_OK;
    here.key = option_get(blamed)->name;
    return topology_fail(&here, NTR_E_FORMAT, "%s", wrong);
}
