/* Runs: many blocks in one call (run.h). Traps, halts and changes of context are not part of a run; they are pushed as
 * blocks.
 *
 * A run is counted as one block. Its messages take one of two ways. The fast path handles configurations where every
 * message depends on I-CNT, HIST and the reference alone, and writes messages of up to 8 bytes in one register. The
 * general path uses the functions for blocks. Invariant: both make the same messages and leave the same state. */
#include "encoder/run.h"
#include "encoder/state.h"
#include "message/layout.h"
#include "message/writer.h"

enum {
    BRANCHES_MAX = 64,
    TCODE_BITS = 6,
    BTYPE_BITS = 2,
    RCODE_BITS = 4,
};

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

/* ---- fast path: the same messages in fewer steps ---------------------------------------------------------------- */

static bool is_quick(const ntr_encoder *e) {
    return e->quick_runs && e->active && !e->sync_wanted && !e->periodic_due;
}

/* Gives a message to the sink. Counters that these configurations do not use are not updated. */
static void quick_send(ntr_encoder *e, const uint8_t *bytes, size_t size) {
    e->stats.messages++;
    e->stats.bytes += size;
    ntr_enc_sync_progress(e, NTR_SYNC_MODE_MESSAGES, 1);
    ntr_status status = e->config.sink(e->config.sink_user, bytes, size);
    if (status != NTR_OK && e->failure == NTR_OK) e->failure = status;
}

/* Returns TCODE, SRC and the fixed field after them, which is `more` with `more_bits` bits; *bits is their total
 * width. */
static uint64_t quick_head(const ntr_encoder *e, unsigned tcode, unsigned more, unsigned more_bits, unsigned *bits) {
    unsigned src_bits = e->params.src_bits;
    *bits = TCODE_BITS + src_bits + more_bits;
    return tcode | (src_bits ? (uint64_t)e->config.src_id << TCODE_BITS : 0) |
           (uint64_t)more << (TCODE_BITS + src_bits);
}

/* Sends a branch message of more than 8 bytes. */
static void long_branch(ntr_encoder *e, uint64_t head, unsigned head_bits, uint64_t uaddr, uint64_t hist) {
    uint8_t bytes[NTR_QUICK_ROOM];
    ntr_quick_writer w = {.at = bytes};
    bool has_history = hist != HIST_EMPTY;
    ntr_quick_put(&w, head, head_bits);
    ntr_quick_end_field(&w, NTR_MSEO_FIELD);
    ntr_quick_put(&w, uaddr, ntr_significant_bits(uaddr));
    ntr_quick_end_field(&w, has_history ? NTR_MSEO_FIELD : NTR_MSEO_MESSAGE);
    if (has_history) {
        ntr_quick_put(&w, hist, ntr_significant_bits(hist));
        ntr_quick_end_field(&w, NTR_MSEO_MESSAGE);
    }
    quick_send(e, bytes, (size_t)(w.at - bytes));
}

/* Sends IndirectBranch or IndirectBranchHist to `target`. */
static void quick_branch(ntr_encoder *e, uint64_t target) {
    uint64_t hist = e->splits_quickly ? ntr_enc_repeats_take(e) : e->hist;
    bool has_history = hist != HIST_EMPTY;
    unsigned tcode = NTR_TCODE_INDIRECT_BRANCH, head_bits;
    if (has_history) tcode = NTR_TCODE_INDIRECT_BRANCH_HIST;
    uint64_t head = quick_head(e, tcode, e->pending.btype, BTYPE_BITS, &head_bits), uaddr = (target ^ e->ref) >> 1;
    head |= e->icnt << head_bits;
    head_bits += ntr_significant_bits(e->icnt);
    ntr_short_writer w = {0};
    ntr_short_put(&w, head, head_bits, NTR_MSEO_FIELD);
    ntr_short_put(&w, uaddr, ntr_significant_bits(uaddr), has_history ? NTR_MSEO_FIELD : NTR_MSEO_MESSAGE);
    if (has_history) ntr_short_put(&w, hist, ntr_significant_bits(hist), NTR_MSEO_MESSAGE);
    if (w.groups <= 8) {
        uint8_t bytes[8];
        ntr_short_store(&w, bytes);
        quick_send(e, bytes, w.groups);
    } else {
        long_branch(e, head, head_bits, uaddr, hist);
    }
    e->hist = HIST_EMPTY;
    e->repeats.count = 0;
    e->history_sent = false;
    e->icnt = 0;
    e->ref = target;
}

