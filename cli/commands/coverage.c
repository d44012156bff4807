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
    CLI_STRING(0, "fail-under", "PERCENT", S, fail_under, "exit with 1 when fewer of the lines ran"),
    {0},
};
#undef S

static const struct cli_group groups[] = {
    CLI_OWN("options", coverage_table),
    CLI_GROUP("output", cli_exporting_options, struct coverage_options, exporting),
    CLI_GROUP("trace", cli_analysis_options, struct coverage_options, exporting.answers),
    CLI_GROUP("program", cli_image_options, struct coverage_options, exporting.answers.images),
    CLI_GROUP("the stream", cli_stream_options, struct coverage_options, exporting.answers.stream),
    {0},
};

static int add_trace(ntr_coverage *coverage, const struct cli_analysis_options *options, const char *path) {
    struct cli_analysis a;
    int status = cli_analysis_open(&a, path, options);

    if (status == CLI_OK) status = cli_analysis_need(&a, NTR_NEEDS_TALLY);
    if (status == CLI_OK) status = cli_analysis_run(&a, NULL, NULL);
    if (status != CLI_FAILED &&
        ntr_coverage_add(coverage, a.answers.program, a.answers.debug, a.answers.tally) != NTR_OK)
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

/* The lines that ran against the least that is wanted. */
static int judge(ntr_coverage *coverage, const char *text, double least, int status) {
    ntr_cover_sums sums;

    ntr_coverage_sums(coverage, NULL, &sums);
    if (sums.lines == 0)
        cli_note("no line is known: build the program with -g, or name its debug files with --debug-path");
    double share = sums.lines ? 100.0 * (double)sums.lines_hit / (double)sums.lines : 0;
    if (!text || share >= least) return status;
    cli_note("%.2f %% of the lines ran, wanted are %s %%", share, text);
    return CLI_DEFECTS;
}

static int coverage_run(const void *options, char **operands) {
    const struct coverage_options *o = options;
    ntr_coverage *coverage = NULL;
    double least = 0;
    int status = CLI_OK;

    if (!percent(o->fail_under, &least)) return cli_fail("--fail-under %s: not a percentage", o->fail_under);
    if (!operands[0]) return cli_exporting_coverage(&o->exporting, NULL, CLI_OK);
    if (!(coverage = ntr_coverage_new(NULL))) return cli_fail("out of memory");
    for (int i = 0; operands[i] && status != CLI_FAILED && !cli_progress_stopped(); i++) {
        int added = add_trace(coverage, &o->exporting.answers, operands[i]);
        if (added != CLI_OK) status = added;
    }
    if (status != CLI_FAILED) status = cli_exporting_coverage(&o->exporting, coverage, status);
    if (status != CLI_FAILED) status = judge(coverage, o->fail_under, least, status);
    ntr_coverage_free(coverage);
    return status;
}

const struct cli_command cli_coverage = {
    .operands = "TRACE...",
    .least = 0,
    .most = -1,
    .groups = groups,
    .size = sizeof(struct coverage_options),
    .run = coverage_run,
    .about = "Tells which lines, branches and functions ran, and how often, from the unmodified binary and its\n"
             "debug information. Several traces add up. What a gap in a trace may hide is \"unknown\", apart from\n"
             "what did not run.\n"
             "\n"
             "The count of a line is what gcov gives: how often control came to it from elsewhere, and how often it\n"
             "looped on itself.",
    .examples =
        "  ntrace coverage hello.ntrace\n"
        "  ntrace coverage --to lcov -o all.info run1.ntrace run2.ntrace && genhtml --branch-coverage all.info\n"
        "  ntrace coverage --fail-under 80 hello.ntrace",
};
