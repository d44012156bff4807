/* lcov tracefile: `lcov` in the form that versions 1.16 and 2.x read, `lcov2` with end lines of functions for 2.x.
 *
 * The format cannot express "not known". Lines that a gap may hide are omitted, because a count of 0 would mean that
 * they were not executed. lcov 2 refuses records that contradict each other; a function was executed exactly when one
 * of its lines was (src/analysis/coverage_ran.c). */
#include "analysis/names.h"
#include "export/export.h"

#include <ntrace/decision.h>
#include <string.h>

static bool same_file(const char *a, const char *b) {
    return a == b || strcmp(a, b) == 0;
}

/* What the two forms of the file differ in. */
typedef struct lcov_form {
    bool end_lines; /* FN:LINE,END,NAME of lcov 2; 1.16 takes END for the name of a function */
} lcov_form;

/* A comma ends the name in lcov 1.16. Names without linkage name, such as those of lambda templates, contain commas. */
static void write_name(ntr_out *out, const char *name, size_t size) {
    char part[256];
    for (size_t at = 0, used; at < size; at += used) {
        used = size - at < sizeof part ? size - at : sizeof part - 1;
        memcpy(part, name + at, used);
        part[used] = '\0';
        for (char *c = part; (c = strchr(c, ','));) *c = ';';
        ntr_out_line(out, part);
    }
}

/* "{lambda(" in a name tells lcov 2 that the function lies inside of another one, and may not be executed when its
 * first line is. Linkage names do not have it. */
