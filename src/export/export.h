/* What an exporter sees: the answers, a buffered output, and a place for its own state. */
#ifndef NTR_EXPORT_EXPORT_H
#define NTR_EXPORT_EXPORT_H

#include "export/out.h"

#include <ntrace/export.h>

struct ntr_exporter {
    const char *name, *family, *summary;
    const char *aliases[3]; /* other names that users expect; NULL ends them */
    unsigned needs;
    size_t state_size; /* zeroed memory at export->state */
    /* Any of these may be NULL. They write to `out`, whose status is looked at afterwards. */
    ntr_status (*begin)(ntr_export *x);
    ntr_status (*events)(ntr_export *x, const ntr_event *events, size_t count);
    ntr_status (*end)(ntr_export *x);
    void (*release)(ntr_export *x);
};

struct ntr_export {
    const ntr_exporter *exporter;
    ntr_analysis answers;
    ntr_image_info image; /* with NTR_NEEDS_IMAGE */
    const char *path;
    const ntr_allocator *allocator;
    void *state;
    ntr_out out;
};

#endif
