#include "commands/coverage_evidence.h"

#include "commands/exporting.h"
#include "io/print_pdf.h"
#include "options/diagnostics.h"
#include "text/justify_text.h"
#include "text/object_text.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <ntrace/version.h>
#include <stdio.h>
#include <sys/stat.h>

/* The files that exporters write. */
static const struct {
    const char *name, *exporter;
    bool decisions;
} exported[] = {
    {"lines.json", "json", false},        {"lines.txt", "summary", false},          {"cobertura.xml", "cobertura", false},
    {"lcov.info", "lcov", false},         {"decisions.json", "decisions-json", true}, {"decisions.txt", "decisions", true},
};

static void write_number(struct cli_output *out, uint64_t count, uint64_t all) {
    cli_output_print(out, "<td>%" PRIu64 " (%.2f %%)</td>", count, all ? 100.0 * (double)count / (double)all : 0.0);
}

/* `unknown`: not determinable, of `all`. */
static void write_share(struct cli_output *out, const char *name, uint64_t covered, uint64_t all, uint64_t unknown) {
    cli_output_print(out, "<tr><td>%s</td><td>%" PRIu64 "</td>", name, all);
    write_number(out, covered, all);
    write_number(out, all - covered - unknown, all);
    write_number(out, unknown, all);
    cli_output_text(out, "</tr>\n");
}

static void write_shares(const struct cli_coverage_evidence *e, struct cli_output *out) {
    static const char *const names[] = {"decisions", "MC/DC, unique-cause", "MC/DC, masking"};
    ntr_cover_sums sums;
    ntr_decision_sums decisions;

    ntr_coverage_sums(e->data->coverage, NULL, &sums);
    cli_output_text(out, "<table><tr><th>level</th><th>all</th><th>covered</th><th>not covered</th><th>not determinable</th></tr>\n");
    write_share(out, "lines", sums.lines_hit, sums.lines, 0);
    write_share(out, "branch outcomes", sums.branches_hit, sums.branches, 0);
    write_share(out, "functions", sums.functions_hit, sums.functions, 0);
    for (int level = NTR_LEVEL_DECISION; e->data->decisions && level <= NTR_LEVEL_MASKING; level++) {
        ntr_decisions_sums(e->data->decisions, (ntr_decision_level)level, NULL, &decisions);
        write_share(out, names[level], decisions.decisions[NTR_COVER_COVERED],
                    decisions.decisions[0] + decisions.decisions[1] + decisions.decisions[2], decisions.decisions[NTR_COVER_NOT_DETERMINABLE]);
    }
    cli_output_text(out, "</table>\n");
}

/* The vectors that show each condition, and their tests. */
static void write_pairs(const ntr_decision *d, struct cli_output *out) {
    for (size_t i = 0; i < d->condition_count; i++) {
        const ntr_condition *c = &d->conditions[i];
        if (!c->masking) continue;
        const ntr_vector *a = &d->vectors[c->pair[0]], *b = &d->vectors[c->pair[1]];
        cli_output_text(out, "<tr><td colspan=\"2\"></td><td><code>");
        cli_evidence_html_text(out, c->text);
        cli_output_print(out, "</code>, %s</td><td>%s, %s</td><td>", c->covered ? "unique-cause" : "masking", a->values, b->values);
        cli_evidence_write_runs(a, out);
        cli_output_text(out, "; ");
        cli_evidence_write_runs(b, out);
        cli_output_text(out, "</td></tr>\n");
    }
}

static const char *const states[] = {"covered", "not covered", "not determinable"};

static void write_place(const ntr_decision *d, struct cli_output *out) {
    cli_output_text(out, "<tr><td>");
    cli_evidence_html_text(out, d->file);
    cli_output_print(out, ":%u:%u</td><td><code>", d->line, d->column);
    cli_evidence_html_text(out, d->text);
    cli_output_text(out, "</code></td>");
}

