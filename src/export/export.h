/* Private interface of exporters: the input, a buffered output, and state of the exporter. */
#ifndef NTR_EXPORT_EXPORT_H
#define NTR_EXPORT_EXPORT_H

#include "export/out.h"

#include <ntrace/export.h>

struct ntr_exporter {
    const char *name, *family, *summary;
    const char *aliases[3]; /* further names of the format; NULL ends the list */
    unsigned needs;
    size_t state_size; /* size of zeroed memory at export->state */
    /* Each function may be NULL. They write to `out`; its status is checked after the call. */
    ntr_status (*begin)(ntr_export *x);
    ntr_status (*events)(ntr_export *x, const ntr_event *events, size_t count);
    ntr_status (*end)(ntr_export *x);
    void (*release)(ntr_export *x);
    void (*abandon)(ntr_export *x); /* ntr_export_abandon */
    bool (*follows)(const ntr_export *x); /* ntr_export_follows; NULL: never */
    const char *second_name, *second_text; /* ntr_exporter_second */
};

struct ntr_export {
    const ntr_exporter *exporter;
    ntr_analysis analysis;
    ntr_image_info image; /* valid with NTR_NEEDS_IMAGE, */
    size_t image_number;  /* ... and its number in the program */
    const char *path;
    const ntr_allocator *allocator;
    void *state;
    ntr_status failed; /* the first error of ntr_export_feed or ntr_export_finish */
    char loss[200];    /* what the output leaves out, in a sentence; "": nothing */
    char error[200];   /* that error in a sentence, when an exporter can say more than its status */
    ntr_out out;
};

/* Returns the name of a source, or NULL. */
static inline const char *ntr_export_source(const ntr_export *x, uint16_t src) {
    return x->analysis.source_name ? x->analysis.source_name(x->analysis.source_name_user, src) : NULL;
}

/* Writes the member "quality" at the end of a JSON object, if the input has it. */
static inline void ntr_export_quality(ntr_export *x) {
    if (!x->analysis.quality || !*x->analysis.quality) return;
    ntr_out_text(&x->out, ",\n\"quality\":");
    ntr_out_text(&x->out, *x->analysis.quality);
}

#endif
