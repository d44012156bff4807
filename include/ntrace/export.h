/* Exporters: what was learned from a trace, in the formats that other tools open.
 *
 * One exporter is one file in src/export and one line in exporters.def. An exporter that needs the events
 * in order is fed them; the others read the tally or the calling context tree when they finish. */
#ifndef NTRACE_EXPORT_H
#define NTRACE_EXPORT_H

#include <ntrace/calltree.h>
#include <ntrace/coverage.h>
#include <ntrace/params.h>
#include <ntrace/tally.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Something to tell people of a trace, as label and value: "made by", "ntrace 0.1.0". */
typedef struct ntr_fact {
    const char *label, *value;
} ntr_fact;

/* The text of a source file, of which debug information told the name. False: there is none. It lives until the
 * next call. */
typedef bool (*ntr_read_source)(void *user, const char *file, ntr_bytes *text);

/* Everything an exporter may ask. Members that the exporter does not need may be NULL. */
typedef struct ntr_analysis {
    size_t size; /* sizeof(ntr_analysis) */
    const ntr_program *program;
    ntr_debug_info *source;
    ntr_functions *functions;
    ntr_tally *tally;
    ntr_calltree *tree;         /* finished */
    ntr_coverage *coverage;
    const char *title;          /* the traced program's or the stream's name */
    uint64_t ticks_per_second;  /* of event times; 0: not known */
    bool has_image;             /* `image` is chosen; else the first ELF image counts as the program */
    size_t image;               /* the image that single-binary formats are about */
    ntr_read_source read_source; /* NULL: no source text */
    void *read_source_user;
    const ntr_fact *facts;      /* what the report tells of the trace's origin */
    size_t fact_count;
    const char *const *losses;  /* what happened but is not in the trace, one line each */
    size_t loss_count;
} ntr_analysis;

/* Takes bytes in order; anything but NTR_OK stops the export and is given back by it. */
typedef struct ntr_output {
    ntr_status (*write)(void *user, const void *bytes, size_t size);
    void *user;
    const char *path; /* where the bytes go, for formats that need a file of their own (sqlite) */
} ntr_output;

enum {
    NTR_NEEDS_TALLY = 1u << 0,
    NTR_NEEDS_TREE = 1u << 1,
    NTR_NEEDS_EVENTS = 1u << 2,
    NTR_NEEDS_FILE = 1u << 3,  /* writes output->path itself */
    NTR_NEEDS_IMAGE = 1u << 4, /* is about one ELF file */
    NTR_NEEDS_COVERAGE = 1u << 5, /* and nothing else: neither program nor source */
};

typedef struct ntr_exporter ntr_exporter; /* private but for: */
NTR_API const char *ntr_exporter_name(const ntr_exporter *exporter);
/* Its index-th other name, NULL past the last. */
NTR_API const char *ntr_exporter_alias(const ntr_exporter *exporter, size_t index);
NTR_API const char *ntr_exporter_summary(const ntr_exporter *exporter); /* one line for people */
NTR_API const char *
ntr_exporter_family(const ntr_exporter *exporter); /* "export", "flame", "coverage", "timeline", "report" */
NTR_API unsigned ntr_exporter_needs(const ntr_exporter *exporter);      /* NTR_NEEDS_* set */

/* The index-th exporter, NULL past the last; the exporter of a family by name or alias, NULL when there is none. */
NTR_API const ntr_exporter *ntr_exporter_at(size_t index);
NTR_API const ntr_exporter *ntr_exporter_find(const char *family, const char *name);

typedef struct ntr_export ntr_export;

/* Begin. `answers` and `output` are copied. Errors: NTR_E_MEMORY, NTR_E_INVALID (something needed is
 * missing), NTR_E_NO_IMAGE (NTR_NEEDS_IMAGE and there is no ELF image), the output's. */
NTR_API ntr_export *ntr_export_new(const ntr_exporter *exporter, const ntr_analysis *answers, const ntr_output *output,
                                   ntr_status *status);

/* NTR_NEEDS_EVENTS: take events in stream order. */
NTR_API ntr_status ntr_export_feed(ntr_export *export_, const ntr_event *events, size_t count);

/* Write the rest. The export can only be freed afterwards. */
NTR_API ntr_status ntr_export_finish(ntr_export *export_);
NTR_API void ntr_export_free(ntr_export *export_);

/* Parses one line of the JSON form (ntr_message_format_json) into the bytes of the message. "tcode" overrules "name";
 * members that the form does not have are ignored. Returns and errors: as ntr_message_assemble; NTR_E_MEMORY. */
NTR_API int ntr_message_assemble_json(const ntr_params *params, const char *line, uint8_t *out, size_t capacity,
                                      size_t *column);

#ifdef __cplusplus
}
#endif
#endif
