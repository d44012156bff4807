/* Branch and synchronizing messages. N-Trace 1.0 sections 6.2 to 6.11, 9 and 13.
 *
 * The messages are made one block late, when the address is known (see state.h). RepeatBranch: with `repeat_branch`
 * a branch message that equals the previous one is not sent but counted in `last.repeats`; any other message first
 * sends the count. Example: a loop that ends in the same taken branch 100 times becomes DirectBranch and
 * RepeatBranch with B-CNT 99. */
#include "encoder/state.h"
#include "message/sets.h"
#include "message/values.h"

/* Returns the TCODE of the pending branch, with or without HIST and SYNC. */
static unsigned branch_tcode(const ntr_encoder *e, bool sync, uint64_t hist) {
    unsigned tcode = NTR_TCODE_INDIRECT_BRANCH;
    if (e->pending.kind == PENDING_DIRECT) tcode = NTR_TCODE_DIRECT_BRANCH;
    if (e->htm && (hist != HIST_EMPTY || e->config.empty_hist)) tcode = NTR_TCODE_INDIRECT_BRANCH_HIST;
    return sync ? ntr_sync_form(tcode) : tcode;
}

/* What follows the branch message depends on the trap or trap return that it is of. */
static void remember_trap(ntr_encoder *e) {
    e->trapped = e->pending.btype;
    e->returned_from_trap = e->pending.trap_return;
    e->tval = e->pending.tval;
}

static void send_sync(ntr_encoder *e, unsigned tcode, uint64_t hist, uint64_t address, uint64_t time) {
    ntr_message *m = ntr_enc_message(e, tcode);
    unsigned reason = ntr_enc_sync_reason(e);
    NTR_SET(m, SYNC, sync, reason);
    NTR_SET(m, BTYPE, btype, e->pending.btype);
    NTR_SET(m, ICNT, icnt, e->icnt);
    NTR_SET(m, FADDR, faddr, ntr_enc_address(e, address));
    NTR_SET(m, HIST, hist, hist);
    remember_trap(e);
    ntr_enc_send(e, m, time);
    ntr_enc_sync_done(e, address);
    if (ntr_value_flags(NTR_MESSAGES_1_0, NTR_FIELD_SYNC, reason) & NTR_VALUE_RESTARTS)
        ntr_flow_tables_reset(&e->tables);
}

void ntr_enc_send_repeat(ntr_encoder *e, uint64_t address) {
    const bool sync = address != NTR_ADDRESS_UNKNOWN;
    const unsigned reason = sync ? ntr_enc_sync_reason(e) : 0;
    const uint64_t hist = ntr_enc_history_take(e);
    ntr_message *m = ntr_enc_message(e, sync ? NTR_TCODE_REPEAT_INSTRUCTION_SYNC : NTR_TCODE_REPEAT_INSTRUCTION);
    if (sync) NTR_SET(m, SYNC, sync, reason);
    NTR_SET(m, RCNT, rcnt, e->self.count - sync);
    NTR_SET(m, ICNT, icnt, e->icnt);
    if (sync) NTR_SET(m, FADDR, faddr, ntr_enc_address(e, address));
    NTR_SET(m, HIST, hist, hist);
    ntr_enc_icnt_sent(e);
    ntr_enc_send(e, m, e->self.time);
    if (sync) ntr_enc_sync_done(e, address);
    if (sync && ntr_value_flags(NTR_MESSAGES_1_0, NTR_FIELD_SYNC, reason) & NTR_VALUE_RESTARTS)
        ntr_flow_tables_reset(&e->tables);
}

/* With repeat_xors the fields of the messages are compared, and traps and trap returns are never repeated: see
 * docs/dialects.md section 6.4. */
static bool same_fields(const last_branch *a, const last_branch *b) {
    return a->tcode == b->tcode && !a->btype && !b->btype && a->icnt == b->icnt && a->uaddr == b->uaddr &&
           a->hist == b->hist;
}

static bool same_event(const last_branch *a, const last_branch *b) {
    return a->btype == b->btype && a->icnt == b->icnt && a->target == b->target;
}

/* RepeatBranch is sent only for messages that are equal bit for bit, with U-ADDR 0. A decoder that applies U-ADDR at
 * every repetition and one that goes to the same target at every repetition then agree (OQ-1). */
static bool is_repeat(const ntr_encoder *e, const last_branch *now) {
    const last_branch *last = &e->last;
    if (e->dialect->repeat_xors) return last->valid && now->valid && same_fields(last, now);
    return last->valid && last->tcode == now->tcode && last->hist == now->hist && same_event(last, now) &&
           (e->params.no_addr_diff || (!last->uaddr && !now->uaddr));
}

/* Returns HIST of the branch message. When the same branch comes a second time in a row, all its history goes into
 * HIST even if a split is shorter: the messages are then equal from the third time on, and RepeatBranch counts them. */
static uint64_t take_history(ntr_encoder *e, last_branch *now) {
    now->full_history = e->repeat_branch && !e->dialect->repeat_xors ? ntr_enc_history_unsent(e) : 0;
    bool same = now->full_history && now->full_history == e->last.full_history && same_event(&e->last, now);
    if (!same) return ntr_enc_history_take(e);
    ntr_enc_history_clear(e);
    return now->full_history;
}

/* Returns whether a message of this branch may be repeated by RepeatBranch. */
static bool may_repeat(const ntr_encoder *e, uint64_t address) {
    if (!e->repeat_branch || address == NTR_ADDRESS_UNKNOWN) return false;
    return !e->dialect->repeat_xors || (!e->pending.btype && !e->pending.trap_return);
}

