/* Branch history: the HIST register and ResourceFull. N-Trace 1.0 sections 6.8, 7.2 and 11.3.
 *
 * HIST holds one bit per branch, the newest in bit 0, below a stop-bit. When the register is full it is sent as
 * ResourceFull with RCODE 1, and starts again empty. HIST of the next branch message holds the rest.
 *
 * Repeated history: with `repeated_history` a full register is held back in `held`, and equal registers that follow
 * are counted. Another value, a full HREPEAT or the end of the history sends them: as RCODE 2 with the count, or as
 * RCODE 1 if the count is 1. Invariant: history in order is what was sent, then held.count times held.rdata, then
 * `hist`. That is NTR_REPEATS_WHOLE; otherwise patterns.c or repeats.c do all this and find repeats that do not fill a
 * register.
 *
 * Full "before" and "after" (`full_after`): "before" sends the full register when one more branch comes, so that a
 * branch message that comes first can still use it. "after" sends it as soon as it is full. */
#include "encoder/state.h"

void ntr_enc_history_flush(ntr_encoder *e) {
    held_history held = e->held;
    e->held.count = 0;
    if (held.count) ntr_enc_history_send(e, held.rdata, held.count, held.time);
}

/* Sends the full register, or holds it back to count equal ones. */
static void send_full_register(ntr_encoder *e) {
    uint64_t rdata = e->hist;
    e->hist = HIST_EMPTY;
    if (!e->config.repeated_history) {
        ntr_enc_history_send(e, rdata, 1, e->now);
        return;
    }
    if (e->held.count && e->held.rdata != rdata) ntr_enc_history_flush(e);
    e->held.rdata = rdata;
    e->held.time = e->now;
    if (++e->held.count == (1u << e->config.hrepeat_bits) - 1) ntr_enc_history_flush(e);
}

void ntr_enc_history_append(ntr_encoder *e, unsigned taken) {
    if (e->patterns) {
        ntr_enc_patterns_append(e, taken);
        return;
    }
    if (e->splits_quickly) {
        ntr_enc_repeats_append(e, taken, 1);
        return;
    }
    if (e->hist >= e->hist_full) send_full_register(e); /* "before": this branch does not fit */
    e->hist = e->hist << 1 | taken;
    if (e->config.full_after && e->hist >= e->hist_full) send_full_register(e);
}

uint64_t ntr_enc_history_unsent(const ntr_encoder *e) {
    if (e->history_sent) return 0;
    if (e->patterns) return ntr_enc_patterns_unsent(e);
    if (e->splits_quickly) return ntr_enc_repeats_unsent(e);
    return e->held.count ? 0 : e->hist;
}

void ntr_enc_history_append_many(ntr_encoder *e, uint64_t outcomes, unsigned count) {
    if (e->patterns || e->config.full_after) {
        while (count--) ntr_enc_history_append(e, outcomes >> count & 1);
        return;
    }
    if (e->splits_quickly) {
        ntr_enc_repeats_append(e, outcomes, count);
        return;
    }
    while (count) {
        if (e->hist >= e->hist_full) send_full_register(e);
        unsigned space = ntr_enc_history_space(e), taken = count < space ? count : space;
        count -= taken;
        e->hist = e->hist << taken | (outcomes >> count & ((1ull << taken) - 1));
    }
}

uint64_t ntr_enc_history_take(ntr_encoder *e) {
    uint64_t hist = e->hist;
    if (e->patterns)
        hist = ntr_enc_patterns_take(e);
    else if (e->splits_quickly)
        hist = ntr_enc_repeats_take(e);
    else
        ntr_enc_history_flush(e);
    ntr_enc_history_clear(e);
    return hist;
}

void ntr_enc_history_clear(ntr_encoder *e) {
    e->history_sent = false;
    e->predicted = 0;
    e->hist = HIST_EMPTY;
    e->held.count = 0;
    if (e->patterns) ntr_enc_patterns_clear(e);
    ntr_enc_repeats_clear(e);
}