/* ResourceFull with RCODE 1 or 2. */
void ntr_enc_quick_history_send(ntr_encoder *e, uint64_t rdata, uint32_t count) {
    unsigned head_bits, rcode = count == 1 ? NTR_RCODE_HIST : NTR_RCODE_HIST_REPEATED;
    uint64_t head = quick_head(e, NTR_TCODE_RESOURCE_FULL, rcode, RCODE_BITS, &head_bits);
    uint8_t bytes[NTR_QUICK_ROOM];
    ntr_quick_writer w = {.at = bytes};
    ntr_quick_put(&w, head, head_bits);
    ntr_quick_put(&w, rdata, ntr_significant_bits(rdata));
    ntr_quick_end_field(&w, count == 1 ? NTR_MSEO_MESSAGE : NTR_MSEO_FIELD);
    if (count > 1) {
        ntr_quick_put(&w, count, ntr_significant_bits(count));
        ntr_quick_end_field(&w, NTR_MSEO_MESSAGE);
    }
    e->history_sent = true;
    quick_send(e, bytes, (size_t)(w.at - bytes));
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

/* A decoder may start here: the state of the last message is reported once more. */
static void repeat_ownership(ntr_encoder *e) {
    const ntr_ingress state = {.priv = e->sent_priv, .scontext = e->sent_scontext, .hcontext = e->sent_hcontext};
    ntr_enc_ownership_sync(e, &state);
}

static bool is_traced(const ntr_encoder *e) {
    return e->enabled && e->tracing;
}

/* The next block begins at `next`: the message that waits for this address is sent, or a window opens. Returns whether
 * the last message was a synchronizing one. */
static bool begin_at(ntr_encoder *e, uint64_t next, uint64_t time) {
    if (e->active && e->pending.kind == PENDING_NONE && !e->sync_wanted) return false;
    if (is_quick(e)) {
        ntr_enc_infer_return(e, next);
        if (e->pending.kind != PENDING_NONE) quick_branch(e, next);
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
    if (is_traced(e) && begin_at(e, iaddr, time)) repeat_ownership(e);
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

bool ntr_enc_sync_is_late(const ntr_encoder *e) {
    return e->periodic_due && e->sync_count >= 2 * e->sync_period;
}

void ntr_enc_set_src_bits(ntr_encoder *e, unsigned src_bits) {
    e->config.params.src_bits = e->params.src_bits = (uint8_t)src_bits;
    ntr_enc_repeats_prepare(e);
}

ntr_enc_stack *ntr_enc_return_stack(ntr_encoder *e) {
    return e->params.implicit_return == NTR_RETURN_OFF ? NULL : &e->stack;
}

ntr_status ntr_enc_push_run(ntr_encoder *e, const ntr_enc_run *r) {
    if (!e->takes_runs) return NTR_E_STATE;
    if (!is_consistent(e, r)) return e->refused++, NTR_E_INGRESS;
    e->stats.blocks++;
    if (!is_traced(e)) return NTR_OK;
    e->follow_known = false;
    if (begin_at(e, r->iaddr, r->time)) repeat_ownership(e);
    if (e->timestamps) ntr_enc_clock_set(e, r->time);
    e->started = true;
    e->down = e->in_debug = false;
    count_run(e, r);
    return ntr_enc_result(e);
}
