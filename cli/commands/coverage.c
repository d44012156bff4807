#include "options/command.h"
#include "commands/coverage_evidence.h"
#include "commands/exporting.h"
#include "io/earlier.h"
#include "io/output.h"
#include "io/progress.h"
#include "options/diagnostics.h"
#include "text/justify_text.h"
#include "text/object_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum coverage_level { LEVEL_OBJECT, LEVEL_LINE, LEVEL_BRANCH, LEVEL_DECISION, LEVEL_MCDC, LEVEL_MASKING, LEVELS };
static const char *const level_names[LEVELS] = {"object", "line", "branch", "decision", "mcdc", "masking"};
enum coverage_format { FORMAT_TEXT, FORMAT_JSON };

struct coverage_options {
    struct cli_exporting_options exporting;
    struct cli_list fail_under;
    int level, format;
    const char *compile_commands, *justify, *evidence, *diff, *merge;
    bool pdf;
    struct cli_list clang_args, only;
};

#define S struct coverage_options
static const struct cli_option coverage_table[] = {
    CLI_CHOICE(0, "level", "object|line|branch|decision|mcdc|masking", S, level, LEVEL_LINE,
               "what is measured: instructions and outcomes of branches of the code, lines (default), branches, "
               "decisions, MC/DC (unique-cause), or MC/DC (masking)"),
    CLI_CHOICE(0, "format", "text|json", S, format, FORMAT_TEXT, "text (default), or JSON; --to has further formats"),
    CLI_LIST(0, "fail-under", "[LEVEL=]PERCENT", S, fail_under,
             "exit with status 1 when less than PERCENT (0 to 100) is covered, of --level, or of LEVEL (repeatable)"),
    CLI_STRING(0, "merge", "FILE", S, merge, "also add the traces that FILE names, one in each line"),
    CLI_STRING(0, "diff", "DIR", S, diff,
               "compare with the evidence of an earlier campaign; exit with status 1 when something is no longer covered"),
    CLI_STRING(0, "justify", "FILE", S, justify,
               "reasons for code that is not covered; what is justified counts as covered for --fail-under"),
    CLI_STRING(0, "evidence", "DIR", S, evidence,
               "write all levels, a report, and digests of traces, binaries and sources into the folder DIR"),
    CLI_FLAG(0, "pdf", S, pdf, "with --evidence: also print the report as PDF, with weasyprint or Chromium"),
    {0},
};

static const struct cli_option source_table[] = {
    CLI_LIST(0, "only", "PATH", S, only, "only sources in this folder, or this file (repeatable)"),
    CLI_STRING(0, "compile-commands", "PATH", S, compile_commands,
               "compile_commands.json, or its folder: the macros and folders of each source (for decisions)"),
    CLI_LIST(0, "clang-arg", "ARG", S, clang_args,
             "further argument for the parser of sources, such as -DNAME (repeatable)"),
    {0},
};
#undef S

static const struct cli_group groups[] = {
    CLI_OWN("options", coverage_table),
    CLI_OWN("sources", source_table),
    CLI_GROUP("output", cli_exporting_options, struct coverage_options, exporting),
    CLI_GROUP("trace", cli_analysis_options, struct coverage_options, exporting.analysis),
    CLI_GROUP("part of the trace", cli_selection_begin_options, struct coverage_options,
              exporting.analysis.selection),
    CLI_GROUP("program", cli_image_options, struct coverage_options, exporting.analysis.images),
    CLI_GROUP("the stream", cli_stream_options, struct coverage_options, exporting.analysis.stream),
    {0},
};

/* One call of the command. */
struct coverage_run {
    const struct coverage_options *options;
    ntr_coverage *coverage;
    ntr_decisions *decisions; /* NULL: not needed */
    ntr_object_coverage *object; /* NULL: not needed */
    struct cli_analysis_options analysis;
    ntr_source_options sources;
    const char **clang_args, **only; /* owned */
    struct cli_justify justify;
    struct cli_source_text source;
    struct cli_evidence evidence;
    char without_decisions[400]; /* --evidence: why there are no decisions */
    double least[LEVELS];        /* --fail-under by level; negative: none */
};

/* Returns whether decisions are asked for, not only part of the evidence. */
static bool wants_decisions(const struct coverage_options *o) {
    return o->level >= LEVEL_DECISION || cli_exporting_needs_decisions(&o->exporting);
}

static bool has_threshold(const struct coverage_run *run, int first, int last) {
    for (int level = first; level <= last; level++)
        if (run->least[level] >= 0) return true;
    return false;
}

