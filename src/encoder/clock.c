/* Timestamps. N-Trace 1.0 section 7.4.
 *
 * TSTAMP is absolute in synchronizing messages and a difference to the last TSTAMP in others. The encoder extends
 * the counter of `ts_width` bits to 64 bits. It can therefore distinguish a rollover of the counter from a message
 * that was held back (RepeatBranch, repeated history) and is older than the last TSTAMP: such a message carries the
 * difference 0. */
#include "dialect/rules.h"
#include "encoder/state.h"
#include "message/sets.h"
#include "message/table.h"

static uint64_t mask(const ntr_encoder *e) {
    return e->params.ts_width >= 64 ? UINT64_MAX : (1ull << e->params.ts_width) - 1;
}

void ntr_enc_clock_set(ntr_encoder *e, uint64_t time) {
    uint64_t scaled = time >> (2 * e->config.ts_prescale);
    e->now += (scaled - e->now) & mask(e);
}

/* Returns true if `ts_messages` asks for TSTAMP in messages with this TCODE. */
static bool wanted(const ntr_encoder *e, unsigned tcode) {
    static const uint8_t classes[NTR_ROLE_COUNT] = {
        [NTR_ROLE_BRANCH] = NTR_TS_MESSAGE_BRANCH,        [NTR_ROLE_REPEAT] = NTR_TS_MESSAGE_BRANCH,
        [NTR_ROLE_RESOURCE] = NTR_TS_MESSAGE_RESOURCE,    [NTR_ROLE_CONTEXT] = NTR_TS_MESSAGE_OWNERSHIP,
        [NTR_ROLE_STOP] = NTR_TS_MESSAGE_CORRELATION,     [NTR_ROLE_LOSS] = NTR_TS_MESSAGE_ERROR,
        [NTR_ROLE_PREDICTION] = NTR_TS_MESSAGE_RESOURCE,  [NTR_ROLE_CACHED_BRANCH] = NTR_TS_MESSAGE_BRANCH,
        [NTR_ROLE_TRAP_VALUE] = NTR_TS_MESSAGE_OWNERSHIP,
    };
    return classes[ntr_tcode_role(e->params.dialect, tcode)] & e->config.ts_messages;
}

/* Returns whether this message has no TSTAMP although others have one. docs/dialects.md section 6.3. */
static bool is_untimed(const ntr_encoder *e, const ntr_message *m, uint64_t time) {
    if (!e->dialect->untimed_ownership) return false;
    if (m->tcode == NTR_TCODE_PROG_TRACE_SYNC) return time == 0;
    const bool after_start = e->tcode_before == NTR_TCODE_PROG_TRACE_SYNC;
    return ntr_has_role(m->tcode, NTR_ROLE_CONTEXT) && (after_start || e->trapped);
}

/* TSTAMP of a message that does not synchronize. */
static uint64_t relative(const ntr_encoder *e, uint64_t time) {
    switch (ntr_ts_rule_of(&e->params)) {
    case NTR_TS_RULE_ABSOLUTE: return time;
    case NTR_TS_RULE_XOR: return time ^ e->reported;
    default: return time - e->reported;
    }
}

void ntr_enc_clock_stamp(ntr_encoder *e, ntr_message *m, uint64_t time) {
    if (!e->timestamps) return;
    bool sync = ntr_tcode_in(ntr_tcodes_with(NTR_FLAG_ABSOLUTE), m->tcode);
    if (is_untimed(e, m, time) || (!sync && !wanted(e, m->tcode))) return;
    if (time < e->reported) time = e->reported;
    NTR_SET(m, TSTAMP, tstamp, (sync ? time : relative(e, time)) & mask(e));
    e->reported = time;
}
