/* The results of the page: what is missing, the vectors of decisions, and the lines of sources. */
#include "commands/coverage/page.h"
#include "text/justify_text.h"
#include "text/object_text.h"
#include "text/source_lines.h"

#include <ntrace/decision.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- cells */

/* Text that becomes a part of the page, with escaped characters. */
struct page_text {
    struct cli_output out, *page;
    char buffer[2 * CLI_OUTPUT_RESERVE_MAX];
};

/* Returns how many of the bytes at the end begin a character that may go on. */
static size_t unfinished(const char *bytes, size_t size) {
    for (size_t count = 1; count <= 3 && count <= size; count++) {
        const unsigned char c = (unsigned char)bytes[size - count];
        if (c >= 0xc0) return ntr_utf8_length(&bytes[size - count], count) ? 0 : count;
        if (c < 0x80) break;
    }
    return 0;
}

static void take_page_text(void *user) {
    struct page_text *t = user;
    const size_t kept = t->out.buffer ? unfinished(t->buffer, t->out.used) : 0;

    if (t->out.buffer) cli_output_xml_bytes(t->page, t->buffer, t->out.used - kept);
    if (kept) memmove(t->buffer, &t->buffer[t->out.used - kept], kept);
    t->out.buffer = t->buffer;
    t->out.used = kept;
    t->out.capacity = sizeof t->buffer;
}

void cli_coverage_page_text(const struct cli_coverage_evidence *e,
                            void (*write)(const struct cli_coverage_evidence *e, struct cli_output *out),
                            struct cli_output *page) {
    struct page_text t = {.page = page};

    cli_output_text(page, "<pre>");
    cli_output_open_into(&t.out, take_page_text, &t);
    take_page_text(&t);
    write(e, &t.out);
    cli_output_xml_bytes(page, t.buffer, t.out.used);
    cli_output_text(page, "</pre>\n");
}

void cli_coverage_page_place(const char *file, uint32_t line, uint32_t column, struct cli_output *out) {
    cli_output_text(out, "<td>");
    cli_output_xml(out, file);
    cli_output_print(out, ":%" PRIu32, line);
    if (column) cli_output_print(out, ":%" PRIu32, column);
    cli_output_text(out, "</td>");
}

const char *cli_coverage_page_state(ntr_cover_state state) {
    static const char *const states[] = {"covered", "not covered", "not determinable"};

    return states[state];
}

void cli_coverage_page_row(ntr_cover_state state, struct cli_output *out) {
    static const char *const rows[] = {"<tr class=\"full\">", "<tr class=\"no\">", "<tr class=\"open\">"};

    cli_output_text(out, rows[state]);
}

/* ---- what is missing */

void cli_coverage_justified(const struct cli_coverage_evidence *e, struct cli_output *out) {
    cli_output_text(out, "lines\n");
    cli_justify_text(out, e->justify, e->data->coverage, NULL, NTR_LEVEL_MCDC, e->source);
    if (e->data->decisions) {
        cli_output_text(out, "\ndecisions (MC/DC)\n");
        cli_justify_text(out, e->justify, e->data->coverage, e->data->decisions, NTR_LEVEL_MCDC, e->source);
    }
    cli_justify_entries(out, e->justify);
}

static void write_functions(const struct cli_coverage_evidence *e, struct cli_output *out) {
    size_t count;
    const ntr_cover_function *functions = ntr_coverage_functions(e->data->coverage, &count);

    cli_output_text(
        out,
        "<h3>Functions that were not executed</h3>\n<table class=\"rows\"><thead><tr><th>place</th><th>function</th><th>state</th></tr></thead>\n");
    for (size_t i = 0; i < count; i++) {
        const ntr_cover_function *f = &functions[i];
        if (f->count) continue;
        const ntr_cover_state state = f->known ? NTR_COVER_NOT_COVERED : NTR_COVER_NOT_DETERMINABLE;
        cli_coverage_page_row(state, out);
        cli_coverage_page_place(f->file, f->line, 0, out);
        cli_output_text(out, "<td>");
        cli_output_xml(out, f->name);
        cli_output_print(out, "</td><td>%s%s</td></tr>\n", cli_coverage_page_state(state),
                         f->known ? "" : ": it may be in a gap, or be computed by the compiler");
    }
    cli_output_text(out, "</table>\n");
}