/* Where the events of a trace go. */
struct event_sink {
    struct coverage_run *run;
    const ntr_program *program;
};

static ntr_status take_events(void *user, const ntr_event *events, size_t count) {
    const struct event_sink *sink = user;
    ntr_status status = sink->run->decisions ? ntr_decisions_feed(sink->run->decisions, events, count) : NTR_OK;

    if (status == NTR_OK && sink->run->object)
        status = ntr_object_coverage_feed(sink->run->object, sink->program, events, count);
    return status;
}

static int begin_decisions(struct coverage_run *run, const struct cli_analysis *a) {
    ntr_status status =
        ntr_decisions_begin(run->decisions, &run->sources, a->data.program, a->data.debug, a->data.functions);
    if (status == NTR_OK) return CLI_OK;
    const char *error = ntr_decisions_error(run->decisions);
    if (status == NTR_E_UNSUPPORTED && !wants_decisions(run->options) && !has_threshold(run, LEVEL_DECISION, LEVEL_MASKING)) { /* evidence of the other levels */
        snprintf(run->without_decisions, sizeof run->without_decisions, "%s", error);
        ntr_decisions_free(run->decisions);
        run->decisions = NULL;
        return CLI_OK;
    }
    return cli_fail("%s: %s", a->path, *error ? error : ntr_status_text(status));
}

/* Returns whether code of the program was changed at run time. */
static bool has_versions(const ntr_program *program) {
    ntr_image_info info;

    for (size_t i = 0; ntr_program_image(program, i, &info) == NTR_OK; i++)
        if (!info.path && (info.options.from || info.options.until)) return true;
    return false;
}

static int add_results(struct coverage_run *run, const struct cli_analysis *a) {
    ntr_status status = ntr_coverage_add(run->coverage, a->data.program, a->data.debug, a->data.tally);
    if (status == NTR_OK && run->decisions) status = ntr_decisions_end(run->decisions);
    if (status == NTR_OK && run->object)
        status = ntr_object_coverage_add(run->object, a->data.program, a->data.debug, a->data.tally);
    return status == NTR_OK ? CLI_OK : cli_fail("%s: %s", a->path, ntr_status_text(status));
}

static int add_evidence(struct coverage_run *run, struct cli_analysis *a) {
    ntr_coverage *alone = ntr_coverage_new(NULL);

    if (!alone) return cli_fail("out of memory");
    ntr_coverage_only(alone, run->only, run->options->only.count);
    ntr_status status = ntr_coverage_add(alone, a->data.program, a->data.debug, a->data.tally);
    cli_evidence_trace(&run->evidence, a->path, &a->trace, a->gaps);
    cli_evidence_test(&run->evidence, a->path, &a->trace, alone);
    return status == NTR_OK ? CLI_OK : cli_fail("%s: %s", a->path, ntr_status_text(status));
}

static int add_trace(struct coverage_run *run, const char *path) {
    struct cli_analysis a;
    int status = cli_analysis_open(&a, path, &run->analysis);

    if (status == CLI_OK) status = cli_analysis_need(&a, NTR_NEEDS_TALLY);
    if (status == CLI_OK && run->decisions) status = begin_decisions(run, &a);
    struct event_sink sink = {run, a.data.program};
    const bool ordered = run->decisions || (status == CLI_OK && run->object && has_versions(a.data.program));
    if (status == CLI_OK) status = cli_analysis_run(&a, ordered ? take_events : NULL, &sink);
    if (status == CLI_FAILED || run->analysis.partial) {
        cli_analysis_close(&a);
        return status;
    }
    if (add_results(run, &a) != CLI_OK) status = CLI_FAILED;
    if (status != CLI_FAILED && run->options->evidence && add_evidence(run, &a) != CLI_OK) status = CLI_FAILED;
    cli_analysis_close(&a);
    return status;
}

static bool percent(const char *text, double *value) {
    char *end;

    *value = strtod(text, &end);
    return end != text && *end == '\0' && *value >= 0 && *value <= 100;
}

/* Stores the thresholds by level. */
static int read_thresholds(struct coverage_run *run) {
    const struct cli_list *list = &run->options->fail_under;

    for (int level = 0; level < LEVELS; level++) run->least[level] = -1;
    for (size_t i = 0; i < list->count; i++) {
        const char *text = list->items[i].value, *number = strchr(text, '=');
        int level = number ? LEVEL_OBJECT : run->options->level;
        while (number && level < LEVELS && (strlen(level_names[level]) != (size_t)(number - text) || strncmp(level_names[level], text, (size_t)(number - text)) != 0))
            level++;
        if (level == LEVELS) return cli_fail("--fail-under: '%s' does not begin with a level, such as mcdc=80", text);
        if (!percent(number ? number + 1 : text, &run->least[level]))
            return cli_fail("--fail-under: expected a number from 0 to 100, found '%s'", text);
    }
    return CLI_OK;
}

