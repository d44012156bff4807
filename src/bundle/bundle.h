/* The bundle object, and what its files share. */
#ifndef NTR_BUNDLE_BUNDLE_H
#define NTR_BUNDLE_BUNDLE_H

#include "base/allocator.h"
#include "bundle/capture.h"

#include <stdbool.h>

struct ntr_bundle {
    ntr_allocator allocator_copy;
    const ntr_allocator *allocator; /* NULL: malloc */
    char *folder;                   /* where it lives now */
    char *final;                    /* being written: the name it will get; else NULL */
    char *stream;                   /* path */
    json_t *root;                   /* owns the strings of `capture` */
    ntr_capture capture;
    struct ntr_capture_arrays arrays;
    char **names; /* files copied to images/, and their build ids */
    size_t name_count, name_capacity;
    char error[512];
};

#define NTR_CAPTURE_FILE "capture.json"

/* Note what went wrong; gives back `status`. */
ntr_status ntr_bundle_fail(ntr_bundle *bundle, ntr_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "out of memory" / the text of errno about `path`. */
ntr_status ntr_bundle_fail_memory(ntr_bundle *bundle);
ntr_status ntr_bundle_fail_errno(ntr_bundle *bundle, const char *path);

/* New strings; NULL when out of memory. */
char *ntr_bundle_join(const ntr_bundle *bundle, const char *folder, const char *file);
char *ntr_bundle_text(const ntr_bundle *bundle, const char *text);

/* Forget everything that was read or written. */
void ntr_bundle_clear(ntr_bundle *bundle);

/* Whether a name in capture.json stays in the bundle: relative, no "..", no empty part. Symbolic links are
 * caught when the file is opened. */
bool ntr_bundle_name_is_safe(const char *file);

/* Path (new string) of a file of the bundle, links resolved. Errors: NTR_E_FORMAT (outside, or no regular
 * file), NTR_E_IO, NTR_E_MEMORY. */
ntr_status ntr_bundle_resolve(ntr_bundle *bundle, const char *file, char **path);

/* The GNU build id of an ELF file as hexadecimal digits (new string), or NULL. */
char *ntr_bundle_build_id(const ntr_bundle *bundle, const char *path);

/* Remove a folder of files, two levels deep. */
void ntr_bundle_remove(const char *folder);

#endif