/* Decisions, also those of one condition, of which not both results are known to have occurred. */
static void write_results(const struct cli_coverage_evidence *e, struct cli_output *out) {
    static const char *const seen[2][2] = {{"none", "true"}, {"false", "true, false"}};
    size_t count;
    const ntr_decision *list = ntr_decisions_list(e->data->decisions, &count);

    cli_output_text(out, "<h2>Decisions that are not covered</h2>\n<table><tr><th>place</th><th>decision</th><th>state</th><th>results seen</th></tr>\n");
    for (size_t i = 0; i < count; i++) {
        const ntr_decision *d = &list[i];
        if (d->decision_state == NTR_COVER_COVERED) continue;
        write_place(d, out);
        cli_output_print(out, "<td>%s<br>", states[d->decision_state]);
        if (d->decision_state == NTR_COVER_NOT_DETERMINABLE) cli_evidence_html_text(out, d->reason);
        cli_output_print(out, "</td><td>%s</td></tr>\n", seen[d->false_seen][d->true_seen]);
    }
    cli_output_text(out, "</table>\n");
}

static void write_decisions(const struct cli_coverage_evidence *e, struct cli_output *out) {
    size_t count;
    const ntr_decision *list = ntr_decisions_list(e->data->decisions, &count);

    cli_output_text(out, "<h2>MC/DC by decision</h2>\n<table><tr><th>place</th><th>decision</th><th>MC/DC</th><th>vectors</th><th>tests</th></tr>\n");
    for (size_t i = 0; i < count; i++) {
        const ntr_decision *d = &list[i];
        if (d->condition_count < 2) continue;
        write_place(d, out);
        cli_output_print(out, "<td>%s<br>", states[d->state]);
        cli_evidence_html_text(out, d->reason);
        if (d->state == NTR_COVER_NOT_DETERMINABLE) cli_output_print(out, "<br>decision coverage: %s", states[d->decision_state]);
        cli_output_text(out, "</td><td>");
        for (size_t k = 0; k < d->vector_count; k++) {
            cli_output_print(out, "%s = %c, %" PRIu64 "</td><td>", d->vectors[k].values, d->vectors[k].result ? 'T' : 'F',
                             d->vectors[k].count);
            cli_evidence_write_runs(&d->vectors[k], out);
            cli_output_text(out, k + 1 < d->vector_count ? "</td></tr>\n<tr><td colspan=\"3\"></td><td>" : "");
        }
        cli_output_text(out, d->vector_count ? "</td></tr>\n" : "</td><td></td></tr>\n");
        write_pairs(d, out);
    }
    cli_output_text(out, "</table>\n");
}

static void write_justified(const struct cli_coverage_evidence *e, struct cli_output *out) {
    cli_output_text(out, "lines\n");
    cli_justify_text(out, e->justify, e->data->coverage, NULL, NTR_LEVEL_MCDC, e->source);
    if (e->data->decisions) {
        cli_output_text(out, "\ndecisions (MC/DC)\n");
        cli_justify_text(out, e->justify, e->data->coverage, e->data->decisions, NTR_LEVEL_MCDC, e->source);
    }
    cli_justify_entries(out, e->justify);
}

/* Text that becomes a part of the page, with escaped characters. */
struct page_text {
    struct cli_output out, *page;
    char buffer[2 * CLI_OUTPUT_RESERVE_MAX + 1];
};

static void take_page_text(void *user) {
    struct page_text *t = user;

    t->buffer[t->out.used] = '\0';
    cli_evidence_html_text(t->page, t->buffer);
    t->out.buffer = t->buffer;
    t->out.used = 0;
    t->out.capacity = sizeof t->buffer - 1;
}

static void write_justifications(const struct cli_coverage_evidence *e, struct cli_output *page) {
    struct page_text t = {.page = page};

    if (!e->justify->path) return;
    cli_output_text(page, "<h2>Justifications</h2>\n<pre>");
    cli_output_open_into(&t.out, take_page_text, &t);
    take_page_text(&t);
    write_justified(e, &t.out);
    take_page_text(&t);
    cli_output_text(page, "</pre>\n");
}