struct share {
    uint64_t covered, all;
    const char *what;
};

/* Instructions and outcomes of branches. */
static struct share share_of_object(const struct coverage_run *run) {
    struct share share = {0, 0, "instructions and branch outcomes were executed"};
    size_t count;
    const ntr_object_function *f = ntr_object_coverage_functions(run->object, &count);

    for (size_t i = 0; i < count; i++) {
        share.covered += f[i].executed + f[i].outcomes_seen;
        share.all += f[i].insn_count + f[i].outcomes;
    }
    return share;
}

static struct share share_of(const struct coverage_run *run, int level) {
    static const ntr_decision_level levels[] = {[LEVEL_DECISION] = NTR_LEVEL_DECISION, [LEVEL_MCDC] = NTR_LEVEL_MCDC,
                                                [LEVEL_MASKING] = NTR_LEVEL_MASKING};
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
                              "decisions are covered"};
    case LEVEL_BRANCH: return (struct share){sums.branches_hit, sums.branches, "branch outcomes were executed"};
    case LEVEL_OBJECT: return share_of_object(run);
    case LEVEL_LINE:
    case LEVELS: break;
    }
    return (struct share){sums.lines_hit, sums.lines, "lines were executed"};
}

static ntr_decision_level level_of(int level) {
    return level == LEVEL_MCDC ? NTR_LEVEL_MCDC : level == LEVEL_MASKING ? NTR_LEVEL_MASKING : NTR_LEVEL_DECISION;
}

/* Compares the share of a level with --fail-under. */
static bool reaches(struct coverage_run *run, int level) {
    struct share share = share_of(run, level);
    const bool by_line = level == LEVEL_LINE, by_decision = level >= LEVEL_DECISION;
    if (run->options->justify && (by_line || by_decision))
        share.covered += cli_justify_text(NULL, &run->justify, run->coverage, by_decision ? run->decisions : NULL,
                                          level_of(level), &run->source).justified;
    double percent = share.all ? 100.0 * (double)share.covered / (double)share.all : 0;
    if (percent >= run->least[level]) return true;
    cli_note("%.2f %% of the %s, --fail-under expects %g %% (%s)", percent, share.what, run->least[level], level_names[level]);
    return false;
}

static int check_fail_under(struct coverage_run *run, int status) {
    ntr_cover_sums sums;

    ntr_coverage_sums(run->coverage, NULL, &sums);
    if (sums.lines == 0)
        cli_note("no line information: build the program with -g, or name its debug files with --debug-path");
    for (int level = 0; level < LEVELS; level++)
        if (run->least[level] >= 0 && !reaches(run, level)) status = CLI_DEFECTS;
    return status;
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
    cli_object_text(&out, run->object, run->options->format == FORMAT_JSON);
    return cli_output_close(&out, status);
}

/* Follows the text on standard output; beside other formats it is written to standard error. */
static int write_justified(struct coverage_run *run, int status) {
    const struct coverage_options *o = run->options;
    const bool text = o->format == FORMAT_TEXT && !cli_exporting_chosen(&o->exporting);
    struct cli_output out;

    if (cli_output_open(&out, text ? NULL : "/dev/stderr") != CLI_OK) return CLI_FAILED;
    cli_justify_text(&out, &run->justify, run->coverage, wants_decisions(o) ? run->decisions : NULL, level_of(o->level), &run->source);
    cli_justify_entries(&out, &run->justify);
    return cli_output_close(&out, status);
}

/* Follows the text on standard output, as write_justified. */
static int write_diff(struct coverage_run *run, int status) {
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
    cli_evidence_input(&run->evidence, run->options->justify);
    cli_evidence_input(&run->evidence, run->options->merge);
    const struct cli_coverage_evidence e = {&mcdc, run->without_decisions, run->object, &run->evidence, &run->justify,
                                            &run->source, run->only, run->options->only.count, run->options->pdf};
    return cli_coverage_evidence(&e, run->options->evidence) == CLI_OK ? status : CLI_FAILED;
}

