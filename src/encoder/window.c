/* Trace windows: tracing starts and stops by enable bits, triggers, debug mode, reset and filters.
 * N-Trace 1.0 sections 8 to 10; ingress port section 6.
 *
 * A block is traced while trTeEnable and trTeInstTracing are set, the hart is not halted, in debug mode or in reset,
 * and the filters accept the block. The first traced block opens a window with ProgTraceSync. The first block that
 * is not traced closes it with ProgTraceCorrelation. If the last traced block ended in a jump, its target must be
 * sent first; when the block that ends tracing has no address, the window stays open (`closing`) until a block with
 * an address comes. The same is true of a trace-notify that waits for the address of the next instruction. Debug mode,
 * halt and reset end the window at once: a notify is then lost if the last instruction was a jump or taken branch and
 * the record of the stop has no address. An interrupt without an address does the same, because the next address is
 * that of its handler and not where the jump or branch went (OQ-15). If a trap came before it, the window waits: two
 * traps in a row have the address of the last handler. */
#include "encoder/state.h"

static void correlate(ntr_encoder *e, unsigned evcode, uint64_t icnt, uint64_t hist) {
    bool has_hist = e->htm && !(hist == HIST_EMPTY && e->config.empty_cdf_0);
    ntr_message *m = ntr_enc_message(e, NTR_TCODE_PROG_TRACE_CORRELATION);
    NTR_SET(m, EVCODE, evcode, evcode);
    NTR_SET(m, CDF, cdf, has_hist ? NTR_CDF_HIST : NTR_CDF_ICNT);
    NTR_SET(m, ICNT, icnt, icnt);
    NTR_SET(m, HIST, hist, hist);
    ntr_enc_send(e, m, e->now);
    e->started = true;
}

void ntr_enc_announce(ntr_encoder *e, unsigned evcode) {
    if (e->config.announce) correlate(e, evcode, 0, HIST_EMPTY);
}

/* Returns SYNC of the message that starts trace again after a stop with this EVCODE. */
static uint8_t reason_after(unsigned evcode) {
    switch (evcode) {
    case NTR_EVCODE_DEBUG: return NTR_SYNC_DEBUG_EXIT;
    case NTR_EVCODE_LOW_POWER: return NTR_SYNC_POWER_DOWN;
    default: return NTR_SYNC_TRACE_ENABLE;
    }
}

/* Reasons of a synchronizing message that is sent also when trace stops before the next instruction. */
enum { EXTERNAL_NOTIFY = 1 << NTR_SYNC_EXTERNAL_TRIGGER };
enum { NOTIFIES = EXTERNAL_NOTIFY | 1 << NTR_SYNC_TRACE_EVENT };

void ntr_enc_close(ntr_encoder *e, uint64_t next, unsigned evcode) {
    ntr_enc_self_loop_end(e);
    if (next == NTR_ADDRESS_UNKNOWN && e->pending.kind == PENDING_NONE) next = e->next;
    e->sync_wanted &= next == NTR_ADDRESS_UNKNOWN ? 0 : NOTIFIES;
    e->periodic_due = false;
    if (next == NTR_ADDRESS_UNKNOWN) ntr_enc_hide_target(e);
    if (next == NTR_ADDRESS_UNKNOWN)
        ntr_enc_resolve_unseen(e);
    else if (ntr_enc_resolve(e, next))
        ntr_enc_ownership_repeat(e);
    uint64_t hist = ntr_enc_history_take(e);
    correlate(e, evcode, e->icnt, hist);
    e->icnt = 0;
    e->active = e->closing = false;
    e->start_reason = reason_after(evcode);
}

bool ntr_enc_needs_address(const ntr_encoder *e) {
    if (e->sync_wanted & NOTIFIES && e->next == NTR_ADDRESS_UNKNOWN) return true;
    return e->pending.kind == PENDING_INDIRECT || e->pending.kind == PENDING_RETURN;
}

