/* Names and files of a bundle. Bundles are untrusted input: a name in capture.json that leads out of the folder of
 * the bundle is refused. */
#include "bundle/bundle.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
