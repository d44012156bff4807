#include "options/options.h"
#include "commands/coverage/run.h"
#include "commands/coverage/select.h"
#include "commands/shared/exporting.h"
#include "io/progress.h"
#include "commands/coverage/source_guard.h"
#include "options/diagnostics.h"

#include <ntrace/decision.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S struct coverage_options
static const struct cli_option coverage_table[] = {
    CLI_CHOICE(0, "level", "object|line|branch|decision|mcdc|masking", S, level, LEVEL_LINE,
               "what is measured: instructions and outcomes of branches of the code, lines (default), branches, "
               "decisions, MC/DC (unique-cause), or MC/DC (masking)"),
    CLI_CHOICE(
        0, "format", "text|json|github|gitlab", S, format, FORMAT_TEXT,
        "output format: text (default), JSON, or with --since annotations for GitHub or a code quality report for "
        "GitLab; --to has further formats"),
    CLI_CHOICE(0, "rule", "producer|gcov|llvm", S, rule, NTR_COVER_RULE_PRODUCER,
               "how lines are counted: as llvm-cov does for code of clang and rustc and as gcov does for other code "
               "(producer, default), or all as gcov, or all as llvm-cov"),
    CLI_LIST(0, "fail-under", "[LEVEL=]PERCENT", S, fail_under,
             "exit with status 1 when less than PERCENT (0 to 100) is covered, of --level, or of LEVEL (repeatable)"),
    CLI_STRING(0, "merge", "FILE", S, merge, "also add the traces that FILE names, one in each line"),
    CLI_STRING(0, "since", "REV", S, since,
               "count only lines that were changed since the last common commit of git's revision REV and HEAD, list "
               "those that were not executed, and apply --fail-under to them"),
    CLI_FLAG(0, "no-markers", S, no_markers,
             "also count lines that comments exclude (LCOV_EXCL_*, GCOV_EXCL_*, GCOVR_EXCL_*)"),
    CLI_FLAG(
        0, "merge-builds", S, merge_builds,
        "add traces of different builds: lines of functions that have moved are counted where the first trace has them; "
        "functions that have changed are counted in the first build only"),
    CLI_STRING(
        0, "diff", "DIR", S, diff,
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
    CLI_GROUP("window", cli_selection_options, struct coverage_options, exporting.analysis.selection),
    CLI_GROUP("program", cli_image_options, struct coverage_options, exporting.analysis.images),
    CLI_GROUP("stream", cli_stream_options, struct coverage_options, exporting.analysis.stream),
    {0},
};

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
    if (status == NTR_E_UNSUPPORTED && !cli_coverage_wants_decisions(run->options) &&
        !cli_coverage_has_threshold(run, LEVEL_DECISION, LEVEL_MASKING)) { /* evidence of the other levels */
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

/* Reports sources whose decisions are missing. Those that are not here have always been left out. */
static void report_unparsed(const ntr_decisions *decisions) {
    enum { UNPARSED_SHOWN = 5 };
    const size_t failed = ntr_decisions_failed(decisions);
    const char *text = "";
    size_t shown = 0;

    for (size_t i = 0; failed && shown < UNPARSED_SHOWN && i < ntr_decisions_unparsed(decisions, i, &text); i++) {
        if (strstr(text, "the source is not here")) continue;
        cli_doubt("%s; its decisions are missing", text);
        shown++;
    }
    if (failed > shown) cli_note("%zu more sources could not be parsed", failed - shown);
}

/* Compares the sources of a trace's lines with the debug information that names them, and with --only. */
static void note_sources(struct coverage_run *run, ntr_coverage *alone) {
    size_t count;
    ntr_bytes text;
    const ntr_cover_line *lines = ntr_coverage_lines(alone, &count);

    for (size_t i = 0; i < count; i++) {
        if (i && strcmp(lines[i].file, lines[i - 1].file) == 0) continue;
        cli_source_text_read(&run->source, lines[i].file, &text);
        for (size_t k = 0; k < run->options->only.count; k++)
            run->only_used[k] |= ntr_path_selected(lines[i].file, &run->only[k], 1);
    }
}

/* Functions that have the code of another function. */
struct folded {
    const struct coverage_run *run;
    ntr_coverage *alone; /* of the trace */
    size_t count, executed;
    ntr_frame function, kept; /* the first one; one that was executed if there is any */
    size_t instances;         /* of one template: their lines have the counts of both in any case */
};

static bool was_executed(ntr_coverage *coverage, const ntr_frame *function) {
    size_t count;
    const ntr_cover_function *functions = ntr_coverage_functions(coverage, &count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(functions[i].linkage, function->linkage) == 0 && functions[i].line == function->declared_line)
            return functions[i].count || !functions[i].known;
    return true; /* it is not listed */
}

static ntr_status take_folded(void *user, const ntr_frame *function, const ntr_frame *kept) {
    struct folded *f = user;
    const size_t only = f->run->options->only.count;
    const char *files[] = {function->declared_in, kept->declared_in};
    bool selected = false;

    for (unsigned i = 0; i < 2; i++) selected |= files[i] && ntr_path_selected(files[i], f->run->only, only);
    if (!selected) return NTR_OK;
    if (files[0] && files[1] && strcmp(files[0], files[1]) == 0 && function->declared_line == kept->declared_line)
        return f->instances++, NTR_OK;
    const bool executed = was_executed(f->alone, kept);
    if (!f->count++ || (executed && !f->executed)) f->function = *function, f->kept = *kept;
    f->executed += executed;
    return NTR_OK;
}

/* Reports code that is that of several functions: which of them was executed is not known. */
static void report_folded(const struct coverage_run *run, const struct cli_analysis *a, ntr_coverage *alone) {
    struct folded f = {.run = run, .alone = alone};
    ntr_status status = NTR_OK;

    for (size_t i = 0; status == NTR_OK; i++) status = ntr_debug_info_folded(a->data.debug, i, take_folded, &f);
    if (status != NTR_END) cli_doubt("%s: %s", a->path, ntr_status_text(status));
    if (f.instances)
        cli_note("%s: identical code folding: instances of templates that have the code of another instance and are "
                 "not listed: %zu",
                 a->path, f.instances);
    if (!f.count) return;
    (f.executed ? cli_doubt : cli_note)(
        "%s: identical code folding: functions with equal code have one count, and which of them was executed is not known; "
        "not listed for this reason: %zu, with executions: %zu, the first %s (%s:%" PRIu32
        "), counted as %s (%s:%" PRIu32 ")",
        a->path, f.count, f.executed, f.function.function, f.function.declared_in ? f.function.declared_in : "?",
        f.function.declared_line, f.kept.function, f.kept.declared_in ? f.kept.declared_in : "?", f.kept.declared_line);
}

/* Sources that are newer than one of the builds may be the reason for other lines of code. */
static void report_builds(const struct coverage_run *run) {
    cli_builds_report(&run->builds);
    if (run->other_code && run->match.other_count)
        cli_doubt(
            "expected builds of the same sources, found functions with other lines of code and sources that are newer "
            "than a program: the counts may be of other lines; use --merge-builds, or give traces of one build");
}

/* Makes the coverage of one trace. NULL: out of memory. */
static ntr_coverage *coverage_alone(struct coverage_run *run, const struct cli_analysis *a, ntr_status *status) {
    ntr_coverage *alone;
    ntr_coverage_new(NULL, &alone);

    if (!alone) return NULL;
    ntr_coverage_only(alone, run->only, run->options->only.count);
    ntr_coverage_set_rule(alone, (ntr_cover_rule)run->options->rule);
    cli_source_match_begin(&run->match, a->data.program, a->data.debug);
    ntr_coverage_set_sources(alone, cli_source_text_certain, &run->source);
    *status = ntr_coverage_add(alone, a->data.program, a->data.debug, a->data.tally);
    if (*status == NTR_OK) note_sources(run, alone);
    cli_source_match_end(&run->match);
    return alone;
}

/* Adds the coverage of a trace to those before it. Traces of different sources are not added without a word. */
static int add_coverage(struct coverage_run *run, const struct cli_analysis *a) {
    ntr_cover_merge merged = {0};
    ntr_status status;
    ntr_coverage *alone = coverage_alone(run, a, &status);

    if (!alone) return cli_fail("out of memory");
    if (status == NTR_OK && cli_builds_add(&run->builds, a->data.program) != CLI_OK) status = NTR_E_MEMORY;
    if (status == NTR_OK && !run->analysis.partial) report_folded(run, a, alone);
    if (status == NTR_OK && !run->begun) {
        ntr_coverage_free(run->coverage);
        run->coverage = alone;
        run->begun = true;
        return CLI_OK;
    }
    if (status == NTR_OK) status = ntr_coverage_merge(run->coverage, alone, run->options->merge_builds, &merged);
    int result = CLI_OK;
    if (status == NTR_E_STATE)
        result =
            cli_fail("%s: %s: %s is on line %u, and on line %u in the traces before it; the programs were built from "
                     "different sources: use --merge-builds, or give traces of one build",
                     a->path, merged.file, merged.function, merged.line, merged.other_line);
    else if (status != NTR_OK)
        result = cli_fail("%s: %s", a->path, ntr_status_text(status));
    else if (merged.function)
        cli_note("%s: another build: %" PRIu64 " functions have moved, %" PRIu64 " have other lines of code (%s: %s)%s",
                 a->path, merged.moved, merged.changed, merged.file, merged.function,
                 run->options->merge_builds ? "; functions with other lines are counted in the first build only"
                                            : "; the counts of both builds are added");
    run->other_code |= merged.changed && !run->options->merge_builds;
    ntr_coverage_free(alone);
    return result;
}

static int keep_text(char **to, const char *text) {
    free(*to);
    *to = text ? strdup(text) : NULL;
    return text && !*to ? cli_fail("out of memory") : CLI_OK;
}

/* Keeps the name of the test and the date for formats that have one of each. Dates of one form sort as text. */
static int add_origin(struct coverage_run *run, const struct cli_analysis *a, bool first) {
    const ntr_capture_info *capture = a->trace.bundle ? ntr_bundle_capture(a->trace.bundle) : NULL;
    const char *test = capture ? capture->test : NULL, *date = capture ? capture->date : NULL;
    const bool same = first || (run->test && test && strcmp(run->test, test) == 0);

    if (keep_text(&run->test, same ? test : NULL) != CLI_OK) return CLI_FAILED;
    return date && (!run->date || strcmp(date, run->date) > 0) ? keep_text(&run->date, date) : CLI_OK;
}

static int add_results(struct coverage_run *run, const struct cli_analysis *a) {
    if (add_origin(run, a, !run->begun) != CLI_OK || add_coverage(run, a) != CLI_OK) return CLI_FAILED;
    ntr_status status = NTR_OK;
    if (status == NTR_OK && run->decisions) status = ntr_decisions_finish(run->decisions);
    if (status == NTR_OK && run->decisions && cli_coverage_wants_decisions(run->options))
        report_unparsed(run->decisions);
    if (status == NTR_OK && run->object)
        status = ntr_object_coverage_add(run->object, a->data.program, a->data.debug, a->data.tally);
    return status == NTR_OK ? CLI_OK : cli_fail("%s: %s", a->path, ntr_status_text(status));
}

static int add_evidence(struct coverage_run *run, struct cli_analysis *a) {
    ntr_status status;
    ntr_coverage *alone = coverage_alone(run, a, &status);

    if (!alone) return cli_fail("out of memory");
    cli_evidence_trace(&run->evidence, a->path, &a->trace, a->data.debug, a->gaps);
    cli_evidence_test(&run->evidence, a->path, &a->trace, alone);
    return status == NTR_OK ? CLI_OK : cli_fail("%s: %s", a->path, ntr_status_text(status));
}

/* Whether the trace may have loads and stores: each pass of a loop then has values of its own, which decide conditions.
 */
static bool has_accesses(const struct cli_trace *trace) {
    return trace->params.dialect && trace->params.dialect->messages & NTR_MESSAGES_DATA;
}

static int add_trace(struct coverage_run *run, const char *path) {
    struct cli_analysis a;
    int status = cli_analysis_open(&a, path, &run->analysis);

    if (status == CLI_OK) status = cli_analysis_need(&a, NTR_NEEDS_TALLY);
    if (status == CLI_OK && run->rated) status = cli_analysis_rate(&a);
    if (status == CLI_OK && run->decisions) status = begin_decisions(run, &a);
    struct event_sink sink = {run, a.data.program};
    const bool ordered = run->decisions || (status == CLI_OK && run->object && has_versions(a.data.program));
    if (!run->decisions || !has_accesses(&a.trace)) a.take_needs |= NTR_TAKE_REPEATS;
    if (status == CLI_OK) status = cli_analysis_run(&a, ordered ? take_events : NULL, &sink);
    if (status == CLI_FAILED || run->analysis.partial) {
        cli_analysis_close(&a);
        return status;
    }
    cli_analysis_quality(&a);
    if (run->rated) cli_quality_add(&run->quality, &a.quality, !run->begun);
    if (add_results(run, &a) != CLI_OK) status = CLI_FAILED;
    if (status != CLI_FAILED && run->options->evidence && add_evidence(run, &a) != CLI_OK) status = CLI_FAILED;
    cli_analysis_close(&a);
    return status;
}

/* Returns the values of a list as an array, or NULL when out of memory. */
static const char **values_of(const struct cli_list *list) {
    const char **values = calloc(list->count + 1, sizeof *values);

    for (size_t i = 0; values && i < list->count; i++) values[i] = list->items[i].value;
    return values;
}

static void free_texts(const char **texts, size_t count) {
    for (size_t i = 0; texts && i < count; i++) free((void *)(uintptr_t)texts[i]);
    free(texts);
}

/* Returns the paths of --only, of which those that begin with . or .. are made absolute, or NULL when out of memory. */
static const char **only_of(const struct cli_list *list) {
    const char **paths = calloc(list->count + 1, sizeof *paths);
    bool good = paths;

    for (size_t i = 0; good && i < list->count; i++) {
        const char *value = list->items[i].value, *rest = value + strspn(value, ".");
        const bool here = rest > value && rest - value <= 2 && (!*rest || *rest == '/');
        paths[i] = here ? realpath(value, NULL) : NULL;
        if (!paths[i]) paths[i] = strdup(value);
        good = paths[i];
    }
    if (good) return paths;
    free_texts(paths, list->count);
    return NULL;
}

static int open_run(struct coverage_run *run) {
    const struct coverage_options *o = run->options;

    ntr_source_options_init(&run->sources);
    run->clang_args = values_of(&o->clang_args);
    run->only = only_of(&o->only);
    run->only_used = calloc(o->only.count + 1, sizeof *run->only_used);
    ntr_coverage_new(NULL, &run->coverage);
    if (o->evidence || cli_coverage_wants_decisions(o) ||
        cli_coverage_has_threshold(run, LEVEL_DECISION, LEVEL_MASKING))
        if (ntr_decisions_new(NULL, &run->decisions)) return cli_fail("out of memory");
    const bool object =
        o->evidence || o->level == LEVEL_OBJECT || cli_coverage_has_threshold(run, LEVEL_OBJECT, LEVEL_OBJECT);
    if (object && ntr_object_coverage_new(NULL, &run->object)) return cli_fail("out of memory");
    if (!run->clang_args || !run->only || !run->only_used || !run->coverage) return cli_fail("out of memory");
    if (cli_justify_read(&run->justify, o->justify) != CLI_OK) return CLI_FAILED;
    cli_source_text_search(&run->source, o->exporting.analysis.source_path);
    run->source.match = &run->match;
    ntr_coverage_only(run->coverage, run->only, o->only.count);
    if (run->object) ntr_object_coverage_only(run->object, run->only, o->only.count);
    run->sources.compile_commands = o->compile_commands;
    run->sources.guard = cli_source_guard;
    run->sources.arguments = run->clang_args;
    run->sources.argument_count = o->clang_args.count;
    run->sources.only = run->only;
    run->sources.only_count = o->only.count;
    run->sources.source_path = o->exporting.analysis.source_path;
    run->analysis = o->exporting.analysis;
    run->rated = o->evidence || o->format == FORMAT_JSON || (o->exporting.to && strstr(o->exporting.to, "json"));
    return CLI_OK;
}

static void close_run(struct coverage_run *run) {
    ntr_coverage_free(run->coverage);
    ntr_decisions_free(run->decisions);
    ntr_object_coverage_free(run->object);
    free(run->clang_args);
    free_texts(run->only, run->options->only.count);
    free(run->only_used);
    cli_justify_release(&run->justify);
    cli_source_text_release(&run->source);
    cli_source_match_release(&run->match);
    cli_evidence_release(&run->evidence);
    cli_patch_release(&run->patch);
    cli_quality_release(&run->quality);
    free(run->quality_text);
    cli_builds_release(&run->builds);
    free(run->test);
    free(run->date);
}

/* Adds the traces of --merge. Empty lines and those that begin with # do not count. */
static int add_listed(struct coverage_run *run, const char *path, int status) {
    char line[PATH_MAX + 2];
    bool any = false;
    FILE *file = fopen(path, "re");

    if (!file) return cli_fail("--merge: %s: %s", path, strerror(errno));
    while (status != CLI_FAILED && !cli_progress_stopped() && fgets(line, sizeof line, file)) {
        size_t size = strlen(line);
        if (size == 0 || size > PATH_MAX) { /* 0: a NUL */
            status = cli_fail("--merge: %s: expected names of traces, one a line, found a line of more than %d bytes",
                              path, PATH_MAX);
            break;
        }
        while (size > 0 && isspace((unsigned char)line[size - 1])) line[--size] = '\0';
        if (size == 0 || line[0] == '#') continue;
        any = true;
        int added = add_trace(run, line);
        if (added != CLI_OK) status = added;
    }
    if (ferror(file))
        status = cli_fail("--merge: %s: cannot be read", path);
    else if (!any && status != CLI_FAILED && !cli_progress_stopped())
        status = cli_fail("--merge: %s: expected names of traces, one a line, found none", path);
    fclose(file);
    return status;
}

/* The text output has a column of them, and gaps of the trace are reported by the decoder. */
static void note_unknown(ntr_coverage *coverage) {
    ntr_cover_sums sums;

    ntr_coverage_sums(coverage, NULL, &sums);
    if (ntr_coverage_gaps(coverage) || !sums.lines_unknown) return;
    cli_note("%" PRIu64
             " lines are not known: the compiler may have computed or left out the calls of their function, or the "
             "jump that they are; formats that cannot express this leave them out",
             sums.lines_unknown);
}

/* The text and JSON say it themselves. */
static void note_by_code(ntr_coverage *coverage) {
    ntr_cover_sums sums;

    ntr_coverage_sums(coverage, NULL, &sums);
    const uint64_t unknown = sums.by_source[NTR_COVER_SOURCE_UNKNOWN];
    const uint64_t other = sums.by_source[NTR_COVER_SOURCE_NOT_UNDERSTOOD];
    if (unknown + other)
        cli_note("functions of clang whose lines llvm-cov may count otherwise: %" PRIu64
                 " (their source is unknown: %" PRIu64 ", their statements are not understood: %" PRIu64 ")",
                 unknown + other, unknown, other);
}

/* Whether nothing but lines, branches and functions is asked for. */
static bool lines_alone(const struct coverage_run *run) {
    const struct coverage_options *o = run->options;

    return !o->evidence && o->level != LEVEL_OBJECT && !cli_coverage_wants_decisions(o) &&
           !cli_coverage_has_threshold(run, LEVEL_OBJECT, LEVEL_OBJECT) &&
           !cli_coverage_has_threshold(run, LEVEL_DECISION, LEVEL_MASKING);
}

static int coverage_run(const void *options, char **operands) {
    const struct coverage_options *o = options;
    struct coverage_run run = {.options = o};

    if (cli_coverage_thresholds(&run) != CLI_OK) return CLI_FAILED;
    if (o->merge_builds && !lines_alone(&run))
        return cli_fail("--merge-builds: lines, branches and functions only, not with --evidence, or a --level, a "
                        "threshold or an output of decisions or object code");
    if (o->since && (!lines_alone(&run) || o->diff))
        return cli_fail(
            "--since: lines and branches only, not with --evidence, --diff, or a --level, a threshold or an "
            "output of decisions or object code");
    if (o->format > FORMAT_JSON && !o->since) return cli_fail("--format github and gitlab: expected --since REV");
    if (o->pdf && !o->evidence) return cli_fail("--pdf prints the report of --evidence DIR");
    if (o->merge && o->exporting.analysis.partial) return cli_fail("--partial expects one trace, not --merge");
    if (!operands[0] && !o->merge) return cli_exporting_coverage(&o->exporting, NULL, NULL, CLI_OK);
    if (o->exporting.analysis.partial && operands[1])
        return cli_fail("--partial expects one trace; 'ntrace combine' adds answers");
    int status = open_run(&run);
    if (status != CLI_FAILED && o->since) status = cli_patch_read(&run.patch, o->since);
    for (int i = 0; operands[i] && status != CLI_FAILED && !cli_progress_stopped(); i++) {
        int added = add_trace(&run, operands[i]);
        if (added != CLI_OK) status = added;
    }
    if (o->merge && status != CLI_FAILED) status = add_listed(&run, o->merge, status);
    const bool shown = !o->exporting.analysis.partial;
    if (status != CLI_FAILED && shown) cli_source_match_report(&run.match);
    if (status != CLI_FAILED && shown) report_builds(&run);
    if (status != CLI_FAILED && shown) status = cli_coverage_select(&run, status);
    if (status != CLI_FAILED && shown && o->exporting.to) note_unknown(run.coverage);
    if (status != CLI_FAILED && shown && o->exporting.to && strcmp(o->exporting.to, "json") != 0)
        note_by_code(run.coverage);
    if (status != CLI_FAILED && shown) status = cli_coverage_write(&run, status);
    if (status != CLI_FAILED && shown && o->diff) status = cli_coverage_diff(&run, status);
    if (status != CLI_FAILED && shown) status = cli_coverage_check(&run, status);
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
    .next = "report -o report.html",
    .about = "Shows which lines, branches and functions were executed, and how often. It needs the unmodified binary\n"
             "and its debug information, but no instrumentation. The counts of several traces are added. Code that\n"
             "may have been executed in a gap of the trace is \"unknown\", which is distinct from \"not executed\".\n"
             "\n"
             "The count of a line is defined as in gcov: how often execution entered the line from another line,\n"
             "plus how often it looped within the line. In code of clang and rustc, it is defined as in llvm-cov: the\n"
             "greatest count of the code of the line (--rule).",
    .examples =
        "  ntrace coverage hello.ntrace\n"
        "  ntrace coverage --to lcov -o all.info run1.ntrace run2.ntrace && genhtml --branch-coverage all.info\n"
        "  ntrace coverage --fail-under 80 hello.ntrace",
};
