/* Facts about a message, and what the rules know of the messages before it. */
#include "check/check_state.h"
#include "message/sets.h"
#include "message/values.h"
#include "trace/flow_messages.h"
#include "trace/ownership.h"

/* ---- one message */

unsigned ntr_check_branches(uint64_t hist) {
    return 63 - (unsigned)__builtin_clzll(hist | 1);
}

static unsigned btype_flags(const ntr_message *m) {
    return NTR_HAS(m, BTYPE) ? ntr_value_flags(NTR_MESSAGES_1_0, NTR_FIELD_BTYPE, m->btype) : 0;
}

bool ntr_check_is_plain_trap(const ntr_message *m) {
    return (btype_flags(m) & (NTR_VALUE_TRAP | NTR_VALUE_DETAIL)) == NTR_VALUE_TRAP;
}

bool ntr_check_is_detailed_trap(const ntr_message *m) {
    return btype_flags(m) & NTR_VALUE_DETAIL;
}

bool ntr_check_is_counter_sync(const ntr_message *m) {
    return NTR_HAS(m, SYNC) && ntr_sync_flags(m) & NTR_VALUE_BTM_ONLY;
}

bool ntr_check_is_history(const ntr_message *m) {
    return ntr_has_role(m->tcode, NTR_ROLE_RESOURCE) &&
           ntr_value_flags(NTR_MESSAGES_1_0, NTR_FIELD_RCODE, m->rcode) & NTR_VALUE_HISTORY;
}

ntr_mode ntr_check_mode_of(const ntr_check_source *s, const ntr_params *params, const ntr_message *m) {
    if (s->mode != NTR_MODE_UNKNOWN) return s->mode;
    if (ntr_tcode_in(ntr_tcodes_with(NTR_FLAG_DIRECT), m->tcode)) return NTR_MODE_BTM;
    if (NTR_HAS(m, HIST) || ntr_check_is_history(m)) return NTR_MODE_HTM;
    const bool in_htm = params->dialect && params->dialect->htm_count_sync;
    return ntr_check_is_counter_sync(m) && !in_htm ? NTR_MODE_BTM : NTR_MODE_UNKNOWN;
}

/* ---- the messages before */

static void pool(ntr_check_source *s, const ntr_message *m) {
    if (ntr_has_role(m->tcode, NTR_ROLE_RESOURCE)) {
        const uint64_t times = NTR_HAS(m, RDATA1) ? m->rdata1 : 1;
        if (m->rcode == NTR_RCODE_ICNT) s->pool_icnt += m->rdata0;
        if (ntr_check_is_history(m)) s->pool_branches += ntr_check_branches(m->rdata0) * times;
    } else if (NTR_HAS(m, ICNT)) {
        s->pool_icnt = s->pool_branches = 0;
    }
}

static void change_phase(ntr_check_source *s, const ntr_message *m) {
    if (ntr_has_role(m->tcode, NTR_ROLE_SYNC)) {
        s->phase = NTR_PHASE_TRACED;
    } else if (ntr_has_role(m->tcode, NTR_ROLE_STOP)) {
        s->phase = NTR_PHASE_STOPPED;
        s->mode = NTR_MODE_UNKNOWN;
    } else if (ntr_has_role(m->tcode, NTR_ROLE_LOSS)) {
        ntr_check_lose(s);
    } else if (s->phase == NTR_PHASE_START && ntr_tcode_in(ntr_tcodes_of_flow(), m->tcode)) {
        s->phase = NTR_PHASE_LOST; /* report a missing start once */
    } else if (s->phase == NTR_PHASE_STOPPED && ntr_tcode_in(ntr_tcodes_of_flow(), m->tcode)) {
        s->phase = NTR_PHASE_LOST;
    }
}

static void count_for_period(ntr_check_source *s, const ntr_message *m) {
    if (ntr_has_role(m->tcode, NTR_ROLE_SYNC))
        s->since_sync = 0;
    else if (!ntr_tcode_in(ntr_tcodes_not_counted(), m->tcode))
        s->since_sync++;
}

