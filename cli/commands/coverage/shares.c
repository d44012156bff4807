#include "commands/coverage/run.h"
#include "options/diagnostics.h"
#include "text/object_text.h"

#include <ntrace/decision.h>
#include <stdlib.h>
#include <string.h>

static const char *const level_names[LEVELS] = {"object", "line", "branch", "decision", "mcdc", "masking"};

bool cli_coverage_has_threshold(const struct coverage_run *run, int first, int last) {
    for (int level = first; level <= last; level++)
        if (run->least[level] >= 0) return true;
    return false;
}

static bool percent(const char *text, double *value) {
    char *end;

    *value = strtod(text, &end);
    return end != text && *end == '\0' && *value >= 0 && *value <= 100;
}

int cli_coverage_thresholds(struct coverage_run *run) {
    const struct cli_list *list = &run->options->fail_under;

    for (int level = 0; level < LEVELS; level++) run->least[level] = -1;
    for (size_t i = 0; i < list->count; i++) {
        const char *text = list->items[i].value, *number = strchr(text, '=');
        int level = number ? LEVEL_OBJECT : run->options->level;
        while (number && level < LEVELS &&
               (strlen(level_names[level]) != (size_t)(number - text) ||
                strncmp(level_names[level], text, (size_t)(number - text)) != 0))
            level++;
        if (level == LEVELS) return cli_fail("--fail-under: '%s' does not begin with a level, such as mcdc=80", text);
        if (!percent(number ? number + 1 : text, &run->least[level]))
            return cli_fail("--fail-under: expected a number from 0 to 100, found '%s'", text);
    }
    return CLI_OK;
}

struct share {
    uint64_t covered, all;
    uint64_t unknown; /* of what is not covered: it may have been, in gaps or in code that is not determinable */
    const char *what;
};

/* Instructions and outcomes of branches. */
static struct share share_of_object(const struct coverage_run *run) {
    const struct cli_object_sums sums = cli_object_sums(run->object);
    const uint64_t all = sums.instructions + sums.outcomes, seen = sums.executed + sums.outcomes_seen;

    return (struct share){seen, all, ntr_coverage_gaps(run->coverage) ? all - seen : 0,
                          "instructions and branch outcomes were executed"};
}

static struct share share_of(const struct coverage_run *run, int level) {
    static const ntr_decision_level levels[] = {
        [LEVEL_DECISION] = NTR_LEVEL_DECISION, [LEVEL_MCDC] = NTR_LEVEL_MCDC, [LEVEL_MASKING] = NTR_LEVEL_MASKING};
    ntr_cover_sums sums;
    ntr_decision_sums decisions;

    ntr_coverage_sums(run->coverage, NULL, &sums);
    switch ((enum coverage_level)level) {
    case LEVEL_DECISION:
    case LEVEL_MCDC:
    case LEVEL_MASKING:
        ntr_decisions_sums(run->decisions, levels[level], NULL, &decisions);
        return (struct share){decisions.decisions[NTR_COVER_COVERED],
                              decisions.decisions[0] + decisions.decisions[1] + decisions.decisions[2],
                              decisions.decisions[NTR_COVER_NOT_DETERMINABLE], "decisions are covered"};
    case LEVEL_BRANCH:
        return (struct share){sums.branches_hit, sums.branches,
                              ntr_coverage_gaps(run->coverage) ? sums.branches - sums.branches_hit : 0,
                              "branch outcomes were executed"};
    case LEVEL_OBJECT: return share_of_object(run);
    case LEVEL_LINE:
    case LEVELS: break;
    }
    return (struct share){sums.lines_hit, sums.lines, sums.lines_unknown, "lines were executed"};
}

ntr_decision_level cli_coverage_level(int level) {
    return level == LEVEL_MCDC ? NTR_LEVEL_MCDC : level == LEVEL_MASKING ? NTR_LEVEL_MASKING : NTR_LEVEL_DECISION;
}

/* Compares the share of a level with --fail-under. What is not known decides nothing: where it could reach the
 * threshold, this is said, and the status is that of a threshold that is not reached. */
static bool reaches(struct coverage_run *run, int level) {
    struct share share = share_of(run, level);
    const bool by_line = level == LEVEL_LINE, by_decision = level >= LEVEL_DECISION;
    if (run->options->justify && (by_line || by_decision))
        share.covered += cli_justify_text(NULL, &run->justify, run->coverage, by_decision ? run->decisions : NULL,
                                          cli_coverage_level(level), &run->source)
                             .justified;
    double percent = share.all ? 100.0 * (double)share.covered / (double)share.all : run->options->since ? 100 : 0;
    if (percent >= run->least[level]) return true;
    const uint64_t most = share.covered + share.unknown < share.all ? share.covered + share.unknown : share.all;
    if (share.unknown && 100.0 * (double)most / (double)share.all >= run->least[level]) {
        cli_note("%.2f to %.2f %% of the %s, --fail-under expects %g %% (%s): whether it is reached is not known",
                 percent, 100.0 * (double)most / (double)share.all, share.what, run->least[level], level_names[level]);
        return false;
    }
    cli_note("%.2f %% of the %s, --fail-under expects %g %% (%s)", percent, share.what, run->least[level],
             level_names[level]);
    return false;
}

/* Reports what selects nothing: an answer that is empty, or lacks what was asked for, is not success. */
static void report_only(const struct coverage_run *run) {
    for (size_t i = 0; i < run->options->only.count; i++)
        if (!run->only_used[i])
            cli_doubt("--only %s: expected a source with line information, or its folder; found none",
                      run->options->only.items[i].value);
}

int cli_coverage_check(struct coverage_run *run, int status) {
    ntr_cover_sums sums;

    ntr_coverage_sums(run->coverage, NULL, &sums);
    report_only(run);
    if (sums.lines == 0 && run->options->since)
        cli_note("no changed line has code");
    else if (sums.lines == 0 && !run->options->only.count)
        (run->options->level == LEVEL_OBJECT ? cli_note : cli_doubt)(
            "no line information: build the program with -g, or name its debug files with --debug-path");
    for (int level = 0; level < LEVELS; level++)
        if (run->least[level] >= 0 && !reaches(run, level)) status = CLI_DEFECTS;
    return status;
}
