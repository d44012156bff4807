/* Walking without events: totals only. */
#include "flow/walk.h"

static void count(ntr_counts *counts, ntr_place *p, const ntr_block *b, const ntr_step *step) {
    counts->spans++;
    counts->instructions += p->run.instructions + b->instructions;
    counts->halfwords += p->run.halfwords + b->halfwords;
    counts->branches += step->end == NTR_END_TAKEN || step->end == NTR_END_NOT_TAKEN;
    counts->taken += step->end == NTR_END_TAKEN;
    counts->calls += step->end == NTR_END_CALL || step->end == NTR_END_INDIRECT_CALL;
    counts->returns += step->end == NTR_END_RETURN;
    p->run.instructions = p->run.halfwords = 0;
}

ntr_status ntr_walk_counts(ntr_decoder *d) {
    if (d->order.left == 0) return NTR_END;
    ntr_place p = ntr_place_take(d);
    ntr_status status;
    for (;;) {
        const ntr_block *b = p.block;
        if (!b || b->halfwords == 0 || b->halfwords >= p.left - p.leash) {
            status = ntr_place_end(d, &p);
            break;
        }
        ntr_step step = {0};
        status = ntr_place_step(d, &p, &step);
        if (status < 0) break;
        if (step.end == NTR_END_CUT)
            ntr_place_run(&p, b);
        else
            count(d->counts, &p, b, &step);
        if (status == NTR_END) break;
    }
    ntr_place_put(d, &p);
    return status;
}
