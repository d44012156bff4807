#include "commands/coverage_page.h"
#include "text/source_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
        "%s</summary><table><thead><tr><th>line</th><th>executions</th><th>branch outcomes</th><th>tests</th><th>source</th></tr></thead>\n",
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
