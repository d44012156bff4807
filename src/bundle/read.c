/* Opening a bundle: capture.json and the images. */
#include "bundle/bundle.h"
#include "program/program.h"
#include "bundle/files.h"

#include <ntrace/program_files.h>
#include <inttypes.h>
#include <string.h>

static ntr_status map(ntr_bundle *bundle, const char *path, ntr_bytes *bytes) {
    const ntr_status status = ntr_map_file(path, bytes);
    return status == NTR_OK ? status : ntr_bundle_fail_errno(bundle, path);
}

static ntr_status parse_json(ntr_bundle *bundle, const char *path) {
    ntr_bytes text;
    json_error_t error = {0};

    ntr_status status = map(bundle, path, &text);
    if (status != NTR_OK) return status;
    const uint64_t most = ntr_limits_get(&bundle->limits, NTR_LIMIT_CAPTURE_JSON);
    if (text.size > most) {
        status = ntr_bundle_fail(bundle, NTR_E_LIMIT,
                                 "%s: expected at most %" PRIu64 " bytes (limit capture-json), found %zu", path, most,
                                 text.size);
    } else if (!text.size) {
        status = ntr_bundle_fail(bundle, NTR_E_FORMAT, "%s: empty", path);
    } else {
        bundle->root = json_loadb((const char *)text.data, text.size, JSON_REJECT_DUPLICATES, &error);
        if (!bundle->root)
            status = ntr_bundle_fail(bundle, NTR_E_FORMAT, "%s:%d:%d: %s", path, error.line, error.column, error.text);
    }
    ntr_unmap_file(text);
    return status;
}

static ntr_status check_names(ntr_bundle *bundle) {
    const ntr_capture_info *capture = &bundle->capture;

    for (size_t i = 0; i < capture->image_count; i++) {
        if (!ntr_bundle_name_is_safe(capture->images[i].file))
            return ntr_bundle_fail(bundle, NTR_E_FORMAT,
                                   "%s/" NTR_CAPTURE_FILE
                                   ": images[%zu].file: '%s' is not the name of a file inside the bundle",
                                   bundle->folder, i, capture->images[i].file);
    }
    return ntr_bundle_resolve(bundle, capture->stream, &bundle->stream);
}

static ntr_status open_folder(ntr_bundle *bundle, const char *folder) {
    struct ntr_key_error error;

    bundle->folder = ntr_bundle_text(bundle, folder);
    if (!bundle->folder) return ntr_bundle_fail_memory(bundle);
    char *path;
    ntr_status status = ntr_bundle_resolve(bundle, NTR_CAPTURE_FILE, &path);
    if (status != NTR_OK) return status;
    status = parse_json(bundle, path);
    if (status == NTR_OK) {
        status = ntr_capture_read(bundle->root, bundle->allocator, &bundle->capture, &bundle->arrays, &error);
        if (status != NTR_OK) ntr_bundle_fail(bundle, status, "%s: %s", path, error.text);
    }
    ntr_dealloc(bundle->allocator, path);
    return status == NTR_OK ? check_names(bundle) : status;
}

ntr_status ntr_bundle_open(ntr_bundle *bundle, const char *folder) {
    if (!bundle || !folder) return NTR_E_INVALID;
    ntr_bundle_clear(bundle);
    ntr_status status = open_folder(bundle, folder);
    if (status != NTR_OK) ntr_bundle_clear(bundle);
    return status;
}

/* ---- images ------------------------------------------------------------------------------------- */

/* Many raw images are parts of the same file: the file of the last one stays mapped for the next. */
struct mapped {
    const char *file;
    char *path;
    ntr_bytes bytes;
};

static void mapped_release(ntr_bundle *bundle, struct mapped *mapped) {
    ntr_unmap_file(mapped->bytes);
    ntr_dealloc(bundle->allocator, mapped->path);
    *mapped = (struct mapped){0};
}

static ntr_status mapped_open(ntr_bundle *bundle, struct mapped *mapped, const char *file) {
    if (mapped->file && strcmp(mapped->file, file) == 0) return NTR_OK;
    mapped_release(bundle, mapped);
    ntr_status status = ntr_bundle_resolve(bundle, file, &mapped->path);
    if (status == NTR_OK) status = map(bundle, mapped->path, &mapped->bytes);
    if (status == NTR_OK) mapped->file = file;
    return status;
}

static ntr_status load_raw(ntr_bundle *bundle, const ntr_bundle_image *image, struct mapped *mapped,
                           ntr_program *program) {
    ntr_status status = mapped_open(bundle, mapped, image->file);

    if (status != NTR_OK) return status;
    if (image->offset > mapped->bytes.size || image->length > mapped->bytes.size - image->offset)
        return ntr_bundle_fail(bundle, NTR_E_FORMAT,
                               "%s: expected at least %" PRIu64 " bytes at offset %" PRIu64 ", found %zu in all",
                               mapped->path, image->length, image->offset, mapped->bytes.size);
    size_t length = image->length ? (size_t)image->length : mapped->bytes.size - (size_t)image->offset;
    if (length == 0) return NTR_OK;
    status = ntr_program_add_raw(program, (ntr_bytes){mapped->bytes.data + image->offset, length}, &image->options);
    if (status == NTR_OK && image->symbol)
        status = ntr_program_name_image(program, image->symbol, image->symbol_address, image->symbol_size);
    if (status != NTR_OK)
        ntr_bundle_fail(bundle, status, "%s: %s: %s", mapped->path, ntr_status_text(status),
                        ntr_program_error(program));
    return status;
}

static ntr_status add_file(const ntr_bundle_image *image, const char *path, ntr_program *program) {
    switch (image->kind) {
    case NTR_BUNDLE_PERF_MAP: return ntr_program_add_perf_map(program, path, &image->options);
    case NTR_BUNDLE_JITDUMP: return ntr_program_add_jitdump_names(program, path, &image->options);
    case NTR_BUNDLE_SYMBOLS: return ntr_program_add_symbols(program, path, &image->options);
    default: return ntr_program_add_elf(program, path, &image->options);
    }
}

static ntr_status load_file(ntr_bundle *bundle, const ntr_bundle_image *image, ntr_program *program) {
    char *path;
    ntr_status status = ntr_bundle_resolve(bundle, image->file, &path);

    if (status != NTR_OK) return status;
    status = add_file(image, path, program);
    if (status != NTR_OK) ntr_bundle_fail(bundle, status, "%s", ntr_program_error(program));
    ntr_dealloc(bundle->allocator, path);
    return status;
}

ntr_status ntr_bundle_load(ntr_bundle *bundle, ntr_program *program) {
    struct mapped mapped = {0};
    ntr_status status = NTR_OK, unread = NTR_OK;

    if (!bundle->stream) return NTR_E_STATE;
    for (size_t i = 0; i < bundle->capture.image_count && status == NTR_OK; i++) {
        const ntr_bundle_image *image = &bundle->capture.images[i];
        status = image->kind == NTR_BUNDLE_RAW ? load_raw(bundle, image, &mapped, program)
                                               : load_file(bundle, image, program);
        if (status != NTR_E_IO) continue;
        unread = status; /* the code of the other images still decodes */
        status = NTR_OK;
    }
    mapped_release(bundle, &mapped);
    return status == NTR_OK ? unread : status;
}
