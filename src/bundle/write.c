/* Writing of a bundle: all files go to a folder with a temporary name, which is renamed when the bundle is complete. */
#include "base/config.h"
#include "bundle/bundle.h"
#include "bundle/files.h"
#include "program/build_id.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static ntr_status set_names(ntr_bundle *bundle, const char *folder) {
    static const char suffix[] = ".XXXXXX";
    size_t length = strlen(folder);

    while (length > 1 && folder[length - 1] == '/') length--;
    bundle->final = ntr_alloc(bundle->allocator, length + 1, 1);
    bundle->folder = ntr_alloc(bundle->allocator, length + sizeof suffix, 1);
    if (!bundle->final || !bundle->folder) return ntr_bundle_fail_memory(bundle);
    memcpy(bundle->final, folder, length);
    snprintf(bundle->folder, length + sizeof suffix, "%s%s", bundle->final, suffix);
    return NTR_OK;
}

/* Make the folder with the permissions of the umask: mkdtemp alone makes it private to the user. */
static ntr_status make_folder(ntr_bundle *bundle) {
    if (!mkdtemp(bundle->folder)) return ntr_bundle_fail_errno(bundle, bundle->final);
    char *images = ntr_bundle_join(bundle, bundle->folder, "images");
    if (!images) return ntr_bundle_fail_memory(bundle);
    struct stat about = {0};
    bool made =
        mkdir(images, 0777) == 0 && stat(images, &about) == 0 && chmod(bundle->folder, about.st_mode & 0777) == 0;
    ntr_dealloc(bundle->allocator, images);
    return made ? NTR_OK : ntr_bundle_fail_errno(bundle, bundle->folder);
}

/* Returns the name of the bundle that is replaced: NAME.old. NULL: no memory. */
static char *old_name(const ntr_bundle *bundle) {
    static const char suffix[] = ".old";
    const size_t length = strlen(bundle->final);
    char *name = ntr_alloc(bundle->allocator, length + sizeof suffix, 1);

    if (name) snprintf(name, length + sizeof suffix, "%s%s", bundle->final, suffix);
    return name;
}

/* Only a bundle makes way for the one that is replaced. */
static ntr_status check_old(ntr_bundle *bundle) {
    struct stat about = {0};
    char *old = old_name(bundle);
    ntr_status status = NTR_OK;

    if (!old) return ntr_bundle_fail_memory(bundle);
    if (lstat(old, &about) == 0 && !ntr_bundle_seen(old))
        status = ntr_bundle_fail(bundle, NTR_E_INVALID, "%s: exists and is not a bundle; %s would be kept there", old,
                                 bundle->final);
    ntr_dealloc(bundle->allocator, old);
    return status;
}

ntr_status ntr_bundle_create(ntr_bundle *bundle, const char *folder) {
    struct stat about = {0};

    if (!bundle || !folder || !*folder) return NTR_E_INVALID;
    ntr_bundle_clear(bundle);
    if (lstat(folder, &about) == 0 && !ntr_bundle_seen(folder))
        return ntr_bundle_fail(bundle, NTR_E_INVALID, "%s: exists and is not a bundle", folder);
    ntr_status status = set_names(bundle, folder);
    if (status == NTR_OK && ntr_bundle_seen(folder)) status = check_old(bundle);
    if (status != NTR_OK) {
        ntr_dealloc(bundle->allocator, bundle->final); /* nothing on the disk yet */
        bundle->final = NULL;
    } else {
        status = make_folder(bundle);
    }
    if (status != NTR_OK) ntr_bundle_clear(bundle);
    return status;
}

/* ---- copies ------------------------------------------------------------------------------------- */

/* Takes ownership of a string, which lives until ntr_bundle_clear. */
static ntr_status keep(ntr_bundle *bundle, char *text) {
    if (text && ntr_reserve(bundle->allocator, (void **)&bundle->names, &bundle->name_capacity, bundle->name_count + 1,
                            sizeof *bundle->names) == 0) {
        bundle->names[bundle->name_count++] = text;
        return NTR_OK;
    }
    ntr_dealloc(bundle->allocator, text);
    return ntr_bundle_fail_memory(bundle);
}

static bool name_is_used(const ntr_bundle *bundle, const char *name) {
    for (size_t i = 0; i < bundle->name_count; i++) {
        if (strcmp(bundle->names[i], name) == 0) return true;
    }
    return false;
}

/* "images/libc.so.6", or "images/libc.so.6-2" when that name is in use. */
static ntr_status new_name(ntr_bundle *bundle, const char *path, const char **file) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t size = strlen(base) + sizeof "images/" + 12;
    char *name = ntr_alloc(bundle->allocator, size, 1);

    if (!name) return ntr_bundle_fail_memory(bundle);
    snprintf(name, size, "images/%s", *base ? base : "image");
    for (unsigned n = 2; name_is_used(bundle, name); n++) snprintf(name, size, "images/%s-%u", base, n);
    *file = name;
    return keep(bundle, name);
}

