/* One call of `ntrace coverage`, its thresholds (shares.c) and its output (results.c). */
#ifndef CLI_COMMANDS_COVERAGE_RUN_H
#define CLI_COMMANDS_COVERAGE_RUN_H

#include "commands/shared/exporting.h"
#include "commands/coverage/basis.h"
#include "commands/coverage/builds.h"
#include "io/justify.h"
#include "commands/coverage/patch.h"
#include "io/source_text.h"
#include "text/justify_text.h"

#include <ntrace/decision.h>
#include <ntrace/object_coverage.h>

enum coverage_level { LEVEL_OBJECT, LEVEL_LINE, LEVEL_BRANCH, LEVEL_DECISION, LEVEL_MCDC, LEVEL_MASKING, LEVELS };
enum coverage_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_GITHUB, FORMAT_GITLAB };

struct coverage_options {
    struct cli_exporting_options exporting;
    struct cli_list fail_under;
    int level, format, rule;
    const char *compile_commands, *justify, *evidence, *diff, *merge, *since;
    int pdf, merge_builds, no_markers;
    struct cli_list clang_args, only;
};

/* One call of the command. */
struct coverage_run {
    const struct coverage_options *options;
    ntr_coverage *coverage;
    bool begun; /* a trace was added */
    ntr_decisions *decisions; /* NULL: not needed */
    ntr_object_coverage *object; /* NULL: not needed */
    struct cli_analysis_options analysis;
    ntr_source_options sources;
    const char **clang_args, **only; /* owned */
    bool *only_used;                 /* whether a source is selected by this element of `only`; owned */
    struct cli_justify justify;
    struct cli_source_text source;
    struct cli_source_match match; /* sources that are not those of the programs */
    struct cli_evidence evidence;
    struct cli_patch patch; /* --since */
    struct cli_builds builds;
    bool other_code; /* functions of another build have other lines of code, and their counts were added */
    char *test, *date;      /* of the bundles: the name that all of them have, or NULL; the latest; owned */
    char without_decisions[400]; /* --evidence: why there are no decisions */
    struct cli_quality quality;  /* of all traces, if `rated` */
    char *quality_text;          /* ... as JSON; owned */
    bool rated;
    double least[LEVELS];        /* --fail-under by level; negative: none */
};

/* Reads --fail-under. */
int cli_coverage_thresholds(struct coverage_run *run);
/* Returns whether there is a threshold for one of these levels. */
bool cli_coverage_has_threshold(const struct coverage_run *run, int first, int last);
/* Returns the exit status: CLI_DEFECTS when a threshold is not reached, otherwise `status`. */
int cli_coverage_check(struct coverage_run *run, int status);

ntr_decision_level cli_coverage_level(int level);

/* Returns whether decisions are asked for, not only part of the evidence. */
bool cli_coverage_wants_decisions(const struct coverage_options *o);
/* Writes the results, or the comparison with an earlier campaign (--diff). Return the exit status. */
int cli_coverage_write(struct coverage_run *run, int status);
int cli_coverage_diff(struct coverage_run *run, int status);

#endif
