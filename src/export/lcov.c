/* lcov tracefile, in the form that versions 1.16 and 2.x read without loss. The format cannot express "not known".
 * Lines that a gap may hide are omitted, because a count of 0 would mean that they were not executed. */
#include "export/export.h"

#include <string.h>

static bool same_file(const char *a, const char *b) {
    return a == b || strcmp(a, b) == 0;
}

/* A comma ends the name in lcov 1.16. Names without linkage name, such as those of lambda templates, contain commas. */
static void write_name(ntr_out *out, const char *name) {
    for (; *name; name++) ntr_out_char(out, *name == ',' ? ';' : *name);
    ntr_out_char(out, '\n');
}

/* The lines of one file. */
typedef struct lcov_lines {
    const char *file;
    const ntr_cover_line *items;
    size_t count;
} lcov_lines;

/* lcov 2 expects a function to begin in a line with a count. Functions that were always inlined have none at their
 * name. */
static uint32_t first_line(const lcov_lines *lines, uint32_t line) {
    size_t low = 0, high = lines->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lines->items[middle].line < line)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < lines->count && !lines->items[low].known) low++;
    return low < lines->count ? lines->items[low].line : line;
}

/* Writes FN and FNDA of the functions from index `at` that are in the file. Returns the index of the next function. */
static size_t write_functions(ntr_out *out, const ntr_cover_function *functions, size_t count, size_t at,
                              const lcov_lines *lines) {
    const char *file = lines->file;
    size_t first = at, found = 0, hit = 0;
    for (; at < count && same_file(functions[at].file, file); at++) {
        if (!functions[at].known) continue;
        ntr_out_format(out, "FN:%u,", first_line(lines, functions[at].line));
        write_name(out, functions[at].linkage);
    }
    for (size_t i = first; i < at; i++) {
        if (!functions[i].known) continue;
        ntr_out_format(out, "FNDA:%llu,", (unsigned long long)functions[i].count);
        write_name(out, functions[i].linkage);
        found++;
        hit += functions[i].count != 0;
    }
    ntr_out_format(out, "FNF:%zu\nFNH:%zu\n", found, hit);
    return at;
}

/* The outcome of a branch in a line that was not executed was not evaluated: '-', not 0. */
static void write_outcome(ntr_out *out, const ntr_cover_line *line, size_t branch, uint64_t count) {
    ntr_out_format(out, "BRDA:%u,0,%zu,", line->line, branch);
    if (line->count)
        ntr_out_dec(out, count);
    else
        ntr_out_char(out, '-');
    ntr_out_char(out, '\n');
}

static void write_branches(ntr_out *out, const ntr_cover_line *lines, size_t count, const ntr_cover_branch *branches) {
    size_t found = 0, hit = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; lines[i].known && k < lines[i].branches; k++) {
            const ntr_cover_branch *branch = &branches[lines[i].first_branch + k];
            write_outcome(out, &lines[i], 2 * k, branch->not_taken);
            write_outcome(out, &lines[i], 2 * k + 1, branch->taken);
            found += 2;
            if (lines[i].count) hit += (size_t)(branch->taken != 0) + (branch->not_taken != 0);
        }
    if (found) ntr_out_format(out, "BRF:%zu\nBRH:%zu\n", found, hit);
}

static void write_lines(ntr_out *out, const ntr_cover_line *lines, size_t count) {
    size_t found = 0, hit = 0;
    for (size_t i = 0; i < count; i++) {
        if (!lines[i].known) continue;
        ntr_out_format(out, "DA:%u,%llu\n", lines[i].line, (unsigned long long)lines[i].count);
        found++;
        hit += lines[i].count != 0;
    }
    ntr_out_format(out, "LF:%zu\nLH:%zu\n", found, hit);
}

/* A group of conditions. lcov names groups of a line by their sizes, and numbers their conditions without gaps. */
typedef struct mcdc_group {
    size_t size, first; /* number of conditions, and of the first one of this decision */
} mcdc_group;

static size_t variables_of(const ntr_decision *d) {
    size_t count = 0;
    for (size_t k = 0; k < d->condition_count; k++) count += !d->conditions[k].constant;
    return count;
}

static bool in_lcov(const ntr_decision *d) {
    return d->condition_count >= 2 && d->state != NTR_COVER_NOT_DETERMINABLE;
}