/* Returns whether this block hides where the last jump or branch went. */
static bool hides_target(const ntr_encoder *e, const ntr_ingress *b) {
    return b->itype == NTR_ITYPE_INTERRUPT && !e->pending.btype;
}

/* A trace-on trigger starts with the oldest instruction of its cycle, a trace-off trigger stops after the newest.
 * Off in one cycle and on in the next therefore traces without interruption. */
static void follow_triggers(ntr_encoder *e, const ntr_ingress *b) {
    if (!e->config.trigger_enable) return;
    bool on = b->trigger & NTR_TRIGGER_ON;
    if (e->off_after_cycle && b->cycle) {
        e->off_after_cycle = false;
        if (!on) e->tracing = false;
    }
    if (on && e->enabled) e->tracing = true;
    if (b->trigger & NTR_TRIGGER_OFF) e->off_after_cycle = true;
}

static bool is_idle(const ntr_ingress *b) {
    return !b->iretire && b->itype == NTR_ITYPE_NONE;
}

/* Follows halt, debug mode and reset. `priv` of an idle record is ignored. */
static void follow_hart(ntr_encoder *e, const ntr_ingress *b) {
    if (!is_idle(b)) e->in_debug = b->priv == NTR_PRIV_D;
    bool debug = b->halted || e->in_debug;
    bool down = debug || b->reset;
    if (down && !e->down) {
        bool unannounced = !e->active && e->enabled && !e->tracing && debug;
        if (e->active) {
            uint64_t next = b->halted && is_idle(b) && !b->no_iaddr ? b->iaddr : NTR_ADDRESS_UNKNOWN;
            ntr_enc_close(e, next, debug ? NTR_EVCODE_DEBUG : NTR_EVCODE_DISABLED);
        }
        if (unannounced) ntr_enc_announce(e, NTR_EVCODE_DEBUG);
        e->announced = unannounced;
    }
    if (down) e->start_reason = debug ? NTR_SYNC_DEBUG_EXIT : NTR_SYNC_RESET;
    e->down = down;
}

/* Returns EVCODE of a stop at this block. Dialects with more values than one for it say which condition of the first
 * filter does not hold. */
static unsigned stop_cause(const ntr_encoder *e, const ntr_ingress *b, bool qualified) {
    const ntr_filter *f = e->config.filters;
    if (!(e->dialect->messages & NTR_MESSAGES_ANDES) || qualified || is_idle(b) || !e->config.filter_count)
        return NTR_EVCODE_DISABLED;
    if (f->match_priv && !(f->priv >> b->priv & 1)) return NTR_EVCODE_PRIVILEGE;
    if (f->match_scontext && b->scontext != f->scontext) return NTR_EVCODE_PROCESS;
    if (f->match_hcontext && b->hcontext != f->hcontext) return NTR_EVCODE_PROCESS;
    return NTR_EVCODE_PROHIBITED;
}

static bool may_trace(const ntr_encoder *e) {
    return e->enabled && e->tracing && !e->down;
}

bool ntr_enc_window(ntr_encoder *e, const ntr_ingress *b, bool qualified) {
    follow_triggers(e, b);
    follow_hart(e, b);
    bool want = may_trace(e) && (qualified || is_idle(b));
    if (e->active && (!want || e->closing)) {
        const unsigned cause = stop_cause(e, b, qualified);
        if (ntr_enc_has_address(b))
            ntr_enc_close(e, b->iaddr, cause);
        else if (!ntr_enc_needs_address(e) || hides_target(e, b))
            ntr_enc_close(e, NTR_ADDRESS_UNKNOWN, cause);
        else
            e->closing = true;
    }
    if (is_idle(b) || e->closing) return false;
    if (!want && !e->down) {
        if (!e->started && e->enabled && !e->tracing) ntr_enc_announce(e, NTR_EVCODE_DISABLED);
        e->start_reason = NTR_SYNC_TRACE_ENABLE;
    }
    e->started = true;
    return want;
}