static void write_function_name(ntr_out *out, const ntr_cover_function *f) {
    static const char at[] = "{lambda at ", known[] = "{lambda(";
    const char *lambda = NULL;
    const size_t size = ntr_name_lambda(f->name, &lambda);
    if (!size) {
        write_name(out, f->linkage, strlen(f->linkage));
    } else if (strncmp(lambda, known, strlen(known)) == 0) {
        write_name(out, f->name, strlen(f->name));
    } else {
        const size_t skip = strncmp(lambda, at, strlen(at)) == 0 ? strlen(at) : 0;
        write_name(out, f->name, (size_t)(lambda - f->name));
        ntr_out_text(out, known);
        write_name(out, lambda + skip, size - skip - (*lambda == '{'));
        ntr_out_text(out, ")}");
        write_name(out, lambda + size, strlen(lambda + size));
    }
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

/* All functions, and where they end. */
typedef struct lcov_functions {
    const ntr_cover_function *items;
    const uint32_t *ends;
    size_t count;
} lcov_functions;

/* Functions in one line are one function with several names in lcov, and end together. A function that was not executed
 * ends before one of its lines that was: that is of a function which begins in between. */
static uint32_t last_line(const lcov_functions *functions, size_t index, const lcov_lines *lines) {
    const uint32_t line = first_line(lines, functions->items[index].line);
    uint32_t end = line;
    bool hit = false;
    while (index > 0 && same_file(functions->items[index - 1].file, lines->file) &&
           first_line(lines, functions->items[index - 1].line) == line)
        index--;
    for (size_t i = index; i < functions->count && same_file(functions->items[i].file, lines->file) &&
                           first_line(lines, functions->items[i].line) == line;
         i++) {
        if (functions->ends[i] > end) end = functions->ends[i];
        hit |= functions->items[i].count != 0;
    }
    for (size_t i = 0; !hit && i < lines->count && lines->items[i].line <= end; i++)
        if (lines->items[i].line > line && lines->items[i].count) end = lines->items[i].line - 1;
    return end;
}

/* lcov 2 takes {lambda( for a lambda in files with these endings alone, and refuses any other function that was not
 * executed when its first line was: a lambda in a header of C++, which has no ending, is left out, and so is one whose
 * name cannot be demangled. */
static bool is_listed(const ntr_cover_function *f) {
    static const char endings[] = ".c.h.i.C.H.I.icc.cpp.cc.cxx.hh.hpp.hxx.";
    const char *part, *dot = strrchr(f->file, '.'), *found = dot && !strchr(dot, '/') ? strstr(endings, dot) : NULL;
    const bool is_source = found && found[strlen(dot)] == '.';
    if (ntr_name_lambda(f->name, &part)) return f->known && (f->count || is_source);
    return f->known && (f->count || !ntr_linkage_is_lambda(f->linkage));
}

/* Writes FN and FNDA of the functions from index `at` that are in the file. Returns the index of the next function. */
static size_t write_functions(ntr_out *out, const lcov_functions *functions, size_t at, const lcov_lines *lines,
                              const lcov_form *form) {
    size_t first = at, found = 0, hit = 0;
    for (; at < functions->count && same_file(functions->items[at].file, lines->file); at++) {
        if (!is_listed(&functions->items[at])) continue;
        ntr_out_format(out, "FN:%u,", first_line(lines, functions->items[at].line));
        if (form->end_lines) ntr_out_format(out, "%u,", last_line(functions, at, lines));
        write_function_name(out, &functions->items[at]);
    }
    for (size_t i = first; i < at; i++) {
        const ntr_cover_function *f = &functions->items[i];
        if (!is_listed(f)) continue;
        ntr_out_format(out, "FNDA:%llu,", (unsigned long long)f->count);
        write_function_name(out, f);
        found++;
        hit += f->count != 0;
    }
    ntr_out_format(out, "FNF:%zu\nFNH:%zu\n", found, hit);
    return at;
}

/* A branch that was not executed was not evaluated: '-', not 0. */
static void write_branch(ntr_out *out, const ntr_cover_branch *branch, size_t number) {
    const uint64_t counts[] = {branch->not_taken, branch->taken};
    for (size_t i = 0; i < 2; i++) {
        ntr_out_format(out, "BRDA:%u,0,%zu,", branch->line, 2 * number + i);
        if (counts[0] || counts[1])
            ntr_out_dec(out, counts[i]);
        else
            ntr_out_char(out, '-');
        ntr_out_char(out, '\n');
    }
}

/* lcov 2 refuses a file in which a line was executed and no branch of it was evaluated. That happens when the branches
 * are of copies of inlined code that were not executed, or when a call before them did not return. */
static bool has_branches(const ntr_cover_line *line, const ntr_cover_branch *branches) {
    bool evaluated = false;
    for (size_t k = 0; k < line->branches; k++) {
        const ntr_cover_branch *branch = &branches[line->first_branch + k];
        evaluated |= branch->taken || branch->not_taken;
    }
    return line->known && (evaluated || !line->count);
}

static void write_branches(ntr_out *out, const ntr_cover_line *lines, size_t count, const ntr_cover_branch *branches) {
    size_t found = 0, hit = 0;
    for (size_t i = 0; i < count; i++) {
        if (!has_branches(&lines[i], branches)) continue;
        for (size_t k = 0; k < lines[i].branches; k++) {
            const ntr_cover_branch *branch = &branches[lines[i].first_branch + k];
            write_branch(out, branch, k);
            found += 2;
            hit += (size_t)(branch->taken != 0) + (branch->not_taken != 0);
        }
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

/* lcov has no state for "not known": also a decision of which the pair of one condition is not known is left out. */
static bool in_lcov(const ntr_decision *d) {
    bool known = d->state != NTR_COVER_NOT_DETERMINABLE;
    for (size_t i = 0; i < d->condition_count && known; i++) known = !d->conditions[i].open;
    return d->condition_count >= 2 && known;
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

/* lcov takes letters, digits and '_' in the name of a test. */
static void write_test(ntr_out *out, const char *name) {
    ntr_out_text(out, "TN:");
    for (; name && *name; name++) {
        const bool word =
            (*name >= '0' && *name <= '9') || (*name >= 'A' && *name <= 'Z') || (*name >= 'a' && *name <= 'z');
        ntr_out_char(out, word ? *name : '_');
    }
    ntr_out_char(out, '\n');
}

static ntr_status write_all(ntr_export *x, const lcov_form *form) {
    size_t line_count, branch_count, function = 0;
    const ntr_cover_line *lines = ntr_coverage_lines(x->analysis.coverage, &line_count);
    const ntr_cover_branch *branches = ntr_coverage_branches(x->analysis.coverage, &branch_count);
    lcov_functions functions = {.ends = ntr_coverage_function_ends(x->analysis.coverage)};
    functions.items = ntr_coverage_functions(x->analysis.coverage, &functions.count);
    for (size_t i = 0, next; i < line_count; i = next) {
        const char *file = lines[i].file;
        for (next = i; next < line_count && same_file(lines[next].file, file);) next++;
        while (function < functions.count && strcmp(functions.items[function].file, file) < 0) function++;
        write_test(&x->out, x->analysis.test);
        ntr_out_text(&x->out, "SF:");
        ntr_out_line(&x->out, file);
        ntr_out_char(&x->out, '\n');
        const lcov_lines own = {file, lines + i, next - i};
        function = write_functions(&x->out, &functions, function, &own, form);
        write_branches(&x->out, lines + i, next - i, branches);
        if (x->analysis.decisions) write_mcdc(&x->out, x->analysis.decisions, file);
        write_lines(&x->out, lines + i, next - i);
        ntr_out_text(&x->out, "end_of_record\n");
    }
    return NTR_OK;
}

static ntr_status end(ntr_export *x) {
    return write_all(x, &(lcov_form){.end_lines = false});
}

static ntr_status end_lcov2(ntr_export *x) {
    return write_all(x, &(lcov_form){.end_lines = true});
}

const ntr_exporter ntr_exporter_lcov = {
    .name = "lcov",
    .family = "coverage",
    .summary = "lcov tracefile (genhtml)",
    .aliases = {"info", "genhtml"},
    .needs = NTR_NEEDS_COVERAGE,
    .end = end,
};

const ntr_exporter ntr_exporter_lcov2 = {
    .name = "lcov2",
    .family = "coverage",
    .summary = "lcov tracefile of lcov 2, with end lines of functions",
    .needs = NTR_NEEDS_COVERAGE,
    .end = end_lcov2,
};
