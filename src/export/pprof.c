/* profile.proto of pprof: the calling context tree, with instructions and calls of each stack. A function is one
 * location; its line is that of its declaration.
 *
 * Each part is written as a message of its own: messages of one type that follow each other are one message. */
#include "export/stacks.h"

#include "pprof.pb-c.h"

#include "analysis/functions.h"
#include "base/allocator.h"

#include <string.h>

/* Strings: these, the names of the images, then name, linkage name and file of each function. */
static const char *const strings[] = {"", "instructions", "count", "calls"};
enum { STRING_EMPTY, STRING_INSTRUCTIONS, STRING_COUNT, STRING_CALLS, STRINGS };
enum { FUNCTION_NAME, FUNCTION_LINKAGE, FUNCTION_FILE, STRINGS_OF_FUNCTION };

static void put(ntr_export *x, const Ntr__Pprof__Profile *part) {
    const size_t size = ntr__pprof__profile__get_packed_size(part);
    uint8_t small[512], *bytes = size <= sizeof small ? small : ntr_alloc(x->allocator, size, 1);
    if (!bytes) {
        if (!x->out.status) x->out.status = NTR_E_MEMORY;
        return;
    }
    ntr__pprof__profile__pack(part, bytes);
    ntr_out_bytes(&x->out, bytes, size);
    if (bytes != small) ntr_dealloc(x->allocator, bytes);
}

static void put_string(ntr_export *x, const char *text) {
    char *list[] = {(char *)(uintptr_t)(text ? text : "")};
    Ntr__Pprof__Profile part = NTR__PPROF__PROFILE__INIT;
    part.n_string_table = 1;
    part.string_table = list;
    put(x, &part);
}

/* A string is UTF-8 there, whatever a name is; what ends a line or controls a terminal is '?'. */
static void put_name(ntr_export *x, const char *name) {
    char *copy = ntr_alloc(x->allocator, (name ? strlen(name) : 0) + 1, 1);
    size_t used = 0;
    if (!copy) {
        if (!x->out.status) x->out.status = NTR_E_MEMORY;
        return;
    }
    while (name && *name) {
        const size_t hazard = ntr_text_hazard(name);
        const size_t length = ntr_utf8_length(name, 4);
        if (hazard || !length)
            copy[used++] = '?';
        else
            for (size_t i = 0; i < length; i++) copy[used++] = name[i];
        name += hazard ? hazard : ntr_text_step(name);
    }
    put_string(x, copy);
    ntr_dealloc(x->allocator, copy);
}

static void put_types(ntr_export *x) {
    Ntr__Pprof__ValueType instructions = NTR__PPROF__VALUE_TYPE__INIT, calls = NTR__PPROF__VALUE_TYPE__INIT;
    Ntr__Pprof__ValueType *types[] = {&calls, &instructions}; /* the last one is shown first */
    Ntr__Pprof__Profile part = NTR__PPROF__PROFILE__INIT;
    instructions.type = STRING_INSTRUCTIONS;
    calls.type = STRING_CALLS;
    instructions.unit = calls.unit = STRING_COUNT;
    part.n_sample_type = 2;
    part.sample_type = types;
    part.period_type = &instructions;
    part.period = 1;
    part.default_sample_type = STRING_INSTRUCTIONS;
    put(x, &part);
}

static size_t count_images(const ntr_export *x) {
    ntr_image_info info;
    size_t count = 0;
    while (ntr_program_image(x->analysis.program, count, &info) == NTR_OK) count++;
    return count;
}

/* Each image is a mapping. The functions are named here: pprof does not look for the file. */
static void put_images(ntr_export *x) {
    ntr_image_info info;
    for (size_t i = 0; ntr_program_image(x->analysis.program, i, &info) == NTR_OK; i++) {
        Ntr__Pprof__Mapping mapping = NTR__PPROF__MAPPING__INIT, *mappings[] = {&mapping};
        Ntr__Pprof__Profile part = NTR__PPROF__PROFILE__INIT;
        mapping.id = i + 1;
        mapping.memory_start = info.low;
        mapping.memory_limit = info.high;
        mapping.filename = STRINGS + (int64_t)i;
        mapping.has_functions = mapping.has_filenames = mapping.has_line_numbers = true;
        part.n_mapping = 1;
        part.mapping = mappings;
        put(x, &part);
        put_name(x, info.path ? info.path : info.name);
    }
}

