/* The tests of the evidence: which of them execute a line, take a branch, show a vector. */
#include "commands/coverage/basis.h"

#include <ntrace/decision.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void cli_evidence_test(struct cli_evidence *e, const char *path, const struct cli_trace *trace,
                       ntr_coverage *coverage) {
    const char *name = trace->bundle ? ntr_bundle_capture(trace->bundle)->test : NULL;

    if (e->test_count == e->test_capacity) {
        size_t capacity = e->test_capacity ? 2 * e->test_capacity : 16;
        struct cli_evidence_test *tests = realloc(e->tests, capacity * sizeof *tests);
        if (!tests) {
            e->failed = true;
            ntr_coverage_free(coverage);
            return;
        }
        e->tests = tests;
        e->test_capacity = capacity;
    }
    struct cli_evidence_test *test = &e->tests[e->test_count++];
    *test = (struct cli_evidence_test){strdup(name ? name : ""), strdup(path), trace->params, coverage};
    if (!test->name || !test->trace) e->failed = true;
}

/* Returns the line of a test. Its lines are sorted as those of all tests: `*at` follows them. */
static const ntr_cover_line *same_line(const struct cli_evidence_test *test, size_t *at, const ntr_cover_line *line) {
    size_t count;
    const ntr_cover_line *lines = ntr_coverage_lines(test->coverage, &count);

    for (; *at < count; ++*at) {
        int order = strcmp(lines[*at].file, line->file);
        if (order == 0 && lines[*at].line == line->line) return &lines[*at];
        if (order > 0 || (order == 0 && lines[*at].line > line->line)) return NULL;
    }
    return NULL;
}

/* The tests in which a branch had an outcome. `at`: the position of the line in each test. */
static void write_outcome(const struct cli_evidence *e, const ntr_cover_line *line, const ntr_cover_branch *branch,
                          bool taken, size_t *at, struct cli_output *out) {
    const char *comma = "";
    size_t count;

    for (size_t k = 0; k < e->test_count; k++) {
        const ntr_cover_line *own = same_line(&e->tests[k], &at[k], line);
        const ntr_cover_branch *branches = ntr_coverage_branches(e->tests[k].coverage, &count);
        for (size_t i = 0; own && i < own->branches; i++) {
            const ntr_cover_branch *b = &branches[own->first_branch + i];
            if (b->address != branch->address || !(taken ? b->taken : b->not_taken)) continue;
            cli_output_print(out, "%s%zu", comma, k);
            comma = ",";
            break;
        }
    }
}

static void write_outcomes(const struct cli_evidence *e, ntr_coverage *coverage, const ntr_cover_line *line, size_t *at,
                           struct cli_output *out) {
    size_t count;
    const ntr_cover_branch *branches = ntr_coverage_branches(coverage, &count);

    for (size_t i = 0; i < line->branches; i++) {
        const ntr_cover_branch *b = &branches[line->first_branch + i];
        cli_output_print(out, "%s{\"address\":\"0x%" PRIx64 "\",\"taken\":[", i ? "," : ",\"branches\":[", b->address);
        write_outcome(e, line, b, true, at, out);
        cli_output_text(out, "],\"not_taken\":[");
        write_outcome(e, line, b, false, at, out);
        cli_output_text(out, "]}");
    }
    if (line->branches) cli_output_text(out, "]");
}

void cli_evidence_write_line_tests(const struct cli_evidence *e, const ntr_cover_line *line, size_t *at,
                                   struct cli_output *out) {
    const char *comma = "";

    for (size_t k = 0; k < e->test_count; k++) {
        const ntr_cover_line *own = same_line(&e->tests[k], &at[k], line);
        if (!own || !own->count) continue;
        cli_output_print(out, "%s%zu", comma, k);
        comma = ",";
    }
}

static void write_lines(const struct cli_evidence *e, ntr_coverage *coverage, struct cli_output *out) {
    size_t count;
    const ntr_cover_line *lines = ntr_coverage_lines(coverage, &count);
    size_t *at = calloc(e->test_count + 1, sizeof *at);

    for (size_t i = 0; at && i < count; i++) {
        cli_output_text(out, i ? ",\n{\"file\":" : "\n{\"file\":");
        cli_output_json(out, lines[i].file);
        cli_output_print(out, ",\"line\":%" PRIu32 ",\"tests\":[", lines[i].line);
        cli_evidence_write_line_tests(e, &lines[i], at, out);
        cli_output_text(out, "]");
        write_outcomes(e, coverage, &lines[i], at, out);
        cli_output_text(out, "}");
    }
    free(at);
}

void cli_evidence_write_runs(const ntr_vector *vector, struct cli_output *out) {
    const char *comma = "";

    for (unsigned k = 0; k < 64; k++) {
        if (!(vector->runs >> k & 1)) continue;
        cli_output_print(out, "%s%u", comma, k);
        comma = ",";
    }
}

static void write_vectors(const ntr_decision *d, struct cli_output *out) {
    for (size_t i = 0; i < d->vector_count; i++) {
        cli_output_print(out, "%s{\"values\":\"%s\",\"tests\":[", i ? "," : "", d->vectors[i].values);
        cli_evidence_write_runs(&d->vectors[i], out);
        cli_output_text(out, "]}");
    }
}

static void write_tests(const struct cli_evidence *e, struct cli_output *out) {
    for (size_t i = 0; i < e->test_count; i++) {
        cli_output_text(out, i ? ",\n{\"name\":" : "\n{\"name\":");
        cli_output_json(out, e->tests[i].name);
        cli_output_text(out, ",\"trace\":");
        cli_output_json(out, e->tests[i].trace);
        cli_output_text(out, "}");
    }
}

void cli_evidence_write_tests(const struct cli_evidence *e, ntr_coverage *coverage, const ntr_decisions *decisions,
                              struct cli_output *out) {
    size_t count = 0;
    const ntr_decision *list = decisions ? ntr_decisions_list(decisions, &count) : NULL;

    if (e->failed) return;
    cli_output_text(out, "{\"format\":\"ntrace-tests\",\"version\":1,\"tests\":[");
    write_tests(e, out);
    cli_output_text(out, "],\n\"lines\":[");
    write_lines(e, coverage, out);
    cli_output_text(out, "],\n\"decisions\":[");
    for (size_t i = 0; i < count; i++) {
        cli_output_text(out, i ? ",\n{\"file\":" : "\n{\"file\":");
        cli_output_json(out, list[i].file);
        cli_output_print(out, ",\"line\":%" PRIu32 ",\"column\":%" PRIu32 ",\"vectors\":[", list[i].line,
                         list[i].column);
        write_vectors(&list[i], out);
        cli_output_text(out, "]}");
    }
    cli_output_text(out, "]}\n");
}
