/* Exporters: write the results of an analysis in the file formats of other tools.
 *
 * An exporter is one file in src/export and one line in exporters.def. An exporter that needs events in order receives
 * them through ntr_export_feed. The others read the tally, the calling context tree or the coverage in
 * ntr_export_finish. */
#ifndef NTRACE_EXPORT_H
#define NTRACE_EXPORT_H

#include <ntrace/config.h>
#include <ntrace/calltree.h>
#include <ntrace/costs.h>
#include <ntrace/coverage.h>
#include <ntrace/decoder.h>
#include <ntrace/params.h>
#include <ntrace/tally.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A fact about the trace as label and value, for example "made by" and "ntrace 0.9.0". One with an empty value is left
 * out. */
typedef struct ntr_fact {
    const char *label, *value;
} ntr_fact;

/* The input of exporters. Members that an exporter does not need may be NULL. */
typedef struct ntr_analysis {
    size_t size; /* sizeof(ntr_analysis) */
    const ntr_program *program;
    ntr_debug_info *debug;
    ntr_functions *functions;
    ntr_tally *tally;
    ntr_calltree *tree; /* after ntr_calltree_finish. An exporter that needs events and the tree: it gets the same
                         * events, and is finished before the export is */
    ntr_coverage *coverage;
    const char *title; /* name of the traced program or of the stream */
    uint64_t ticks_per_second; /* of event times; 0: not known */
    bool has_image; /* `image` is valid; otherwise the first ELF image is used */
    size_t image; /* index of the image for formats that describe a single binary */
    ntr_read_source read_source; /* NULL: no source text */
    void *read_source_user; /* first argument of `read_source` */
    const ntr_fact *facts; /* origin of the trace, for the report */
    size_t fact_count;
    const char *const *losses; /* descriptions of what is missing from the trace, one line each */
    size_t loss_count;
    const struct ntr_decisions *decisions; /* decision coverage and MC/DC, <ntrace/decision.h> */
    ntr_decision_level level; /* of decisions in tables */
    uint64_t sample_every; /* perf.data: instructions between two samples; 0: such that there are 100,000 to 200,000.
                            * simpoint: instructions of an interval; 0: 100,000,000 */
    unsigned sample_branches; /* perf.data: branches in each sample, at most 1024; 0: none */
    ntr_counts *totals; /* of counting decode, for partial answers (partial.h); NULL: none */
    bool has_stacks; /* `tree` gets each event before ntr_export_feed: with NTR_NEEDS_STACKS its call stacks are used */
    const char *test; /* coverage: name of the test that was executed; NULL: none, or several */
    const char *date; /* coverage: when it was last executed, "2026-07-01T12:00:00Z"; NULL: not known */
    bool own_clocks; /* times of several sources cannot be compared: a tick is an instruction of the source */
    const char *root; /* coverage: folder of the project, absolute. Names of files in it are written relative to it;
                       * when it has none of them, or is NULL, their common folder takes its place */
    const char *const *quality; /* *quality when the export is finished: a JSON object that says what the result rests
                                 * on, for the member "quality" of JSON documents. NULL: none */
    /* Returns the name of a source, such as that of its thread, or NULL when it has none. Valid until ntr_export_free.
     * `source_name` NULL: no source has a name. */
    const char *(*source_name)(void *user, uint16_t src);
    void *source_name_user; /* first argument of `source_name` */
    ntr_read_source read_certain; /* as read_source, without sources that may not be those of the program: lines are
                                   * counted by these. NULL: lines are counted without sources */
} ntr_analysis;

NTR_DEFINE_CONFIG_INIT(ntr_analysis)

/* Receives the output in order. A result other than NTR_OK stops the export, which returns that result. */
typedef struct ntr_output {
    size_t size; /* sizeof(ntr_output) */
    ntr_status (*write)(void *user, const void *bytes, size_t size);
    void *user;
    const char *path; /* path of the output, for formats that write the file themselves (sqlite) or files beside it
                       * (perf.data); NULL: there is none */
} ntr_output;

NTR_DEFINE_CONFIG_INIT(ntr_output)

enum {
    NTR_NEEDS_TALLY = 1u << 0,
    NTR_NEEDS_TREE = 1u << 1,
    NTR_NEEDS_EVENTS = 1u << 2,
    NTR_NEEDS_FILE = 1u << 3, /* writes the file output->path itself */
    NTR_NEEDS_IMAGE = 1u << 4, /* describes a single ELF file */
    NTR_NEEDS_COVERAGE = 1u << 5, /* needs the coverage only, neither program nor debug information */
    NTR_NEEDS_DECISIONS = 1u << 7, /* with NTR_NEEDS_COVERAGE: also needs the decisions */
    NTR_NEEDS_CALLS =
        1u << 6, /* of the spans only calls, returns and sums: they may be joined (ntr_decoder_set_join) */
    NTR_NEEDS_STACKS =
        1u << 9, /* with NTR_NEEDS_EVENTS: call stacks, its own ones unless `has_stacks` (ntr_export_follows) */
    NTR_NEEDS_FOLDER = 1u << 10, /* the output is a folder: what is written is its file "stream", and
                                  * ntr_exporter_second is the content of another one */
    NTR_NEEDS_STRETCHES =
        1u << 8, /* with NTR_NEEDS_CALLS: NTR_MACHINE_WATCHED is excepted from joining when `functions` has tasks */
};