/* Branches that were executed, always with the same outcome. */
static void write_branches(const struct cli_coverage_evidence *e, struct cli_output *out) {
    size_t count;
    const ntr_cover_branch *branches = ntr_coverage_branches(e->data->coverage, &count);
    struct cli_source_lines *source = cli_source_lines_open(cli_source_text_read, e->source);
    char text[512];

    cli_output_text(
        out,
        "<h3>Branches with one outcome</h3>\n<table class=\"rows\"><thead><tr><th>place</th><th>address</th><th>never</th><th>source</th></tr></thead>\n");
    for (size_t i = 0; i < count; i++) {
        const ntr_cover_branch *b = &branches[i];
        if (!b->taken == !b->not_taken) continue;
        cli_coverage_page_row(NTR_COVER_NOT_COVERED, out);
        cli_coverage_page_place(b->file, b->line, 0, out);
        cli_output_print(out, "<td>0x%" PRIx64 "</td><td>%s</td><td><code>", b->address,
                         b->taken ? "not taken" : "taken");
        cli_output_xml(out, cli_source_line_copy(source, b->file, b->line, text, sizeof text));
        cli_output_text(out, "</code></td></tr>\n");
    }
    cli_output_text(out, "</table>\n");
    cli_source_lines_close(source);
}

/* Decisions, also those of one condition, of which not both results are known to have occurred. */
static void write_decisions(const struct cli_coverage_evidence *e, struct cli_output *out) {
    static const char *const seen[2][2] = {{"none", "true"}, {"false", "true, false"}};
    size_t count;
    const ntr_decision *list = ntr_decisions_list(e->data->decisions, &count);

    cli_output_text(
        out,
        "<h3>Decisions that are not covered</h3>\n<table class=\"rows\"><thead><tr><th>place</th><th>decision</th><th>state</th><th>results "
        "seen</th></tr></thead>\n");
    for (size_t i = 0; i < count; i++) {
        const ntr_decision *d = &list[i];
        if (d->decision_state == NTR_COVER_COVERED) continue;
        cli_coverage_page_row((ntr_cover_state)d->decision_state, out);
        cli_coverage_page_place(d->file, d->line, d->column, out);
        cli_output_text(out, "<td><code>");
        cli_output_xml(out, d->text);
        cli_output_text(out, "</code></td><td>");
        cli_output_text(out, cli_coverage_page_state((ntr_cover_state)d->decision_state));
        if (d->decision_state == NTR_COVER_NOT_DETERMINABLE) {
            cli_output_text(out, ": ");
            cli_output_xml(out, d->reason);
        }
        cli_output_print(out, "</td><td>%s</td></tr>\n", seen[d->false_seen][d->true_seen]);
    }
    cli_output_text(out, "</table>\n");
}

static void write_object(const struct cli_coverage_evidence *e, struct cli_output *out) {
    cli_object_text(out, e->object, false, NULL);
}

void cli_coverage_page_missing(const struct cli_coverage_evidence *e, struct cli_output *out) {
    cli_output_text(out, "<h2 id=\"missing\">What is missing</h2>\n");
    if (e->justify->path) {
        cli_output_text(out, "<h3>Justifications</h3>\n");
        cli_coverage_page_text(e, cli_coverage_justified, out);
    }
    write_functions(e, out);
    write_branches(e, out);
    if (e->data->decisions) write_decisions(e, out);
    cli_output_text(
        out,
        "<h3>Object code</h3>\n<details><summary>instructions and outcomes by function, and targets of indirect jumps and calls</summary>");
    cli_coverage_page_text(e, write_object, out);
    cli_output_text(out, "</details>\n");
}

