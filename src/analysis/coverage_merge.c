/* Adding the coverage of one build to that of another one. The functions tell how the lines of the two correspond. */
#include <ntrace/coverage.h>

#include "analysis/coverage_state.h"
#include "base/allocator.h"

#include <string.h>

/* Returns the index of the first function of a file, in the order of (file, line). */
static size_t first_function(const ntr_coverage *c, const char *file) {
    size_t low = 0, high = c->function_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(c->functions[middle].file, file) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_of_file(const ntr_coverage *c, size_t index, const char *file) {
    return index < c->function_count && strcmp(c->functions[index].file, file) == 0;
}

/* Returns the only function of a file with this linkage name; NULL: there is none, or several. */
static const ntr_cover_function *only_function(const ntr_coverage *c, const ntr_cover_function *like) {
    const ntr_cover_function *found = NULL;
    for (size_t i = first_function(c, like->file); is_of_file(c, i, like->file); i++) {
        if (strcmp(c->functions[i].linkage, like->linkage) != 0) continue;
        if (found) return NULL;
        found = &c->functions[i];
    }
    return found;
}

/* The lines of a function: [first, end) of the lines of the coverage. */
typedef struct line_range {
    size_t first, end;
} line_range;

static size_t first_line(const ntr_coverage *c, const char *file, uint32_t line) {
    size_t low = 0, high = c->line_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const int order = strcmp(c->lines[middle].file, file);
        if (order < 0 || (order == 0 && c->lines[middle].line < line))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static line_range lines_of(const ntr_coverage *c, const ntr_cover_function *f) {
    size_t next = (size_t)(f - c->functions) + 1;
    while (is_of_file(c, next, f->file) && c->functions[next].line == f->line) next++;
    const uint32_t end = is_of_file(c, next, f->file) ? c->functions[next].line : UINT32_MAX;
    return (line_range){first_line(c, f->file, f->line), first_line(c, f->file, end)};
}

/* Returns whether the same lines of a function have code in both, and as many branches. */
static bool same_lines(const ntr_coverage *a, const ntr_cover_function *x, const ntr_coverage *b,
                       const ntr_cover_function *y) {
    const line_range from = lines_of(a, x), to = lines_of(b, y);
    if (from.end - from.first != to.end - to.first) return false;
    for (size_t i = 0; i < from.end - from.first; i++) {
        const ntr_cover_line *one = &a->lines[from.first + i], *other = &b->lines[to.first + i];
        if (one->line - x->line != other->line - y->line || one->branches != other->branches) return false;
    }
    return true;
}

/* What becomes of a function and its lines. */
typedef struct fate {
    const ntr_cover_function *other; /* the same function of the coverage to which is added; NULL: there is none */
    bool moved, changed;
} fate;

static fate fate_of(const ntr_coverage *to, const ntr_coverage *from, const ntr_cover_function *f) {
    fate found = {only_function(to, f), false, false};
    if (!found.other || only_function(from, f) != f) return (fate){0};
    found.moved = found.other->line != f->line;
    found.changed = !same_lines(from, f, to, found.other);
    return found;
}

static void note_fate(ntr_cover_merge *result, const ntr_cover_function *f, const fate *found) {
    result->moved += found->moved && !found->changed;
    result->changed += found->changed;
    const bool first_moved = found->moved && result->line == result->other_line;
    if (!first_moved && (result->function || !found->changed)) return;
    result->file = f->file;
    result->function = f->name;
    result->line = f->line;
    result->other_line = found->other->line;
}

/* Moves the lines and branches [first, end) of a function to where the other build has them. Branches have the
 * addresses of the other build. */
static void move_lines(const ntr_coverage *to, ntr_coverage *from, const line_range *range, const fate *found,
                       uint32_t line) {
    const line_range there = lines_of(to, found->other);
    for (size_t i = range->first; i < range->end; i++) {
        ntr_cover_line *item = &from->lines[i];
        const ntr_cover_line *other = &to->lines[there.first + i - range->first];
        for (size_t k = 0; k < item->branches; k++) {
            from->branches[item->first_branch + k].line += found->other->line - line;
            from->branches[item->first_branch + k].address = to->branches[other->first_branch + k].address;
        }
        item->line += found->other->line - line;
    }
}

/* Marks what is of a function that has changed: a line of 0 is no line. */
static void drop_lines(ntr_coverage *from, const line_range *range) {
    for (size_t i = range->first; i < range->end; i++) {
        for (size_t k = 0; k < from->lines[i].branches; k++) from->branches[from->lines[i].first_branch + k].line = 0;
        from->lines[i].line = 0;
    }
}

static void map_functions(const ntr_coverage *to, ntr_coverage *from, fate *fates, line_range *ranges) {
    for (size_t i = 0; i < from->function_count; i++) {
        ntr_cover_function *f = &from->functions[i];
        if (!fates[i].moved && !fates[i].changed) continue;
        const bool shared = i && is_of_file(from, i - 1, f->file) && ranges[i - 1].first == ranges[i].first;
        if (!shared && fates[i].changed) drop_lines(from, &ranges[i]);
        if (!shared && !fates[i].changed) move_lines(to, from, &ranges[i], &fates[i], f->line);
    }
    for (size_t i = 0; i < from->function_count; i++) {
        if (fates[i].moved) from->functions[i].line = fates[i].other->line;
        if (fates[i].changed) from->functions[i].line = 0;
    }
}

static void make_fates(const ntr_coverage *to, const ntr_coverage *from, fate *fates, line_range *ranges,
                       ntr_cover_merge *result) {
    for (size_t i = 0; i < from->function_count; i++) {
        const ntr_cover_function *f = &from->functions[i];
        fates[i] = fate_of(to, from, f);
        ranges[i] = lines_of(from, f);
        if (fates[i].moved || fates[i].changed) note_fate(result, f, &fates[i]);
    }
}

/* Appends copies of what has a line. */
static ntr_status append(ntr_coverage *to, const ntr_coverage *from) {
    if (ntr_reserve(to->allocator, (void **)&to->lines, &to->line_capacity, to->line_count + from->line_count,
                    sizeof *to->lines) ||
        ntr_reserve(to->allocator, (void **)&to->branches, &to->branch_capacity, to->branch_count + from->branch_count,
                    sizeof *to->branches) ||
        ntr_reserve(to->allocator, (void **)&to->functions, &to->function_capacity,
                    to->function_count + from->function_count, sizeof *to->functions) ||
        ntr_reserve(to->allocator, (void **)&to->extents, &to->extent_capacity, to->extent_count + from->extent_count,
                    sizeof *to->extents))
        return NTR_E_MEMORY;
    for (size_t i = 0; i < from->line_count; i++) {
        ntr_cover_line line = from->lines[i];
        if (line.line && !(line.file = ntr_texts_keep(&to->texts, line.file))) return NTR_E_MEMORY;
        if (line.line) to->lines[to->line_count++] = line;
    }
    for (size_t i = 0; i < from->branch_count; i++) {
        ntr_cover_branch branch = from->branches[i];
        if (branch.line && !(branch.file = ntr_texts_keep(&to->texts, branch.file))) return NTR_E_MEMORY;
        if (branch.line) to->branches[to->branch_count++] = branch;
    }
    for (size_t i = 0; i < from->function_count; i++) {
        ntr_cover_function f = from->functions[i];
        f.file = ntr_texts_keep(&to->texts, f.file);
        f.name = ntr_texts_keep(&to->texts, f.name);
        f.linkage = ntr_texts_keep(&to->texts, f.linkage);
        if (!f.file || !f.name || !f.linkage) return NTR_E_MEMORY;
        if (f.line) to->functions[to->function_count++] = f;
    }
    for (size_t i = 0; i < from->extent_count; i++) {
        cover_extent extent = from->extents[i];
        extent.file = ntr_texts_keep(&to->texts, extent.file);
        extent.linkage = ntr_texts_keep(&to->texts, extent.linkage);
        if (!extent.file || !extent.linkage) return NTR_E_MEMORY;
        to->extents[to->extent_count++] = extent;
    }
    to->gaps += from->gaps;
    to->rules |= from->rules;
    return ntr_coverage_settle(to);
}

/* ---- lines that do not count -------------------------------------------------------------------- */

static void remove_branches(ntr_coverage *c, const ntr_cover_line *line, ntr_cover_sums *removed) {
    for (size_t k = 0; k < line->branches; k++) {
        ntr_cover_branch *branch = &c->branches[line->first_branch + k];
        removed->branches += 2;
        removed->branches_hit += (uint64_t)(branch->taken != 0) + (branch->not_taken != 0);
        branch->line = 0;
    }
}

/* Moves what has a line to the front. */
static void close_gaps(ntr_coverage *c) {
    size_t lines = 0, branches = 0, functions = 0;
    for (size_t i = 0; i < c->line_count; i++)
        if (c->lines[i].line) c->lines[lines++] = c->lines[i];
    for (size_t i = 0; i < c->branch_count; i++)
        if (c->branches[i].line) c->branches[branches++] = c->branches[i];
    for (size_t i = 0; i < c->function_count; i++)
        if (c->functions[i].line) c->functions[functions++] = c->functions[i];
    c->line_count = lines;
    c->branch_count = branches;
    c->function_count = functions;
}

ntr_status ntr_coverage_remove(ntr_coverage *c, unsigned (*judge)(void *user, const char *file, uint32_t line),
                               void *user, ntr_cover_sums *removed) {
    *removed = (ntr_cover_sums){0};
    for (size_t i = 0; i < c->line_count; i++) {
        ntr_cover_line *line = &c->lines[i];
        const unsigned what = judge(user, line->file, line->line);
        if (what) remove_branches(c, line, removed);
        if (!(what & NTR_COVER_REMOVE_LINE)) continue;
        removed->lines++;
        removed->lines_hit += line->count != 0;
        removed->lines_unknown += !line->known;
        line->line = 0;
    }
    for (size_t i = 0; i < c->function_count; i++) {
        ntr_cover_function *f = &c->functions[i];
        if (!(judge(user, f->file, f->line) & NTR_COVER_REMOVE_LINE)) continue;
        removed->functions++;
        removed->functions_hit += f->count != 0;
        removed->functions_unknown += !f->known;
        f->line = 0;
    }
    close_gaps(c);
    return ntr_coverage_settle(c);
}

ntr_status ntr_coverage_merge(ntr_coverage *to, ntr_coverage *from, bool other_builds, ntr_cover_merge *result) {
    const size_t count = from->function_count;
    fate *fates = ntr_alloc(to->allocator, count + 1, sizeof *fates);
    line_range *ranges = ntr_alloc(to->allocator, count + 1, sizeof *ranges);
    ntr_status status = fates && ranges ? NTR_OK : NTR_E_MEMORY;
    *result = (ntr_cover_merge){0};
    if (!status) make_fates(to, from, fates, ranges, result);
    if (!status && result->line != result->other_line && !other_builds) status = NTR_E_STATE;
    if (!status && other_builds) map_functions(to, from, fates, ranges);
    if (!status) status = append(to, from);
    ntr_dealloc(to->allocator, fates);
    ntr_dealloc(to->allocator, ranges);
    return status;
}
