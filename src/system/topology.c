/* Reads the components of a topology: names, base addresses and connections. docs/system.md describes the JSON. */
#include "system/topology.h"
#include "base/allocator.h"
#include "base/config.h"
#include "base/macros.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Creates a system from its topology. */

/* Defines the fields that all component types have. */
static void common_rules(trace_component *component) {
    const common_bits *bits = component_bits(component->ops->kind);
    if (is_coresight(component)) return;
    page_fix(&component->page, bits->major, 1);
    page_fix(&component->page, bits->type, ntr_component_get(component->ops->kind)->type);
    page_fix(&component->page, bits->vendor, (uint32_t)OPTION(&component->options, VENDOR));
}

static ntr_status start_components(ntr_system *system) {
    ntr_status status = NTR_OK;
    for (size_t i = 0; i < system->count && status == NTR_OK; i++) {
        common_rules(system->components[i]);
        status = component_start(system->components[i]);
    }
    return status;
}

ntr_status ntr_system_new(const ntr_system_config *given, ntr_system **out) {
    *out = NULL;
    ntr_system_config config;
    ntr_status status = ntr_config_load(&config, sizeof config, given);
    if (status == NTR_OK && !config.topology.data) status = NTR_E_INVALID;
    if (status != NTR_OK) return status;
    if (config.error && config.error_size) config.error[0] = 0;
    ntr_system *system = ntr_alloc(config.allocator, 1, sizeof *system);
    if (!system) return NTR_E_MEMORY;
    system->config = config;
    status = topology_read(system);
    if (status == NTR_OK) status = start_components(system);
    if (status == NTR_OK)
        *out = system;
    else
        ntr_system_free(system);
    return status;
}

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
    static const char *const keys[] = {"name", "type", "base", "to", "preset", "ts_source", "set", "prefer"};
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

/* Returns the value of tmc_type for a type that says it, or OPTION_NONE. */
static uint64_t topology_tmc_type(const char *type) {
    static const char *const names[] = {[TMC_ETB] = "etb", [TMC_ETR] = "etr", [TMC_ETF] = "etf"};
    for (size_t i = 0; type && i < NTR_COUNT(names); i++)
        if (strcmp(names[i], type) == 0) return i;
    return OPTION_NONE;
}

static void imply_tmc_modes(option_values *options) {
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): take_preset has set all values */
    const unsigned hardware = options->value[OPTION_TMC_TYPE] == TMC_ETF ? 1u << TMC_HARDWARE_FIFO : 0;
    options->value[OPTION_TMC_MODES] = 1u << TMC_CIRCULAR | 1u << TMC_SOFTWARE_FIFO | hardware;
}

/* What follows from other keys: the type of a TMC; the only memory of a sink with a fixed buffer. */
static void imply(const json_t *object, ntr_component kind, option_values *options) {
    const uint64_t type = topology_tmc_type(json_string_value(json_object_get(object, "type")));
    if (kind == NTR_COMPONENT_TMC && type != OPTION_NONE) options->value[OPTION_TMC_TYPE] = type;
    if (kind == NTR_COMPONENT_TMC && !json_object_get(object, "tmc_modes")) imply_tmc_modes(options);
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
    imply(object, kind, options);
    option_id blamed;
    const char *wrong = options_check(options, kind, &blamed);
    if (!wrong) return NTR_OK;
    here.key = option_get(blamed)->name;
    return topology_fail(&here, NTR_E_FORMAT, "%s", wrong);
}

#define TOPOLOGY_BYTES_MAX (1u << 20)

static ntr_status fail_file(const ntr_system *system, ntr_status status, const char *what) {
    if (system->config.error) snprintf(system->config.error, system->config.error_size, "%s", what);
    return status;
}

/* ---- name, type and base address */

static ntr_status text_of(const json_place *place, const json_t *object, const char *key, const char **text) {
    struct json_place here = *place;
    char found[64];
    const json_t *value = json_object_get(object, key);
    here.key = key;
    *text = json_string_value(value);
    if (*text && **text) return NTR_OK;
    if (!value) return topology_fail(&here, NTR_E_FORMAT, "is required");
    return topology_fail(&here, NTR_E_FORMAT, "expected text, found %s", topology_found(value, found, sizeof found));
}

