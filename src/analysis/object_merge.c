#include "analysis/object_state.h"

#include "base/macros.h"

#include <stdlib.h>
#include <string.h>

static int compare_targets(const void *a, const void *b) {
    const ntr_object_target *x = a, *y = b;
    int order = x->image == y->image ? 0 : strcmp(x->image, y->image);
    if (order) return order;
    NTR_COMPARE_BY(from);
    NTR_COMPARE_BY(to);
    return 0;
}

void ntr_object_merge_targets(ntr_object_coverage *c) {
    size_t kept = 0;
    if (c->target_count) qsort(c->targets, c->target_count, sizeof *c->targets, compare_targets);
    for (size_t i = 0; i < c->target_count; i++) {
        if (kept && compare_targets(&c->targets[kept - 1], &c->targets[i]) == 0)
            c->targets[kept - 1].count += c->targets[i].count;
        else
            c->targets[kept++] = c->targets[i];
    }
    c->target_count = kept;
}

/* ---- merging ----------------------------------------------------------------------------------- */

static int compare_functions(const void *a, const void *b) {
    const ntr_collected_function *x = a, *y = b;
    int order = x->shown.image == y->shown.image ? 0 : strcmp(x->shown.image, y->shown.image);
    if (order) return order;
    NTR_COMPARE_BY(shown.address);
    NTR_COMPARE_BY(first);
    return 0;
}

/* Adds the counts of the same function of another run. Instructions that differ are another version of the code. */
static void merge_insns(ntr_object_coverage *c, const ntr_collected_function *to, const ntr_collected_function *from) {
    ntr_object_insn *x = c->insns + to->first;
    const ntr_object_insn *y = c->insns + from->first;
    size_t i = 0, k = 0;
    while (i < to->shown.insn_count && k < from->shown.insn_count) {
        if (x[i].address < y[k].address) {
            i++;
        } else if (x[i].address > y[k].address) {
            k++;
        } else {
            if (x[i].bits == y[k].bits) {
                x[i].executed += y[k].executed;
                x[i].taken += y[k].taken;
                x[i].not_taken += y[k].not_taken;
            } else {
                x[i].other = true;
            }
            i++, k++;
        }
    }
}

static void sum_function(ntr_object_coverage *c, ntr_collected_function *f) {
    f->shown.insns = c->insns + f->first;
    f->shown.executed = f->shown.outcomes = f->shown.outcomes_seen = 0;
    for (size_t i = 0; i < f->shown.insn_count; i++) {
        const ntr_object_insn *insn = &f->shown.insns[i];
        f->shown.executed += insn->executed != 0;
        if (insn->flow != NTR_FLOW_BRANCH) continue;
        f->shown.outcomes += 2;
        f->shown.outcomes_seen += (uint64_t)(insn->taken != 0) + (insn->not_taken != 0);
    }
}

void ntr_object_merge_functions(ntr_object_coverage *c) {
    size_t kept = 0;
    if (c->function_count) qsort(c->functions, c->function_count, sizeof *c->functions, compare_functions);
    for (size_t i = 0; i < c->function_count; i++) {
        ntr_collected_function *last = kept ? &c->functions[kept - 1] : NULL, *f = &c->functions[i];
        if (last && last->shown.image == f->shown.image && last->shown.address == f->shown.address)
            merge_insns(c, last, f);
        else
            c->functions[kept++] = *f;
    }
    c->function_count = kept;
    for (size_t i = 0; i < kept; i++) sum_function(c, &c->functions[i]);
}
