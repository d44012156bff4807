/* Decisions as text: those that are not covered with the reason, then the shares of the three states. */
#include "export/decisions.h"

#include <ntrace/decision.h>
#include <string.h>

static void write_conditions(ntr_out *out, const ntr_decision *d, ntr_decision_level level) {
    for (size_t i = 0; i < d->condition_count; i++) {
        const ntr_condition *c = &d->conditions[i];
        bool covered = level == NTR_LEVEL_MASKING ? c->masking : c->covered;
        ntr_out_format(out, "    C%zu  %u:%u  ", i + 1, c->line, c->column);
        if (c->constant)
            ntr_out_format(out, "constant %s", c->value ? "true" : "false");
        else if (covered)
            ntr_out_format(out, "pair %u, %u", c->pair[0] + 1, c->pair[1] + 1);
        else
            ntr_out_text(out, (level == NTR_LEVEL_MASKING ? c->open_masking : c->open) ? "not known" : "no pair");
        ntr_out_text(out, "  ");
        ntr_out_shown(out, c->text);
        ntr_out_char(out, '\n');
    }
}

static void write_vectors(ntr_out *out, const ntr_decision *d) {
    for (size_t i = 0; i < d->vector_count; i++) {
        const ntr_vector *v = &d->vectors[i];
        ntr_out_format(out, "    %3zu  ", i + 1);
        for (size_t k = 0; k < d->condition_count; k++) ntr_out_format(out, "%c ", v->values[k]);
        ntr_out_format(out, "= %c  %llu times\n", ntr_vector_result(v), (unsigned long long)v->count);
    }
    if (d->unknown)
        ntr_out_format(out, "         %llu evaluations are unknown: a part of them was not traced\n",
                       (unsigned long long)d->unknown);
}

/* Returns whether a value in the vectors is not known. */
static bool is_open(const ntr_decision *d) {
    bool open = false;
    for (size_t i = 0; i < d->vector_count; i++) open |= d->vectors[i].open;
    return open;
}

static void write_results(ntr_out *out, const ntr_decision *d) {
    static const char *const seen[2][2] = {{"no result", "only true"}, {"only false", "true and false"}};
    const bool both = d->false_seen && d->true_seen;
    ntr_out_format(out, "    decision coverage: %s, %s %s\n", ntr_cover_state_name(d->decision_state),
                   seen[d->false_seen][d->true_seen],
                   both         ? "were seen"
                   : is_open(d) ? "is known"
                                : "was seen");
}

/* What is not known may be another level than that of the output, or only further evaluations. */
static void write_reason(ntr_out *out, const ntr_decision *d, ntr_decision_level level) {
    const char *what = "    ";
    if (!d->reason) return;
    if (!is_open(d) && ntr_decision_state(d, level) != NTR_COVER_NOT_DETERMINABLE)
        what = d->state == NTR_COVER_NOT_DETERMINABLE && d->condition_count > 1
                   ? "    MC/DC is not determinable: "
                   : "    further evaluations may be missing: ";
    ntr_out_text(out, what);
    ntr_out_shown(out, d->reason);
    ntr_out_char(out, '\n');
}

static void write_decision(ntr_export *x, const ntr_decision *d) {
    ntr_out *out = &x->out;
    ntr_out_shown(out, d->file);
    ntr_out_format(out, ":%u:%u: %s: ", d->line, d->column,
                   ntr_cover_state_name(ntr_decision_state(d, x->analysis.level)));
    ntr_out_shown(out, d->text);
    ntr_out_char(out, '\n');
    write_results(out, d);
    write_reason(out, d, x->analysis.level);
    write_conditions(out, d, x->analysis.level);
    write_vectors(out, d);
}

static void write_share(ntr_out *out, const char *name, uint64_t count, uint64_t total) {
    ntr_out_format(out, "%-18s %6llu  %6.2f %%\n", name, (unsigned long long)count,
                   total ? 100.0 * (double)count / (double)total : 0.0);
}

static void write_shares(ntr_export *x, ntr_decision_level level) {
    static const char *const names[] = {"decision coverage", "MC/DC, unique-cause", "MC/DC, masking"};
    ntr_decision_sums sums;
    ntr_decisions_sums(x->analysis.decisions, level, NULL, &sums);
    const uint64_t total = sums.decisions[0] + sums.decisions[1] + sums.decisions[2];
    ntr_out_format(&x->out, "%s: %llu decisions\n", names[level], (unsigned long long)total);
    for (unsigned i = 0; i < 3; i++) write_share(&x->out, ntr_cover_state_name(i), sums.decisions[i], total);
    if (level == x->analysis.level)
        ntr_out_format(&x->out, "%llu of %llu determinable conditions have an independence pair\n",
                       (unsigned long long)sums.conditions_covered, (unsigned long long)sums.conditions);
}

static ntr_status end(ntr_export *x) {
    const ntr_decisions *decisions = x->analysis.decisions;
    size_t count;
    const char *text = NULL;
    uint64_t gaps = ntr_coverage_gaps(x->analysis.coverage);
    const ntr_decision *list = ntr_decisions_list(decisions, &count);
    for (size_t i = 0; i < count; i++)
        if (ntr_decision_listed(&list[i], x->analysis.level)) write_decision(x, &list[i]);
    if (count) ntr_out_char(&x->out, '\n');
    for (unsigned level = NTR_LEVEL_DECISION; level <= NTR_LEVEL_MASKING; level++)
        write_shares(x, (ntr_decision_level)level);
    for (size_t i = 0; i < ntr_decisions_unparsed(decisions, i, &text); i++) {
        ntr_out_text(&x->out, "not parsed: ");
        ntr_out_shown(&x->out, text);
        ntr_out_char(&x->out, '\n');
    }
    if (gaps)
        ntr_out_format(&x->out, "%llu gaps in the trace: evaluations in them are missing\n", (unsigned long long)gaps);
    return NTR_OK;
}

const ntr_exporter ntr_exporter_decisions_text = {
    .name = "decisions",
    .family = "coverage",
    .summary = "decisions with their conditions, vectors and independence pairs",
    .needs = NTR_NEEDS_COVERAGE | NTR_NEEDS_DECISIONS,
    .end = end,
};