static void write_page(const struct cli_coverage_evidence *e, struct cli_output *out) {
    cli_output_text(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Structural coverage</title>\n"
                         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
                         "<style>body{font:15px sans-serif;margin:2em;max-width:75em}table{border-collapse:collapse}td,th{border:1px "
                         "solid #999;padding:.2em .6em;text-align:left;vertical-align:top}code{white-space:pre-wrap}</style></head>\n"
                         "<body><h1>Structural coverage</h1>\n");
    write_shares(e, out);
    for (size_t i = 0; i < e->evidence->note_count; i++) {
        cli_output_text(out, "<p>");
        cli_evidence_html_text(out, e->evidence->notes[i]);
        cli_output_text(out, "</p>\n");
    }
    cli_output_text(out, "<h2>Files</h2>\n<table><tr><th>kind</th><th>name</th><th>SHA-256</th></tr>\n");
    for (size_t i = 0; i < e->evidence->count; i++) {
        cli_output_print(out, "<tr><td>%s</td><td>", e->evidence->files[i].kind);
        cli_evidence_html_text(out, e->evidence->files[i].name);
        cli_output_print(out, "</td><td><code>%s</code></td></tr>\n", e->evidence->files[i].digest);
    }
    cli_output_text(out, "</table>\n");
    write_justifications(e, out);
    if (e->data->decisions) {
        write_results(e, out);
        write_decisions(e, out);
    }
    cli_evidence_write_page(e->evidence, e->data->coverage, out);
    cli_output_text(out, "</body></html>\n");
}

static void write_manifest(const struct cli_coverage_evidence *e, struct cli_output *out) {
    cli_output_text(out, "{\"format\":1,\"tool\":\"ntrace " NTR_VERSION_TEXT "\",\n\"parser\":");
    cli_output_json(out, e->data->decisions ? ntr_decisions_parser(e->data->decisions) : "");
    cli_output_text(out, ",\n\"without_decisions\":");
    cli_output_json(out, e->without_decisions ? e->without_decisions : "");
    cli_output_text(out, ",\n\"only\":[");
    for (size_t i = 0; i < e->only_count; i++) {
        if (i) cli_output_text(out, ",");
        cli_output_json(out, e->only[i]);
    }
    cli_output_print(out, "],\n\"gaps\":%" PRIu64 ",\n", ntr_coverage_gaps(e->data->coverage));
    cli_evidence_write(e->evidence, out);
    cli_output_text(out, "}\n");
}

static void write_object(const struct cli_coverage_evidence *e, struct cli_output *out) {
    cli_object_text(out, e->object, true);
}

static void write_tests(const struct cli_coverage_evidence *e, struct cli_output *out) {
    cli_evidence_write_tests(e->evidence, e->data->coverage, e->data->decisions, out);
}

static const struct {
    const char *name;
    void (*write)(const struct cli_coverage_evidence *e, struct cli_output *out);
} written[] = {
    {"object.json", write_object},
    {"justified.txt", write_justified},
    {"tests.json", write_tests},
    {"report.html", write_page},
    {"evidence.json", write_manifest},
};

static int path_of(char path[PATH_MAX], const char *folder, const char *name) {
    int length = snprintf(path, PATH_MAX, "%s/%s", folder, name);

    return length > 0 && length < PATH_MAX ? CLI_OK : cli_fail("%s: the path is too long", folder);
}

int cli_coverage_evidence(const struct cli_coverage_evidence *e, const char *folder) {
    char path[PATH_MAX];
    int status = CLI_OK;

    if (mkdir(folder, 0777) != 0 && errno != EEXIST) return cli_fail("%s: cannot create: %s", folder, strerror(errno));
    for (size_t i = 0; i < sizeof exported / sizeof exported[0] && status == CLI_OK; i++) {
        if (exported[i].decisions && !e->data->decisions) continue;
        status = path_of(path, folder, exported[i].name);
        if (status == CLI_OK) status = cli_exporting_coverage_file(e->data, exported[i].exporter, path);
    }
    for (size_t i = 0; i < sizeof written / sizeof written[0] && status == CLI_OK; i++) {
        struct cli_output out;
        status = path_of(path, folder, written[i].name);
        if (status == CLI_OK) status = cli_output_open(&out, path);
        if (status != CLI_OK) break;
        written[i].write(e, &out);
        status = cli_output_close(&out, CLI_OK);
    }
    if (status == CLI_OK && e->pdf) {
        char pdf[PATH_MAX];
        status = path_of(path, folder, "report.html");
        if (status == CLI_OK) status = path_of(pdf, folder, "report.pdf");
        if (status == CLI_OK) status = cli_print_pdf(path, pdf);
    }
    if (status == CLI_OK && e->evidence->failed) return cli_fail("out of memory");
    return status;
}