typedef struct ntr_exporter ntr_exporter;
NTR_API const char *ntr_exporter_name(const ntr_exporter *exporter);
/* Returns the alias number `index`, or NULL when `index` is past the last one. */
NTR_API const char *ntr_exporter_alias(const ntr_exporter *exporter, size_t index);
NTR_API const char *ntr_exporter_summary(const ntr_exporter *exporter); /* one line of description */
NTR_API const char *
ntr_exporter_family(const ntr_exporter *exporter); /* "export", "flame", "coverage", "timeline", "report" */
NTR_API unsigned ntr_exporter_needs(const ntr_exporter *exporter); /* set of NTR_NEEDS_* */

/* Returns the text of the second file of an output that is a folder, and stores its name. NULL: there is none. */
NTR_API const char *ntr_exporter_second(const ntr_exporter *exporter, const char **name);

/* Returns the exporter number `index`, or NULL when `index` is past the last one. */
NTR_API const ntr_exporter *ntr_exporter_at(size_t index);
/* Returns the exporter of a family with this name or alias, or NULL when there is none. */
NTR_API const ntr_exporter *ntr_exporter_find(const char *family, const char *name);

typedef struct ntr_export ntr_export;

/* Starts an export. `analysis` and `output` are copied; what they point to must stay valid until
 * ntr_export_free. Errors: NTR_E_MEMORY, NTR_E_INVALID (something required is missing), NTR_E_NO_IMAGE
 * (NTR_NEEDS_IMAGE and no ELF image). If the output cannot be begun, ntr_export_feed and ntr_export_finish return
 * NTR_E_IO, and ntr_export_error has the reason. */
NTR_API ntr_status ntr_export_new(const ntr_exporter *exporter, const ntr_analysis *analysis, const ntr_output *output,
                                  ntr_export **out);

/* Passes events in stream order, for exporters with NTR_NEEDS_EVENTS. Errors: NTR_E_MEMORY, those of the output. */
NTR_API ntr_status ntr_export_feed(ntr_export *export_, const ntr_event *events, size_t count);

/* Returns whether the export follows the call stacks of the tree, to which each span is given before. ntr_export_feed
 * then needs the other events only. The result is final after the first span. */
NTR_API bool ntr_export_follows(const ntr_export *export_);

/* Writes the rest of the output. After this call the export can only be freed. Errors: NTR_E_MEMORY, those of the
 * output. */
NTR_API ntr_status ntr_export_finish(ntr_export *export_);

/* Returns why ntr_export_feed or ntr_export_finish failed, in a sentence, such as "SQLite: database or disk is full".
 * "" while nothing has failed. Valid until ntr_export_free. */
NTR_API const char *ntr_export_error(const ntr_export *export_);

/* Returns what the output leaves out although its format has a place for it, in a sentence, such as "12 of 4711 loads
 * and stores have no address"; "": nothing. Final after ntr_export_finish. Valid until ntr_export_free. */
NTR_API const char *ntr_export_loss(const ntr_export *export_);

/* Removes the files that were written beside the output (perf.data: OUTPUT.images), because the output could not be
 * completed. `export_` may be NULL. */
NTR_API void ntr_export_abandon(ntr_export *export_);
NTR_API void ntr_export_free(ntr_export *export_);

/* Writes a differential flame graph of changes that hold NTR_COSTS_CALLS, as an SVG file. Errors: NTR_E_MEMORY,
 * NTR_E_INVALID, those of the output. */
NTR_API ntr_status ntr_export_changes(const ntr_cost_changes *changes, const char *title, const ntr_output *output);

/* Writes an event as one line: an object of JSON, or a row of CSV (docs/output.md, "Events"). The line feed is
 * included, no NUL is written. Returns the number of bytes, or 0 when the line has more than `capacity`; none has more
 * than NTR_EVENT_TEXT_MAX. CSV with `event` NULL: the row of column names. */
#define NTR_EVENT_TEXT_MAX 4096
NTR_API size_t ntr_event_json(const ntr_event *event, char *text, size_t capacity);
NTR_API size_t ntr_event_csv(const ntr_event *event, char *text, size_t capacity);

/* Parses one line of the JSON form (ntr_message_format_json) into the bytes of the message. "tcode" overrules "name";
 * members that the form does not have are ignored. Returns and errors: as ntr_message_assemble; NTR_E_MEMORY. */
NTR_API int ntr_message_assemble_json(const ntr_params *params, const char *line, uint8_t *out, size_t capacity,
                                      size_t *column);

#ifdef __cplusplus
}
#endif
#endif
