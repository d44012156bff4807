/* Inference of stream parameters by trial: decode the stream with many values and count contradictions with the
 * program.
 *
 * Parameters that change how messages are split and read (SRC width, dialect, MSB extension, traced jumps) are tried in
 * every combination. Implicit returns and sequential jumps are on in these trials, because a decoder that may infer a
 * target still takes the address of a message that has one. Each parameter is then judged by comparing the best trial
 * with the best of the trials that have another value of it.
 *
 * Invariant: the defaults of N-Trace 1.0 are kept unless another value explains the stream better by a margin of
 * messages (search.c), which damage does not make; a stream of a few messages keeps them. A parameter is only "sure"
 * when the best trials with other values fail by a large margin. Example: with SRC of 2 bits, 900 messages are followed
 * without contradiction; the best trial with another width follows 40, with 30 contradictions. So 2 is sure. */
#include "base/config.h"
#include "infer/dialects.h"

#include "base/allocator.h"
#include "dialect/params.h"
#include "dialect/rules.h"
#include "message/sets.h"
#include "transport/container.h"

#include <stdio.h>
#include <string.h>

/* The parameter's value as text; "" for a value outside its limits, which only a caller can give. */
static void value_text(const ntr_search *s, ntr_parameter p, char *out, size_t capacity) {
    if (ntr_params_get(&s->out->params, ntr_parameter_name(p), out, capacity) < 0) out[0] = 0;
}

/* ---- parameter by parameter */

static uint64_t unusual_messages(const ntr_search *s, unsigned src_bits) {
    ntr_params params;
    ntr_scan scan;

    ntr_params_init(&params, ntr_dialect_find("sifive-pre1.0"));
    params.src_bits = (uint8_t)src_bits;
    ntr_scan_stream(&params, s->window, s->config->mid_stream, &scan);
    return scan.unusual + scan.defects;
}

/* Without a program, the messages of one hart: as many bits behind TCODE are the same in all of them. A few bits of
 * other fields may be, too; therefore a few must also make unusual values usual. Returns the width, or 0. */
static unsigned same_src_bits(const ntr_search *s) {
    enum { MARGIN = 4, FEW_BITS = 5 };
    const unsigned bits = ntr_scan_same_bits(s->window, s->config->mid_stream);

    if (bits == 0 || bits > FEW_BITS) return bits;
    const uint64_t with = unusual_messages(s, bits), without = unusual_messages(s, 0);
    return without >= with + MARGIN && without >= 2 * with ? bits : 0;
}

/* Without a program: choose the width with the fewest unusual values. */
static ntr_confidence scan_src_bits(const ntr_search *s, unsigned *src_bits, uint64_t *unusual_found) {
    uint64_t least = UINT64_MAX, second = UINT64_MAX;
    for (unsigned bits = 0; bits <= NTR_SEARCH_SRC_BITS; bits++) {
        const uint64_t unusual = unusual_messages(s, bits);
        if (unusual < least) {
            second = least;
            least = unusual;
            *src_bits = bits;
        } else if (unusual < second) {
            second = unusual;
        }
    }
    enum { MARGIN = 4 };
    *unusual_found = least;
    return second >= least + MARGIN && second >= 2 * least ? NTR_CONFIDENCE_LIKELY : NTR_CONFIDENCE_UNKNOWN;
}