static bool copy_bytes(int from, int to) {
    char buffer[65536];

    for (;;) {
        ssize_t n = read(from, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n == 0;
        if (!ntr_write_all(to, buffer, (size_t)n)) return false;
    }
}

static ntr_status copy_file(ntr_bundle *bundle, const char *path, const char *target) {
    int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (from < 0) return ntr_bundle_fail_errno(bundle, path);
    int to = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool copied = to >= 0 && copy_bytes(from, to);
    struct stat about;
    if (copied && fstat(from, &about) == 0) { /* its age is compared with that of sources */
        const struct timespec times[2] = {about.st_atim, about.st_mtim};
        futimens(to, times);
    }
    ntr_status status = copied ? NTR_OK : ntr_bundle_fail_errno(bundle, target);
    if (to >= 0 && close(to)) status = ntr_bundle_fail_errno(bundle, target);
    close(from);
    return status;
}

ntr_status ntr_bundle_copy(ntr_bundle *bundle, const char *path, ntr_bundle_image *image) {
    return ntr_bundle_copy_as(bundle, path, path, image);
}

ntr_status ntr_bundle_copy_as(ntr_bundle *bundle, const char *path, const char *name, ntr_bundle_image *image) {
    if (!bundle->final) return NTR_E_STATE;
    ntr_status status = new_name(bundle, name, &image->file);
    if (status != NTR_OK) return status;
    char *target = ntr_bundle_join(bundle, bundle->folder, image->file);
    if (!target) return ntr_bundle_fail_memory(bundle);
    status = copy_file(bundle, path, target);
    char *build_id = NULL;
    const ntr_status read = status == NTR_OK ? ntr_build_id_of(bundle->allocator, target, &build_id) : NTR_OK;
    if (read == NTR_E_IO) status = ntr_bundle_fail_errno(bundle, target);
    if (read == NTR_E_MEMORY) status = ntr_bundle_fail_memory(bundle);
    ntr_dealloc(bundle->allocator, target);
    image->build_id = build_id;
    return status == NTR_OK && build_id ? keep(bundle, build_id) : status;
}

/* ---- finishing ------------------------------------------------------------------------------------ */

static ntr_status dump_json(ntr_bundle *bundle, const json_t *root, const char *path) {
    ntr_status status = NTR_OK;
    FILE *file = fopen(path, "we"); /* json_dumpfd makes a system call for each token */
    bool written = file && json_dumpf(root, file, JSON_INDENT(1)) == 0 && fputc('\n', file) != EOF;
    if (!written) status = ntr_bundle_fail_errno(bundle, path);
    if (file && fclose(file)) status = ntr_bundle_fail_errno(bundle, path);
    return status;
}

/* A file that ntr_bundle_save has written is replaced when the new one is complete. */
static ntr_status write_json(ntr_bundle *bundle, const json_t *root) {
    char *path = ntr_bundle_join(bundle, bundle->folder, NTR_CAPTURE_FILE);
    char *fresh = ntr_bundle_join(bundle, bundle->folder, NTR_CAPTURE_FILE ".new");

    ntr_status status = path && fresh ? dump_json(bundle, root, fresh) : ntr_bundle_fail_memory(bundle);
    if (status == NTR_OK && rename(fresh, path)) status = ntr_bundle_fail_errno(bundle, path);
    if (status != NTR_OK && fresh) unlink(fresh);
    ntr_dealloc(bundle->allocator, path);
    ntr_dealloc(bundle->allocator, fresh);
    return status;
}

/* Rename the folder. A bundle of that name is first moved into it, as "replaced", and moved back when this fails. */
static ntr_status rename_folder(ntr_bundle *bundle) {
    char *old = NULL;

    if (ntr_bundle_seen(bundle->final)) {
        old = ntr_bundle_join(bundle, bundle->folder, "replaced");
        if (!old) return ntr_bundle_fail_memory(bundle);
        if (rename(bundle->final, old)) {
            ntr_dealloc(bundle->allocator, old);
            return ntr_bundle_fail_errno(bundle, bundle->final);
        }
    }
    ntr_status status = NTR_OK;
    if (rename(bundle->folder, bundle->final)) {
        status = ntr_bundle_fail_errno(bundle, bundle->final);
        if (old) rename(old, bundle->final);
    }
    ntr_dealloc(bundle->allocator, old);
    return status;
}

static ntr_status write_capture(ntr_bundle *bundle, const ntr_capture_info *capture, bool incomplete) {
    struct ntr_key_error error;
    ntr_capture_info loaded;
    ntr_status status = ntr_config_load(&loaded, sizeof loaded, capture);

    if (!bundle->final) return NTR_E_STATE;
    if (status != NTR_OK) return ntr_bundle_fail(bundle, status, "%s: ntr_capture_info without a size", bundle->final);
    loaded.incomplete = incomplete;
    json_t *root = ntr_capture_write(&loaded, &error, &status);
    if (!root) return ntr_bundle_fail(bundle, status, "%s/" NTR_CAPTURE_FILE ": %s", bundle->final, error.text);
    status = write_json(bundle, root);
    json_decref(root);
    bundle->saved |= status == NTR_OK;
    return status;
}

ntr_status ntr_bundle_save(ntr_bundle *bundle, const ntr_capture_info *capture) {
    return write_capture(bundle, capture, true);
}

/* The bundle that was replaced becomes NAME.old, in the place of an earlier one. */
static void keep_replaced(ntr_bundle *bundle) {
    char *replaced = ntr_bundle_join(bundle, bundle->final, "replaced"), *old = old_name(bundle);

    if (replaced && old && ntr_bundle_seen(replaced)) {
        if (ntr_bundle_seen(old)) ntr_bundle_remove(old);
        rename(replaced, old);
    }
    ntr_dealloc(bundle->allocator, replaced);
    ntr_dealloc(bundle->allocator, old);
}

ntr_status ntr_bundle_keep(ntr_bundle *bundle) {
    if (!bundle->final || !bundle->saved) return NTR_E_STATE;
    ntr_status status = rename_folder(bundle);
    if (status != NTR_OK) return status;
    keep_replaced(bundle);
    ntr_dealloc(bundle->allocator, bundle->folder);
    bundle->folder = bundle->final;
    bundle->final = NULL;
    return NTR_OK;
}

ntr_status ntr_bundle_finish(ntr_bundle *bundle, const ntr_capture_info *capture) {
    ntr_status status = write_capture(bundle, capture, false);
    return status == NTR_OK ? ntr_bundle_keep(bundle) : status;
}
