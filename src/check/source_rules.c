/* Rules about the sequence of messages of one source. */
#include "check/check_state.h"
#include "dialect/rules.h"
#include "message/sets.h"
#include "message/values.h"
#include "trace/ownership.h"

typedef const ntr_check_view *view;
typedef const ntr_check_row *row;

/* ---- kinds of messages */

static bool is_in(view v, uint64_t tcodes) {
    return ntr_tcode_in(tcodes, v->message->tcode);
}

static bool has_role(view v, ntr_role role) {
    return ntr_has_role(v->message->tcode, role);
}

/* The rules that a dialect has of its own; all others are false. */
static const ntr_dialect *dialect_of(view v) {
    return v->config->params.dialect ? v->config->params.dialect : ntr_dialect_at(0);
}

static bool traced(view v) {
    return v->source->phase == NTR_PHASE_TRACED;
}

/* ---- start, stop, loss */

bool ntr_rule_before_sync(view v, row r) {
    (void)r;
    return v->source->phase == NTR_PHASE_START && !v->config->mid_stream && !dialect_of(v)->drops_stragglers &&
           is_in(v, ntr_tcodes_of_flow());
}

bool ntr_rule_after_stop(view v, row r) {
    (void)r;
    return v->source->phase == NTR_PHASE_STOPPED && is_in(v, ntr_tcodes_of_flow());
}

static bool untraced(view v) {
    const bool inside = v->config->mid_stream || v->config->begins_inside;
    return v->source->phase == NTR_PHASE_STOPPED || (v->source->phase == NTR_PHASE_START && !inside);
}

bool ntr_rule_stop_counts(view v, row r) {
    const ntr_message *m = v->message;
    (void)r;
    if (!has_role(v, NTR_ROLE_STOP) || !untraced(v)) return false;
    return m->icnt || (NTR_HAS(m, HIST) && m->hist != 1);
}

/* With some values of SYNC, I-CNT may count the instructions before the reset. */
bool ntr_rule_start_counts(view v, row r) {
    const ntr_message *m = v->message;
    (void)r;
    if (m->tcode != NTR_TCODE_PROG_TRACE_SYNC || !m->icnt || ntr_sync_flags(m) & NTR_VALUE_RESETS) return false;
    return untraced(v) || v->source->error_before || ntr_sync_flags(m) & NTR_VALUE_RESTARTS;
}

static bool is_trigger(view v) {
    return has_role(v, NTR_ROLE_SYNC) && v->message->sync == NTR_SYNC_EXTERNAL_TRIGGER;
}

bool ntr_rule_start_reason(view v, row r) {
    enum { UNKNOWN = NTR_VALUE_RESERVED | NTR_VALUE_VENDOR };
    (void)r;
    return v->source->phase == NTR_PHASE_STOPPED && has_role(v, NTR_ROLE_SYNC) && !is_trigger(v) &&
           !(ntr_sync_flags(v->message) & (NTR_VALUE_RESTARTS | UNKNOWN));
}

/* The text says "should": trace that a trigger starts has SYNC 5. */
bool ntr_rule_start_trigger(view v, row r) {
    (void)r;
    return v->source->phase == NTR_PHASE_STOPPED && is_trigger(v);
}

/* While trace is off, entry into debug need not be reported (cases 2 and 3 of section 9). */
bool ntr_rule_debug_exit(view v, row r) {
    (void)r;
    return traced(v) && has_role(v, NTR_ROLE_SYNC) && v->message->sync == NTR_SYNC_DEBUG_EXIT;
}

bool ntr_rule_error_without_sync(view v, row r) {
    (void)r;
    return v->source->error_before && !has_role(v, NTR_ROLE_SYNC) && !has_role(v, NTR_ROLE_STOP);
}

static bool is_after_loss(view v) {
    return ntr_sync_flags(v->message) & NTR_VALUE_AFTER_LOSS;
}

bool ntr_rule_error_reason(view v, row r) {
    (void)r;
    return v->source->error_before && has_role(v, NTR_ROLE_SYNC) && !is_after_loss(v);
}

bool ntr_rule_overrun_without_error(view v, row r) {
    const bool judged = traced(v) || v->source->phase == NTR_PHASE_STOPPED;
    (void)r;
    return judged && has_role(v, NTR_ROLE_SYNC) && is_after_loss(v) && !v->source->loss;
}

