#include "bundle/bundle.h"

#include "bundle/files.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

ntr_status ntr_bundle_new(const ntr_allocator *allocator, ntr_bundle **out) {
    *out = NULL;
    ntr_bundle *bundle = ntr_alloc(allocator, 1, sizeof *bundle);
    if (!bundle) return NTR_E_MEMORY;
    if (allocator) {
        bundle->allocator_copy = *allocator;
        bundle->allocator = &bundle->allocator_copy;
    }
    *out = bundle;
    return NTR_OK;
}

void ntr_bundle_set_limits(ntr_bundle *bundle, const ntr_limits *limits) {
    bundle->limits = *limits;
}

void ntr_bundle_clear(ntr_bundle *bundle) {
    if (bundle->final) ntr_bundle_remove(bundle->folder);
    ntr_capture_release(&bundle->arrays, bundle->allocator);
    json_decref(bundle->root);
    for (size_t i = 0; i < bundle->name_count; i++) ntr_dealloc(bundle->allocator, bundle->names[i]);
    ntr_dealloc(bundle->allocator, bundle->names);
    ntr_dealloc(bundle->allocator, bundle->folder);
    ntr_dealloc(bundle->allocator, bundle->final);
    ntr_dealloc(bundle->allocator, bundle->stream);
    bundle->root = NULL;
    bundle->saved = false;
    bundle->names = NULL;
    bundle->name_count = bundle->name_capacity = 0;
    bundle->folder = bundle->final = bundle->stream = NULL;
    memset(&bundle->capture, 0, sizeof bundle->capture);
}

void ntr_bundle_free(ntr_bundle *bundle) {
    if (!bundle) return;
    ntr_bundle_clear(bundle);
    ntr_allocator copy = bundle->allocator_copy;
    ntr_dealloc(bundle->allocator ? &copy : NULL, bundle);
}

ntr_status ntr_bundle_fail(ntr_bundle *bundle, ntr_status status, const char *format, ...) {
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(bundle->error, sizeof bundle->error, format, arguments);
    va_end(arguments);
    return status;
}

ntr_status ntr_bundle_fail_memory(ntr_bundle *bundle) {
    return ntr_bundle_fail(bundle, NTR_E_MEMORY, "out of memory");
}

ntr_status ntr_bundle_fail_errno(ntr_bundle *bundle, const char *path) {
    return ntr_bundle_fail(bundle, NTR_E_IO, "%s: %s", path, strerror(errno));
}

char *ntr_bundle_join(const ntr_bundle *bundle, const char *folder, const char *file) {
    size_t size = strlen(folder) + strlen(file) + 2;
    char *path = ntr_alloc(bundle->allocator, size, 1);
    if (path) snprintf(path, size, "%s/%s", folder, file);
    return path;
}

char *ntr_bundle_text(const ntr_bundle *bundle, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = ntr_alloc(bundle->allocator, size, 1);
    if (copy) memcpy(copy, text, size);
    return copy;
}

const char *ntr_bundle_error(const ntr_bundle *bundle) {
    return bundle->error;
}

const ntr_capture_info *ntr_bundle_capture(const ntr_bundle *bundle) {
    return &bundle->capture;
}

const char *ntr_bundle_stream_path(const ntr_bundle *bundle) {
    return bundle->stream;
}

const char *ntr_bundle_folder(const ntr_bundle *bundle) {
    return bundle->folder;
}

/* ---- Names and files of a bundle. Bundles are untrusted input: a name in capture.json that leads out of the folder of
 * the bundle is refused. */

bool ntr_bundle_name_is_safe(const char *file) {
    for (;;) {
        size_t length = strcspn(file, "/");
        if (length == 0 || (file[0] == '.' && (length == 1 || (length == 2 && file[1] == '.')))) return false;
        if (!file[length]) return true;
        file += length + 1;
    }
}

bool ntr_bundle_seen(const char *path) {
    char file[PATH_MAX];
    struct stat about = {0};

    int n = snprintf(file, sizeof file, "%s/" NTR_CAPTURE_FILE, path);
    return n > 0 && (size_t)n < sizeof file && stat(file, &about) == 0 && S_ISREG(about.st_mode);
}

/* `real`, a path without symbolic links, must be a regular file below `folder`, which has none either. */
static ntr_status check_inside(ntr_bundle *bundle, const char *folder, const char *real, const char *file) {
    size_t length = strlen(folder);
    struct stat about = {0};

    if (strncmp(real, folder, length) != 0 || real[length] != '/')
        return ntr_bundle_fail(bundle, NTR_E_FORMAT, "%s: '%s' leads outside the bundle", bundle->folder, file);
    if (stat(real, &about)) return ntr_bundle_fail_errno(bundle, real);
    if (!S_ISREG(about.st_mode))
        return ntr_bundle_fail(bundle, NTR_E_FORMAT, "%s: '%s' is not a regular file", bundle->folder, file);
    return NTR_OK;
}

ntr_status ntr_bundle_resolve(ntr_bundle *bundle, const char *file, char **path) {
    char folder[PATH_MAX], real[PATH_MAX];

    if (!ntr_bundle_name_is_safe(file))
        return ntr_bundle_fail(bundle, NTR_E_FORMAT,
                               "%s/" NTR_CAPTURE_FILE ": '%s' is not the name of a file inside the bundle",
                               bundle->folder, file);
    if (!realpath(bundle->folder, folder)) return ntr_bundle_fail_errno(bundle, bundle->folder);
    *path = ntr_bundle_join(bundle, bundle->folder, file);
    if (!*path) return ntr_bundle_fail_memory(bundle);
    ntr_status status =
        realpath(*path, real) ? check_inside(bundle, folder, real, file) : ntr_bundle_fail_errno(bundle, *path);
    if (status != NTR_OK) {
        ntr_dealloc(bundle->allocator, *path);
        *path = NULL;
    }
    return status;
}
