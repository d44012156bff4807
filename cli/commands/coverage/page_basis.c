#include "commands/coverage/page.h"

#include <inttypes.h>
#include <ntrace/decision.h>
#include <ntrace/version.h>

static void write_parameter(struct cli_output *out, size_t index, const char *name, const char *value) {
    cli_output_text(out, index ? ", " : "");
    cli_output_xml(out, name);
    cli_output_text(out, "&nbsp;");
    cli_output_xml(out, value);
}

static void write_tests(const struct cli_evidence *evidence, struct cli_output *out) {
    cli_output_text(
        out,
        "<h3>Tests</h3>\n<table class=\"rows\"><thead><tr><th>number</th><th>test</th><th>trace</th><th>parameters of the stream</th></tr></thead>\n");
    for (size_t i = 0; i < evidence->test_count && !evidence->failed; i++) {
        cli_output_print(out, "<tr><td class=\"n\">%zu</td><td>", i);
        cli_output_xml(out, evidence->tests[i].name);
        cli_output_text(out, "</td><td>");
        cli_output_xml(out, evidence->tests[i].trace);
        cli_output_text(out, "</td><td>");
        cli_evidence_parameters(&evidence->tests[i].params, write_parameter, out);
        cli_output_text(out, "</td></tr>\n");
    }
    cli_output_text(out, "</table>\n");
}

static void write_digests(const struct cli_evidence *evidence, struct cli_output *out) {
    cli_output_text(
        out,
        "<h3>Digests</h3>\n<table class=\"rows\"><thead><tr><th>kind</th><th>file</th><th>SHA-256</th></tr></thead>\n");
    for (size_t i = 0; i < evidence->count && !evidence->failed; i++) {
        cli_output_print(out, "<tr><td>%s</td><td>", evidence->files[i].kind);
        cli_output_xml(out, evidence->files[i].name);
        cli_output_print(out, "</td><td><code>%s</code></td></tr>\n",
                         *evidence->files[i].digest ? evidence->files[i].digest : "unknown");
    }
    cli_output_text(out, "</table>\n");
}

static uint64_t unknown_evaluations(const ntr_decisions *decisions) {
    size_t count = 0;
    const ntr_decision *list = decisions ? ntr_decisions_list(decisions, &count) : NULL;
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++) sum += list[i].unknown;
    return sum;
}

static void write_gaps(const struct cli_coverage_evidence *e, struct cli_output *out) {
    ntr_cover_sums sums;

    ntr_coverage_sums(e->data->coverage, NULL, &sums);
    cli_output_text(out, "<h3>Gaps and losses</h3>\n<ul>\n");
    for (size_t i = 0; i < e->evidence->note_count && !e->evidence->failed; i++) {
        cli_output_text(out, "<li>");
        cli_output_xml(out, e->evidence->notes[i]);
        cli_output_text(out, "</li>\n");
    }
    if (!e->evidence->note_count) cli_output_text(out, "<li>none in any trace</li>\n");
    cli_output_print(out, "<li>lines that may have been executed in gaps: %" PRIu64 ", functions: %" PRIu64 "</li>\n",
                     sums.lines_unknown, sums.functions_unknown);
    if (e->data->decisions)
        cli_output_print(
            out,
            "<li>evaluations of decisions of which a part was not traced, and which count for nothing: %" PRIu64
            "</li>\n",
            unknown_evaluations(e->data->decisions));
    cli_output_text(out, "</ul>\n");
}

/* Lines of clang that llvm-cov counts by the source, and that are counted by their code alone. */
static void write_by_code(ntr_coverage *coverage, struct cli_output *out) {
    ntr_cover_sums sums;

    ntr_coverage_sums(coverage, NULL, &sums);
    const uint64_t *functions = sums.by_source;
    if (sums.functions == functions[NTR_COVER_SOURCE_NOT_NEEDED]) return;
    cli_output_print(out,
                     "<h3>Lines of clang</h3>\n<p>llvm-cov counts lines by the source. Functions counted so: %" PRIu64
                     "; by the code of each line alone: %" PRIu64 " of optimized code, %" PRIu64
                     " whose source is unknown, %" PRIu64 " whose statements are not understood</p>\n",
                     functions[NTR_COVER_SOURCE_USED], functions[NTR_COVER_SOURCE_OPTIMIZED],
                     functions[NTR_COVER_SOURCE_UNKNOWN], functions[NTR_COVER_SOURCE_NOT_UNDERSTOOD]);
}

static void write_unparsed(const ntr_decisions *decisions, struct cli_output *out) {
    const char *text;

    if (!ntr_decisions_unparsed(decisions, 0, &text)) return;
    cli_output_text(out, "<h3>Sources without decisions: they could not be parsed</h3>\n<ul>\n");
    for (size_t i = 0; i < ntr_decisions_unparsed(decisions, i, &text); i++) {
        cli_output_text(out, "<li>");
        cli_output_xml(out, text);
        cli_output_text(out, "</li>\n");
    }
    cli_output_text(out, "</ul>\n");
}

static void write_others(const struct cli_source_match *match, struct cli_output *out) {
    if (!match || !match->other_count) return;
    cli_output_text(out, "<h3>Sources that are not, or may not be, those of the program</h3>\n<ul>\n");
    for (size_t i = 0; i < match->other_count; i++) {
        const struct cli_other_source *other = &match->others[i];
        cli_output_text(out, "<li>");
        cli_output_xml(out, other->file);
        cli_output_text(out, " (");
        cli_output_xml(out, other->program);
        cli_output_text(out, other->differs
                                 ? "): its MD5 is not that of the debug information; its text is not shown</li>\n"
                                 : "): it is newer, and debug information has no MD5 that decides it</li>\n");
    }
    cli_output_text(out, "</ul>\n");
}

void cli_coverage_page_basis(const struct cli_coverage_evidence *e, struct cli_output *out) {
    cli_output_text(
        out, "<h2 id=\"basis\">What the results rest on</h2>\n<table><tr><th>tool</th><td>ntrace " NTR_VERSION_TEXT
             "</td></tr>\n");
    if (e->data->decisions) {
        cli_output_text(out, "<tr><th>parser of the sources</th><td>");
        cli_output_xml(out, ntr_decisions_parser(e->data->decisions));
        cli_output_text(out, "</td></tr>\n");
    }
    cli_output_text(out, "<tr><th>sources</th><td>");
    for (size_t i = 0; i < e->only_count; i++) {
        cli_output_text(out, i ? ", " : "only ");
        cli_output_xml(out, e->only[i]);
    }
    cli_output_text(out,
                    e->only_count ? "</td></tr></table>\n" : "all that debug information names</td></tr></table>\n");
    write_gaps(e, out);
    write_by_code(e->data->coverage, out);
    write_others(e->evidence->match, out);
    if (e->data->decisions) write_unparsed(e->data->decisions, out);
    write_tests(e->evidence, out);
    write_digests(e->evidence, out);
}