/* The vectors that show each condition, and their tests. */
static void write_pairs(const ntr_decision *d, struct cli_output *out) {
    for (size_t i = 0; i < d->condition_count; i++) {
        const ntr_condition *c = &d->conditions[i];
        cli_output_text(out, "<tr><td colspan=\"2\"></td><td><code>");
        cli_output_xml(out, c->text);
        cli_output_text(out, "</code>, ");
        if (!c->masking) {
            cli_output_text(out, c->constant       ? "a constant</td><td></td><td></td></tr>\n"
                                 : c->open_masking ? "not known</td><td></td><td></td></tr>\n"
                                                   : "no pair</td><td></td><td></td></tr>\n");
            continue;
        }
        const ntr_vector *a = &d->vectors[c->pair[0]], *b = &d->vectors[c->pair[1]];
        cli_output_print(out, "%s</td><td>%s, %s</td><td>", c->covered ? "unique-cause" : "masking", a->values,
                         b->values);
        cli_evidence_write_runs(a, out);
        cli_output_text(out, "; ");
        cli_evidence_write_runs(b, out);
        cli_output_text(out, "</td></tr>\n");
    }
}

static void write_vectors(const ntr_decision *d, struct cli_output *out) {
    for (size_t k = 0; k < d->vector_count; k++) {
        cli_output_print(out, "%s = %c, %" PRIu64 "</td><td>", d->vectors[k].values, ntr_vector_result(&d->vectors[k]),
                         d->vectors[k].count);
        cli_evidence_write_runs(&d->vectors[k], out);
        cli_output_text(out, k + 1 < d->vector_count ? "</td></tr>\n<tr><td colspan=\"3\"></td><td>" : "");
    }
    cli_output_text(out, d->vector_count ? "</td></tr>\n" : "</td><td></td></tr>\n");
}

static void write_decision(const ntr_decision *d, struct cli_output *out) {
    cli_coverage_page_row((ntr_cover_state)d->state, out);
    cli_coverage_page_place(d->file, d->line, d->column, out);
    cli_output_text(out, "<td><code>");
    cli_output_xml(out, d->text);
    cli_output_print(out, "</code></td><td>%s", cli_coverage_page_state((ntr_cover_state)d->state));
    if (d->masking_state != d->state)
        cli_output_print(out, "; masking: %s", cli_coverage_page_state((ntr_cover_state)d->masking_state));
    if (d->reason) cli_output_text(out, "<br>");
    cli_output_xml(out, d->reason);
    if (d->state == NTR_COVER_NOT_DETERMINABLE)
        cli_output_print(out, "<br>decision coverage: %s", cli_coverage_page_state((ntr_cover_state)d->decision_state));
    if (d->unknown) cli_output_print(out, "<br>evaluations that were not traced completely: %" PRIu64, d->unknown);
    cli_output_text(out, "</td><td>");
    write_vectors(d, out);
    if (d->state != NTR_COVER_NOT_DETERMINABLE) write_pairs(d, out);
}

void cli_coverage_page_mcdc(const struct cli_coverage_evidence *e, struct cli_output *out) {
    size_t count;
    const ntr_decision *list = ntr_decisions_list(e->data->decisions, &count);

    cli_output_text(
        out,
        "<h2 id=\"mcdc\">MC/DC by decision</h2>\n<table class=\"rows\"><thead><tr><th>place</th><th>decision</th><th>MC/DC, unique-cause</th>"
        "<th>vectors</th><th>tests</th></tr></thead>\n");
    for (size_t i = 0; i < count; i++)
        if (list[i].condition_count >= 2) write_decision(&list[i], out);
    cli_output_text(out, "</table>\n");
}

/* Lines without code are shown when they lie between lines with code that are so near, and in front of the first one.
 */
enum { NEAR_LINES = 20, LINES_BEFORE = 3 };

struct source_table {
    const struct cli_coverage_evidence *e;
    struct cli_output *out;
    struct cli_source_lines *source;
    const ntr_cover_branch *branches;
    size_t *at; /* position in each test: cli_evidence_write_line_tests */
};

static void write_text(struct source_table *t, const char *file, uint32_t line) {
    size_t size = 0;
    const char *text = cli_source_line(t->source, file, line, &size);

    cli_output_text(t->out, "<td><code>");
    if (text) cli_output_xml_bytes(t->out, text, size);
    cli_output_text(t->out, "</code></td></tr>\n");
}

