#include "commands/coverage/evidence.h"
#include "commands/coverage/run.h"
#include "commands/coverage/select.h"
#include "commands/coverage/earlier.h"
#include "io/output.h"
#include "options/diagnostics.h"
#include "text/object_text.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

bool cli_coverage_wants_decisions(const struct coverage_options *o) {
    return o->level >= LEVEL_DECISION || cli_exporting_needs_decisions(&o->exporting);
}

static const char *standard_exporter(const struct coverage_options *o) {
    const bool json = o->format == FORMAT_JSON;

    switch ((enum coverage_level)o->level) {
    case LEVEL_DECISION:
    case LEVEL_MCDC:
    case LEVEL_MASKING: return json ? "decisions-json" : "decisions";
    case LEVEL_OBJECT:
    case LEVEL_LINE:
    case LEVEL_BRANCH:
    case LEVELS: break;
    }
    return json ? "json" : "summary";
}

static int write_object(const struct coverage_run *run, int status) {
    struct cli_output out;

    if (cli_output_open(&out, run->options->exporting.path) != CLI_OK) return CLI_FAILED;
    cli_object_text(&out, run->object, run->options->format == FORMAT_JSON, run->quality_text);
    return cli_output_close(&out, status);
}

/* Follows the text on standard output; beside other formats it is written to standard error. */
static int write_justified(struct coverage_run *run, int status) {
    const struct coverage_options *o = run->options;
    const bool text = o->format == FORMAT_TEXT && !cli_exporting_chosen(&o->exporting);
    struct cli_output out;

    if (cli_output_open(&out, text ? NULL : "/dev/stderr") != CLI_OK) return CLI_FAILED;
    cli_justify_text(&out, &run->justify, run->coverage, cli_coverage_wants_decisions(o) ? run->decisions : NULL,
                     cli_coverage_level(o->level), &run->source);
    cli_justify_entries(&out, &run->justify);
    return cli_output_close(&out, status);
}

/* Follows the text on standard output, as write_justified. */
int cli_coverage_diff(struct coverage_run *run, int status) {
    const struct coverage_options *o = run->options;
    const bool text = o->evidence || (o->format == FORMAT_TEXT && !cli_exporting_chosen(&o->exporting));
    struct cli_earlier_sums sums = {0};
    struct cli_output out;

    if (cli_output_open(&out, text ? NULL : "/dev/stderr") != CLI_OK) return CLI_FAILED;
    if (cli_earlier_compare(o->diff, run->coverage, run->decisions, &out, &sums) != CLI_OK) status = CLI_FAILED;
    if (status != CLI_FAILED && sums.lost) status = CLI_DEFECTS;
    return cli_output_close(&out, status);
}

static int write_evidence(struct coverage_run *run, const ntr_analysis *data, int status) {
    ntr_analysis mcdc = *data;

    mcdc.level = NTR_LEVEL_MCDC;
    cli_evidence_sources(&run->evidence, run->coverage);
    run->evidence.match = &run->match;
    cli_evidence_input(&run->evidence, run->options->justify);
    cli_evidence_input(&run->evidence, run->options->merge);
    const struct cli_coverage_evidence e = {
        &mcdc,     run->without_decisions,   run->object,      &run->evidence, &run->justify, &run->source,
        run->only, run->options->only.count, run->options->pdf};
    return cli_coverage_evidence(&e, run->options->evidence) == CLI_OK ? status : CLI_FAILED;
}

/* A trace without a date has the one of the environment, by the specification of SOURCE_DATE_EPOCH. */
static const char *date_of(const struct coverage_run *run, char text[32]) {
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    char *end;
    struct tm parts;

    if (run->date || !epoch || *epoch < '0' || *epoch > '9') return run->date;
    errno = 0;
    const long long seconds = strtoll(epoch, &end, 10);
    const time_t time = (time_t)seconds;
    if (errno || *end || !gmtime_r(&time, &parts)) return NULL;
    return strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &parts) ? text : NULL;
}

int cli_coverage_write(struct coverage_run *run, int status) {
    char date[32], folder[PATH_MAX];
    ntr_analysis data;

    if (run->rated) run->quality_text = cli_quality_json(&run->quality);
    if (run->options->level == LEVEL_OBJECT && !cli_exporting_chosen(&run->options->exporting))
        return write_object(run, status);

    ntr_analysis_init(&data);
    data.coverage = run->coverage;
    data.decisions = run->decisions;
    data.level = cli_coverage_level(run->options->level);
    data.test = run->test;
    data.date = date_of(run, date);
    data.root = getcwd(folder, sizeof folder);
    data.quality = (const char *const *)&run->quality_text;
    if (run->options->evidence) return write_evidence(run, &data, status);
    if (run->options->format > FORMAT_JSON)
        return cli_coverage_annotate(run, run->options->exporting.path, run->options->format, status);
    status = cli_exporting_coverage(&run->options->exporting, &data, standard_exporter(run->options), status);
    if (run->options->since && run->options->format == FORMAT_TEXT && !cli_exporting_chosen(&run->options->exporting) &&
        !run->options->exporting.path && status != CLI_FAILED)
        status = cli_coverage_annotate(run, NULL, FORMAT_TEXT, status);
    return run->options->justify && status != CLI_FAILED ? write_justified(run, status) : status;
}