static ntr_status kind_of(const json_place *place, const json_t *object, ntr_component *kind) {
    struct json_place here = *place;
    const char *text;
    here.key = "type";
    TRY(text_of(place, object, "type", &text));
    *kind = NTR_COMPONENT_TMC;
    if (topology_tmc_type(text) != OPTION_NONE) return NTR_OK;
    for (unsigned i = 0; i < NTR_COMPONENT_COUNT; i++) {
        *kind = (ntr_component)i;
        if (ntr_component_get(i)->type && strcmp(ntr_component_get(i)->name, text) == 0) return NTR_OK;
    }
    return topology_fail(&here, NTR_E_FORMAT,
                         "expected encoder, funnel, ram, pib, atb, csfunnel, etb, etf, etr or tmc, found \"%.40s\"",
                         text);
}

static trace_component *find_name(const ntr_system *system, const char *name, size_t length) {
    for (size_t i = 0; i < system->count; i++) {
        trace_component *one = system->components[i];
        if (strlen(one->name) == length && memcmp(one->name, name, length) == 0) return one;
    }
    return NULL;
}

static ntr_status base_of(const json_place *place, const json_t *object, uint64_t *base) {
    struct json_place here = *place;
    char found[64];
    const json_t *value = json_object_get(object, "base");
    here.key = "base";
    if (!value) return topology_fail(&here, NTR_E_FORMAT, "is required");
    if (!topology_number(value, base) || *base % NTR_COMPONENT_BYTES)
        return topology_fail(&here, NTR_E_FORMAT, "expected a multiple of 0x%x, found %s", NTR_COMPONENT_BYTES,
                             topology_found(value, found, sizeof found));
    for (size_t i = 0; i < place->system->count; i++)
        if (place->system->components[i]->base == *base)
            return topology_fail(&here, NTR_E_FORMAT, "0x%" PRIx64 " is already the base of \"%.40s\"", *base,
                                 place->system->components[i]->name);
    return NTR_OK;
}

static ntr_status add_hart(const json_place *place, trace_component *encoder) {
    struct json_place here = *place;
    const uint64_t hart = OPTION(&encoder->options, HART);
    here.key = "hart";
    if (place->system->of_hart[hart])
        return topology_fail(&here, NTR_E_FORMAT, "hart %" PRIu64 " is already traced by \"%.40s\"", hart,
                             place->system->of_hart[hart]->name);
    place->system->of_hart[hart] = encoder;
    return NTR_OK;
}

enum { COMPONENT_NAME_MAX = 64 };

static bool is_word(const char *name) {
    const size_t size = strlen(name);
    return size && size <= COMPONENT_NAME_MAX && name[0] != '-' &&
           strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") == size;
}

static const char *cleaned(const char *name, char shown[NTR_NAME_CLEANED_MAX + 1]) {
    ntr_name_clean(name, shown);
    return shown;
}

static ntr_status add_component(const json_place *place, const json_t *object) {
    struct json_place here = *place;
    const char *name;
    char shown[NTR_NAME_CLEANED_MAX + 1];
    uint64_t base = 0;
    ntr_component kind;
    option_values options;
    trace_component *added;
    if (!json_is_object(object)) return topology_fail(place, NTR_E_FORMAT, "expected an object");
    TRY(text_of(place, object, "name", &name));
    here.key = "name";
    if (!is_word(name)) /* names are part of scripts, of the command line, and of other texts */
        return topology_fail(&here, NTR_E_FORMAT,
                             "expected letters, digits and _ . - (at most %d, first no -), found \"%.40s\"",
                             COMPONENT_NAME_MAX, cleaned(name, shown));
    if (find_name(place->system, name, strlen(name)))
        return topology_fail(&here, NTR_E_FORMAT, "\"%.40s\" is already in use", name);
    TRY(kind_of(place, object, &kind));
    TRY(base_of(place, object, &base));
    TRY(topology_options(place, object, kind, &options));
    TRY(system_add(place->system, kind, name, base, &options, &added));
    return kind == NTR_COMPONENT_ENCODER ? add_hart(place, added) : NTR_OK;
}

/* ---- connections */

/* Returns whether this input is already connected. */
static bool input_taken(const ntr_system *system, const trace_component *to, uint64_t input) {
    for (size_t i = 0; i < system->count; i++)
        for (size_t k = 0; k < system->components[i]->output_count; k++)
            if (system->components[i]->outputs[k].to == to && system->components[i]->outputs[k].input == input)
                return true;
    return false;
}

