/* What the files of `ntrace coverage --evidence` are made from, and report.html: its parts, in the order of the page.
 */
#ifndef CLI_COMMANDS_COVERAGE_PAGE_H
#define CLI_COMMANDS_COVERAGE_PAGE_H

#include "commands/coverage/basis.h"
#include "io/justify.h"
#include "io/source_text.h"

#include <ntrace/decision.h>
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

/* Writes the page: sums, terms, and the parts below. */
void cli_coverage_page(const struct cli_coverage_evidence *e, struct cli_output *out);

/* What the results rest on: versions, gaps and losses, tests, digests. */
void cli_coverage_page_basis(const struct cli_coverage_evidence *e, struct cli_output *out);
/* What docs/anomalies.md has for this release. */
void cli_coverage_page_anomalies(struct cli_output *out);
/* The sums of each folder, and of its files. */
void cli_coverage_page_files(const struct cli_coverage_evidence *e, struct cli_output *out);
/* What is missing: functions, outcomes of branches, decisions, object code. */
void cli_coverage_page_missing(const struct cli_coverage_evidence *e, struct cli_output *out);
/* The vectors of each decision, and the pairs that show its conditions. */
void cli_coverage_page_mcdc(const struct cli_coverage_evidence *e, struct cli_output *out);
/* The lines of each source, with their executions and tests. */
void cli_coverage_page_sources(const struct cli_coverage_evidence *e, struct cli_output *out);

/* Writes what `write` writes as preformatted text of the page. */
void cli_coverage_page_text(const struct cli_coverage_evidence *e,
                            void (*write)(const struct cli_coverage_evidence *e, struct cli_output *out),
                            struct cli_output *page);
/* Writes a cell: "file:line:column"; `column` 0: none. */
void cli_coverage_page_place(const char *file, uint32_t line, uint32_t column, struct cli_output *out);
/* Returns the words for a state. */
const char *cli_coverage_page_state(ntr_cover_state state);
/* Begins a table row, in the colour of the state. */
void cli_coverage_page_row(ntr_cover_state state, struct cli_output *out);

/* Writes justified.txt. */
void cli_coverage_justified(const struct cli_coverage_evidence *e, struct cli_output *out);

#endif
