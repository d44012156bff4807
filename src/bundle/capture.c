/* The tables of keys of capture.json, and reading and writing by them. */
#include "bundle/capture.h"
#include "base/allocator.h"

#include <stdio.h>
#include <string.h>

#define FORMAT "ntrace-bundle"

/* Rows. `S` is the struct, `m` its member. */
#define NUMBER(n, S, m, highest)                                                                                       \
    {.name = n,                                                                                                        \
     .kind = NTR_KEY_NUMBER,                                                                                           \
     .width = sizeof(((S *)0)->m),                                                                                     \
     .most = highest,                                                                                                  \
     .member = offsetof(S, m),                                                                                         \
     .has = NTR_KEY_ALWAYS}
#define PLAIN(n, k, S, m)    {.name = n, .kind = k, .member = offsetof(S, m), .has = NTR_KEY_ALWAYS}
#define REQUIRED(n, k, S, m) {.name = n, .kind = k, .required = true, .member = offsetof(S, m), .has = NTR_KEY_ALWAYS}
/* A name that every row of an answer can have. */
#define BOUNDED(n, S, m)                                                                                               \
    {.name = n, .kind = NTR_KEY_TEXT, .most = NAME_MOST, .member = offsetof(S, m), .has = NTR_KEY_ALWAYS}
#define WORDS(n, S, m, list)                                                                                           \
    {.name = n, .kind = NTR_KEY_CHOICE, .member = offsetof(S, m), .has = NTR_KEY_ALWAYS, .words = list}
#define WHEN(n, k, S, m, flag) {.name = n, .kind = k, .member = offsetof(S, m), .has = offsetof(S, flag)}

enum { MOST_SRC = 4095, MOST_HART = 0x7fffffff, NAME_MOST = 4096 };
#define MOST_OFFSET INT64_MAX

/* The top level of capture.json, without its objects and arrays. */
struct document {
    const char *format;
    uint32_t version;
    ntr_capture_info capture;
};

static const struct ntr_key document_keys[] = {
    REQUIRED("format", NTR_KEY_TEXT, struct document, format),
    {.name = "version",
     .kind = NTR_KEY_NUMBER,
     .width = sizeof(uint32_t),
     .required = true,
     .most = UINT32_MAX,
     .member = offsetof(struct document, version),
     .has = NTR_KEY_ALWAYS},
    REQUIRED("stream", NTR_KEY_TEXT, struct document, capture.stream),
    PLAIN("mode", NTR_KEY_TEXT, struct document, capture.mode),
    PLAIN("tool", NTR_KEY_TEXT, struct document, capture.tool),
    PLAIN("target", NTR_KEY_TEXT, struct document, capture.target),
    PLAIN("date", NTR_KEY_TEXT, struct document, capture.date),
    BOUNDED("test", struct document, capture.test),
    PLAIN("begins_inside", NTR_KEY_FLAG, struct document, capture.begins_inside),
    PLAIN("incomplete", NTR_KEY_FLAG, struct document, capture.incomplete),
    NUMBER("status", struct document, capture.status, 255),
    PLAIN("tick", NTR_KEY_TEXT, struct document, capture.tick),
    NUMBER("ticks_per_second", struct document, capture.ticks_per_second, MOST_OFFSET),
    {0},
};

/* Stream parameters, by the kinds of <ntrace/params.def>. */
#define PARAM_NUMBER(m, highest, list)  NUMBER(#m, ntr_params, m, highest),
#define PARAM_FLAG(m, highest, list)    PLAIN(#m, NTR_KEY_FLAG, ntr_params, m),
#define PARAM_WORD(m, highest, list)    WORDS(#m, ntr_params, m, list),
#define PARAM_SWITCH(m, highest, list)  WORDS(#m, ntr_params, m, list),
#define PARAM_DIALECT(m, highest, list) PLAIN(#m, NTR_KEY_DIALECT, ntr_params, m),
#define PARAM_ONE_OF(m, highest, list)                                                                                 \
    {.name = #m,                                                                                                       \
     .kind = NTR_KEY_NUMBER,                                                                                           \
     .width = sizeof(((ntr_params *)0)->m),                                                                            \
     .most = highest,                                                                                                  \
     .member = offsetof(ntr_params, m),                                                                                \
     .has = NTR_KEY_ALWAYS,                                                                                            \
     .words = list},