/* Finds the input "funnel0:3" (input 3), or the first free input of "funnel0". */
static ntr_status find_input(const json_place *place, const char *text, output_link *out) {
    const ntr_system *system = place->system;
    const char *colon = strchr(text, ':');
    const size_t length = colon ? (size_t)(colon - text) : strlen(text);
    uint64_t input = 0;
    out->to = find_name(system, text, length);
    if (!out->to)
        return topology_fail(place, NTR_E_FORMAT, "no component \"%.*s\"", length < 40 ? (int)length : 40, text);
    const unsigned inputs = out->to->input_count;
    if (!inputs) return topology_fail(place, NTR_E_FORMAT, "\"%.40s\" is an encoder and has no input", text);
    if (colon) {
        json_t *number = json_string(colon + 1);
        const bool good = number && topology_number(number, &input) && input < inputs;
        json_decref(number);
        if (!good)
            return topology_fail(place, NTR_E_FORMAT, "\"%.40s\": expected an input from 0 to %u", text, inputs - 1);
    } else {
        while (input + 1 < inputs && input_taken(system, out->to, input)) input++;
    }
    if (input_taken(system, out->to, input))
        return topology_fail(place, NTR_E_FORMAT,
                             "\"%.40s\": input %" PRIu64 " is already connected; several senders need a funnel", text,
                             input);
    out->input = (unsigned)input;
    return NTR_OK;
}

static ntr_status connect(const json_place *place, trace_component *from, const json_t *value) {
    char found[64];
    if (!json_is_string(value))
        return topology_fail(place, NTR_E_FORMAT, "expected the name of a component, found %s",
                             topology_found(value, found, sizeof found));
    output_link *links =
        ntr_realloc(place->system->config.allocator, from->outputs, from->output_count + 1, sizeof *links);
    if (!links) return NTR_E_MEMORY;
    from->outputs = links;
    TRY(find_input(place, json_string_value(value), &links[from->output_count]));
    from->output_count++;
    return NTR_OK;
}

static ntr_status connect_all(const json_place *place, const json_t *object) {
    struct json_place here = *place;
    trace_component *from = place->system->components[place->index];
    const json_t *to = json_object_get(object, "to");
    const ntr_component kind = from->ops->kind;
    const bool must = kind == NTR_COMPONENT_ENCODER || kind == NTR_COMPONENT_FUNNEL || kind == NTR_COMPONENT_CSFUNNEL;
    const bool may =
        kind == NTR_COMPONENT_ATB || (kind == NTR_COMPONENT_TMC && OPTION(&from->options, TMC_TYPE) == TMC_ETF);
    size_t i;
    json_t *item;
    here.key = "to";
    if (!to && may) return NTR_OK; /* a sink */
    if (!must && !may) return to ? topology_fail(&here, NTR_E_FORMAT, "a sink has no output") : NTR_OK;
    if (!to || (json_is_array(to) && !json_array_size(to)))
        return topology_fail(&here, NTR_E_FORMAT, "is required: the receiver of the trace");
    if (!json_is_array(to)) return connect(&here, from, to);
    json_array_foreach(to, i, item) TRY(connect(&here, from, item));
    return NTR_OK;
}

static bool has_time(const trace_component *component) {
    const ntr_component kind = component->ops->kind;
    return (kind == NTR_COMPONENT_ENCODER || kind == NTR_COMPONENT_FUNNEL) && OPTION(&component->options, TS_WIDTH);
}

static ntr_status find_ts_source(const json_place *place, const json_t *object) {
    struct json_place here = *place;
    trace_component *component = place->system->components[place->index];
    const json_t *value = json_object_get(object, "ts_source");
    here.key = "ts_source";
    if (!value) return NTR_OK;
    const char *name = json_string_value(value);
    component->ts_source = name ? find_name(place->system, name, strlen(name)) : NULL;
    if (!component->ts_source || !has_time(component->ts_source))
        return topology_fail(&here, NTR_E_FORMAT, "expected the name of an encoder or funnel with a timestamp unit");
    for (const struct trace_component *at = component->ts_source; at; at = at->ts_source)
        if (at == component) return topology_fail(&here, NTR_E_FORMAT, "circular timestamp source");
    return NTR_OK;
}

/* ---- initial values of fields ("set") */