static void repeat(ntr_encoder *e, const last_branch *now) {
    e->last.time = e->pending.time;
    if (e->dialect->repeat_xors && now->uaddr) e->ref = now->target;
    if (++e->last.repeats != (1u << e->config.bcnt_bits) - 1) return;
    last_branch last = e->last;
    ntr_enc_repeat_flush(e);
    last.repeats = 0;
    if (e->dialect->repeat_xors) e->last = last; /* the next RepeatBranch is of the same message */
}

/* Returns whether the target of the branch is in the jump target cache, and then the index. Otherwise
 * IndirectBranchHist puts it there. */
static bool find_cached(ntr_encoder *e, const last_branch *now, unsigned *index) {
    uint64_t target;
    bool cached = ntr_tcode_in(ntr_tcodes_with(NTR_FLAG_CACHED), now->tcode) && !now->btype;
    if (!e->tables.targets || !cached) return false;
    *index = ntr_flow_cache_index(&e->tables, now->target);
    if (ntr_flow_cache_get(&e->tables, *index, &target) && target == now->target) return true;
    ntr_flow_cache_put(&e->tables, now->target);
    return false;
}

/* Counts the pending branch as a repeat of the last branch message if they are equal; else sends it. */
static void send_branch(ntr_encoder *e, uint64_t address) {
    bool direct = e->pending.kind == PENDING_DIRECT;
    last_branch now = {
        .valid = may_repeat(e, address),
        .btype = e->pending.btype,
        .icnt = e->icnt,
        .target = address,
        .uaddr = direct ? 0 : ntr_enc_address(e, e->params.no_addr_diff ? address : address ^ e->ref),
    };
    unsigned index;
    now.hist = take_history(e, &now);
    now.tcode = (uint8_t)branch_tcode(e, false, now.hist);
    ntr_enc_icnt_sent(e);
    remember_trap(e);
    if (now.valid && is_repeat(e, &now)) {
        repeat(e, &now);
        return;
    }
    bool cached = find_cached(e, &now, &index);
    ntr_message *m = ntr_enc_message(e, cached ? (unsigned)NTR_TCODE_JUMP_TARGET_CACHE : now.tcode);
    NTR_SET(m, BTYPE, btype, now.btype);
    NTR_SET(m, ICNT, icnt, now.icnt);
    if (cached)
        NTR_SET(m, JIDX, jidx, index);
    else
        NTR_SET(m, UADDR, uaddr, now.uaddr);
    NTR_SET(m, HIST, hist, now.hist);
    ntr_enc_send(e, m, e->pending.time);
    e->last = now;
    e->last.valid &= !cached;
    if (!direct) e->ref = address;
}

void ntr_enc_infer_return(ntr_encoder *e, uint64_t next) {
    e->stats.misplaced_returns += e->counted_return && e->counted_return != next;
    e->counted_return = 0;
    if (e->pending.kind != PENDING_RETURN) return;
    bool inferred = !((next ^ e->pending.expected) & e->compare_mask);
    e->pending.kind = inferred ? PENDING_NONE : PENDING_INDIRECT;
}

bool ntr_enc_resolve(ntr_encoder *e, uint64_t next) {
    e->trapped = e->returned_from_trap = false;
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

/* Trace ends right after a jump: the message has U-ADDR 0, whatever the target is. docs/dialects.md section 6.6. */
void ntr_enc_hide_target(ntr_encoder *e) {
    bool jump = e->pending.kind == PENDING_INDIRECT || e->pending.kind == PENDING_RETURN;
    if (!e->dialect->stop_hides_target || !jump || e->pending.btype) return;
    uint64_t hist = ntr_enc_history_take(e);
    ntr_message *m = ntr_enc_message(e, branch_tcode(e, false, hist));
    NTR_SET(m, BTYPE, btype, 0);
    NTR_SET(m, ICNT, icnt, e->icnt);
    NTR_SET(m, UADDR, uaddr, 0);
    NTR_SET(m, HIST, hist, hist);
    e->icnt = 0;
    ntr_enc_send(e, m, e->pending.time);
    e->pending = (pending_branch){0};
}

void ntr_enc_interrupt(ntr_encoder *e, unsigned btype) {
    /* Two traps in a row make one message, with the address of the last handler (section 10). */
    if (e->pending.btype) return;
    ntr_enc_resolve_unseen(e);
    e->next = NTR_ADDRESS_UNKNOWN;
    e->counted_return = 0; /* where it went is not seen */
    e->pending = (pending_branch){.kind = PENDING_INDIRECT, .btype = (uint8_t)btype, .time = e->now};
}

void ntr_enc_start(ntr_encoder *e, uint64_t address) {
    e->sync_wanted |= 1u << e->start_reason;
    e->pending = (pending_branch){0};
    e->icnt = 0;
    e->next = address;
    if (e->dialect->describes_itself && !(e->sync_wanted & 1u << NTR_SYNC_OVERRUN)) ntr_enc_describe(e);
    send_sync(e, NTR_TCODE_PROG_TRACE_SYNC, HIST_EMPTY, address, e->now);
    e->active = true;
}

void ntr_enc_icnt_sync(ntr_encoder *e, uint64_t address) {
    e->sync_wanted |= 1u << NTR_SYNC_ICNT_FULL;
    send_sync(e, NTR_TCODE_PROG_TRACE_SYNC, HIST_EMPTY, address, e->now);
}