static ntr_check_last last_of(const ntr_message *m) {
    return (ntr_check_last){.tcode = m->tcode,
                            .rcode = NTR_HAS(m, RCODE) ? m->rcode : 0,
                            .uaddr = NTR_HAS(m, UADDR) ? m->uaddr : 0,
                            .bcnt = NTR_HAS(m, BCNT) ? m->bcnt : 0,
                            .rdata0 = NTR_HAS(m, RDATA0) ? m->rdata0 : 0,
                            .rdata1 = NTR_HAS(m, RDATA1) ? m->rdata1 : 0};
}

/* Messages that change the flow. A RepeatBranch may follow the other ones, as it may follow the branch message before
 * them (OQ-2). */
static uint64_t of_flow(const ntr_dialect *dialect, unsigned tcode) {
    if (ntr_tcode_is_vendor(dialect, tcode)) return 0; /* another dialect may have a message of the flow there */
    return ntr_tcodes_of_flow() | ntr_tcodes_of_role(NTR_ROLE_SYNC) | ntr_tcodes_of_role(NTR_ROLE_STOP) |
           ntr_tcodes_of_role(NTR_ROLE_LOSS) | ntr_tcodes_of_role(NTR_ROLE_SELF_LOOP) |
           ntr_tcodes_of_role(NTR_ROLE_CACHED_BRANCH);
}

/* A branch message without TSTAMP and trap of a steady source: nothing else changes. */
static bool is_plain(const ntr_check_source *s, const ntr_message *m) {
    return s->steady && s->mode != NTR_MODE_UNKNOWN && ntr_has_role(m->tcode, NTR_ROLE_BRANCH) && !NTR_HAS(m, TSTAMP) &&
           (!NTR_HAS(m, BTYPE) || m->btype == NTR_BTYPE_INDIRECT);
}

void ntr_check_follow(ntr_check_source *s, const ntr_params *params, const ntr_message *m) {
    if (is_plain(s, m)) {
        s->since_sync++;
        s->last.tcode = m->tcode;
        s->last.uaddr = NTR_HAS(m, UADDR) ? m->uaddr : 0;
        return;
    }
    if (ntr_has_role(m->tcode, NTR_ROLE_LOSS) && !ntr_flow_was_lost(params->dialect, m)) {
        s->loss = true; /* a vendor-defined Error: of the flow, too, perhaps */
        return;
    }
    s->mode = ntr_check_mode_of(s, params, m);
    change_phase(s, m);
    pool(s, m);
    count_for_period(s, m);
    ntr_clock_follow(&s->clock, params, m);
    s->timed |= ntr_has_role(m->tcode, NTR_ROLE_SYNC) && NTR_HAS(m, TSTAMP);
    s->repeats |= ntr_has_role(m->tcode, NTR_ROLE_REPEAT);
    s->one |= ntr_check_is_plain_trap(m);
    s->two |= ntr_check_is_detailed_trap(m);
    s->contexts |= ntr_has_role(m->tcode, NTR_ROLE_CONTEXT);
    s->format_before = s->format;
    s->format = NTR_HAS(m, PROCESS) ? (uint8_t)ntr_ownership_format(m->process) : NTR_FORMAT_PRIVILEGE;
    s->sync_before = ntr_has_role(m->tcode, NTR_ROLE_SYNC);
    s->error_before = ntr_has_role(m->tcode, NTR_ROLE_LOSS);
    s->loss = !s->sync_before && (s->loss || s->error_before);
    if (ntr_tcode_in(of_flow(params->dialect, m->tcode), m->tcode)) s->last = last_of(m);
    s->steady = s->phase == NTR_PHASE_TRACED && !s->sync_before && !s->error_before && !s->format &&
                !s->format_before && !s->pool_icnt && !s->pool_branches;
}

void ntr_check_lose(ntr_check_source *s) {
    s->phase = NTR_PHASE_LOST;
    s->mode = NTR_MODE_UNKNOWN;
    s->pool_icnt = s->pool_branches = 0;
    s->since_sync = 0;
    s->sync_before = s->error_before = false;
    s->format = s->format_before = 0;
    s->last = (ntr_check_last){.tcode = NTR_TCODE_NONE};
    s->steady = false;
    ntr_clock_lose(&s->clock);
}
