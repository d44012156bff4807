/* `ntrace coverage --evidence DIR`: all results of a run, with what they rest on. */
#ifndef CLI_COMMANDS_COVERAGE_EVIDENCE_H
#define CLI_COMMANDS_COVERAGE_EVIDENCE_H

#include "io/evidence.h"
#include "io/justify.h"
#include "io/source_text.h"

#include <ntrace/export.h>
#include <ntrace/object_coverage.h>

struct cli_coverage_evidence {
    const ntr_analysis *data;        /* `decisions` may be NULL */
    const char *without_decisions;   /* why */
    ntr_object_coverage *object;
    struct cli_evidence *evidence;
    struct cli_justify *justify;
    struct cli_source_text *source;
    const char *const *only; /* sources to which the results are restricted; none: all */
    size_t only_count;
    bool pdf;                /* also print the report as PDF */
};

/* Writes the files into the folder, which is created. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_coverage_evidence(const struct cli_coverage_evidence *e, const char *folder);

#endif
