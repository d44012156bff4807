#include <ntrace/profile.h>

#include "analysis/profile_rows.h"
#include "base/allocator.h"

#include <stdlib.h>
#include <string.h>

/* State of ntr_profile_make. */
typedef struct profile_builder {
    ntr_profile *profile;
    size_t capacity;
    const ntr_program *program;
    ntr_debug_info *debug;
    ntr_functions *functions;
    const ntr_calltree *tree;
    ntr_tally *tally;
} profile_builder;

static ntr_profile_row *add(profile_builder *m) {
    return ntr_profile_add(m->profile, &m->capacity);
}

static ntr_status by_function(profile_builder *m) {
    size_t count = 0;
    while (ntr_functions_get(m->functions, (uint32_t)count)) count++;
    ntr_call_sum *sums = ntr_alloc(m->profile->allocator, count, sizeof *sums);
    if (!sums) return NTR_E_MEMORY;
    ntr_calltree_sums(m->tree, sums, count);
    ntr_status status = NTR_OK;
    for (size_t i = 0; i < count; i++) {
        if (sums[i].calls == 0 && sums[i].self_instructions == 0) continue;
        const ntr_function *function = ntr_functions_get(m->functions, (uint32_t)i);
        ntr_profile_row *row = add(m);
        if (!row) {
            status = NTR_E_MEMORY;
            break;
        }
        *row = ntr_profile_function_row(function);
        row->self = sums[i].self_instructions;
        row->total = sums[i].total_instructions;
        row->self_ticks = sums[i].self_ticks;
        row->total_ticks = sums[i].total_ticks;
        row->calls = sums[i].calls;
    }
    ntr_dealloc(m->profile->allocator, sums);
    return status;
}

static ntr_status by_instruction(profile_builder *m) {
    ntr_insn_count *counts = NULL;
    size_t count = 0;
    ntr_status status = ntr_tally_instructions(m->tally, m->program, UINT32_MAX, &counts, &count);
    for (size_t i = 0; !status && i < count; i++) {
        ntr_frame frames[NTR_FRAMES_MAX];
        size_t depth =
            ntr_debug_info_frames(m->debug, ntr_tally_count_place(m->tally, &counts[i]), frames, NTR_FRAMES_MAX);
        ntr_profile_row *row = add(m);
        if (!row) {
            status = NTR_E_MEMORY;
            break;
        }
        *row = (ntr_profile_row){
            .address = counts[i].address,
            .self = counts[i].executed,
            .total = counts[i].executed,
            .self_ticks = counts[i].ticks,
            .total_ticks = counts[i].ticks,
            .calls = counts[i].executed,
        };
        if (depth == 0) continue;
        row->name = frames[0].function;
        row->file = frames[0].file;
        row->line = frames[0].line;
        row->image = frames[0].image;
    }
    ntr_tally_free_counts(m->tally, counts);
    return status;
}

static int order_text(const char *a, const char *b) {
    if (!a || !b) return (a != NULL) - (b != NULL);
    return strcmp(a, b);
}

static int compare_lines(const void *a, const void *b) {
    const ntr_profile_row *x = a, *y = b;
    int order = order_text(x->file, y->file);
    if (order) return order;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return order_text(x->name, y->name);
}

/* Merges the instructions of one line and function to one row. */
static ntr_status by_line(profile_builder *m) {
    ntr_status status = by_instruction(m);
    if (status) return status;
    ntr_profile *p = m->profile;
    size_t kept = 0;
    if (p->count) qsort(p->rows, p->count, sizeof *p->rows, compare_lines);
    for (size_t i = 0; i < p->count; i++) {
        if (kept && compare_lines(&p->rows[kept - 1], &p->rows[i]) == 0) {
            p->rows[kept - 1].self += p->rows[i].self;
            p->rows[kept - 1].total += p->rows[i].total;
            p->rows[kept - 1].self_ticks += p->rows[i].self_ticks;
            p->rows[kept - 1].total_ticks += p->rows[i].total_ticks;
        } else {
            p->rows[kept] = p->rows[i];
            p->rows[kept++].calls = 0;
        }
    }
    p->count = kept;
    return NTR_OK;
}

/* Creates one row per view, or one per source. */
static ntr_status by_view(profile_builder *m, bool per_context) {
    size_t count;
    const ntr_tally_row *rows = ntr_tally_rows(m->tally, &count);
    ntr_profile *p = m->profile;
    for (size_t i = 0; i < count; i++) {
        const ntr_tally_view_info *view = ntr_tally_view(m->tally, rows[i].view);
        size_t at = 0;
        while (at < p->count && (p->rows[at].src != view->src || (per_context && p->rows[at].address != rows[i].view)))
            at++;
        if (at == p->count) {
            if (!add(m)) return NTR_E_MEMORY;
            p->rows[at].src = view->src;
            p->rows[at].context = view->context;
            p->rows[at].address = rows[i].view;
        }
        p->rows[at].self += rows[i].count * rows[i].instructions;
        p->rows[at].total = p->rows[at].self;
        p->rows[at].self_ticks += rows[i].ticks;
        p->rows[at].total_ticks = p->rows[at].self_ticks;
    }
    for (size_t i = 0; i < p->count; i++) p->rows[i].address = 0;
    return NTR_OK;
}

ntr_status ntr_profile_make(ntr_profile *profile, ntr_profile_by by, const ntr_program *program, ntr_debug_info *debug,
                            ntr_functions *functions, const ntr_calltree *tree, ntr_tally *tally,
                            const ntr_allocator *allocator) {
    profile_builder m = {
        .profile = profile, .program = program, .debug = debug, .functions = functions, .tree = tree, .tally = tally};
    ntr_status status = NTR_E_INVALID;
    *profile = (ntr_profile){.allocator = allocator};
    if (by == NTR_PROFILE_FUNCTION || by == NTR_PROFILE_IMAGE ? !tree : !tally) return NTR_E_INVALID;
    switch (by) {
    case NTR_PROFILE_FUNCTION: status = by_function(&m); break;
    case NTR_PROFILE_LINE: status = by_line(&m); break;
    case NTR_PROFILE_INSTRUCTION: status = by_instruction(&m); break;
    case NTR_PROFILE_HART: status = by_view(&m, false); break;
    case NTR_PROFILE_CONTEXT: status = by_view(&m, true); break;
    case NTR_PROFILE_IMAGE: status = ntr_profile_images(profile, functions, tree); break;
    case NTR_PROFILE_PROCESS:
    case NTR_PROFILE_THREAD:
    case NTR_PROFILE_MODE:
    case NTR_PROFILE_INTERRUPT: return NTR_E_INVALID;
    }
    return ntr_profile_finish(profile, status);
}