static int write_results(struct coverage_run *run, int status) {
    ntr_analysis data;

    if (run->options->level == LEVEL_OBJECT && !cli_exporting_chosen(&run->options->exporting)) return write_object(run, status);

    ntr_analysis_init(&data);
    data.coverage = run->coverage;
    data.decisions = run->decisions;
    data.level = level_of(run->options->level);
    if (run->options->evidence) return write_evidence(run, &data, status);
    status = cli_exporting_coverage(&run->options->exporting, &data, standard_exporter(run->options), status);
    return run->options->justify && status != CLI_FAILED ? write_justified(run, status) : status;
}

/* Returns the values of a list as an array, or NULL when out of memory. */
static const char **values_of(const struct cli_list *list) {
    const char **values = calloc(list->count + 1, sizeof *values);

    for (size_t i = 0; values && i < list->count; i++) values[i] = list->items[i].value;
    return values;
}

static int open_run(struct coverage_run *run) {
    const struct coverage_options *o = run->options;

    ntr_source_options_init(&run->sources);
    run->clang_args = values_of(&o->clang_args);
    run->only = values_of(&o->only);
    run->coverage = ntr_coverage_new(NULL);
    if (o->evidence || wants_decisions(o) || has_threshold(run, LEVEL_DECISION, LEVEL_MASKING))
        if (!(run->decisions = ntr_decisions_new(NULL))) return cli_fail("out of memory");
    const bool object = o->evidence || o->level == LEVEL_OBJECT || has_threshold(run, LEVEL_OBJECT, LEVEL_OBJECT);
    if (object && !(run->object = ntr_object_coverage_new(NULL))) return cli_fail("out of memory");
    if (!run->clang_args || !run->only || !run->coverage) return cli_fail("out of memory");
    if (cli_justify_read(&run->justify, o->justify) != CLI_OK) return CLI_FAILED;
    run->source.folders = o->exporting.analysis.source_path;
    ntr_coverage_only(run->coverage, run->only, o->only.count);
    run->sources.compile_commands = o->compile_commands;
    run->sources.arguments = run->clang_args;
    run->sources.argument_count = o->clang_args.count;
    run->sources.only = run->only;
    run->sources.only_count = o->only.count;
    run->sources.source_path = o->exporting.analysis.source_path;
    run->analysis = cli_exporting_analysis(&o->exporting);
    return CLI_OK;
}

static void close_run(struct coverage_run *run) {
    ntr_coverage_free(run->coverage);
    ntr_decisions_free(run->decisions);
    ntr_object_coverage_free(run->object);
    free(run->clang_args);
    free(run->only);
    cli_justify_release(&run->justify);
    cli_source_text_release(&run->source);
    cli_evidence_release(&run->evidence);
}

/* Adds the traces of --merge. Empty lines and those that begin with # do not count. */
static int add_listed(struct coverage_run *run, const char *path, int status) {
    char *line = NULL;
    size_t capacity = 0;
    FILE *file = fopen(path, "r");

    if (!file) return cli_fail("--merge: %s: %s", path, strerror(errno));
    for (ssize_t size; status != CLI_FAILED && !cli_progress_stopped() && (size = getline(&line, &capacity, file)) >= 0;) {
        while (size > 0 && isspace((unsigned char)line[size - 1])) line[--size] = '\0';
        if (size == 0 || line[0] == '#') continue;
        int added = add_trace(run, line);
        if (added != CLI_OK) status = added;
    }
    free(line);
    fclose(file);
    return status;
}

static int coverage_run(const void *options, char **operands) {
    const struct coverage_options *o = options;
    struct coverage_run run = {.options = o};

    if (read_thresholds(&run) != CLI_OK) return CLI_FAILED;
    if (o->pdf && !o->evidence) return cli_fail("--pdf prints the report of --evidence DIR");
    if (o->merge && o->exporting.analysis.partial) return cli_fail("--partial expects one trace, not --merge");
    if (!operands[0] && !o->merge) return cli_exporting_coverage(&o->exporting, NULL, NULL, CLI_OK);
    if (o->exporting.analysis.partial && operands[1]) return cli_fail("--partial expects one trace; 'ntrace combine' adds answers");
    int status = open_run(&run);
    for (int i = 0; operands[i] && status != CLI_FAILED && !cli_progress_stopped(); i++) {
        int added = add_trace(&run, operands[i]);
        if (added != CLI_OK) status = added;
    }
    if (o->merge && status != CLI_FAILED) status = add_listed(&run, o->merge, status);
    const bool shown = !o->exporting.analysis.partial;
    if (status != CLI_FAILED && shown) status = write_results(&run, status);
    if (status != CLI_FAILED && shown && o->diff) status = write_diff(&run, status);
    if (status != CLI_FAILED && shown) status = check_fail_under(&run, status);
    close_run(&run);
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