/* ---- modes */

bool ntr_rule_btype_mixed(view v, row r) {
    (void)r;
    return (ntr_check_is_plain_trap(v->message) && v->source->two) ||
           (ntr_check_is_detailed_trap(v->message) && v->source->one);
}

bool ntr_rule_direct_in_htm(view v, row r) {
    (void)r;
    return v->mode == NTR_MODE_HTM && is_in(v, ntr_tcodes_with(NTR_FLAG_DIRECT));
}

bool ntr_rule_hist_in_btm(view v, row r) {
    const ntr_message *m = v->message;
    (void)r;
    if (v->mode != NTR_MODE_BTM || has_role(v, NTR_ROLE_STOP)) return false;
    return NTR_HAS(m, HIST) || ntr_check_is_history(m);
}

bool ntr_rule_cdf_htm(view v, row r) {
    (void)r;
    return v->mode == NTR_MODE_HTM && NTR_HAS(v->message, CDF) && v->message->cdf == NTR_CDF_ICNT;
}

bool ntr_rule_cdf_btm(view v, row r) {
    (void)r;
    return v->mode == NTR_MODE_BTM && NTR_HAS(v->message, CDF) && v->message->cdf == NTR_CDF_HIST;
}

bool ntr_rule_counter_htm(view v, row r) {
    (void)r;
    return v->mode == NTR_MODE_HTM && ntr_check_is_counter_sync(v->message) && !dialect_of(v)->htm_count_sync;
}

bool ntr_rule_hist_dropped(view v, row r) {
    (void)r;
    return traced(v) && v->source->pool_branches && NTR_HAS(v->message, ICNT) &&
           !is_in(v, ntr_tcodes_with(NTR_FLAG_HISTORY_END));
}

/* ---- repeats */

bool ntr_rule_repeat_place(view v, row r) {
    const ntr_check_last *last = &v->source->last;
    (void)r;
    if (!has_role(v, NTR_ROLE_REPEAT) || !traced(v)) return false;
    return !ntr_has_role(last->tcode, NTR_ROLE_BRANCH) && !ntr_has_role(last->tcode, NTR_ROLE_REPEAT);
}

bool ntr_rule_repeat_zero(view v, row r) {
    (void)r;
    return has_role(v, NTR_ROLE_REPEAT) && v->message->bcnt == 0;
}

/* Dialects that compare the fields of messages define what U-ADDR means in a repetition, and have counters of any
 * width. */
static bool repeats_fields(view v) {
    return dialect_of(v)->repeat_xors;
}

bool ntr_rule_repeat_address(view v, row r) {
    const ntr_check_last *last = &v->source->last;
    (void)r;
    if (repeats_fields(v) || v->config->params.no_addr_diff) return false;
    return has_role(v, NTR_ROLE_REPEAT) && traced(v) && ntr_has_role(last->tcode, NTR_ROLE_BRANCH) && last->uaddr;
}

/* Once for each source. */
bool ntr_rule_repeat_htm(view v, row r) {
    (void)r;
    return has_role(v, NTR_ROLE_REPEAT) && v->mode == NTR_MODE_HTM && !v->source->repeats && !repeats_fields(v);
}

/* Returns whether a counter of some width cannot count further: all its bits are set. */
static bool may_be_most(uint64_t count) {
    return count && !(count & (count + 1));
}

bool ntr_rule_repeat_split(view v, row r) {
    const ntr_check_last *last = &v->source->last;
    (void)r;
    if (repeats_fields(v)) return false;
    return has_role(v, NTR_ROLE_REPEAT) && traced(v) && ntr_has_role(last->tcode, NTR_ROLE_REPEAT) &&
           !may_be_most(last->bcnt);
}

static bool is_repeated_history(unsigned tcode, uint64_t rcode) {
    return ntr_has_role(tcode, NTR_ROLE_RESOURCE) && rcode == NTR_RCODE_HIST_REPEATED;
}

bool ntr_rule_hrepeat_split(view v, row r) {
    const ntr_check_last *last = &v->source->last;
    (void)r;
    return traced(v) && is_repeated_history(v->message->tcode, v->message->rcode) &&
           is_repeated_history(last->tcode, last->rcode) && last->rdata0 == v->message->rdata0 &&
           !may_be_most(last->rdata1);
}