static void infer_src_bits(ntr_search *s) {
    ntr_params *p = &s->out->params;
    char value[8];
    unsigned ttdfd_bits;
    ntr_verdict v = ntr_search_judge(s, NTR_PARAMETER_SRC_BITS);
    const bool decided = v.confidence == NTR_CONFIDENCE_SURE || v.confidence == NTR_CONFIDENCE_LIKELY;
    const bool clear = ntr_search_has_evidence(s) && !ntr_search_is_poor(s) && decided;
    if (!clear && ntr_infer_signs_of_tt_dfd(s, &ttdfd_bits)) {
        p->src_bits = (uint8_t)ttdfd_bits;
        snprintf(value, sizeof value, "%u", ttdfd_bits);
        ntr_choose(s, NTR_PARAMETER_SRC_BITS, NTR_CONFIDENCE_LIKELY, value, "%s",
                   ttdfd_bits ? "the width of dialect tt-dfd"
                              : "tt-dfd with SRC inhibited, which damages its messages");
        return;
    }
    if (ntr_infer_given(s, NTR_PARAMETER_SRC_BITS) || ntr_search_has_evidence(s)) {
        snprintf(value, sizeof value, "%u", p->src_bits);
        ntr_choose_by_trial(s, NTR_PARAMETER_SRC_BITS, v, value);
        return;
    }
    unsigned bits = same_src_bits(s);
    if (bits) {
        p->src_bits = (uint8_t)bits;
        snprintf(value, sizeof value, "%u", p->src_bits);
        ntr_choose(s, NTR_PARAMETER_SRC_BITS, NTR_CONFIDENCE_LIKELY, value,
                   "without a program: the %u bits behind TCODE are the same in all messages of a hart", bits);
        return;
    }
    uint64_t unusual = 0;
    ntr_confidence confidence = scan_src_bits(s, &bits, &unusual);
    p->src_bits = confidence == NTR_CONFIDENCE_LIKELY ? (uint8_t)bits : 0;
    snprintf(value, sizeof value, "%u", p->src_bits);
    ntr_choose(s, NTR_PARAMETER_SRC_BITS, confidence, value,
               confidence == NTR_CONFIDENCE_LIKELY
                   ? "without a program: %llu messages have unusual values, more with every other width"
                   : "without a program several widths are equally plausible; give --src-bits",
               (unsigned long long)unusual);
}

static const char *on_off(bool on) {
    return on ? "on" : "off";
}

/* Judges inference that a trial may do without: `used` is how often the best trial inferred something, `against` how
 * often a message said what would have been inferred. Damage can make both, so that each outweighs the other only by a
 * margin. Returns in *confidence how certain it is that the stream needs the inference that `without` does not have;
 * NTR_CONFIDENCE_UNKNOWN when it does not. Errors: NTR_E_MEMORY. */
static ntr_status judge_need(const ntr_search *s, const ntr_params *without, uint64_t used, uint64_t against,
                             ntr_confidence *confidence) {
    const ntr_infer_trial *best = &s->trials[s->best];
    ntr_infer_trial trial;
    ntr_status status = ntr_search_try(s, without, &trial);
    const uint64_t with = ntr_infer_failures(best), less = ntr_infer_failures(&trial);
    const bool helps = less > with || trial.followed < best->followed;
    *confidence = !helps                                                              ? NTR_CONFIDENCE_UNKNOWN
                  : used >= NTR_EVIDENCE_LARGE + 16 * (against + with)                ? NTR_CONFIDENCE_SURE
                  : used >= NTR_EVIDENCE_SOME + 4 * against && less + used > 2 * with ? NTR_CONFIDENCE_LIKELY
                                                                                      : NTR_CONFIDENCE_UNKNOWN;
    return status;
}

/* Section 11.2 lets an encoder infer a return only if an earlier message reported its call; some infer it also in the
 * message that reports the call (OQ-18). A return that is told together with its call does not show that returns are
 * not inferred, and says nothing of an encoder that infers only the others. */
