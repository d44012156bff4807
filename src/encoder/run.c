/* Runs: many blocks in one call (run.h). Traps, halts and changes of context are not part of a run; they are pushed as
 * blocks.
 *
 * A run takes one of two ways. The fast path handles configurations where every message depends on I-CNT, HIST and the
 * reference alone, and writes messages of up to 8 bytes in one register. The general path gives the run as one block to
 * the functions of the encoder. Invariant: both make the same messages and leave the same state. */
#include "encoder/run.h"
#include "encoder/state.h"
#include "message/layout.h"
#include "message/writer.h"

enum {
    RUN_IRETIRE_MAX = 1 << 15,
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

static bool is_in(unsigned itype, unsigned set) { return set >> itype & 1; }

bool ntr_enc_takes_runs(const ntr_encoder *e) { return e->takes_runs; }

unsigned ntr_enc_run_branches(const ntr_encoder *e) {
    if (!e->timestamps) return BRANCHES_MAX;
    if (!e->active || e->sync_wanted || e->periodic_due) return 0;
    return e->htm ? ntr_enc_history_space(e) + !e->config.full_after : BRANCHES_MAX;
}

static bool is_consistent(const ntr_encoder *e, const ntr_enc_run *r) {
    return !(r->iaddr & 1) && r->iretire && r->iretire < RUN_IRETIRE_MAX && r->itype < 16 &&
           !is_in(r->itype, NOT_4_BIT | TRAPS) && r->branches <= BRANCHES_MAX && (e->htm || !r->outcomes);
}

/* ---- fast path: the same messages in fewer steps ---------------------------------------------------------------- */

static bool is_quick(const ntr_encoder *e, const ntr_enc_run *r) {
    return e->quick_runs && e->active && !e->sync_wanted && !e->periodic_due && e->pending.kind <= PENDING_INDIRECT &&
           e->icnt + r->iretire < e->icnt_full;
}

/* Gives a message to the sink. Counters that these configurations do not use are not updated. */
static void quick_send(ntr_encoder *e, const uint8_t *bytes, size_t size) {
    e->stats.messages++;
    e->stats.bytes += size;
    if (e->config.sync_mode == NTR_SYNC_MODE_MESSAGES) ntr_enc_sync_progress(e, NTR_SYNC_MODE_MESSAGES, 1);
    ntr_status status = e->config.sink(e->config.sink_user, bytes, size);
    if (status != NTR_OK && e->failure == NTR_OK) e->failure = status;
}

/* Returns TCODE, SRC and the fixed field after them, which is `more` with `more_bits` bits; *bits is their total
 * width. */
static uint64_t quick_head(const ntr_encoder *e, unsigned tcode, unsigned more, unsigned more_bits, unsigned *bits) {
    unsigned src_bits = e->params.src_bits;
    *bits = TCODE_BITS + src_bits + more_bits;
    return tcode | (src_bits ? (uint64_t)e->config.src_id << TCODE_BITS : 0) | (uint64_t)more << (TCODE_BITS + src_bits);
}

/* Sends a branch message of more than 8 bytes. */
static void long_branch(ntr_encoder *e, uint64_t head, unsigned head_bits, uint64_t uaddr) {
    uint8_t bytes[NTR_QUICK_ROOM];
    ntr_quick_writer w = {.at = bytes};
    bool has_history = e->hist != HIST_EMPTY;
    ntr_quick_put(&w, head, head_bits);
    ntr_quick_end_field(&w, NTR_MSEO_FIELD);
    ntr_quick_put(&w, uaddr, ntr_significant_bits(uaddr));
    ntr_quick_end_field(&w, has_history ? NTR_MSEO_FIELD : NTR_MSEO_MESSAGE);
    if (has_history) {
        ntr_quick_put(&w, e->hist, ntr_significant_bits(e->hist));
        ntr_quick_end_field(&w, NTR_MSEO_MESSAGE);
    }
    quick_send(e, bytes, (size_t)(w.at - bytes));
}

/* Sends IndirectBranch or IndirectBranchHist to `target`. Returns its size and bytes if it has at most 8 bytes, else
 * 0. */
static unsigned quick_branch(ntr_encoder *e, uint64_t target, uint8_t bytes[8]) {
    bool has_history = e->hist != HIST_EMPTY;
    unsigned tcode = NTR_TCODE_INDIRECT_BRANCH, head_bits;
    if (has_history) tcode = NTR_TCODE_INDIRECT_BRANCH_HIST;
    uint64_t head = quick_head(e, tcode, e->pending.btype, BTYPE_BITS, &head_bits), uaddr = (target ^ e->ref) >> 1;
    head |= e->icnt << head_bits;
    head_bits += ntr_significant_bits(e->icnt);
    ntr_short_writer w = {0};
    ntr_short_put(&w, head, head_bits, NTR_MSEO_FIELD);
    ntr_short_put(&w, uaddr, ntr_significant_bits(uaddr), has_history ? NTR_MSEO_FIELD : NTR_MSEO_MESSAGE);
    if (has_history) ntr_short_put(&w, e->hist, ntr_significant_bits(e->hist), NTR_MSEO_MESSAGE);
    bool is_short = w.groups <= 8;
    if (is_short) {
        ntr_short_store(&w, bytes);
        quick_send(e, bytes, w.groups);
    } else {
        long_branch(e, head, head_bits, uaddr);
    }
    e->hist = HIST_EMPTY;
    e->history_sent = false;
    e->icnt = 0;
    e->ref = target;
    e->pending.kind = PENDING_NONE;
    return is_short ? w.groups : 0;
}

/* Sends ResourceFull: HIST is full and one more branch comes. */
static void quick_full(ntr_encoder *e) {
    unsigned head_bits;
    uint64_t head = quick_head(e, NTR_TCODE_RESOURCE_FULL, NTR_RCODE_HIST, RCODE_BITS, &head_bits);
    uint8_t bytes[NTR_QUICK_ROOM];
    ntr_quick_writer w = {.at = bytes};
    ntr_quick_put(&w, head, head_bits);
    ntr_quick_put(&w, e->hist, ntr_significant_bits(e->hist));
    ntr_quick_end_field(&w, NTR_MSEO_MESSAGE);
    e->hist = HIST_EMPTY;
    e->history_sent = true;
    quick_send(e, bytes, (size_t)(w.at - bytes));
}

static void quick_history(ntr_encoder *e, uint64_t outcomes, unsigned count) {
    while (count) {
        if (e->hist >= e->hist_full) quick_full(e);
        unsigned space = ntr_enc_history_space(e), taken = count < space ? count : space;
        count -= taken;
        e->hist = e->hist << taken | (outcomes >> count & ((1ull << taken) - 1));
    }
}

/* Returns true if nothing has been counted since the last message, and its address was `iaddr`. */
static bool is_fresh(const ntr_encoder *e, uint64_t iaddr) {
    return e->hist == HIST_EMPTY && !e->history_sent && !e->icnt && !e->pending.kind && e->ref == iaddr;
}

static void quick_run(ntr_encoder *e, const ntr_enc_run *r) {
    uint8_t bytes[8];
    if (e->pending.kind) quick_branch(e, r->iaddr, bytes);
    if (is_fresh(e, r->iaddr)) e->fresh_run = e->stats.blocks;
    if (r->branches) quick_history(e, r->outcomes, r->branches);
    if (is_in(r->itype, BRANCHES)) quick_history(e, r->itype == NTR_ITYPE_TAKEN, 1);
    else if (!is_in(r->itype, DIRECT_ITYPES)) e->pending = (pending_branch){.kind = PENDING_INDIRECT};
    e->icnt += r->iretire;
    e->stats.halfwords += r->iretire;
    ntr_enc_sync_progress(e, NTR_SYNC_MODE_HALFWORDS, r->iretire);
    e->quiet = false;
}

/* ---- general path ----------------------------------------------------------------------------------------------- */

static void general_run(ntr_encoder *e, const ntr_enc_run *r) {
    if (e->timestamps) ntr_enc_clock_set(e, r->time);
    if (e->active) ntr_enc_resolve(e, r->iaddr);
    else ntr_enc_start(e, r->iaddr);
    e->started = true;
    e->down = e->in_debug = false;
    if (e->htm && r->branches) ntr_enc_history_append_many(e, r->outcomes, r->branches);
    /* The counters see the run as one block that ends where the last block ends. */
    const ntr_ingress last = {.iaddr = r->end - 2 * (uint64_t)r->iretire,
                              .iretire = r->iretire,
                              .itype = r->itype,
                              .ilastsize = r->ilastsize,
                              .sijump = r->sijump};
    ntr_enc_count(e, &last);
}

ntr_status ntr_enc_push_run(ntr_encoder *e, const ntr_enc_run *r) {
    if (!e->takes_runs) return NTR_E_STATE;
    if (!is_consistent(e, r)) return e->refused++, NTR_E_INGRESS;
    e->stats.blocks++;
    if (!e->enabled || !e->tracing) return NTR_OK;
    e->follow_known = false;
    if (is_quick(e, r)) quick_run(e, r);
    else general_run(e, r);
    return ntr_enc_result(e);
}

/* ---- runs that repeat --------------------------------------------------------------------------------------- */

static bool may_repeat(const ntr_encoder *e) {
    return e->quick_runs && e->active && e->enabled && e->tracing && !e->closing && !e->sync_wanted && !e->periodic_due;
}

unsigned ntr_enc_push_next(ntr_encoder *e, uint64_t next, uint8_t message[8]) {
    if (!may_repeat(e) || e->pending.kind != PENDING_INDIRECT || next & 1) return 0;
    bool whole = e->fresh_run == e->stats.blocks && !e->history_sent;
    unsigned size = quick_branch(e, next, message);
    return whole && e->failure == NTR_OK ? size : 0;
}

uint64_t ntr_enc_repeatable(const ntr_encoder *e, uint64_t iaddr) {
    if (!may_repeat(e) || !is_fresh(e, iaddr)) return 0;
    uint64_t left = e->sync_period - e->sync_count;
    switch (e->config.sync_mode) {
    case NTR_SYNC_MODE_MESSAGES: return left;
    /* The message of the run that ends the period is the synchronizing one, which is not a repeat. */
    case NTR_SYNC_MODE_HALFWORDS: return (left - 1) / (RUN_IRETIRE_MAX - 1);
    default: return UINT64_MAX;
    }
}

ntr_status ntr_enc_push_repeats(ntr_encoder *e, const ntr_enc_repeats *r) {
    if (!e->quick_runs) return NTR_E_STATE;
    e->stats.blocks += r->runs;
    e->stats.messages += r->runs;
    e->stats.bytes += r->bytes;
    e->stats.halfwords += r->halfwords;
    ntr_enc_sync_progress(e, NTR_SYNC_MODE_MESSAGES, r->runs);
    ntr_enc_sync_progress(e, NTR_SYNC_MODE_HALFWORDS, r->halfwords);
    e->ref = r->next;
    e->follow_known = false;
    return ntr_enc_result(e);
}