/* ---- counts */

/* Argument: the TCODE. */
bool ntr_rule_counts_nothing(view v, row r) {
    const ntr_message *m = v->message;
    return traced(v) && m->tcode == r->argument && m->icnt + v->source->pool_icnt == 0;
}

/* A synchronizing message with B-TYPE 0 is not necessarily caused by a jump. */
bool ntr_rule_jump_counts_nothing(view v, row r) {
    const ntr_message *m = v->message;
    (void)r;
    const bool indirect = NTR_HAS(m, BTYPE) && m->btype == NTR_BTYPE_INDIRECT;
    return traced(v) && has_role(v, NTR_ROLE_BRANCH) && indirect && m->icnt + v->source->pool_icnt == 0;
}

/* Every branch is at least one halfword. */
bool ntr_rule_hist_over_icnt(view v, row r) {
    const ntr_message *m = v->message;
    (void)r;
    if (!traced(v) || !is_in(v, ntr_tcodes_with(NTR_FLAG_HISTORY_END))) return false;
    uint64_t branches = v->source->pool_branches + (NTR_HAS(m, HIST) ? ntr_check_branches(m->hist) : 0);
    return branches > v->source->pool_icnt + m->icnt;
}

/* The first branch message after the end of the period synchronizes. If there is none, as in HTM in a loop without a
 * register jump, a message without a branch does, one period later at the latest. */
bool ntr_rule_sync_late(view v, row r) {
    const uint64_t period = v->config->sync_period, since = v->source->since_sync;
    (void)r;
    if (!period || !traced(v)) return false;
    if (has_role(v, NTR_ROLE_BRANCH)) return since > period;
    return since == 2 * period && !is_in(v, ntr_tcodes_not_counted()) && !has_role(v, NTR_ROLE_STOP);
}

/* ---- Ownership */

/* The Ownership message may have been lost in an overflow. */
bool ntr_rule_ownership_missing(view v, row r) {
    (void)r;
    return v->source->sync_before && v->source->contexts && !has_role(v, NTR_ROLE_CONTEXT) &&
           !has_role(v, NTR_ROLE_LOSS);
}

bool ntr_rule_ownership_format(view v, row r) {
    (void)r;
    return v->source->sync_before && NTR_HAS(v->message, PROCESS) &&
           ntr_ownership_format(v->message->process) == NTR_FORMAT_PRIVILEGE &&
           ntr_context0_of(&v->config->params) == NTR_CONTEXT0_NONE;
}

/* Returns whether hcontext came, and scontext does not follow directly. It may have been lost in an overflow. */
static bool hcontext_is_alone(view v) {
    const ntr_message *m = v->message;
    if (v->source->format != NTR_FORMAT_HCONTEXT || has_role(v, NTR_ROLE_LOSS)) return false;
    return !NTR_HAS(m, PROCESS) || ntr_ownership_format(m->process) != NTR_FORMAT_SCONTEXT;
}

/* scontext, hcontext, scontext is the report of a hart without guests, followed by that of its first guest. */
bool ntr_rule_ownership_order(view v, row r) {
    (void)r;
    return hcontext_is_alone(v) && v->source->format_before == NTR_FORMAT_SCONTEXT;
}

bool ntr_rule_ownership_pair(view v, row r) {
    (void)r;
    return hcontext_is_alone(v) && v->source->format_before != NTR_FORMAT_SCONTEXT;
}

/* ---- time */

bool ntr_rule_tstamp_missing(view v, row r) {
    (void)r;
    return has_role(v, NTR_ROLE_SYNC) && !NTR_HAS(v->message, TSTAMP) &&
           (v->source->timed || v->config->params.timestamps == NTR_TIMESTAMPS_ON);
}

/* A counter narrower than 64 bits wraps around; a reset restarts it. */
bool ntr_rule_tstamp_back(view v, row r) {
    const unsigned width = v->config->params.ts_width;
    (void)r;
    if (ntr_sync_flags(v->message) & NTR_VALUE_RESETS) return false;
    return has_role(v, NTR_ROLE_SYNC) && NTR_HAS(v->message, TSTAMP) && v->source->clock.known &&
           (width == 0 || width >= 64) && v->message->tstamp < v->source->clock.time;
}