static ntr_status infer_implicit_return(ntr_search *s) {
    const ntr_infer_trial *best = &s->trials[s->best];
    enum { EARLY_RATIO = 8 }; /* the trial's own stack can be another one than the encoder's */
    const bool strict = best->implicit_returns && best->implicit_early * EARLY_RATIO <= best->implicit_returns;
    const uint64_t silent = best->implicit_returns, late = best->redundant_returns - best->redundant_early;
    const uint64_t told = strict ? late : best->redundant_returns;
    ntr_params *p = &s->out->params, without = best->params;
    char value[16];
    value_text(s, NTR_PARAMETER_IMPLICIT_RETURN, value, sizeof value);
    if (ntr_infer_given(s, NTR_PARAMETER_IMPLICIT_RETURN)) {
        ntr_choose(s, NTR_PARAMETER_IMPLICIT_RETURN, NTR_CONFIDENCE_GIVEN, value, "%s", "");
        return NTR_OK;
    }
    ntr_confidence needed;
    without.implicit_return = NTR_RETURN_OFF;
    ntr_status status = judge_need(s, &without, silent, told, &needed);
    if (status != NTR_OK) return status;
    if (needed != NTR_CONFIDENCE_UNKNOWN) {
        ntr_choose(s, NTR_PARAMETER_IMPLICIT_RETURN, needed, value, "%llu messages pass returns that have no message",
                   (unsigned long long)silent);
        return NTR_OK;
    }
    p->implicit_return = told ? NTR_RETURN_OFF : p->dialect->implicit_return;
    value_text(s, NTR_PARAMETER_IMPLICIT_RETURN, value, sizeof value);
    if (told > 4 * silent)
        ntr_choose(s, NTR_PARAMETER_IMPLICIT_RETURN,
                   late >= NTR_EVIDENCE_LARGE + 16 * (silent + ntr_infer_failures(best)) ? NTR_CONFIDENCE_SURE
                                                                                         : NTR_CONFIDENCE_LIKELY,
                   "off", "%llu returns to known callers have a message", (unsigned long long)told);
    else if (silent || told)
        ntr_choose(
            s, NTR_PARAMETER_IMPLICIT_RETURN, NTR_CONFIDENCE_UNKNOWN, value,
            "returns without a message (in %llu messages) and with one (%llu) are too few; give --implicit-return",
            (unsigned long long)silent, (unsigned long long)told);
    else
        ntr_choose(s, NTR_PARAMETER_IMPLICIT_RETURN,
                   ntr_search_has_evidence(s) ? NTR_CONFIDENCE_NO_MATTER : NTR_CONFIDENCE_UNKNOWN, value,
                   "no return shows it%s", s->complete ? "" : " in the inspected part");
    return NTR_OK;
}

static ntr_status infer_sequential_jump(ntr_search *s) {
    const ntr_infer_trial *best = &s->trials[s->best];
    const uint64_t silent = best->implicit_jumps;
    bool *value = &s->out->params.sequential_jump;
    ntr_params without = best->params;
    ntr_confidence needed;
    if (ntr_infer_given(s, NTR_PARAMETER_SEQUENTIAL_JUMP)) {
        ntr_choose(s, NTR_PARAMETER_SEQUENTIAL_JUMP, NTR_CONFIDENCE_GIVEN, on_off(*value), "%s", "");
        return NTR_OK;
    }
    without.sequential_jump = false;
    ntr_status status = judge_need(s, &without, silent, 0, &needed);
    if (status != NTR_OK) return status;
    *value = needed != NTR_CONFIDENCE_UNKNOWN;
    if (*value)
        ntr_choose(s, NTR_PARAMETER_SEQUENTIAL_JUMP, needed, "on",
                   "%llu messages pass register jumps that have no message", (unsigned long long)silent);
    else if (silent)
        ntr_choose(s, NTR_PARAMETER_SEQUENTIAL_JUMP, NTR_CONFIDENCE_UNKNOWN, "off",
                   "register jumps without a message (in %llu messages) are too few; give --sequential-jump",
                   (unsigned long long)silent);
    else
        ntr_choose(s, NTR_PARAMETER_SEQUENTIAL_JUMP,
                   ntr_search_has_evidence(s) ? NTR_CONFIDENCE_NO_MATTER : NTR_CONFIDENCE_UNKNOWN, "off",
                   "every register jump%s has its message", s->complete ? "" : " in the inspected part");
    return NTR_OK;
}

static void infer_extend_addr(ntr_search *s) {
    const ntr_scan *scan = &s->scan;
    bool *value = &s->out->params.extend_addr;
    ntr_verdict v = ntr_search_judge(s, NTR_PARAMETER_EXTEND_ADDR);
    if (ntr_search_has_evidence(s) || ntr_infer_given(s, NTR_PARAMETER_EXTEND_ADDR)) {
        ntr_choose_by_trial(s, NTR_PARAMETER_EXTEND_ADDR, v, on_off(*value));
        return;
    }
    enum { SOME = 8 };
    *value = scan->closed_signs != 0;
    if (*value)
        ntr_choose(s, NTR_PARAMETER_EXTEND_ADDR, NTR_CONFIDENCE_LIKELY, "on",
                   "%llu addresses end in zeros that only extension needs", (unsigned long long)scan->closed_signs);
    else
        ntr_choose(s, NTR_PARAMETER_EXTEND_ADDR,
                   scan->open_signs >= SOME ? NTR_CONFIDENCE_LIKELY : NTR_CONFIDENCE_UNKNOWN, "off",
                   "%llu addresses end in a set bit, none in zeros after it", (unsigned long long)scan->open_signs);
}

