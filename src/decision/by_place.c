#include "decision/builder.h"

#include "base/allocator.h"
#include "base/compare.h"
#include "base/try.h"

#include <stdlib.h>

static int compare_found(const void *a, const void *b) {
    const ntr_found_branch *x = a, *y = b;
    NTR_COMPARE_BY(low);
    NTR_COMPARE_BY(scope);
    NTR_COMPARE_BY(whole);
    NTR_COMPARE_BY(address);
    return 0;
}

static int compare_roots(const void *a, const void *b) {
    const ntr_found_branch *x = a, *y = b;
    NTR_COMPARE_BY(outside);
    NTR_COMPARE_BY(root);
    NTR_COMPARE_BY(address);
    return 0;
}

static int compare_innermost(const void *a, const void *b) {
    const ntr_found_branch *x = a, *y = b;
    NTR_COMPARE_BY(record);
    NTR_COMPARE_BY(address);
    return 0;
}

/* Matches branches that have the same innermost decision. Several decisions with the same extent cannot be distinguished. */
static ntr_status match_by_place(ntr_map_builder *b, const ntr_found_branch *found, size_t count) {
    const ntr_decisions *d = b->decisions;
    const ntr_found_branch *branches[NTR_CANDIDATES_MAX + 1];
    ntr_decision_record *first = d->records[found->record];
    ntr_match match = {0};
    bool single = true;
    for (size_t i = 0; i < count && i <= NTR_CANDIDATES_MAX; i++) branches[i] = &found[i];
    for (size_t i = found->record + 1; i < d->count && d->records[i]->path == first->path; i++) {
        if (d->records[i]->shown.line > first->shown.line) break;
        if (!ntr_extent_equal(&d->records[i]->extent, &first->extent)) continue;
        TRY(ntr_builder_add_copy(b, d->records[i], found, "several decisions, of a macro, have the same place"));
        single = false;
    }
    const char *reason = single ? ntr_builder_try(b, first, branches, count, &match)
                                : "several decisions, of a macro, have the same place";
    /* only gcc without the passes of -O1 is known to compute conditions together and nothing else */
    if (single && reason && b->kind.gnu && (b->kind.plain || b->kind.debug)) {
        const char *grouped = ntr_builder_try_groups(b, first, branches, count, &match);
        if (!grouped) reason = NULL;
    }
    return ntr_builder_keep(b, first, branches, count, &match, reason);
}

/* Branches inside of one outermost decision. */
static ntr_status match_root(ntr_map_builder *b, ntr_found_branch *found, size_t count) {
    bool done = false;
    if (found->whole != found->root) TRY(ntr_builder_in_order(b, found->root, found, count, &done));
    if (done) return NTR_OK;
    if (b->kind.plain && !b->kind.gnu) return ntr_builder_unknown(b, found);
    TRY(ntr_builder_without_branches(b, found, count));
    qsort(found, count, sizeof *found, compare_innermost);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && found[next].record == found[i].record;) next++;
        TRY(match_by_place(b, found + i, next - i));
    }
    return NTR_OK;
}

/* Branches inside of one expression. */
static ntr_status match_whole(ntr_map_builder *b, ntr_found_branch *found, size_t count) {
    bool done;
    TRY(ntr_builder_enter(b, found));
    TRY(ntr_builder_in_order(b, found->whole, found, count, &done));
    if (done) return NTR_OK;
    qsort(found, count, sizeof *found, compare_roots);
    for (size_t i = 0, next; i < count && !found[i].outside; i = next) {
        for (next = i + 1; next < count && !found[next].outside && found[next].root == found[i].root;) next++;
        TRY(match_root(b, found + i, next - i));
    }
    return NTR_OK;
}

ntr_status ntr_builder_match(ntr_map_builder *b) {
    if (b->found_count) qsort(b->found, b->found_count, sizeof *b->found, compare_found);
    for (size_t i = 0, next; i < b->found_count; i = next) {
        ntr_found_branch *first = &b->found[i];
        for (next = i + 1; next < b->found_count; next++) {
            const ntr_found_branch *f = &b->found[next];
            if (f->low != first->low || f->whole != first->whole || f->scope != first->scope) break;
        }
        TRY(match_whole(b, first, next - i));
    }
    return NTR_OK;
}
