/* What flame, export, coverage and timeline share: choose an exporter of a family, decode once, write. */
#ifndef CLI_COMMANDS_EXPORTING_H
#define CLI_COMMANDS_EXPORTING_H

#include "commands/analysis.h"

struct cli_exporting_options {
    struct cli_analysis_options answers;
    const char *to;   /* name of the exporter; NULL: the family's first */
    const char *path; /* -o */
    int per;          /* ntr_calltree_split */
};
extern const struct cli_option cli_exporting_options[]; /* --to, -o */
extern const struct cli_option cli_exporting_tree_options[]; /* --per */
/* Of a command whose options are these: without and with those for exporters of call trees. */
extern const struct cli_group cli_exporting_groups[], cli_exporting_tree_groups[];

/* Write a coverage; `coverage` NULL: only --to list makes sense. Returns `status`, or CLI_FAILED. */
int cli_exporting_coverage(const struct cli_exporting_options *options, ntr_coverage *coverage, int status);

int cli_exporting_run(const char *family, const struct cli_exporting_options *options, const char *trace);

#endif