static void infer_all_jumps(ntr_search *s) {
    bool value = s->out->params.all_jumps;
    ntr_verdict v = ntr_search_judge(s, NTR_PARAMETER_ALL_JUMPS);
    ntr_choose_by_trial(s, NTR_PARAMETER_ALL_JUMPS, v, on_off(value));
}

static void infer_no_addr_diff(ntr_search *s) {
    bool value = s->out->params.no_addr_diff;
    ntr_verdict v = ntr_search_judge(s, NTR_PARAMETER_NO_ADDR_DIFF);
    ntr_choose_by_trial(s, NTR_PARAMETER_NO_ADDR_DIFF, v, on_off(value));
}

static void infer_addr_bits(ntr_search *s) {
    ntr_verdict v = ntr_search_judge(s, NTR_PARAMETER_ADDR_BITS);
    char value[8];
    snprintf(value, sizeof value, "%u", s->out->params.addr_bits);
    if (s->out->params.addr_bits && v.confidence == NTR_CONFIDENCE_SURE)
        v.confidence = NTR_CONFIDENCE_LIKELY; /* not every width is tried */
    if (s->out->params.addr_bits)
        ntr_choose_by_trial(s, NTR_PARAMETER_ADDR_BITS, v, value);
    else
        ntr_choose(s, NTR_PARAMETER_ADDR_BITS,
                   ntr_search_has_evidence(s) ? NTR_CONFIDENCE_NO_MATTER : NTR_CONFIDENCE_UNKNOWN, value, "%s",
                   "no address has to be extended from a narrower one");
}

/* The rule of times, where it is another one than that of the dialect. */
static void infer_ts_rule(ntr_search *s) {
    static const char *const words[] = {
        [NTR_TS_RULE_DIFFERENCE] = "difference", [NTR_TS_RULE_XOR] = "xor", [NTR_TS_RULE_ABSOLUTE] = "absolute"};
    static const uint8_t rules[] = {[NTR_TIMES_SUMS] = NTR_TS_RULE_DIFFERENCE,
                                    [NTR_TIMES_XORS] = NTR_TS_RULE_XOR,
                                    [NTR_TIMES_ABSOLUTE] = NTR_TS_RULE_ABSOLUTE};
    ntr_params *p = &s->out->params;
    ntr_times seen = ntr_classify_times(&s->scan);
    bool shown = s->scan.steps && seen != NTR_TIMES_UNKNOWN;
    if (shown && !ntr_infer_given(s, NTR_PARAMETER_TS_RULE) && rules[seen] != ntr_ts_rule_of(p))
        p->ts_rule = rules[seen];
    if (shown)
        ntr_choose(s, NTR_PARAMETER_TS_RULE, NTR_CONFIDENCE_LIKELY, p->ts_rule ? words[ntr_ts_rule_of(p)] : "dialect",
                   "%llu relative times rise as %s", (unsigned long long)s->scan.steps, words[rules[seen]]);
    else
        ntr_choose(s, NTR_PARAMETER_TS_RULE, s->scan.steps ? NTR_CONFIDENCE_UNKNOWN : NTR_CONFIDENCE_NO_MATTER,
                   p->ts_rule ? words[ntr_ts_rule_of(p)] : "dialect", "%s",
                   s->scan.steps ? "too few timestamps; give --ts-rule"
                                 : "no message that does not synchronize has a TSTAMP");
}

