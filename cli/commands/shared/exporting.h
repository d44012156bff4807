/* Common part of the commands that write through an exporter (coverage, export, flame, report, timeline): select an
 * exporter of the family, decode the trace once, write the result. */
#ifndef CLI_COMMANDS_SHARED_EXPORTING_H
#define CLI_COMMANDS_SHARED_EXPORTING_H

#include "commands/shared/analysis.h"

struct cli_exporting_options {
    struct cli_analysis_options analysis;
    const char *to;   /* name of the exporter; NULL: not given */
    const char *path; /* -o */
    int per;          /* ntr_calltree_split */
    int64_t every, branches; /* perf.data */
    const char *image; /* --image; NULL: the first ELF file */
};
extern const struct cli_option cli_exporting_options[]; /* --to, -o */
extern const struct cli_option cli_exporting_tree_options[]; /* --per */
/* Option groups of a command with these options: without and with --per, which applies to exporters of call trees. */
extern const struct cli_group cli_exporting_groups[], cli_exporting_tree_groups[];
extern const struct cli_group cli_exporting_sample_groups[]; /* also with --image, --every and --branches */

/* Writes the coverage in `data` with the selected exporter, or without --to with `standard`. If `data` is NULL, only
 * '--to list' is valid. Returns `status`, or CLI_FAILED after reporting an error. */
int cli_exporting_coverage(const struct cli_exporting_options *options, const ntr_analysis *data, const char *standard,
                           int status);

/* Returns whether --to selects an exporter. */
bool cli_exporting_chosen(const struct cli_exporting_options *options);

/* Returns whether the exporter that cli_exporting_coverage selects needs decisions. */
bool cli_exporting_needs_decisions(const struct cli_exporting_options *options);

/* Writes `data` with one exporter of the family "coverage" to the file at `path`. Returns CLI_OK, or CLI_FAILED after
 * reporting an error. */
int cli_exporting_coverage_file(const ntr_analysis *data, const char *exporter, const char *path);

/* Decodes `trace` and writes it with the selected exporter of `family`. If `trace` is NULL, only '--to list' is valid.
 * Returns the exit status of the command. */
int cli_exporting_run(const char *family, const struct cli_exporting_options *options, const char *trace);

#endif