static const struct ntr_key params_keys[] = {
#define NTR_PARAM(id, type, member, name, kind, least, most, words, ...) PARAM_##kind(member, most, words)
#include <ntrace/params.def>
#undef NTR_PARAM
    {0},
};

static const struct ntr_key source_keys[] = {
    {.name = "src",
     .kind = NTR_KEY_NUMBER,
     .width = sizeof(uint16_t),
     .required = true,
     .most = MOST_SRC,
     .member = offsetof(ntr_bundle_source, src),
     .has = NTR_KEY_ALWAYS},
    NUMBER("hart", ntr_bundle_source, hart, MOST_HART),
    BOUNDED("name", ntr_bundle_source, name),
    {0},
};

static const struct ntr_key image_keys[] = {
    {.name = "kind",
     .kind = NTR_KEY_CHOICE,
     .required = true,
     .member = offsetof(ntr_bundle_image, kind),
     .has = NTR_KEY_ALWAYS,
     .words = "elf|raw|perf-map|jitdump|symbols"},
    REQUIRED("file", NTR_KEY_TEXT, ntr_bundle_image, file),
    BOUNDED("name", ntr_bundle_image, options.name),
    PLAIN("build_id", NTR_KEY_HEX, ntr_bundle_image, build_id),
    NUMBER("offset", ntr_bundle_image, offset, MOST_OFFSET),
    NUMBER("length", ntr_bundle_image, length, MOST_OFFSET),
    PLAIN("bias", NTR_KEY_ADDRESS, ntr_bundle_image, options.bias),
    NUMBER("from", ntr_bundle_image, options.from, MOST_OFFSET),
    NUMBER("until", ntr_bundle_image, options.until, MOST_OFFSET),
    WHEN("scontext", NTR_KEY_ADDRESS, ntr_bundle_image, options.scontext, options.has_scontext),
    WHEN("hcontext", NTR_KEY_ADDRESS, ntr_bundle_image, options.hcontext, options.has_hcontext),
    {.name = "prv",
     .kind = NTR_KEY_NUMBER,
     .width = 1,
     .most = 3,
     .member = offsetof(ntr_bundle_image, options.prv),
     .has = offsetof(ntr_bundle_image, options.has_prv)},
    NUMBER("v", ntr_bundle_image, options.v, 1),
    {.name = "isa",
     .kind = NTR_KEY_SET,
     .member = offsetof(ntr_bundle_image, options.isa),
     .has = offsetof(ntr_bundle_image, options.has_isa),
     .words = "rv64|rv32|zcmp|zcmt|xandesperf|xcvbi|xqcibi|xqcilb|xtheadint|xcvhwlp|"
              "xesploop|xqciint|xandescodense|custom0|custom1|custom2|custom3"},
    WHEN("jvt", NTR_KEY_ADDRESS, ntr_bundle_image, options.jvt, options.has_jvt),
    PLAIN("symbol", NTR_KEY_TEXT, ntr_bundle_image, symbol),
    PLAIN("symbol_address", NTR_KEY_ADDRESS, ntr_bundle_image, symbol_address),
    NUMBER("symbol_size", ntr_bundle_image, symbol_size, MOST_OFFSET),
    {0},
};

static const struct ntr_key loss_keys[] = {
    NUMBER("position", ntr_bundle_loss, position, MOST_OFFSET),
    REQUIRED("what", NTR_KEY_TEXT, ntr_bundle_loss, what),
    {0},
};

#undef NUMBER
#undef PLAIN
#undef REQUIRED
#undef WORDS
#undef WHEN

_Static_assert(NTR_ISA_RV32 == 1 && NTR_ISA_ZCMP == 2 && NTR_ISA_ZCMT == 4, "order of the words of \"isa\"");

/* ---- reading and writing ---------------------------------------------------------------------------------- */

