#include "options/command.h"
#include "commands/exporting.h"
#include "io/output.h"
#include "io/progress.h"
#include "options/diagnostics.h"

#include <stdlib.h>

struct coverage_options {
    struct cli_exporting_options exporting;
    const char *fail_under;
};

#define S struct coverage_options
static const struct cli_option coverage_table[] = {
    CLI_STRING(0, "fail-under", "PERCENT", S, fail_under,
               "exit with status 1 when less than PERCENT of the lines were executed (0 to 100)"),
    {0},
};
#undef S

static const struct cli_group groups[] = {
    CLI_OWN("options", coverage_table),
    CLI_GROUP("output", cli_exporting_options, struct coverage_options, exporting),
    CLI_GROUP("trace", cli_analysis_options, struct coverage_options, exporting.analysis),
    CLI_GROUP("part of the trace", cli_selection_begin_options, struct coverage_options,
              exporting.analysis.selection),
    CLI_GROUP("program", cli_image_options, struct coverage_options, exporting.analysis.images),
    CLI_GROUP("the stream", cli_stream_options, struct coverage_options, exporting.analysis.stream),
    {0},
};

static int add_trace(ntr_coverage *coverage, const struct cli_analysis_options *options, const char *path) {
    struct cli_analysis a;
    int status = cli_analysis_open(&a, path, options);

    if (status == CLI_OK) status = cli_analysis_need(&a, NTR_NEEDS_TALLY);
    if (status == CLI_OK) status = cli_analysis_run(&a, NULL, NULL);
    if (status != CLI_FAILED &&
        ntr_coverage_add(coverage, a.data.program, a.data.debug, a.data.tally) != NTR_OK)
        status = cli_fail("%s: out of memory", path);
    cli_analysis_close(&a);
    return status;
}

static bool percent(const char *text, double *value) {
    char *end;

    if (!text) return true;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && *value >= 0 && *value <= 100;
}

/* Compares the share of executed lines with --fail-under. */
static int check_fail_under(ntr_coverage *coverage, const char *text, double least, int status) {
    ntr_cover_sums sums;

    ntr_coverage_sums(coverage, NULL, &sums);
    if (sums.lines == 0)
        cli_note("no line information: build the program with -g, or name its debug files with --debug-path");
    double share = sums.lines ? 100.0 * (double)sums.lines_hit / (double)sums.lines : 0;
    if (!text || share >= least) return status;
    cli_note("%.2f %% of the lines were executed, --fail-under expects %s %%", share, text);
    return CLI_DEFECTS;
}

static int coverage_run(const void *options, char **operands) {
    const struct coverage_options *o = options;
    ntr_coverage *coverage = NULL;
    const struct cli_analysis_options analysis = cli_exporting_analysis(&o->exporting);
    double least = 0;
    int status = CLI_OK;

    if (!percent(o->fail_under, &least))
        return cli_fail("--fail-under: expected a number from 0 to 100, found '%s'", o->fail_under);
    if (!operands[0]) return cli_exporting_coverage(&o->exporting, NULL, CLI_OK);
    if (!(coverage = ntr_coverage_new(NULL))) return cli_fail("out of memory");
    for (int i = 0; operands[i] && status != CLI_FAILED && !cli_progress_stopped(); i++) {
        int added = add_trace(coverage, &analysis, operands[i]);
        if (added != CLI_OK) status = added;
    }
    if (status != CLI_FAILED) status = cli_exporting_coverage(&o->exporting, coverage, status);
    if (status != CLI_FAILED) status = check_fail_under(coverage, o->fail_under, least, status);
    ntr_coverage_free(coverage);
    return status;
}

const struct cli_command cli_coverage = {
    .operands = "TRACE...",
    .min_operands = 0,
    .max_operands = -1,
    .groups = groups,
    .size = sizeof(struct coverage_options),
    .run = coverage_run,
    .about = "Shows which lines, branches and functions were executed, and how often. It needs the unmodified binary\n"
             "and its debug information, but no instrumentation. The counts of several traces are added. Code that\n"
             "may have been executed in a gap of the trace is \"unknown\", which is distinct from \"not executed\".\n"
             "\n"
             "The count of a line is defined as in gcov: how often execution entered the line from another line,\n"
             "plus how often it looped within the line.",
    .examples =
        "  ntrace coverage hello.ntrace\n"
        "  ntrace coverage --to lcov -o all.info run1.ntrace run2.ntrace && genhtml --branch-coverage all.info\n"
        "  ntrace coverage --fail-under 80 hello.ntrace",
};
