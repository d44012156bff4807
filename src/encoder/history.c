/* HIST: the register, and equal registers in a row as one message. N-Trace 1.0 sections 7.2 and 11.3. */
#include "encoder/state.h"

void ntr_enc_history_send(ntr_encoder *e, uint64_t rdata, uint32_t count, uint64_t time) {
    ntr_message *m = ntr_enc_message(e, NTR_TCODE_RESOURCE_FULL);
    NTR_SET(m, RCODE, rcode, count == 1 ? NTR_RCODE_HIST : NTR_RCODE_HIST_REPEATED);
    NTR_SET(m, RDATA0, rdata0, rdata);
    if (count > 1) NTR_SET(m, RDATA1, rdata1, count);
    e->history_sent = true;
    ntr_enc_send(e, m, time);
}

void ntr_enc_history_flush(ntr_encoder *e) {
    held_history held = e->held;
    e->held.count = 0;
    if (held.count) ntr_enc_history_send(e, held.rdata, held.count, held.time);
}

/* The register is full: send it, or hold it back while the same comes again. */
static void spill(ntr_encoder *e) {
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
    if (e->hist >= e->hist_full) spill(e); /* "before": it waits, full, for the branch that does not fit */
    e->hist = e->hist << 1 | taken;
    if (e->config.full_after && e->hist >= e->hist_full) spill(e);
}

uint64_t ntr_enc_history_whole(const ntr_encoder *e) {
    if (e->history_sent) return 0;
    if (e->patterns) return ntr_enc_patterns_whole(e);
    return e->held.count ? 0 : e->hist;
}

void ntr_enc_history_append_many(ntr_encoder *e, uint64_t outcomes, unsigned count) {
    if (e->patterns || e->config.full_after) {
        while (count--) ntr_enc_history_append(e, outcomes >> count & 1);
        return;
    }
    while (count) {
        if (e->hist >= e->hist_full) spill(e);
        unsigned room = ntr_enc_history_room(e), taken = count < room ? count : room;
        count -= taken;
        e->hist = e->hist << taken | (outcomes >> count & ((1ull << taken) - 1));
    }
}

uint64_t ntr_enc_history_take(ntr_encoder *e) {
    uint64_t hist = e->hist;
    if (e->patterns) hist = ntr_enc_patterns_take(e);
    else ntr_enc_history_flush(e);
    ntr_enc_history_clear(e);
    return hist;
}

void ntr_enc_history_clear(ntr_encoder *e) {
    e->history_sent = false;
    e->hist = HIST_EMPTY;
    e->held.count = 0;
    if (e->patterns) ntr_enc_patterns_clear(e);
}
