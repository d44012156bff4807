#include "commands/coverage_page.h"
#include "text/justify_text.h"
#include "text/object_text.h"
#include "text/source_lines.h"

#include <inttypes.h>

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
        "<h3>Functions that were not executed</h3>\n<table><thead><tr><th>place</th><th>function</th><th>state</th></tr></thead>\n");
    for (size_t i = 0; i < count; i++) {
        const ntr_cover_function *f = &functions[i];
        if (f->count) continue;
        const ntr_cover_state state = f->known ? NTR_COVER_NOT_COVERED : NTR_COVER_NOT_DETERMINABLE;
        cli_coverage_page_row(state, out);
        cli_coverage_page_place(f->file, f->line, 0, out);
        cli_output_text(out, "<td>");
        cli_output_xml(out, f->name);
        cli_output_print(out, "</td><td>%s%s</td></tr>\n", cli_coverage_page_state(state),
                         f->known ? "" : ": it may be in a gap");
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
        "<h3>Branches with one outcome</h3>\n<table><thead><tr><th>place</th><th>address</th><th>never</th><th>source</th></tr></thead>\n");
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
        "<h3>Decisions that are not covered</h3>\n<table><thead><tr><th>place</th><th>decision</th><th>state</th><th>results "
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
    cli_object_text(out, e->object, false);
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
