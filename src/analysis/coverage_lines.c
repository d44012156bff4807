/* What the functions of a run add to their lines.
 *
 * gcov adds the counts of all functions on a line. For llvm-cov, the count is the greatest of them. Instances of one
 * template are one function there: their counts are added, and so are those of copies. */
#include "analysis/coverage_state.h"
#include "analysis/names.h"
#include "base/allocator.h"
#include "base/macros.h"

#include <stdlib.h>
#include <string.h>

static void add_to(added_line *x, const added_line *y) {
    ntr_cover_line *line = &x->line;
    line->count += y->line.count;
    line->known = line->count || (line->known && y->line.known);
}

static bool same_kind(const added_line *x, const added_line *y) {
    return x->line.line == y->line.line && x->owner == y->owner && x->by_llvm == y->by_llvm &&
           x->contained == y->contained && x->empty == y->empty && x->brace == y->brace && x->function == y->function &&
           x->line.only_end == y->line.only_end && x->line.file == y->line.file;
}

ntr_status ntr_coverage_add_line(ntr_coverage *c, const added_line *added) {
    added_line *last = c->added_count ? &c->added[c->added_count - 1] : NULL;
    if (last && same_kind(last, added)) {
        add_to(last, added);
        return NTR_OK;
    }
    if (ntr_reserve(c->allocator, (void **)&c->added, &c->added_capacity, c->added_count + 1, sizeof *c->added))
        return NTR_E_MEMORY;
    c->added[c->added_count++] = *added;
    return NTR_OK;
}

static int compare(const void *a, const void *b) {
    const added_line *x = a, *y = b;
    if (x->line.file != y->line.file) return strcmp(x->line.file, y->line.file);
    NTR_COMPARE_BY(line.line);
    NTR_COMPARE_BY(by_llvm);
    if (x->owner != y->owner) return !x->owner ? -1 : !y->owner ? 1 : strcmp(x->owner, y->owner);
    NTR_COMPARE_BY(declared);
    return 0;
}

/* Returns whether another function is declared on the same line, such as another instance of a template. gcov counts
 * these separately. */
static bool is_in_group(const added_line *items, size_t count, const added_line *item) {
    for (size_t i = 0; i < count && item->declared; i++)
        if (items[i].declared == item->declared && items[i].function != item->function) return true;
    return false;
}

/* Returns the sum of what functions of gcov's rule add to one line. gcov does not count ends of functions: they count
 * only where the line contains nothing else. Where a block belongs to the line, blocks of other functions that only
 * contain it do not count, such as the head of a lambda whose body is on the next line. */
static ntr_cover_line sum_of(const added_line *items, size_t count) {
    bool statement = false, block = false;
    for (size_t i = 0; i < count; i++) statement |= !items[i].line.only_end;
    for (size_t i = 0; i < count; i++) block |= !items[i].line.only_end && !items[i].contained;
    ntr_cover_line sum = {.file = items->line.file, .line = items->line.line, .known = true, .only_end = !statement};
    for (size_t i = 0; i < count; i++) {
        if (statement && items[i].line.only_end) continue;
        if (block && items[i].contained && !is_in_group(items, count, &items[i])) continue;
        sum.count += items[i].line.count;
        sum.known &= items[i].line.known;
    }
    sum.known |= sum.count != 0;
    return sum;
}

static bool same_function(const added_line *x, const added_line *y) {
    return x->owner == y->owner && x->declared == y->declared;
}

/* Stores the greatest sum of one function; items are sorted by function. A function whose body a macro has counts only
 * where the line has no other one, and instances without code on the line where another one has some. Returns whether
 * the line has code. */
static bool greatest_of(const added_line *items, size_t count, ntr_cover_line *most) {
    bool body = false, any = false;
    for (size_t i = 0; i < count; i++) body |= !items[i].contained && !items[i].empty;
    *most = items->line;
    most->count = 0;
    most->known = true;
    for (size_t i = 0, end; i < count; i = end) {
        uint64_t sum = 0;
        bool code = false;
        for (end = i; end < count && same_function(&items[end], &items[i]); end++) {
            code |= !items[end].empty || items[end].brace;
            any |= !items[end].empty;
            if (body && items[end].contained) continue;
            sum += items[end].line.count;
            most->known &= items[end].line.known;
        }
        if (code && sum > most->count) most->count = sum;
    }
    most->known |= most->count != 0;
    return any;
}

ntr_status ntr_coverage_join_lines(ntr_coverage *c) {
    if (c->added_count) qsort(c->added, c->added_count, sizeof *c->added, compare);
    for (size_t i = 0, end; i < c->added_count; i = end) {
        const added_line *first = &c->added[i];
        for (end = i + 1; end < c->added_count; end++) {
            const added_line *next = &c->added[end];
            if (next->line.file != first->line.file || next->line.line != first->line.line) break;
            if (next->by_llvm != first->by_llvm) break;
        }
        if (ntr_reserve(c->allocator, (void **)&c->lines, &c->line_capacity, c->line_count + 1, sizeof *c->lines))
            return NTR_E_MEMORY;
        ntr_cover_line *line = &c->lines[c->line_count];
        if (!first->by_llvm) *line = sum_of(first, end - i);
        if (!first->by_llvm || greatest_of(first, end - i, line)) c->line_count++;
    }
    c->added_count = 0;
    return NTR_OK;
}
