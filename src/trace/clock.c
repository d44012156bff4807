/* The clock of a source. TSTAMP is absolute in synchronizing messages; in other messages it is a difference (N-Trace
 * 1.0 section 7.4), an XOR with the last time (docs/dialects.md section 1.1), or absolute, too (docs/dialects.md
 * section 6.3).
 *
 * An absolute TSTAMP below the last time means that a counter of ts_width bits has wrapped. Example with ts_width 16:
 * after time 0xFFF0 an absolute TSTAMP of 0x0010 gives 0x10010. If ts_width is 0, the counter does not wrap: the time
 * goes back, because the trace was started again. */
#include <ntrace/clock.h>

#include "dialect/rules.h"
#include "message/sets.h"

/* Returns 2^width, or 0 when the counter does not wrap within 64 bits. */
static uint64_t period(const ntr_params *params) {
    unsigned width = params->ts_width;
    return width == 0 || width >= 64 ? 0 : UINT64_C(1) << width;
}

static void set_absolute(ntr_clock *clock, const ntr_params *params, unsigned rule, uint64_t tstamp) {
    uint64_t wrap = period(params);
    uint64_t epoch = tstamp < wrap ? clock->time & ~(wrap - 1) : 0; /* else the counter is wider than ts_width */
    uint64_t time = tstamp + epoch;
    if (time < clock->time) time += wrap;
    clock->time = time;
    clock->known = rule != NTR_TS_RULE_XOR || time != 0;
}

static void advance(ntr_clock *clock, const ntr_params *params, unsigned rule, uint64_t tstamp) {
    if (!clock->known) return;
    if (rule == NTR_TS_RULE_DIFFERENCE) {
        clock->time += tstamp;
        return;
    }
    uint64_t time = clock->time ^ tstamp;
    if (time < clock->time) time += period(params);
    clock->time = time;
    clock->known = time != 0;
}

/* Every TSTAMP is the time itself. Messages that waited may have a slightly lower one, which is no wrap of the counter.
 * A message without TSTAMP leaves the time as it is, also a synchronizing one. */
static bool follow_absolute(ntr_clock *clock, const ntr_message *m) {
    if (!NTR_HAS(m, TSTAMP)) return false;
    *clock = (ntr_clock){.time = m->tstamp, .known = true};
    return true;
}

bool ntr_clock_follow(ntr_clock *clock, const ntr_params *params, const ntr_message *m) {
    unsigned rule = ntr_ts_rule_of(params);
    if (rule == NTR_TS_RULE_ABSOLUTE) return follow_absolute(clock, m);
    /* a message that the dialect does not have has no field but SRC */
    bool absolute = ntr_tcode_in(ntr_tcodes_with(NTR_FLAG_ABSOLUTE), m->tcode) && m->present >> (NTR_FIELD_SRC + 1);
    if (absolute && NTR_HAS(m, TSTAMP))
        set_absolute(clock, params, rule, m->tstamp);
    else if (absolute)
        clock->known &= rule == NTR_TS_RULE_XOR; /* unknown until the next absolute time (OQ-22) */
    else if (NTR_HAS(m, TSTAMP))
        advance(clock, params, rule, m->tstamp);
    return absolute;
}

void ntr_clock_lose(ntr_clock *clock) {
    clock->known = false;
}