/* A few messages with TSTAMP among many without it are damaged ones that have swallowed the next message. */
static void infer_timestamps(ntr_search *s) {
    const ntr_scan *scan = &s->scan;
    const uint64_t stamped = scan->stamped_syncs + scan->stamped_others;
    const bool on = 2 * scan->stamped_syncs > scan->syncs || 2 * scan->stamped_others > scan->others;
    const bool clear = stamped == 0 || (on && 8 * scan->stamped_syncs >= 7 * scan->syncs);
    const bool proven = clear && s->out->choices[NTR_PARAMETER_SRC_BITS].confidence <= NTR_CONFIDENCE_SURE;
    const ntr_confidence confidence = proven ? NTR_CONFIDENCE_SURE : NTR_CONFIDENCE_LIKELY;
    if (!ntr_infer_given(s, NTR_PARAMETER_TIMESTAMPS))
        s->out->params.timestamps =
            stamped && scan->stamped_syncs == scan->syncs ? NTR_TIMESTAMPS_ON : NTR_TIMESTAMPS_SEEN;
    ntr_choose(s, NTR_PARAMETER_TIMESTAMPS, confidence, on_off(on), "%llu of %llu messages end in TSTAMP",
               (unsigned long long)stamped, (unsigned long long)scan->messages);
}

/* A time that decreases once may be a restart or damage. A counter that wraps does so again, each time from its upper
 * half to its lower one. */
static void infer_ts_width(ntr_search *s) {
    const ntr_scan *scan = &s->scan;
    ntr_params *p = &s->out->params;
    const unsigned bits = 64 - (unsigned)__builtin_clzll(scan->latest | 1);
    const uint64_t half = UINT64_C(1) << (bits - 1);
    const bool open =
        scan->wraps && ntr_ts_rule_of(p) == NTR_TS_RULE_DIFFERENCE && !ntr_infer_given(s, NTR_PARAMETER_TS_WIDTH);
    const bool wraps = open && scan->wraps > 1 && scan->before_wraps >= half && scan->after_wraps < half;
    char value[8];
    if (wraps) p->ts_width = (uint8_t)bits;
    snprintf(value, sizeof value, "%u", p->ts_width ? p->ts_width : 64);
    if (wraps)
        ntr_choose(s, NTR_PARAMETER_TS_WIDTH, NTR_CONFIDENCE_LIKELY, value,
                   "absolute timestamps decrease %llu times; none needs more bits", (unsigned long long)scan->wraps);
    else if (open)
        ntr_choose(s, NTR_PARAMETER_TS_WIDTH, NTR_CONFIDENCE_UNKNOWN, value,
                   "absolute timestamps decrease %llu times, which does not show a width; give --ts-width",
                   (unsigned long long)scan->wraps);
    else
        ntr_choose(s, NTR_PARAMETER_TS_WIDTH, NTR_CONFIDENCE_NO_MATTER, value,
                   "no timestamp wraps in the inspected part");
}

static void infer_mode(ntr_search *s) {
    const ntr_scan *scan = &s->scan;
    uint64_t btm = ntr_scan_count(scan, ntr_tcodes_with(NTR_FLAG_DIRECT));
    const char *value = btm && scan->history ? "btm+htm" : btm ? "btm" : scan->history ? "htm" : "either";
    ntr_choose_mode(s, btm || scan->history ? NTR_CONFIDENCE_SURE : NTR_CONFIDENCE_UNKNOWN, value,
                    "%llu messages that only BTM has, %llu that only HTM has", (unsigned long long)btm,
                    (unsigned long long)scan->history);
}

static void infer_xlen(ntr_search *s) {
    unsigned xlen = s->config->program ? ntr_program_xlen(s->config->program) : 0;
    ntr_params *p = &s->out->params;
    if (!ntr_infer_given(s, NTR_PARAMETER_XLEN)) p->xlen = (uint8_t)xlen;
    const char *value = p->xlen == 32 ? "32" : "64";
    if (xlen)
        ntr_choose(s, NTR_PARAMETER_XLEN, NTR_CONFIDENCE_SURE, value, "from the program");
    else if (s->scan.high_addresses)
        ntr_choose(s, NTR_PARAMETER_XLEN, NTR_CONFIDENCE_LIKELY, value, "%llu addresses need more than 32 bits",
                   (unsigned long long)s->scan.high_addresses);
    else
        ntr_choose(s, NTR_PARAMETER_XLEN, NTR_CONFIDENCE_UNKNOWN, value, "no address needs more than 32 bits");
}