/* Returns the number of the mapping with a function; 0: none. Consecutive functions mostly are of one image. */
static uint64_t mapping_of(const ntr_export *x, const ntr_function *f, uint64_t last) {
    ntr_image_info info;
    if (!f->image) return 0;
    if (last && ntr_program_image(x->analysis.program, last - 1, &info) == NTR_OK && info.name &&
        strcmp(info.name, f->image) == 0 && f->low >= info.low && f->low < info.high)
        return last;
    for (size_t i = 0; ntr_program_image(x->analysis.program, i, &info) == NTR_OK; i++)
        if (info.name && strcmp(info.name, f->image) == 0 && f->low >= info.low && f->low < info.high) return i + 1;
    return 0;
}

static void put_function(ntr_export *x, uint32_t number, const ntr_function *f, uint64_t mapping, int64_t text) {
    Ntr__Pprof__Function function = NTR__PPROF__FUNCTION__INIT, *functions[] = {&function};
    Ntr__Pprof__Line line = NTR__PPROF__LINE__INIT, *lines[] = {&line};
    Ntr__Pprof__Location location = NTR__PPROF__LOCATION__INIT, *locations[] = {&location};
    Ntr__Pprof__Profile part = NTR__PPROF__PROFILE__INIT;
    function.id = location.id = line.function_id = number + 1u;
    function.name = text + FUNCTION_NAME;
    function.system_name = text + FUNCTION_LINKAGE;
    function.filename = text + FUNCTION_FILE;
    function.start_line = line.line = f->line;
    location.address = f->low;
    location.mapping_id = mapping;
    location.n_line = 1;
    location.line = lines;
    part.n_function = part.n_location = 1;
    part.function = functions;
    part.location = locations;
    put(x, &part);
    put_name(x, f->name);
    put_name(x, f->linkage ? f->linkage : f->name);
    put_name(x, f->file);
}

static void put_sample(ntr_export *x, const ntr_stacks *stacks, uint32_t node) {
    static const uint32_t nothing = UINT32_MAX;
    uint32_t path[NTR_CALLTREE_DEPTH_MAX + 1];
    uint64_t locations[NTR_CALLTREE_DEPTH_MAX + 1];
    int64_t values[] = {(int64_t)stacks->nodes[node].calls, (int64_t)stacks->nodes[node].self};
    Ntr__Pprof__Sample sample = NTR__PPROF__SAMPLE__INIT, *samples[] = {&sample};
    Ntr__Pprof__Profile part = NTR__PPROF__PROFILE__INIT;
    const size_t depth = ntr_stacks_path(stacks, node, path);
    for (size_t i = 0; i < depth; i++) {
        const uint32_t function = stacks->nodes[path[i]].function;
        if (function != nothing) locations[sample.n_location_id++] = function + 1u;
    }
    sample.location_id = locations;
    sample.n_value = 2;
    sample.value = values;
    part.n_sample = 1;
    part.sample = samples;
    put(x, &part);
}

static ntr_status end(ntr_export *x) {
    ntr_stacks stacks;
    const ntr_function *function;
    ntr_status status = ntr_stacks_make(&stacks, x);
    if (status) return status;
    put_types(x);
    for (size_t i = 0; i < STRINGS; i++) put_string(x, strings[i]);
    put_images(x);
    int64_t text = STRINGS + (int64_t)count_images(x);
    uint64_t mapping = 0;
    for (uint32_t i = 0; (function = ntr_functions_get(x->analysis.functions, i)); i++, text += STRINGS_OF_FUNCTION)
        put_function(x, i, function, mapping = mapping_of(x, function, mapping), text);
    for (uint32_t node = 1; node < stacks.count && !x->out.status; node++)
        if (stacks.nodes[node].self || stacks.nodes[node].calls) put_sample(x, &stacks, node);
    ntr_stacks_release(&stacks);
    return x->out.status;
}

const ntr_exporter ntr_exporter_pprof = {
    .name = "pprof",
    .family = "export",
    .summary = "profile.proto (go tool pprof, speedscope)",
    .needs = NTR_NEEDS_TREE,
    .end = end,
};
