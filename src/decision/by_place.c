#include "decision/builder.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <stdlib.h>

static int compare_found(const void *a, const void *b) {
    const ntr_found_branch *x = a, *y = b;
    NTR_COMPARE_BY(low);
    NTR_COMPARE_BY(scope);
    NTR_COMPARE_BY(whole);
    NTR_COMPARE_BY(address);
    return 0;
}

static int compare_operands(const void *a, const void *b) {
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

/* Lists branches, without those that only test the result of the others. Returns their number. */
static size_t list_branches(ntr_map_builder *b, const ntr_found_branch *found, size_t count,
                            const ntr_found_branch **branches) {
    const uint64_t retests = b->kind.unoptimized ? 0 : ntr_builder_retests(b, found, count);
    size_t used = 0;
    for (size_t i = 0; i < count && used <= NTR_CANDIDATES_MAX; i++) {
        if (i < NTR_CANDIDATES_MAX && retests >> i & 1)
            b->graph.insns[ntr_graph_at(&b->graph, found[i].address)].joint = true;
        else
            branches[used++] = &found[i];
    }
    return used;
}

/* Matches branches that have the same innermost decision. Several decisions with the same extent cannot be
 * distinguished. */
static ntr_status match_by_place(ntr_map_builder *b, const ntr_found_branch *found, size_t count) {
    const ntr_decisions *d = b->decisions;
    const ntr_found_branch *branches[NTR_CANDIDATES_MAX + 1];
    ntr_decision_record *first = d->records[found->record];
    ntr_match match = {0};
    bool single = true;
    count = list_branches(b, found, count, branches);
    for (size_t i = found->record + 1; i < d->count && d->records[i]->group == first->group; i++) {
        if (d->records[i]->shown.line > first->shown.line) break;
        if (!ntr_extent_equal(&d->records[i]->extent, &first->extent)) continue;
        TRY(ntr_builder_add_copy(b, d->records[i], found, "several decisions, of a macro, have the same place"));
        single = false;
    }
    const char *reason = single ? ntr_builder_try(b, first, branches, count, NULL, &match)
                                : "several decisions, of a macro, have the same place";
    /* only gcc without the passes of -O1 is known to compute conditions together and nothing else */
    if (single && reason && b->kind.gnu && (b->kind.unoptimized || b->kind.debug)) {
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
    if (b->kind.unoptimized && !b->kind.gnu) return ntr_builder_unknown(b, found);
    TRY(ntr_builder_without_branches(b, found, count));
    qsort(found, count, sizeof *found, compare_innermost);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && found[next].record == found[i].record;) next++;
        TRY(match_by_place(b, found + i, next - i));
    }
    return NTR_OK;
}

/* Removes the branches that only skip destructors (cleanups.h). Returns the number of the others. */
static size_t without_cleanups(const ntr_map_builder *b, ntr_found_branch *found, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t at = ntr_graph_at(&b->graph, found[i].address);
        if (at == NTR_GRAPH_OUTSIDE || b->graph.insns[at].flow == NTR_FLOW_BRANCH) found[kept++] = found[i];
    }
    return kept;
}

/* Branches inside of one expression. */
static ntr_status match_whole(ntr_map_builder *b, ntr_found_branch *found, size_t count) {
    bool done;
    TRY(ntr_builder_enter(b, found));
    count = without_cleanups(b, found, count);
    if (!count) return ntr_builder_without_branches(b, found, 0);
    TRY(ntr_builder_in_order(b, found->whole, found, count, &done));
    if (done) return NTR_OK;
    qsort(found, count, sizeof *found, compare_operands);
    for (size_t i = 0, next; i < count && !found[i].outside; i = next) {
        for (next = i + 1; next < count && !found[next].outside && found[next].root == found[i].root;) next++;
        TRY(match_root(b, found + i, next - i));
    }
    return NTR_OK;
}

static int compare_codes(const void *a, const void *b) {
    const ntr_found_code *x = a, *y = b;
    NTR_COMPARE_BY(low);
    NTR_COMPARE_BY(scope);
    NTR_COMPARE_BY(record);
    return 0;
}

/* Adds copies of decisions that have code in an optimized function, or where it is inlined, and no branch there. Such
 * an evaluation leaves no trace, and the other copies do not show it. `codes`: those of one function; `found`: its
 * branches. */
static ntr_status add_computed(ntr_map_builder *b, const ntr_found_code *codes, size_t code_count,
                               const ntr_found_branch *found, size_t count) {
    for (size_t i = 0; i < code_count; i++) {
        const ntr_found_code *c = &codes[i];
        bool branches = i && codes[i - 1].scope == c->scope && codes[i - 1].record == c->record;
        for (size_t k = 0; k < count && !branches; k++)
            branches = found[k].scope == c->scope && found[k].record == c->record;
        if (branches) continue;
        const ntr_found_branch at = {
            .address = c->address, .low = c->low, .high = c->high, .scope = c->scope, .inlined = c->inlined};
        TRY(ntr_builder_enter(b, &at));
        if (b->kind.unoptimized) continue;
        TRY(ntr_builder_add_copy(b, b->decisions->records[c->record], &at,
                                 "it has no branches: the compiler folded or computed it"));
    }
    return NTR_OK;
}

/* Matches the branches of one function. */
static ntr_status match_function(ntr_map_builder *b, ntr_found_branch *found, size_t count) {
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && found[next].whole == found[i].whole && found[next].scope == found[i].scope;)
            next++;
        TRY(match_whole(b, &found[i], next - i));
    }
    return NTR_OK;
}

/* Functions are visited by address. */
ntr_status ntr_builder_match(ntr_map_builder *b) {
    size_t f = 0, c = 0;
    if (b->found_count) qsort(b->found, b->found_count, sizeof *b->found, compare_found);
    if (b->code_count) qsort(b->codes, b->code_count, sizeof *b->codes, compare_codes);
    while (f < b->found_count || c < b->code_count) {
        const size_t first_found = f, first_code = c;
        uint64_t low = f < b->found_count ? b->found[f].low : UINT64_MAX;
        if (c < b->code_count && b->codes[c].low < low) low = b->codes[c].low;
        while (f < b->found_count && b->found[f].low == low) f++;
        while (c < b->code_count && b->codes[c].low == low) c++;
        TRY(match_function(b, b->found + first_found, f - first_found));
        TRY(add_computed(b, b->codes + first_code, c - first_code, b->found + first_found, f - first_found));
    }
    return NTR_OK;
}
