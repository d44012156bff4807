/* Decisions as one JSON document (docs/output.md has the members). */
#include "export/decisions.h"

#include <ntrace/decision.h>
#include <string.h>

const char *ntr_cover_state_name(unsigned state) {
    static const char *const names[] = {"covered", "not-covered", "not-determinable"};
    return names[state];
}

const char *ntr_cover_level_name(unsigned level) {
    static const char *const names[] = {"decision", "mcdc", "masking"};
    return names[level];
}

static const char *yes_no(bool value) {
    return value ? "true" : "false";
}

static void write_spelled(ntr_out *out, const ntr_source_place *spelled, const char *path, uint32_t line,
                          uint32_t column) {
    if (!spelled->file || (spelled->line == line && spelled->column == column && strcmp(spelled->file, path) == 0))
        return;
    ntr_out_text(out, ",\"spelled\":{\"file\":");
    ntr_out_json(out, spelled->file);
    ntr_out_format(out, ",\"line\":%u,\"column\":%u}", spelled->line, spelled->column);
}

static void write_condition(ntr_out *out, const ntr_decision *d, const ntr_condition *c) {
    ntr_out_format(out, "{\"line\":%u,\"column\":%u,\"text\":", c->line, c->column);
    ntr_out_json(out, c->text);
    write_spelled(out, &c->spelled, d->spelled.file ? d->spelled.file : d->file, c->line, c->column);
    if (c->constant) ntr_out_format(out, ",\"constant\":%s", yes_no(c->value));
    ntr_out_format(out, ",\"true\":%s,\"false\":%s,\"masking\":%s", yes_no(c->true_seen), yes_no(c->false_seen),
                   yes_no(c->masking));
    if (c->open || c->open_masking)
        ntr_out_format(out, ",\"open\":%s,\"open_masking\":%s", yes_no(c->open), yes_no(c->open_masking));
    if (c->masking) ntr_out_format(out, ",\"pair\":[%u,%u]", c->pair[0], c->pair[1]);
    ntr_out_char(out, '}');
}

static void write_vectors(ntr_out *out, const ntr_decision *d) {
    ntr_out_text(out, "\"vectors\":[");
    for (size_t i = 0; i < d->vector_count; i++) {
        const ntr_vector *v = &d->vectors[i];
        ntr_out_format(out, "%s{\"values\":[", i ? "," : "");
        for (size_t k = 0; k < d->condition_count; k++) ntr_out_format(out, "%s\"%c\"", k ? "," : "", v->values[k]);
        ntr_out_format(out, "],\"result\":\"%c\",\"count\":%llu}", ntr_vector_result(v), (unsigned long long)v->count);
    }
    ntr_out_text(out, "]");
}

static void write_decision(ntr_export *x, const ntr_decision *d) {
    ntr_out *out = &x->out;
    ntr_out_text(out, "{\"file\":");
    ntr_out_json(out, d->file);
    ntr_out_format(out, ",\"line\":%u,\"column\":%u,\"end_line\":%u,\"end_column\":%u,\"function\":", d->line,
                   d->column, d->end_line, d->end_column);
    ntr_out_json(out, d->function);
    ntr_out_text(out, ",\"text\":");
    ntr_out_json(out, d->text);
    write_spelled(out, &d->spelled, d->spelled.file ? d->spelled.file : "", d->line, d->column);
    ntr_out_text(out, ",\n  \"conditions\":[");
    for (size_t i = 0; i < d->condition_count; i++) {
        if (i) ntr_out_char(out, ',');
        write_condition(out, d, &d->conditions[i]);
    }
    ntr_out_text(out, "],\n  ");
    write_vectors(out, d);
    ntr_out_text(out, ",\"covered\":[");
    for (size_t i = 0; i < d->condition_count; i++)
        ntr_out_format(out, "%s%s", i ? "," : "", yes_no(d->conditions[i].covered));
    ntr_out_format(
        out,
        "],\"true\":%s,\"false\":%s,\"copies\":%llu,\"unknown\":%llu,\"decision\":\"%s\",\"mcdc\":\"%s\",\"masking\":\"%s\",\"state\":\"%s\"",
        yes_no(d->true_seen), yes_no(d->false_seen), (unsigned long long)d->copies, (unsigned long long)d->unknown,
        ntr_cover_state_name(d->decision_state), ntr_cover_state_name(d->state), ntr_cover_state_name(d->masking_state),
        ntr_cover_state_name(ntr_decision_state(d, x->analysis.level)));
    if (d->reason) {
        ntr_out_text(out, ",\"reason\":");
        ntr_out_json(out, d->reason);
    }
    ntr_out_char(out, '}');
}

static void write_sums(ntr_export *x, ntr_decision_level level, const char *name) {
    ntr_decision_sums sums;
    ntr_decisions_sums(x->analysis.decisions, level, NULL, &sums);
    ntr_out_format(&x->out, "\"%s\":{", name);
    for (unsigned i = 0; i < 3; i++)
        ntr_out_format(&x->out, "\"%s\":%llu,", ntr_cover_state_name(i), (unsigned long long)sums.decisions[i]);
    ntr_out_format(&x->out, "\"conditions\":%llu,\"conditions_covered\":%llu}", (unsigned long long)sums.conditions,
                   (unsigned long long)sums.conditions_covered);
}

/* The sums of the level of the output, and those of all levels. */
static void write_all_sums(ntr_export *x) {
    write_sums(x, x->analysis.level, "sums");
    ntr_out_text(&x->out, ",\n\"levels\":{");
    for (unsigned level = NTR_LEVEL_DECISION; level <= NTR_LEVEL_MASKING; level++) {
        if (level != NTR_LEVEL_DECISION) ntr_out_text(&x->out, ",\n");
        write_sums(x, (ntr_decision_level)level, ntr_cover_level_name(level));
    }
    ntr_out_char(&x->out, '}');
}

static ntr_status end(ntr_export *x) {
    size_t count, written = 0;
    const char *text = NULL;
    const ntr_decision *list = ntr_decisions_list(x->analysis.decisions, &count);
    ntr_out_format(&x->out,
                   "{\"format\":1,\"level\":\"%s\",\"gaps\":%llu,\"parser\":", ntr_cover_level_name(x->analysis.level),
                   (unsigned long long)ntr_coverage_gaps(x->analysis.coverage));
    ntr_out_json(&x->out, ntr_decisions_parser(x->analysis.decisions));
    ntr_out_text(&x->out, ",\n\"unparsed\":[");
    for (size_t i = 0; i < ntr_decisions_unparsed(x->analysis.decisions, i, &text); i++) {
        ntr_out_text(&x->out, i ? ",\n" : "\n");
        ntr_out_json(&x->out, text);
    }
    ntr_out_text(&x->out, "],\n");
    write_all_sums(x);
    ntr_out_text(&x->out, ",\n\"decisions\":[");
    for (size_t i = 0; i < count; i++) {
        if (!ntr_decision_listed(&list[i], x->analysis.level)) continue;
        ntr_out_text(&x->out, written++ ? ",\n" : "\n");
        write_decision(x, &list[i]);
    }
    ntr_out_char(&x->out, ']');
    ntr_export_quality(x);
    ntr_out_text(&x->out, "}\n");
    return NTR_OK;
}

const ntr_exporter ntr_exporter_decisions_json = {
    .name = "decisions-json",
    .family = "coverage",
    .summary = "JSON: decisions with their conditions, vectors and independence pairs",
    .needs = NTR_NEEDS_COVERAGE | NTR_NEEDS_DECISIONS,
    .end = end,
};
