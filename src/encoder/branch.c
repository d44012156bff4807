/* Branch and synchronizing messages. N-Trace 1.0 sections 6.2 to 6.11, 9 and 13.
 *
 * The messages are made one block late, when the address is known (see state.h). RepeatBranch: with `repeat_branch`
 * a branch message that equals the previous one is not sent but counted in `last.repeats`; any other message first
 * sends the count. Example: a loop that ends in the same taken branch 100 times becomes DirectBranch and
 * RepeatBranch with B-CNT 99. */
#include "encoder/state.h"
#include "message/sets.h"

/* Returns the TCODE of the pending branch, with or without HIST and SYNC. */
static unsigned branch_tcode(const ntr_encoder *e, bool sync, uint64_t hist) {
    unsigned tcode = NTR_TCODE_INDIRECT_BRANCH;
    if (e->pending.kind == PENDING_DIRECT) tcode = NTR_TCODE_DIRECT_BRANCH;
    if (e->htm && (hist != HIST_EMPTY || e->config.empty_hist)) tcode = NTR_TCODE_INDIRECT_BRANCH_HIST;
    return sync ? ntr_sync_form(tcode) : tcode;
}

static void send_sync(ntr_encoder *e, unsigned tcode, uint64_t hist, uint64_t address, uint64_t time) {
    ntr_message *m = ntr_enc_message(e, tcode);
    NTR_SET(m, SYNC, sync, ntr_enc_sync_reason(e));
    NTR_SET(m, BTYPE, btype, e->pending.btype);
    NTR_SET(m, ICNT, icnt, e->icnt);
    NTR_SET(m, FADDR, faddr, address >> 1);
    NTR_SET(m, HIST, hist, hist);
    ntr_enc_send(e, m, time);
    ntr_enc_sync_done(e, address);
}

static bool same_event(const last_branch *a, const last_branch *b) {
    return a->btype == b->btype && a->icnt == b->icnt && a->target == b->target;
}

/* RepeatBranch is sent only for messages that are equal bit for bit, with U-ADDR 0. A decoder that applies U-ADDR at
 * every repetition and one that goes to the same target at every repetition then agree (OQ-1). */
static bool is_repeat(const last_branch *last, const last_branch *now) {
    return last->valid && last->tcode == now->tcode && last->hist == now->hist && same_event(last, now) &&
           !last->uaddr && !now->uaddr;
}

/* Returns HIST of the branch message. When the same branch comes a second time in a row, all its history goes into
 * HIST even if a split is shorter: the messages are then equal from the third time on, and RepeatBranch counts them. */
static uint64_t take_history(ntr_encoder *e, last_branch *now) {
    now->full_history = e->repeat_branch ? ntr_enc_history_unsent(e) : 0;
    bool same = now->full_history && now->full_history == e->last.full_history && same_event(&e->last, now);
    if (!same) return ntr_enc_history_take(e);
    ntr_enc_history_clear(e);
    return now->full_history;
}

/* Counts the pending branch as a repeat of the last branch message if they are equal; else sends it. */
static void send_branch(ntr_encoder *e, uint64_t address) {
    bool direct = e->pending.kind == PENDING_DIRECT;
    last_branch now = {
        .valid = e->repeat_branch && address != NTR_ADDRESS_UNKNOWN,
        .btype = e->pending.btype,
        .icnt = e->icnt,
        .target = address,
        .uaddr = direct ? 0 : (address ^ e->ref) >> 1,
    };
    now.hist = take_history(e, &now);
    now.tcode = (uint8_t)branch_tcode(e, false, now.hist);
    e->icnt = 0;
    if (now.valid && is_repeat(&e->last, &now)) {
        e->last.time = e->pending.time;
        if (++e->last.repeats == (1u << e->config.bcnt_bits) - 1) ntr_enc_repeat_flush(e);
        return;
    }
    ntr_message *m = ntr_enc_message(e, now.tcode);
    NTR_SET(m, BTYPE, btype, now.btype);
    NTR_SET(m, ICNT, icnt, now.icnt);
    NTR_SET(m, UADDR, uaddr, now.uaddr);
    NTR_SET(m, HIST, hist, now.hist);
    ntr_enc_send(e, m, e->pending.time);
    e->last = now;
    if (!direct) e->ref = address;
}

void ntr_enc_infer_return(ntr_encoder *e, uint64_t next) {
    if (e->pending.kind != PENDING_RETURN) return;
    bool inferred = !((next ^ e->pending.expected) & e->compare_mask);
    e->pending.kind = inferred ? PENDING_NONE : PENDING_INDIRECT;
}

bool ntr_enc_resolve(ntr_encoder *e, uint64_t next) {
    ntr_enc_infer_return(e, next);
    bool branch = e->pending.kind != PENDING_NONE;
    bool sync = ntr_enc_sync_due(e, branch);
    if (sync) {
        uint64_t hist = ntr_enc_history_take(e);
        bool counter = !branch && !e->htm && ntr_enc_sync_reason(e) == NTR_SYNC_ICNT_FULL;
        unsigned tcode = counter ? (unsigned)NTR_TCODE_PROG_TRACE_SYNC : branch_tcode(e, true, hist);
        send_sync(e, tcode, hist, next, branch ? e->pending.time : e->now);
    } else if (branch) {
        send_branch(e, next);
    }
    e->pending = (pending_branch){0};
    return sync;
}

void ntr_enc_resolve_unseen(ntr_encoder *e) {
    if (e->pending.kind == PENDING_DIRECT) send_branch(e, NTR_ADDRESS_UNKNOWN);
    e->pending = (pending_branch){0};
}

void ntr_enc_interrupt(ntr_encoder *e, unsigned btype) {
    /* Two traps in a row make one message, with the address of the last handler (section 10). */
    if (e->pending.btype) return;
    ntr_enc_resolve_unseen(e);
    e->pending = (pending_branch){.kind = PENDING_INDIRECT, .btype = (uint8_t)btype, .time = e->now};
}

void ntr_enc_start(ntr_encoder *e, uint64_t address) {
    e->sync_wanted |= 1u << e->start_reason;
    e->pending = (pending_branch){0};
    e->icnt = 0;
    send_sync(e, NTR_TCODE_PROG_TRACE_SYNC, HIST_EMPTY, address, e->now);
    e->active = true;
}

void ntr_enc_icnt_sync(ntr_encoder *e, uint64_t address) {
    e->sync_wanted |= 1u << NTR_SYNC_ICNT_FULL;
    send_sync(e, NTR_TCODE_PROG_TRACE_SYNC, HIST_EMPTY, address, e->now);
}