/* The depth of the encoder's return stack cannot be seen: a return that it has forgotten has a message, and is read
 * with every depth. It is an assumption as soon as returns are implicit. */
static bool assume_return_stack(ntr_search *s) {
    const ntr_params *p = &s->out->params;
    char value[16];
    if (p->implicit_return == NTR_RETURN_OFF || ntr_infer_given(s, NTR_PARAMETER_RETURN_STACK)) return false;
    snprintf(value, sizeof value, "%u", (unsigned)p->return_stack);
    ntr_choose(s, NTR_PARAMETER_RETURN_STACK, NTR_CONFIDENCE_UNKNOWN, value, "%s",
               p->return_stack ? "the depth of the return stack in this dialect" : "a return stack as deep as needed");
    return true;
}

/* The parameters that are never inferred. */
static void keep_others(ntr_search *s) {
    for (unsigned p = 0; p < NTR_PARAMETERS; p++) {
        char value[sizeof s->out->choices[p].value];
        if (!(NTR_PARAMETERS_NOT_INFERRED >> p & 1)) continue;
        if (p == NTR_PARAMETER_RETURN_STACK && assume_return_stack(s)) continue;
        value_text(s, p, value, sizeof value);
        ntr_choose(s, p, NTR_CONFIDENCE_GIVEN, value, "%s", "");
    }
}

static ntr_status infer_each(ntr_search *s) {
    s->out->params = s->trials[s->best].params;
    infer_src_bits(s);
    ntr_scan_stream(&s->out->params, s->window, s->config->mid_stream, &s->scan);
    ntr_infer_dialect(s);
    ntr_scan_stream(&s->out->params, s->window, s->config->mid_stream, &s->scan);
    ntr_status status = infer_implicit_return(s);
    if (status == NTR_OK) status = infer_sequential_jump(s);
    infer_extend_addr(s);
    infer_all_jumps(s);
    infer_no_addr_diff(s);
    infer_addr_bits(s);
    infer_ts_rule(s);
    infer_timestamps(s);
    infer_ts_width(s);
    infer_mode(s);
    infer_xlen(s);
    keep_others(s);
    return status;
}

/* The parameters that a Config message at the beginning of the stream says are as given, unless the caller gives them.
 */
static void take_config(ntr_search *s, ntr_infer_config *config, ntr_bytes stream) {
    const ntr_dialect *ctte = ntr_dialect_find(ntr_container_ctte.dialect);
    ntr_container c = {.ops = &ntr_container_ctte, .given = 1u << NTR_PARAMETER_DIALECT};
    ntr_params_init(&c.params, ctte);
    if (ntr_infer_given(s, NTR_PARAMETER_DIALECT) && config->params.dialect != ctte) return;
    if (ntr_container_ctte.find(stream, &c) != NTR_OK) return;
    s->said = c.given & ~config->given;
    ntr_params_copy(&config->params, &c.params, s->said);
    config->given |= s->said;
}

ntr_status ntr_infer(const ntr_infer_config *given, ntr_bytes stream, ntr_inference *inference) {
    ntr_infer_config loaded, *config = &loaded;
    ntr_status loading = ntr_config_load(&loaded, sizeof loaded, given);
    if (loading != NTR_OK) return loading;
    if (!inference) return NTR_E_INVALID;
    ntr_search *s = ntr_alloc(config->allocator, 1, sizeof *s);
    ntr_program *none = NULL;
    if (!config->program) ntr_program_new(config->allocator, &none);
    ntr_status status = NTR_E_MEMORY;
    if (s && (config->program || none)) {
        ntr_infer_config used = *config;
        if (!used.program) used.program = none;
        if (!used.params.dialect) used.params.dialect = ntr_dialect_at(0);
        s->config = &used;
        s->out = inference;
        memset(inference, 0, sizeof *inference);
        take_config(s, &used, stream);
        status = ntr_search_run(s, stream);
        if (status == NTR_OK) status = infer_each(s);
    }
    ntr_program_free(none);
    ntr_dealloc(config->allocator, s);
    return status;
}
