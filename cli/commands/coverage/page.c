#include "commands/coverage/page.h"

#include "text/justify_text.h"
#include "text/object_text.h"

#include <ntrace/decision.h>
#include <inttypes.h>
#include <string.h>

static const char head[] = {
#include "coverage_page.inc"
    , 0};

static const char script[] = {
#include "coverage_page_script.inc"
    , 0};

static const char terms[] =
    "<h2 id=\"terms\">Terms</h2>\n<dl>"
    "<dt>covered</dt><dd>the traces show it</dd>"
    "<dt>not covered</dt><dd>the traces show that it did not occur</dd>"
    "<dt>not determinable</dt><dd>the traces do not show whether it occurred: a line or function that may have been executed in a gap, or a "
    "decision of which the compiler has not kept the branches; it counts as not covered</dd>"
    "<dt>line, function</dt><dd>an instruction of it was executed</dd>"
    "<dt>branch outcome</dt><dd>one direction of one conditional branch instruction that belongs to a line</dd>"
    "<dt>decision</dt><dd>a Boolean expression of conditions joined by &amp;&amp;, || and !, or a single condition that controls a statement; "
    "covered when both results were seen</dd>"
    "<dt>vector</dt><dd>the values of the conditions in one evaluation of a decision: T true, F false, - not evaluated; behind it the "
    "result and the number of evaluations</dd>"
    "<dt>MC/DC, unique-cause</dt><dd>each condition has two vectors with different results in which it differs, and no other condition "
    "that both evaluate does</dd>"
    "<dt>MC/DC, masking</dt><dd>other conditions may differ where they are masked</dd></dl>\n";

/* ---- shares */

static double percent(uint64_t count, uint64_t all) {
    return all ? 100.0 * (double)count / (double)all : 0.0;
}

static void write_number(struct cli_output *out, uint64_t count, uint64_t all) {
    cli_output_print(out, "<td class=\"n\">%" PRIu64 " (%.2f %%)</td>", count, percent(count, all));
}

/* `unknown`: not determinable, of `all`. */
static void write_share(struct cli_output *out, const char *name, uint64_t covered, uint64_t all, uint64_t unknown) {
    cli_output_print(out, "<tr><td>%s</td><td class=\"n\">%" PRIu64 "</td>", name, all);
    write_number(out, covered, all);
    write_number(out, all - covered - unknown, all);
    write_number(out, unknown, all);
    cli_output_text(out, "</tr>\n");
}

static uint64_t all_of(const ntr_decision_sums *sums) {
    return sums->decisions[NTR_COVER_COVERED] + sums->decisions[NTR_COVER_NOT_COVERED] +
           sums->decisions[NTR_COVER_NOT_DETERMINABLE];
}

static void write_shares(const struct cli_coverage_evidence *e, struct cli_output *out) {
    static const char *const names[] = {"decisions", "MC/DC, unique-cause", "MC/DC, masking"};
    const struct cli_object_sums object = cli_object_sums(e->object);
    ntr_cover_sums sums;
    ntr_decision_sums decisions;

    ntr_coverage_sums(e->data->coverage, NULL, &sums);
    cli_output_text(
        out,
        "<h2 id=\"sums\">Sums</h2>\n<table><tr><th>level</th><th>all</th><th>covered</th><th>not covered</th><th>not determinable</th></tr>\n");
    write_share(out, "lines", sums.lines_hit, sums.lines, sums.lines_unknown);
    write_share(out, "branch outcomes", sums.branches_hit, sums.branches, 0);
    write_share(out, "functions", sums.functions_hit, sums.functions, sums.functions_unknown);
    for (int level = NTR_LEVEL_DECISION; e->data->decisions && level <= NTR_LEVEL_MASKING; level++) {
        ntr_decisions_sums(e->data->decisions, (ntr_decision_level)level, NULL, &decisions);
        write_share(out, names[level], decisions.decisions[NTR_COVER_COVERED], all_of(&decisions),
                    decisions.decisions[NTR_COVER_NOT_DETERMINABLE]);
    }
    write_share(out, "instructions", object.executed, object.instructions, 0);
    write_share(out, "outcomes of their branches", object.outcomes_seen, object.outcomes, 0);
    cli_output_text(out, "</table>\n");
}

static void write_justified_sum(const struct cli_coverage_evidence *e, const ntr_decisions *decisions, const char *what,
                                struct cli_output *out) {
    const struct cli_justified sum =
        cli_justify_text(NULL, e->justify, e->data->coverage, decisions, NTR_LEVEL_MCDC, e->source);

    cli_output_print(out,
                     "<p>Of the %s that are not covered or not determinable, %" PRIu64 " are justified, %" PRIu64
                     " are not.</p>\n",
                     what, sum.justified, sum.unjustified);
}

static void write_summary(const struct cli_coverage_evidence *e, struct cli_output *out) {
    write_shares(e, out);
    if (!e->data->decisions) {
        cli_output_text(out, "<p>There are no decisions: ");
        cli_output_xml(out, e->without_decisions);
        cli_output_text(out, "</p>\n");
    }
    if (!e->justify->path) return;
    write_justified_sum(e, NULL, "lines", out);
    if (e->data->decisions) write_justified_sum(e, e->data->decisions, "MC/DC decisions", out);
}

/* ---- the page */

void cli_coverage_page(const struct cli_coverage_evidence *e, struct cli_output *out) {
    cli_output_text(out, head);
    write_summary(e, out);
    cli_coverage_page_basis(e, out);
    cli_coverage_page_anomalies(out);
    cli_output_text(out, terms);
    cli_coverage_page_files(e, out);
    cli_coverage_page_missing(e, out);
    if (e->data->decisions)
        cli_coverage_page_mcdc(e, out);
    else
        cli_output_text(out, "<h2 id=\"mcdc\">MC/DC by decision</h2>\n<p>There are no decisions.</p>\n");
    cli_coverage_page_sources(e, out);
    cli_output_text(out, "</main>\n<script>\n");
    cli_output_text(out, script);
    cli_output_text(out, "</script>\n</body></html>\n");
}
