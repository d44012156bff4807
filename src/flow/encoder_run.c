/* Runs: many blocks through the encoder's parts at once. What a run cannot hold (a trap, a halt, a change of
 * context) comes as blocks. */
#include "flow/encoder_state.h"

enum {
    IRETIRE_MAX = 1 << 15,
    ICNT_BITS_MIN = 16,
    BRANCHES_MAX = 64,
    TRAPS = 1 << NTR_ITYPE_EXCEPTION | 1 << NTR_ITYPE_INTERRUPT
};

bool ntr_encoder_takes_runs(const ntr_encoder *e) {
    const ntr_encoder_config *c = &e->config;
    return !c->fifo_bytes && !e->filtered && !c->ownership && !c->params.all_jumps && c->itype_width == 4 &&
           !c->icnt_full_sync && c->icnt_bits >= ICNT_BITS_MIN && !c->sync_exact &&
           c->sync_mode != NTR_SYNC_MODE_CYCLES;
}

static bool is_consistent(const ntr_encoder *e, const ntr_run *r) {
    return !(r->iaddr & 1) && r->iretire && r->iretire < IRETIRE_MAX && r->itype < 16 &&
           r->itype != NTR_ITYPE_INDIRECT && r->itype != 7 && !(1u << r->itype & TRAPS) &&
           r->branches <= BRANCHES_MAX && (e->htm || !r->outcomes);
}

ntr_status ntr_encoder_push_run(ntr_encoder *e, const ntr_run *r) {
    if (!ntr_encoder_takes_runs(e)) return NTR_E_STATE;
    if (!is_consistent(e, r)) return e->refused++, NTR_E_INGRESS;
    e->stats.blocks++;
    if (!e->enabled || !e->tracing) return NTR_OK;
    if (e->timestamps) ntr_enc_clock_set(e, r->time);
    if (e->active)
        ntr_enc_resolve(e, r->iaddr);
    else
        ntr_enc_start(e, r->iaddr);
    e->started = true;
    e->down = e->in_debug = e->follow_known = false;
    if (e->htm && r->branches) ntr_enc_history_append_many(e, r->outcomes, r->branches);
    /* To the counters the run is its last block, grown backwards. */
    const ntr_ingress last = {.iaddr = r->end - 2 * (uint64_t)r->iretire,
                              .iretire = r->iretire,
                              .itype = r->itype,
                              .ilastsize = r->ilastsize,
                              .sijump = r->sijump};
    ntr_enc_count(e, &last);
    return ntr_enc_result(e);
}