static ntr_status add_setting(const json_place *place, const char *name, const json_t *value, bool optional) {
    ntr_system *system = place->system;
    trace_component *component = system->components[place->index];
    char found[64];
    uint64_t number;
    const ntr_bits bits = ntr_bits_find(name);
    const ntr_bits_info *info = ntr_bits_get(bits);
    unsigned ignored;
    if (!info || ntr_register_at(component->ops->kind, ntr_register_get(info->reg)->offset, &ignored) != info->reg)
        return topology_fail(place, NTR_E_FORMAT, "\"%.40s\" is not a field of this component", name);
    const uint32_t most = ntr_bits_mask(info) >> info->low;
    if (!topology_number(value, &number) || number > most)
        return topology_fail(place, NTR_E_FORMAT, "%s: expected a number from 0 to %" PRIu32 ", found %s", name, most,
                             topology_found(value, found, sizeof found));
    return system_set(
        system, &(setting){.component = component, .bits = bits, .value = (uint32_t)number, .optional = optional});
}

/* `set` must be accepted by the hardware; `prefer` need not. */
static ntr_status add_settings(const json_place *place, const json_t *object) {
    static const char *const keys[] = {"set", "prefer"};
    for (size_t i = 0; i < NTR_COUNT(keys); i++) {
        struct json_place here = *place;
        json_t *set = json_object_get(object, keys[i]), *value;
        const char *name;
        here.key = keys[i];
        if (set && !json_is_object(set))
            return topology_fail(&here, NTR_E_FORMAT, "expected an object of fields and values");
        json_object_foreach(set, name, value) TRY(add_setting(&here, name, value, i == 1));
    }
    return NTR_OK;
}

/* ---- order: receivers before senders */

static bool is_ordered(const ntr_system *system, size_t done, const trace_component *component) {
    for (size_t i = 0; i < done; i++)
        if (system->downstream[i] == component) return true;
    return false;
}

static bool receivers_ordered(const ntr_system *system, size_t done, const trace_component *component) {
    for (size_t k = 0; k < component->output_count; k++)
        if (!is_ordered(system, done, component->outputs[k].to)) return false;
    return true;
}

static ntr_status order(ntr_system *system) {
    size_t done = 0, before;
    do {
        before = done;
        for (size_t i = 0; i < system->count; i++) {
            trace_component *one = system->components[i];
            if (!is_ordered(system, done, one) && receivers_ordered(system, done, one))
                system->downstream[done++] = one;
        }
    } while (done != before && done < system->count);
    return done == system->count ? NTR_OK : fail_file(system, NTR_E_FORMAT, "the connections form a cycle");
}

/* ---- the file */

typedef ntr_status (*reading_pass)(const json_place *place, const json_t *object);

static ntr_status read_components(ntr_system *system, const json_t *list) {
    static const reading_pass passes[] = {add_component, connect_all, find_ts_source, add_settings};
    for (size_t pass = 0; pass < sizeof passes / sizeof passes[0]; pass++)
        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_place place = {system, i, NULL};
            TRY(passes[pass](&place, json_array_get(list, i)));
        }
    return order(system);
}

static ntr_status read_root(ntr_system *system, const json_t *root) {
    const char *key;
    json_t *value;
    const json_t *list = json_object_get(root, "components");
    if (!json_is_object(root)) return fail_file(system, NTR_E_FORMAT, "expected an object");
    json_object_foreach((json_t *)(uintptr_t)root, key,
                        value) if (strcmp(key, "components") != 0 &&
                                   strcmp(key, "about") !=
                                       0) return fail_file(system, NTR_E_FORMAT,
                                                           "expected only the keys components and about");
    if (!json_is_array(list) || !json_array_size(list))
        return fail_file(system, NTR_E_FORMAT, "components: expected a list of at least one component");
    if (json_array_size(list) > COMPONENTS_MAX) return fail_file(system, NTR_E_LIMIT, "components: more than 256");
    return read_components(system, list);
}

ntr_status topology_read(ntr_system *system) {
    const ntr_bytes text = system->config.topology;
    json_error_t error = {0};
    if (text.size > TOPOLOGY_BYTES_MAX) return fail_file(system, NTR_E_LIMIT, "a topology has at most 1 MiB");
    json_t *root = json_loadb((const char *)text.data, text.size, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        if (system->config.error)
            snprintf(system->config.error, system->config.error_size, "line %d, column %d: %s", error.line,
                     error.column, error.text);
        return NTR_E_SYNTAX;
    }
    const ntr_status status = read_root(system, root);
    json_decref(root);
    return status;
}
