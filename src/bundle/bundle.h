/* The bundle object, and functions that the files of this folder share. */
#ifndef NTR_BUNDLE_BUNDLE_H
#define NTR_BUNDLE_BUNDLE_H

#include "base/allocator.h"
#include "bundle/capture.h"

#include <ntrace/limits.h>

#include <stdbool.h>

struct ntr_bundle {
    ntr_allocator allocator_copy;
    const ntr_allocator *allocator; /* NULL: malloc */
    char *folder;                   /* its present path */
    char *final;                    /* while it is written: the path it will get; else NULL */
    char *stream;                   /* path of the stream's file */
    json_t *root;                   /* owns the strings of `capture` */
    ntr_capture_info capture;
    struct ntr_capture_arrays arrays;
    bool saved;   /* while it is written: capture.json exists */
    char **names; /* files copied to images/, and their build ids */
    size_t name_count, name_capacity;
    ntr_limits limits;
    char error[512];
};

#define NTR_CAPTURE_FILE "capture.json"

/* Store the sentence for ntr_bundle_error. Returns `status`. */
ntr_status ntr_bundle_fail(ntr_bundle *bundle, ntr_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with "out of memory", and with the text of errno for `path` (NTR_E_IO). */
ntr_status ntr_bundle_fail_memory(ntr_bundle *bundle);
ntr_status ntr_bundle_fail_errno(ntr_bundle *bundle, const char *path);

/* "FOLDER/FILE", and a copy of a text: new strings, to be freed with ntr_dealloc. NULL: out of memory. */
char *ntr_bundle_join(const ntr_bundle *bundle, const char *folder, const char *file);
char *ntr_bundle_text(const ntr_bundle *bundle, const char *text);

/* As ntr_bundle_copy, of a file that is found at `path` and is called `name`. */
ntr_status ntr_bundle_copy_as(ntr_bundle *bundle, const char *path, const char *name, ntr_bundle_image *image);

/* Release everything that was read, and remove a bundle that is not finished. */
void ntr_bundle_clear(ntr_bundle *bundle);

/* Returns true if a name in capture.json stays inside the bundle: relative, no "..", no empty part.
 * ntr_bundle_resolve checks symbolic links. */
bool ntr_bundle_name_is_safe(const char *file);

/* The path (a new string) of a file of the bundle. Errors: NTR_E_FORMAT (the name, or a symbolic link, leads out of the
 * folder; not a regular file), NTR_E_IO, NTR_E_MEMORY. */
ntr_status ntr_bundle_resolve(ntr_bundle *bundle, const char *file, char **path);

#endif