static bool is_found(struct source_table *t, const char *file) {
    size_t size;

    return cli_source_line(t->source, file, 1, &size) != NULL;
}

/* The lines without code in front of a line with code; `before`: the last line with code, or 0. */
static void write_lines_between(struct source_table *t, const char *file, uint32_t before, uint32_t line) {
    const bool near = before && line - before <= NEAR_LINES;
    const uint32_t first = near ? before + 1 : line > LINES_BEFORE ? line - LINES_BEFORE : 1;

    if (!is_found(t, file)) return;
    if (before && !near) cli_output_text(t->out, "<tr><td colspan=\"5\">...</td></tr>\n");
    for (uint32_t number = first; number < line; number++) {
        cli_output_print(t->out, "<tr><td class=\"n\">%" PRIu32 "</td><td></td><td></td><td></td>", number);
        write_text(t, file, number);
    }
}

static size_t outcomes_seen(const struct source_table *t, const ntr_cover_line *line) {
    size_t seen = 0;

    for (size_t i = 0; i < line->branches; i++) {
        const ntr_cover_branch *b = &t->branches[line->first_branch + i];
        seen += (size_t)(b->taken != 0) + (b->not_taken != 0);
    }
    return seen;
}

static void write_line(struct source_table *t, const ntr_cover_line *line) {
    const size_t outcomes = 2 * line->branches, seen = outcomes_seen(t, line);

    if (line->count && seen < outcomes)
        cli_output_text(t->out, "<tr class=\"part\">");
    else
        cli_coverage_page_row(line->count   ? NTR_COVER_COVERED
                              : line->known ? NTR_COVER_NOT_COVERED
                                            : NTR_COVER_NOT_DETERMINABLE,
                              t->out);
    cli_output_print(t->out, "<td class=\"n\">%" PRIu32 "</td><td class=\"n\">%" PRIu64 "%s</td><td class=\"n\">",
                     line->line, line->count, line->known ? "" : " ?");
    if (outcomes) cli_output_print(t->out, "%zu/%zu", seen, outcomes);
    cli_output_text(t->out, "</td><td>");
    cli_evidence_write_line_tests(t->e->evidence, line, t->at, t->out);
    cli_output_text(t->out, "</td>");
    write_text(t, line->file, line->line);
}

static void begin_file(struct source_table *t, const char *file, size_t number) {
    cli_output_print(t->out, "<details id=\"f%zu\"><summary>", number);
    cli_output_xml(t->out, file);
    cli_output_print(
        t->out,
        "%s</summary><table class=\"rows\"><thead><tr><th>line</th><th>executions</th><th>branch outcomes</th><th>tests</th><th>source</th></tr></thead>\n",
        is_found(t, file) ? "" : " (the source was not found)");
}

/* The lines of a file are folded. */
void cli_coverage_page_sources(const struct cli_coverage_evidence *e, struct cli_output *out) {
    size_t count, branch_count, number = 0;
    const ntr_cover_line *lines = ntr_coverage_lines(e->data->coverage, &count);
    struct source_table t = {.e = e,
                             .out = out,
                             .source = cli_source_lines_open(cli_source_text_read, e->source),
                             .branches = ntr_coverage_branches(e->data->coverage, &branch_count)};

    t.at = calloc(e->evidence->test_count + 1, sizeof *t.at);
    if (!t.at) e->evidence->failed = true;
    cli_output_text(out, "<h2 id=\"sources\">Sources</h2>\n");
    for (size_t i = 0; t.at && i < count; i++) {
        const bool first = i == 0 || strcmp(lines[i].file, lines[i - 1].file) != 0;
        if (first && i) cli_output_text(out, "</table></details>\n");
        if (first) begin_file(&t, lines[i].file, number++);
        write_lines_between(&t, lines[i].file, first ? 0 : lines[i - 1].line, lines[i].line);
        write_line(&t, &lines[i]);
    }
    cli_output_text(out, count && t.at ? "</table></details>\n" : "");
    cli_source_lines_close(t.source);
    free(t.at);
}
