/* Timestamps. N-Trace 1.0 section 7.4.
 *
 * Time is kept unwrapped, so that a narrow counter's rollover and a message that was held back (its time is
 * then older than the one reported last, and it tells no difference) cannot be mistaken for each other. */
#include "encoder/state.h"

static uint64_t mask(const ntr_encoder *e) {
    return e->params.ts_width >= 64 ? UINT64_MAX : (1ull << e->params.ts_width) - 1;
}

void ntr_enc_clock_set(ntr_encoder *e, uint64_t time) {
    uint64_t scaled = time >> (2 * e->config.ts_prescale);
    e->now += (scaled - e->now) & mask(e);
}

static bool wanted(const ntr_encoder *e, unsigned tcode) {
    static const uint8_t CLASS[64] = {
        [NTR_TCODE_OWNERSHIP] = NTR_TS_OWNERSHIP,       [NTR_TCODE_DIRECT_BRANCH] = NTR_TS_BRANCH,
        [NTR_TCODE_INDIRECT_BRANCH] = NTR_TS_BRANCH,    [NTR_TCODE_ERROR] = NTR_TS_ERROR,
        [NTR_TCODE_RESOURCE_FULL] = NTR_TS_RESOURCE,    [NTR_TCODE_INDIRECT_BRANCH_HIST] = NTR_TS_BRANCH,
        [NTR_TCODE_REPEAT_BRANCH] = NTR_TS_BRANCH,      [NTR_TCODE_PROG_TRACE_CORRELATION] = NTR_TS_CORRELATION,
    };
    return CLASS[tcode] & e->config.ts_messages;
}

void ntr_enc_clock_stamp(ntr_encoder *e, ntr_message *m, uint64_t time) {
    if (!e->timestamps) return;
    bool sync = ntr_tcode_is_sync(m->tcode);
    if (!sync && !wanted(e, m->tcode)) return;
    if (time < e->reported) time = e->reported;
    NTR_SET(m, TSTAMP, tstamp, (sync ? time : time - e->reported) & mask(e));
    e->reported = time;
}
