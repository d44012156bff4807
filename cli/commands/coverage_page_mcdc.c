#include "commands/coverage_page.h"

#include <inttypes.h>

/* The vectors that show each condition, and their tests. */
static void write_pairs(const ntr_decision *d, struct cli_output *out) {
    for (size_t i = 0; i < d->condition_count; i++) {
        const ntr_condition *c = &d->conditions[i];
        cli_output_text(out, "<tr><td colspan=\"2\"></td><td><code>");
        cli_output_xml(out, c->text);
        cli_output_text(out, "</code>, ");
        if (!c->masking) {
            cli_output_text(out, c->constant ? "a constant</td><td></td><td></td></tr>\n"
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
        cli_output_print(out, "%s = %c, %" PRIu64 "</td><td>", d->vectors[k].values, d->vectors[k].result ? 'T' : 'F',
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
        "<h2 id=\"mcdc\">MC/DC by decision</h2>\n<table><thead><tr><th>place</th><th>decision</th><th>MC/DC, unique-cause</th>"
        "<th>vectors</th><th>tests</th></tr></thead>\n");
    for (size_t i = 0; i < count; i++)
        if (list[i].condition_count >= 2) write_decision(&list[i], out);
    cli_output_text(out, "</table>\n");
}