static ntr_status fail(struct ntr_key_error *error, ntr_status status, const char *text) {
    snprintf(error->text, sizeof error->text, "%s", text);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------------ */

static ntr_status check_head(const json_t *root, struct ntr_key_error *error) {
    const json_t *version = json_object_get(root, "version"), *format = json_object_get(root, "format");

    if (json_is_string(format) && strcmp(json_string_value(format), FORMAT) != 0)
        return fail(error, NTR_E_FORMAT, "format: expected \"" FORMAT "\"");
    if (!json_is_integer(version) || json_integer_value(version) == NTR_BUNDLE_VERSION) return NTR_OK;
    snprintf(error->text, sizeof error->text, "version: expected %d, found %" JSON_INTEGER_FORMAT, NTR_BUNDLE_VERSION,
             json_integer_value(version));
    return NTR_E_UNSUPPORTED;
}

/* Read the array of objects `name`, which may be missing, into an array of structs, each initialized by `init`. */
static ntr_status read_array(const json_t *root, const char *name, const struct ntr_key *keys, size_t item,
                             void (*init)(void *), const ntr_allocator *allocator, void **items, size_t *count,
                             struct ntr_key_error *error) {
    const json_t *array = json_object_get(root, name);
    char where[64];

    *count = 0;
    if (!array) return NTR_OK;
    if (!json_is_array(array)) {
        snprintf(error->text, sizeof error->text, "%s: expected an array", name);
        return NTR_E_FORMAT;
    }
    *items = ntr_alloc(allocator, json_array_size(array), item);
    if (!*items) return fail(error, NTR_E_MEMORY, "out of memory");
    for (size_t i = 0; i < json_array_size(array); i++) {
        void *at = (char *)*items + i * item;
        snprintf(where, sizeof where, "%s[%zu]", name, i);
        if (init) init(at);
        ntr_status status = ntr_keys_read(keys, "", json_array_get(array, i), where, at, error);
        if (status != NTR_OK) return status;
    }
    *count = json_array_size(array);
    return NTR_OK;
}

static void init_image(void *image) {
    ((ntr_bundle_image *)image)->options.size = sizeof(ntr_image_options);
}

static ntr_status read_command(const json_t *root, const ntr_allocator *allocator, ntr_capture_info *capture,
                               struct ntr_capture_arrays *arrays, struct ntr_key_error *error) {
    const json_t *array = json_object_get(root, "command");

    if (!array) return NTR_OK;
    if (!json_is_array(array)) return fail(error, NTR_E_FORMAT, "command: expected an array");
    arrays->command = ntr_alloc(allocator, json_array_size(array), sizeof *arrays->command);
    if (!arrays->command) return fail(error, NTR_E_MEMORY, "out of memory");
    for (size_t i = 0; i < json_array_size(array); i++) {
        arrays->command[i] = json_string_value(json_array_get(array, i));
        if (!arrays->command[i]) return fail(error, NTR_E_FORMAT, "command: expected strings");
    }
    capture->command = arrays->command;
    capture->command_count = json_array_size(array);
    return NTR_OK;
}

static ntr_status read_params(const json_t *root, ntr_params *params, struct ntr_key_error *error) {
    const json_t *object = json_object_get(root, "params");

    ntr_params_init(params, NULL);
    if (!object) return fail(error, NTR_E_FORMAT, "params: missing");
    ntr_status status = ntr_keys_read(params_keys, "", object, "params", params, error);
    if (status != NTR_OK) return status;
    if (ntr_params_check(params) != NTR_OK) return fail(error, NTR_E_FORMAT, "params: a value is outside its limits");
    return NTR_OK;
}

static ntr_status read_arrays(const json_t *root, const ntr_allocator *allocator, ntr_capture_info *capture,
                              struct ntr_capture_arrays *arrays, struct ntr_key_error *error) {
    ntr_status status = read_command(root, allocator, capture, arrays, error);

    if (status == NTR_OK)
        status = read_array(root, "sources", source_keys, sizeof *arrays->sources, NULL, allocator,
                            (void **)&arrays->sources, &capture->source_count, error);
    if (status == NTR_OK)
        status = read_array(root, "images", image_keys, sizeof *arrays->images, init_image, allocator,
                            (void **)&arrays->images, &capture->image_count, error);
    if (status == NTR_OK)
        status = read_array(root, "losses", loss_keys, sizeof *arrays->losses, NULL, allocator,
                            (void **)&arrays->losses, &capture->loss_count, error);
    capture->sources = arrays->sources;
    capture->images = arrays->images;
    capture->losses = arrays->losses;
    return status;
}

ntr_status ntr_capture_read(const json_t *root, const ntr_allocator *allocator, ntr_capture_info *capture,
                            struct ntr_capture_arrays *arrays, struct ntr_key_error *error) {
    struct document document = {.capture.size = sizeof document.capture};

    memset(arrays, 0, sizeof *arrays);
    ntr_status status = check_head(root, error);
    if (status == NTR_OK)
        status = ntr_keys_read(document_keys, "params|command|sources|images|losses", root, "", &document, error);
    if (status == NTR_OK) status = read_params(root, &document.capture.params, error);
    if (status == NTR_OK) status = read_arrays(root, allocator, &document.capture, arrays, error);
    *capture = document.capture;
    return status;
}

void ntr_capture_release(struct ntr_capture_arrays *arrays, const ntr_allocator *allocator) {
    ntr_dealloc(allocator, arrays->sources);
    ntr_dealloc(allocator, arrays->images);
    ntr_dealloc(allocator, arrays->losses);
    ntr_dealloc(allocator, arrays->command);
    memset(arrays, 0, sizeof *arrays);
}

/* ---- writing ------------------------------------------------------------------------------------ */

static ntr_status write_object(json_t *root, const char *name, const struct ntr_key *keys, const void *in,
                               struct ntr_key_error *error) {
    json_t *object = json_object();

    if (!object || json_object_set_new(root, name, object)) return fail(error, NTR_E_MEMORY, "out of memory");
    return ntr_keys_write(keys, in, name, object, error);
}

static ntr_status write_array(json_t *root, const char *name, const struct ntr_key *keys, const void *items,
                              size_t item, size_t count, struct ntr_key_error *error) {
    json_t *array = json_array();
    char where[64];

    if (!array || json_object_set_new(root, name, array)) return fail(error, NTR_E_MEMORY, "out of memory");
    for (size_t i = 0; i < count; i++) {
        json_t *object = json_object();
        if (!object || json_array_append_new(array, object)) return fail(error, NTR_E_MEMORY, "out of memory");
        snprintf(where, sizeof where, "%s[%zu]", name, i);
        ntr_status status = ntr_keys_write(keys, (const char *)items + i * item, where, object, error);
        if (status != NTR_OK) return status;
    }
    return NTR_OK;
}

static ntr_status write_command(json_t *root, const ntr_capture_info *capture, struct ntr_key_error *error) {
    json_t *array = json_array();

    if (!array || json_object_set_new(root, "command", array)) return fail(error, NTR_E_MEMORY, "out of memory");
    for (size_t i = 0; i < capture->command_count; i++) {
        /* An argument may be any bytes, a JSON string is UTF-8: other arguments become "?". */
        json_t *text = json_string(capture->command[i]);
        if (json_array_append_new(array, text ? text : json_string("?")))
            return fail(error, NTR_E_MEMORY, "out of memory");
    }
    return NTR_OK;
}

static ntr_status write_root(json_t *root, const ntr_capture_info *capture, struct ntr_key_error *error) {
    struct document document = {FORMAT, NTR_BUNDLE_VERSION, *capture};
    ntr_status status = ntr_keys_write(document_keys, &document, "", root, error);

    if (status == NTR_OK) status = write_object(root, "params", params_keys, &capture->params, error);
    if (status == NTR_OK) status = write_command(root, capture, error);
    if (status == NTR_OK)
        status = write_array(root, "sources", source_keys, capture->sources, sizeof *capture->sources,
                             capture->source_count, error);
    if (status == NTR_OK)
        status = write_array(root, "images", image_keys, capture->images, sizeof *capture->images, capture->image_count,
                             error);
    if (status == NTR_OK)
        status = write_array(root, "losses", loss_keys, capture->losses, sizeof *capture->losses, capture->loss_count,
                             error);
    return status;
}

json_t *ntr_capture_write(const ntr_capture_info *capture, struct ntr_key_error *error, ntr_status *status) {
    json_t *root = json_object();

    *status = root ? write_root(root, capture, error) : fail(error, NTR_E_MEMORY, "out of memory");
    if (*status == NTR_OK) return root;
    json_decref(root);
    return NULL;
}
