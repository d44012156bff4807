/* capture.json as tables, to and from ntr_capture_info. */
#ifndef NTR_BUNDLE_CAPTURE_H
#define NTR_BUNDLE_CAPTURE_H

#include "bundle/keys.h"

#include <ntrace/bundle.h>

/* What ntr_capture_read made; strings are the JSON text's. */
struct ntr_capture_arrays {
    ntr_bundle_source *sources;
    ntr_bundle_image *images;
    ntr_bundle_loss *losses;
    const char **command;
};

/* Errors: NTR_E_FORMAT, NTR_E_UNSUPPORTED, NTR_E_MEMORY. `arrays` is to be released in any case. */
ntr_status ntr_capture_read(const json_t *root, const ntr_allocator *allocator, ntr_capture_info *capture,
                            struct ntr_capture_arrays *arrays, struct ntr_key_error *error);

void ntr_capture_release(struct ntr_capture_arrays *arrays, const ntr_allocator *allocator);

/* A new reference. NULL: *status is NTR_E_INVALID or NTR_E_MEMORY. */
json_t *ntr_capture_write(const ntr_capture_info *capture, struct ntr_key_error *error, ntr_status *status);

#endif