/* Decisions of one line that have the same number of conditions would be one group: all decisions of that line then are
 * one group. `list` begins at a decision of the line. */
static mcdc_group group_of(const ntr_decision *list, size_t count, size_t index, size_t begin) {
    const ntr_decision *d = &list[index];
    mcdc_group all = {0, 0}, alone = {variables_of(d), 0};
    bool equal = false;
    for (size_t i = begin; i < count && list[i].line == d->line && same_file(list[i].file, d->file); i++) {
        if (!in_lcov(&list[i])) continue;
        size_t size = variables_of(&list[i]);
        for (size_t k = begin; k < i; k++) equal |= in_lcov(&list[k]) && variables_of(&list[k]) == size;
        if (i < index) all.first += size;
        all.size += size;
    }
    return equal ? all : alone;
}

/* Writes a condition with both senses (lcov 2.2): its evaluations with that value in the vectors of its independence
 * pair, 0 without a pair. */
static void write_condition(ntr_out *out, const ntr_decision *d, size_t index, size_t group_size, size_t number) {
    const ntr_condition *c = &d->conditions[index];
    for (unsigned sense = 0; sense < 2; sense++) {
        uint64_t count = 0;
        for (unsigned i = 0; c->covered && i < 2; i++) {
            const ntr_vector *v = &d->vectors[c->pair[i]];
            if (v->values[index] == (sense ? 'F' : 'T')) count += v->count;
        }
        ntr_out_format(out, "MCDC:%u,%zu,%c,%llu,%zu,", d->line, group_size, sense ? 'f' : 't',
                       (unsigned long long)count, number);
        ntr_out_line(out, c->text);
        ntr_out_char(out, '\n');
    }
}

/* Decisions that are not determinable are omitted. */
static void write_mcdc(ntr_out *out, const ntr_decisions *decisions, const char *file) {
    size_t count, found = 0, hit = 0, begin = 0;
    const ntr_decision *list = ntr_decisions_list(decisions, &count);
    for (size_t i = 0; i < count; i++) {
        const ntr_decision *d = &list[i];
        if (list[begin].line != d->line || !same_file(list[begin].file, d->file)) begin = i;
        if (!in_lcov(d) || !same_file(d->file, file)) continue;
        mcdc_group group = group_of(list, count, i, begin);
        size_t number = group.first;
        for (size_t k = 0; k < d->condition_count; k++) {
            if (d->conditions[k].constant) continue;
            write_condition(out, d, k, group.size, number++);
            found += 2;
            hit += d->conditions[k].covered ? 2 : 0;
        }
    }
    if (found) ntr_out_format(out, "MCF:%zu\nMCH:%zu\n", found, hit);
}

static ntr_status end(ntr_export *x) {
    size_t line_count, branch_count, function_count, function = 0;
    const ntr_cover_line *lines = ntr_coverage_lines(x->analysis.coverage, &line_count);
    const ntr_cover_branch *branches = ntr_coverage_branches(x->analysis.coverage, &branch_count);
    const ntr_cover_function *functions = ntr_coverage_functions(x->analysis.coverage, &function_count);
    for (size_t i = 0, next; i < line_count; i = next) {
        const char *file = lines[i].file;
        for (next = i; next < line_count && same_file(lines[next].file, file);) next++;
        while (function < function_count && strcmp(functions[function].file, file) < 0) function++;
        ntr_out_text(&x->out, "TN:\nSF:");
        ntr_out_line(&x->out, file);
        ntr_out_char(&x->out, '\n');
        const lcov_lines own = {file, lines + i, next - i};
        function = write_functions(&x->out, functions, function_count, function, &own);
        write_branches(&x->out, lines + i, next - i, branches);
        if (x->analysis.decisions) write_mcdc(&x->out, x->analysis.decisions, file);
        write_lines(&x->out, lines + i, next - i);
        ntr_out_text(&x->out, "end_of_record\n");
    }
    return NTR_OK;
}

const ntr_exporter ntr_exporter_lcov = {
    .name = "lcov",
    .family = "coverage",
    .summary = "lcov tracefile (genhtml)",
    .aliases = {"info", "genhtml"},
    .needs = NTR_NEEDS_COVERAGE,
    .end = end,
};
