/* Runs: many blocks in one call (run.h). Traps, halts and changes of context are not part of a run; they are pushed as
 * blocks.
 *
 * A run is counted as one block. Its messages take one of two ways. The fast path handles configurations where every
 * message depends on I-CNT, HIST and the reference alone, and writes messages of up to 8 bytes in one register. The
 * general path uses the functions for blocks. Invariant: both make the same messages and leave the same state. */
#include "encoder/run.h"
#include "encoder/state.h"

enum { BRANCHES_MAX = 64 };

/* Sets of itypes. */
enum {
    TRAPS = 1 << NTR_ITYPE_EXCEPTION | 1 << NTR_ITYPE_INTERRUPT,
    BRANCHES = 1 << NTR_ITYPE_NOT_TAKEN | 1 << NTR_ITYPE_TAKEN,
    DIRECT_ITYPES =
        1 << NTR_ITYPE_NONE | 1 << NTR_ITYPE_DIRECT_CALL | 1 << NTR_ITYPE_DIRECT_JUMP | 1 << NTR_ITYPE_OTHER_DIRECT,
    NOT_4_BIT = 1 << NTR_ITYPE_INDIRECT | 1 << 7,
};

static bool is_in(unsigned itype, unsigned set) {
    return set >> itype & 1;
}

bool ntr_enc_takes_runs(const ntr_encoder *e) {
    return e->takes_runs;
}

unsigned ntr_enc_run_branches(const ntr_encoder *e) {
    if (!e->timestamps) return BRANCHES_MAX;
    if (!e->active || e->sync_wanted || e->periodic_due) return 0;
    return e->htm ? ntr_enc_history_space(e) + !e->config.full_after : BRANCHES_MAX;
}

static bool is_consistent(const ntr_encoder *e, const ntr_enc_run *r) {
    return !(r->iaddr & 1) && r->iretire && r->iretire <= NTR_ENC_RUN_HALFWORDS && r->itype < 16 &&
           !is_in(r->itype, NOT_4_BIT | TRAPS) && r->branches <= BRANCHES_MAX && (e->htm || !r->outcomes);
}

/* ---- fast path: the same messages in fewer steps (send.c)
 * ---------------------------------------------------------------- */

static bool is_quick(const ntr_encoder *e) {
    return e->quick_runs && e->active && !e->sync_wanted && !e->periodic_due;
}

/* ---- general path ----------------------------------------------------------------------------------------------- */

static void count_run(ntr_encoder *e, const ntr_enc_run *r) {
    if (e->htm && r->branches) ntr_enc_history_append_many(e, r->outcomes, r->branches);
    /* The counters see the run as one block that ends where the last block ends. */
    const ntr_ingress last = {.iaddr = r->end - 2 * (uint64_t)r->iretire,
                              .iretire = r->iretire,
                              .itype = r->itype,
                              .ilastsize = r->ilastsize,
                              .sijump = r->sijump};
    ntr_enc_count(e, &last);
}

static bool is_traced(const ntr_encoder *e) {
    return e->enabled && e->tracing;
}

/* The next block begins at `next`: the message that waits for this address is sent, or a window opens. Returns whether
 * the last message was a synchronizing one. */
static bool begin_at(ntr_encoder *e, uint64_t next, uint64_t time) {
    if (e->active && e->pending.kind == PENDING_NONE && !ntr_enc_sync_due(e, false) && !e->counted_return) return false;
    if (is_quick(e)) {
        ntr_enc_infer_return(e, next);
        if (e->pending.kind != PENDING_NONE)
            ntr_enc_quick_branch(e, next, e->splits_quickly ? ntr_enc_repeats_take(e) : e->hist);
        e->pending.kind = PENDING_NONE;
        return false;
    }
    if (e->timestamps) ntr_enc_clock_set(e, time);
    if (e->active) return ntr_enc_resolve(e, next);
    ntr_enc_start(e, next);
    return true;
}

ntr_status ntr_enc_begin_run(ntr_encoder *e, uint64_t iaddr, uint64_t time) {
    if (!e->takes_runs) return NTR_E_STATE;
    if (iaddr & 1) return NTR_E_INGRESS;
    if (is_traced(e) && begin_at(e, iaddr, time)) ntr_enc_ownership_repeat(e);
    return ntr_enc_result(e);
}

/* The block itself is pushed later, and its state is not news then. */
static void report_state(ntr_encoder *e, unsigned priv, uint64_t scontext, uint64_t hcontext, bool sync) {
    const bool same = scontext == e->sent_scontext && hcontext == e->sent_hcontext;
    const ntr_ingress state = {.priv = (uint8_t)priv,
                               .scontext = scontext,
                               .hcontext = hcontext,
                               .ctype = same ? NTR_CTYPE_UNREPORTED : NTR_CTYPE_IMPRECISE};

    if (sync)
        ntr_enc_ownership_sync(e, &state);
    else
        ntr_enc_ownership_change(e, &state);
}

ntr_status ntr_enc_reach(ntr_encoder *e, uint64_t iaddr, uint64_t time, unsigned priv, uint64_t scontext,
                         uint64_t hcontext) {
    if (iaddr & 1) return NTR_E_INGRESS;
    if (is_traced(e) && !e->filtered && (e->takes_runs || !e->active))
        report_state(e, priv, scontext, hcontext, begin_at(e, iaddr, time));
    return ntr_enc_result(e);
}

bool ntr_enc_has_reported(const ntr_encoder *e, unsigned priv, uint64_t scontext, uint64_t hcontext) {
    return e->config.ownership == NTR_OWNERSHIP_OFF ||
           (e->sent_priv == priv && e->sent_scontext == scontext && e->sent_hcontext == hcontext);
}

void ntr_enc_set_src_bits(ntr_encoder *e, unsigned src_bits) {
    e->config.params.src_bits = e->params.src_bits = (uint8_t)src_bits;
    ntr_enc_repeats_prepare(e);
}

void ntr_enc_extend_by_call(ntr_encoder *e, uint64_t address) {
    ntr_enc_stack_push(&e->stack, address);
}

bool ntr_enc_extend_by_return(ntr_encoder *e, uint64_t next) {
    return ntr_enc_stack_pop_if(&e->stack, next);
}

ntr_status ntr_enc_push_run(ntr_encoder *e, const ntr_enc_run *r) {
    if (!e->takes_runs) return NTR_E_STATE;
    if (!is_consistent(e, r)) return e->refused++, NTR_E_INGRESS;
    e->stats.blocks++;
    if (!is_traced(e)) return NTR_OK;
    e->follow_known = false;
    if (begin_at(e, r->iaddr, r->time)) ntr_enc_ownership_repeat(e);
    if (e->timestamps) ntr_enc_clock_set(e, r->time);
    e->started = true;
    e->down = e->in_debug = false;
    count_run(e, r);
    return ntr_enc_result(e);
}
