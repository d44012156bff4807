/* Calls of the report: callers and callees of the functions that it lists. Call sites of the same two functions are
 * one call. */
#include "export/pages/report_parts.h"

#include "base/allocator.h"
#include "export/stacks.h"

#include <stdlib.h>

/* A function of the list, found by the strings and numbers that its row has from the table of functions. */
typedef struct listed_row {
    const char *name; /* compared as a pointer */
    uint64_t address;
    uint32_t row;
} listed_row;

static int compare_listed(const void *a, const void *b) {
    const listed_row *x = a, *y = b;
    if (x->name != y->name) return (uintptr_t)x->name < (uintptr_t)y->name ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

static int compare_cost(const void *a, const void *b) {
    const ntr_arc *x = a, *y = b;
    return x->inclusive < y->inclusive   ? 1
           : x->inclusive > y->inclusive ? -1
           : x->site < y->site           ? -1
                                         : x->site > y->site;
}

/* Returns the row of a function, or UINT32_MAX. */
static uint32_t row_of(const ntr_export *x, const listed_row *list, size_t count, uint32_t number) {
    const ntr_function *function = ntr_functions_get(x->analysis.functions, number);
    if (!function || !count) return UINT32_MAX;
    const listed_row key = {.name = function->name, .address = function->low}, *found;
    found = bsearch(&key, list, count, sizeof *list, compare_listed);
    return found ? found->row : UINT32_MAX;
}

/* Sums call sites of the same two functions. The instructions of recursive calls from several sites overlap: a sum is
 * at most the total of the callee. The list is then sorted by instructions. */
static void merge_sites(ntr_arcs *arcs, const ntr_call_sum *sums) {
    size_t kept = 0;
    for (size_t i = 0; i < arcs->count; i++) {
        ntr_arc *last = kept ? &arcs->items[kept - 1] : NULL, *arc = &arcs->items[i];
        if (last && last->caller == arc->caller && last->callee == arc->callee) {
            last->calls += arc->calls;
            last->inclusive += arc->inclusive;
        } else {
            arcs->items[kept++] = *arc;
        }
        const uint64_t most = sums[arc->callee].total_instructions;
        if (arcs->items[kept - 1].inclusive > most) arcs->items[kept - 1].inclusive = most;
    }
    arcs->count = kept;
    if (kept) qsort(arcs->items, kept, sizeof *arcs->items, compare_cost);
}

static void write_calls(ntr_export *x, const ntr_arcs *arcs, const listed_row *list, size_t count) {
    size_t written = 0;
    for (size_t i = 0; i < arcs->count && written < NTR_REPORT_CALLS; i++) {
        const ntr_arc *arc = &arcs->items[i];
        const uint32_t callee = row_of(x, list, count, arc->callee);
        const uint32_t caller = arc->caller == UINT32_MAX ? UINT32_MAX : row_of(x, list, count, arc->caller);
        if (callee == UINT32_MAX || caller == UINT32_MAX || arc->calls == 0) continue;
        ntr_out_format(&x->out, "%s[%u,%u,%llu,%llu]", written++ ? "," : "", (unsigned)caller, (unsigned)callee,
                       (unsigned long long)arc->calls, (unsigned long long)arc->inclusive);
    }
}

ntr_status ntr_report_calls(ntr_export *x, const ntr_profile_row *rows, size_t count) {
    size_t functions = 0;
    ntr_arcs arcs = {0};
    while (ntr_functions_get(x->analysis.functions, (uint32_t)functions)) functions++;
    listed_row *list = ntr_alloc(x->allocator, count + 1, sizeof *list);
    ntr_call_sum *sums = ntr_alloc(x->allocator, functions + 1, sizeof *sums);
    ntr_status status = list && sums ? ntr_arcs_make(&arcs, x) : NTR_E_MEMORY;
    if (!status) {
        for (size_t i = 0; i < count; i++) list[i] = (listed_row){rows[i].name, rows[i].address, (uint32_t)i};
        if (count) qsort(list, count, sizeof *list, compare_listed);
        ntr_calltree_sums(x->analysis.tree, sums, functions);
        merge_sites(&arcs, sums);
        write_calls(x, &arcs, list, count);
        ntr_arcs_release(&arcs);
    }
    ntr_dealloc(x->allocator, sums);
    ntr_dealloc(x->allocator, list);
    return status;
}
