/* Inference of stream parameters by trial: decode the stream with many values and count contradictions with the
 * program.
 *
 * Parameters that change how messages are split and read (SRC width, dialect, MSB extension, traced jumps) are tried in
 * every combination. Implicit returns and sequential jumps are on in these trials, because a decoder that may infer a
 * target still takes the address of a message that has one. Each parameter is then judged by comparing the best trial
 * with the best of the trials that have another value of it.
 *
 * Invariant: a parameter is only "sure" when every other value contradicts the stream. Example: with SRC of 2 bits, 900
 * messages are followed without contradiction; the best trial with another width follows 40, with 30 contradictions. So
 * 2 is sure. */
#include "base/config.h"
#include "infer/search.h"

#include "base/allocator.h"
#include "dialect/params.h"
#include "dialect/rules.h"
#include "message/sets.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *ntr_confidence_name(unsigned confidence) {
    static const char *const texts[] = {"given", "sure", "likely", "does not matter", "not determined"};
    return confidence < sizeof texts / sizeof texts[0] ? texts[confidence] : NULL;
}

static bool is_given(const ntr_search *s, ntr_parameter p) { return s->config->given >> p & 1; }

__attribute__((format(printf, 3, 0))) static void set_choice(ntr_choice *choice, const char *value, const char *format,
                                                             va_list arguments) {
    snprintf(choice->value, sizeof choice->value, "%s", value);
    vsnprintf(choice->evidence, sizeof choice->evidence, format, arguments);
}

__attribute__((format(printf, 5, 6))) static void choose(ntr_search *s, ntr_parameter p, ntr_confidence confidence,
                                                         const char *value, const char *format, ...) {
    ntr_choice *choice = &s->out->choices[p];
    bool given = is_given(s, p);
    va_list arguments;
    va_start(arguments, format);
    set_choice(choice, value, format, arguments);
    va_end(arguments);
    choice->confidence = (uint8_t)(given ? NTR_CONFIDENCE_GIVEN : confidence);
    if (given) choice->evidence[0] = 0;
}

__attribute__((format(printf, 4, 5))) static void choose_mode(ntr_search *s, ntr_confidence confidence,
                                                              const char *value, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    set_choice(&s->out->mode, value, format, arguments);
    va_end(arguments);
    s->out->mode.confidence = (uint8_t)confidence;
}

static void choose_by_trial(ntr_search *s, ntr_parameter p, ntr_verdict v, const char *value) {
    const ntr_infer_trial *best = &s->trials[s->best];
    if (v.confidence == NTR_CONFIDENCE_NO_MATTER)
        choose(s, p, v.confidence, value, "the stream decodes to the same execution either way");
    else if (v.confidence == NTR_CONFIDENCE_UNKNOWN)
        choose(s, p, v.confidence, value, "several values decode without contradiction");
    else
        choose(s, p, v.confidence, value,
               "%llu messages followed with %llu contradictions; the next best value: %llu with %llu",
               (unsigned long long)best->followed, (unsigned long long)ntr_infer_failures(best),
               (unsigned long long)v.other->followed, (unsigned long long)ntr_infer_failures(v.other));
}

/* The parameter's value as text; "" for a value outside its limits, which only a caller can give. */
static void value_text(const ntr_search *s, ntr_parameter p, char *out, size_t capacity) {
    if (ntr_params_get(&s->out->params, ntr_parameter_name(p), out, capacity) < 0) out[0] = 0;
}

/* ---- parameter by parameter */

/* Without a program: choose the width with the fewest unusual values. */
static ntr_confidence scan_src_bits(ntr_search *s, unsigned *src_bits, uint64_t *unusual_messages) {
    uint64_t least = UINT64_MAX, second = UINT64_MAX;
    for (unsigned bits = 0; bits <= NTR_SEARCH_SRC_BITS; bits++) {
        ntr_params params;
        ntr_scan scan;
        ntr_params_init(&params, ntr_dialect_find("sifive-pre1.0"));
        params.src_bits = (uint8_t)bits;
        ntr_scan_stream(&params, s->window, s->config->mid_stream, &scan);
        uint64_t unusual = scan.unusual + scan.defects;
        if (unusual < least) {
            second = least;
            least = unusual;
            *src_bits = bits;
        } else if (unusual < second) {
            second = unusual;
        }
    }
    enum { MARGIN = 4 };
    *unusual_messages = least;
    return second >= least + MARGIN && second >= 2 * least ? NTR_CONFIDENCE_LIKELY : NTR_CONFIDENCE_UNKNOWN;
}

/* Returns whether the stream has the signs of tt-dfd, and reads without a defect as such: stray bytes, or contexts in
 * Ownership messages with FORMAT 0, together with trap values. */
static bool looks_like_tt_dfd(const ntr_search *s) {
    ntr_params params;
    ntr_scan scan;
    enum { FEW = 4 };
    if (is_given(s, NTR_PARAMETER_DIALECT) || is_given(s, NTR_PARAMETER_SRC_BITS)) return false;
    ntr_params_init(&params, ntr_dialect_find("tt-dfd"));
    ntr_scan_stream(&params, s->window, s->config->mid_stream, &scan);
    uint64_t signs = scan.strays + scan.contexts_0 + ntr_scan_count(&scan, ntr_tcodes_of_role(NTR_ROLE_TRAP_VALUE));
    return signs >= FEW && scan.defects == 0 && scan.unusual == 0;
}

static void infer_src_bits(ntr_search *s) {
    ntr_params *p = &s->out->params;
    if (!ntr_search_has_evidence(s) && looks_like_tt_dfd(s)) {
        const ntr_dialect *dialect = ntr_dialect_find("tt-dfd");
        p->src_bits = dialect->src_bits;
        choose(s, NTR_PARAMETER_SRC_BITS, NTR_CONFIDENCE_LIKELY, "4", "%s", "the width of dialect tt-dfd");
        return;
    }
    char value[8];
    ntr_verdict v = ntr_search_judge(s, NTR_PARAMETER_SRC_BITS);
    if (is_given(s, NTR_PARAMETER_SRC_BITS) || ntr_search_has_evidence(s)) {
        snprintf(value, sizeof value, "%u", p->src_bits);
        choose_by_trial(s, NTR_PARAMETER_SRC_BITS, v, value);
        return;
    }
    unsigned bits = 0;
    uint64_t unusual_messages = 0;
    ntr_confidence confidence = scan_src_bits(s, &bits, &unusual_messages);
    p->src_bits = confidence == NTR_CONFIDENCE_LIKELY ? (uint8_t)bits : 0;
    snprintf(value, sizeof value, "%u", p->src_bits);
    choose(s, NTR_PARAMETER_SRC_BITS, confidence, value,
           confidence == NTR_CONFIDENCE_LIKELY
               ? "without a program: %llu messages have unusual values, more with every other width"
               : "without a program several widths are equally plausible; give --src-bits",
           (unsigned long long)unusual_messages);
}

/* Properties of messages that only older silicon has. */
typedef struct signs {
    uint64_t own_messages; /* in-circuit trace, data acquisition */
    uint64_t runs;
} signs;

static signs find_signs(const ntr_search *s) {
    ntr_params params = s->out->params;
    ntr_scan scan;
    params.dialect = ntr_dialect_find("sifive-pre1.0");
    ntr_scan_stream(&params, s->window, s->config->mid_stream, &scan);
    return (signs){.own_messages = ntr_scan_count(&scan, ntr_tcodes_of_dialects(NTR_MESSAGES_SIFIVE)),
                   .runs = scan.counts_of_runs};
}

typedef enum times { TIMES_UNKNOWN, TIMES_SUMS, TIMES_XORS, TIMES_ABSOLUTE } times;

/* Find out whether TSTAMP is a difference, an XOR or absolute in messages that do not synchronize. Absolute times rise all the
 * time, and their sums get ahead of the clock. If a difference is read as XOR, time decreases every other time;
 * if an XOR is read as a difference, the sum gets ahead of the clock. */
static times classify_times(const ntr_scan *scan) {
    enum { FEW = 3, MANY = 8 };
    if (scan->steps == 0) return TIMES_SUMS; /* no relative times: both are the same */
    bool sums_fail = scan->backward_sums * 8 > scan->summed_syncs;
    bool rises = scan->steps >= MANY && scan->backward_absolutes * 64 <= scan->steps;
    if (rises && (sums_fail || scan->summed_syncs == 0)) return TIMES_ABSOLUTE;
    if (scan->backward_xors * 8 > scan->steps) return TIMES_SUMS;
    if (sums_fail) return TIMES_XORS;
    if (scan->summed_syncs >= MANY) return TIMES_SUMS;
    return scan->summed_syncs == 0 && scan->steps >= FEW ? TIMES_XORS : TIMES_UNKNOWN;
}

/* Set the dialect and the parameters that it determines. */
static void adopt_dialect(ntr_search *s, const ntr_dialect *dialect) {
    ntr_params *p = &s->out->params;
    p->dialect = dialect;
    if (!is_given(s, NTR_PARAMETER_TS_WIDTH)) p->ts_width = dialect->ts_width;
    if (!is_given(s, NTR_PARAMETER_IMPLICIT_RETURN) && dialect->implicit_return)
        p->implicit_return = dialect->implicit_return;
}

static void set_dialect(ntr_search *s, const char *name, ntr_confidence confidence, const char *evidence) {
    adopt_dialect(s, ntr_dialect_find(name));
    choose(s, NTR_PARAMETER_DIALECT, confidence, name, "%s", evidence);
}

/* Both families of dialects decode this stream equally well, or nothing could be decoded: choose by the messages. */
static void infer_dialect_by_signs(ntr_search *s) {
    signs seen = find_signs(s);
    const ntr_scan *scan = &s->scan;
    times times_are = classify_times(scan);
    const char *older = scan->fixed_48 ? "p550" : "sifive-pre1.0";
    if (!ntr_search_has_evidence(s) && looks_like_tt_dfd(s))
        set_dialect(s, "tt-dfd", NTR_CONFIDENCE_LIKELY, "stray bytes, trap values or contexts of FORMAT 0, and no defect");
    else if (seen.own_messages || seen.runs)
        set_dialect(s, older, NTR_CONFIDENCE_LIKELY, "the stream has messages that N-Trace 1.0 does not have");
    else if (times_are == TIMES_XORS)
        set_dialect(s, older, NTR_CONFIDENCE_LIKELY, "timestamps increase only when TSTAMP is an exclusive or");
    else if (times_are == TIMES_UNKNOWN)
        set_dialect(s, "ntrace-1.0", NTR_CONFIDENCE_UNKNOWN,
                    "too few timestamps to distinguish differences from exclusive ors; give --dialect");
    else if (scan->wide_icnt || s->trials[s->best].counted_traps)
        set_dialect(s, "refcode", NTR_CONFIDENCE_LIKELY, "I-CNT is wider than N-Trace 1.0 allows, or counts ECALL");
    else if (ntr_search_has_evidence(s))
        set_dialect(s, "ntrace-1.0", NTR_CONFIDENCE_NO_MATTER, "the stream decodes to the same execution either way");
    else
        set_dialect(s, "ntrace-1.0", NTR_CONFIDENCE_UNKNOWN, "no message shows another dialect");
}

static void infer_dialect(ntr_search *s) {
    const ntr_dialect *best = s->trials[s->best].params.dialect;
    if (is_given(s, NTR_PARAMETER_DIALECT)) {
        choose(s, NTR_PARAMETER_DIALECT, NTR_CONFIDENCE_GIVEN, s->out->params.dialect->name, "%s", "");
        return;
    }
    ntr_verdict v = ntr_search_judge(s, NTR_PARAMETER_DIALECT);
    bool decided = v.confidence == NTR_CONFIDENCE_SURE || v.confidence == NTR_CONFIDENCE_LIKELY;
    if (!decided || (best->messages == NTR_MESSAGES_1_0 && (s->scan.wide_icnt || s->trials[s->best].counted_traps))) {
        infer_dialect_by_signs(s);
        return;
    }
    adopt_dialect(s, best);
    choose_by_trial(s, NTR_PARAMETER_DIALECT, v, best->name);
}

static const char *on_off(bool on) { return on ? "on" : "off"; }

/* Returns in *confidence how certain it is that the stream needs inference that `without` does not have;
 * NTR_CONFIDENCE_UNKNOWN when it does not. Errors: NTR_E_MEMORY. */
static ntr_status judge_need(const ntr_search *s, const ntr_params *without, ntr_confidence *confidence) {
    const ntr_infer_trial *best = &s->trials[s->best];
    ntr_infer_trial trial;
    ntr_status status = ntr_search_try(s, without, &trial);
    uint64_t with = ntr_infer_failures(best), less = ntr_infer_failures(&trial);
    *confidence = (with == 0 && less) || less > 4 * with + 4 ? NTR_CONFIDENCE_SURE
                : less > with + with / 2                   ? NTR_CONFIDENCE_LIKELY
                                                           : NTR_CONFIDENCE_UNKNOWN;
    return status;
}

static ntr_status infer_implicit_return(ntr_search *s) {
    const ntr_infer_trial *best = &s->trials[s->best];
    ntr_params *p = &s->out->params, without = best->params;
    char value[16];
    value_text(s, NTR_PARAMETER_IMPLICIT_RETURN, value, sizeof value);
    if (is_given(s, NTR_PARAMETER_IMPLICIT_RETURN)) {
        choose(s, NTR_PARAMETER_IMPLICIT_RETURN, NTR_CONFIDENCE_GIVEN, value, "%s", "");
        return NTR_OK;
    }
    ntr_confidence needed;
    without.implicit_return = NTR_RETURN_OFF;
    ntr_status status = judge_need(s, &without, &needed);
    if (status != NTR_OK) return status;
    if (needed != NTR_CONFIDENCE_UNKNOWN) {
        choose(s, NTR_PARAMETER_IMPLICIT_RETURN, needed, value, "%llu returns have no message",
               (unsigned long long)best->implicit_returns);
    } else if (best->redundant_returns) {
        p->implicit_return = NTR_RETURN_OFF;
        choose(s, NTR_PARAMETER_IMPLICIT_RETURN, ntr_infer_failures(best) ? NTR_CONFIDENCE_LIKELY : NTR_CONFIDENCE_SURE,
               "off", "%llu returns to known callers have a message", (unsigned long long)best->redundant_returns);
    } else {
        /* Expecting implicit returns does no harm: keep them for the part of the stream that was not inspected. */
        if (s->complete) p->implicit_return = NTR_RETURN_OFF;
        value_text(s, NTR_PARAMETER_IMPLICIT_RETURN, value, sizeof value);
        choose(s, NTR_PARAMETER_IMPLICIT_RETURN,
               ntr_search_has_evidence(s) ? NTR_CONFIDENCE_NO_MATTER : NTR_CONFIDENCE_UNKNOWN, value,
               "no return shows it%s", s->complete ? "" : " in the inspected part");
    }
    return NTR_OK;
}

static ntr_status infer_sequential_jump(ntr_search *s) {
    const ntr_infer_trial *best = &s->trials[s->best];
    bool *value = &s->out->params.sequential_jump;
    ntr_params without = best->params;
    ntr_confidence needed;
    without.sequential_jump = false;
    ntr_status status = judge_need(s, &without, &needed);
    if (status != NTR_OK) return status;
    if (needed != NTR_CONFIDENCE_UNKNOWN) {
        choose(s, NTR_PARAMETER_SEQUENTIAL_JUMP, needed, on_off(*value), "%llu register jumps have no message",
               (unsigned long long)best->implicit_jumps);
        return NTR_OK;
    }
    if (s->complete && !is_given(s, NTR_PARAMETER_SEQUENTIAL_JUMP)) *value = false;
    choose(s, NTR_PARAMETER_SEQUENTIAL_JUMP,
           ntr_search_has_evidence(s) ? NTR_CONFIDENCE_NO_MATTER : NTR_CONFIDENCE_UNKNOWN, on_off(*value),
           "every register jump%s has its message", s->complete ? "" : " in the inspected part");
    return NTR_OK;
}

static void infer_extend_addr(ntr_search *s) {
    const ntr_scan *scan = &s->scan;
    bool *value = &s->out->params.extend_addr;
    ntr_verdict v = ntr_search_judge(s, NTR_PARAMETER_EXTEND_ADDR);
    if (ntr_search_has_evidence(s) || is_given(s, NTR_PARAMETER_EXTEND_ADDR)) {
        choose_by_trial(s, NTR_PARAMETER_EXTEND_ADDR, v, on_off(*value));
        return;
    }
    enum { SOME = 8 };
    *value = scan->closed_signs != 0;
    if (*value)
        choose(s, NTR_PARAMETER_EXTEND_ADDR, NTR_CONFIDENCE_LIKELY, "on",
               "%llu addresses end in zeros that only extension needs", (unsigned long long)scan->closed_signs);
    else
        choose(s, NTR_PARAMETER_EXTEND_ADDR, scan->open_signs >= SOME ? NTR_CONFIDENCE_LIKELY : NTR_CONFIDENCE_UNKNOWN,
               "off", "%llu addresses end in a set bit, none in zeros after it", (unsigned long long)scan->open_signs);
}

static void infer_all_jumps(ntr_search *s) {
    bool value = s->out->params.all_jumps;
    ntr_verdict v = ntr_search_judge(s, NTR_PARAMETER_ALL_JUMPS);
    choose_by_trial(s, NTR_PARAMETER_ALL_JUMPS, v, on_off(value));
}

static void infer_no_addr_diff(ntr_search *s) {
    bool value = s->out->params.no_addr_diff;
    ntr_verdict v = ntr_search_judge(s, NTR_PARAMETER_NO_ADDR_DIFF);
    choose_by_trial(s, NTR_PARAMETER_NO_ADDR_DIFF, v, on_off(value));
}

/* The rule of times, where it is another one than that of the dialect. */
static void infer_ts_rule(ntr_search *s) {
    static const char *const words[] = {[NTR_TS_DIFFERENCE] = "difference", [NTR_TS_XOR] = "xor", [NTR_TS_ABSOLUTE] = "absolute"};
    static const uint8_t rules[] = {[TIMES_SUMS] = NTR_TS_DIFFERENCE, [TIMES_XORS] = NTR_TS_XOR, [TIMES_ABSOLUTE] = NTR_TS_ABSOLUTE};
    ntr_params *p = &s->out->params;
    times seen = classify_times(&s->scan);
    bool shown = s->scan.steps && seen != TIMES_UNKNOWN;
    if (shown && !is_given(s, NTR_PARAMETER_TS_RULE) && rules[seen] != ntr_ts_rule_of(p)) p->ts_rule = rules[seen];
    if (shown)
        choose(s, NTR_PARAMETER_TS_RULE, NTR_CONFIDENCE_LIKELY, p->ts_rule ? words[ntr_ts_rule_of(p)] : "dialect",
               "%llu relative times rise as %s", (unsigned long long)s->scan.steps, words[rules[seen]]);
    else
        choose(s, NTR_PARAMETER_TS_RULE, s->scan.steps ? NTR_CONFIDENCE_UNKNOWN : NTR_CONFIDENCE_NO_MATTER,
               p->ts_rule ? words[ntr_ts_rule_of(p)] : "dialect", "%s",
               s->scan.steps ? "too few timestamps; give --ts-rule" : "no message that does not synchronize has a TSTAMP");
}

static void infer_timestamps(ntr_search *s) {
    const ntr_scan *scan = &s->scan;
    uint64_t stamped = scan->stamped_syncs + scan->stamped_others;
    bool proven = s->out->choices[NTR_PARAMETER_SRC_BITS].confidence <= NTR_CONFIDENCE_SURE;
    ntr_confidence confidence = proven ? NTR_CONFIDENCE_SURE : NTR_CONFIDENCE_LIKELY;
    if (!is_given(s, NTR_PARAMETER_TIMESTAMPS))
        s->out->params.timestamps = !stamped                                     ? NTR_TIMESTAMPS_SEEN
                                    : scan->stamped_syncs == scan->syncs ? NTR_TIMESTAMPS_ON
                                                                         : NTR_TIMESTAMPS_SEEN;
    choose(s, NTR_PARAMETER_TIMESTAMPS, confidence, on_off(stamped != 0), "%llu of %llu messages end in TSTAMP",
           (unsigned long long)stamped, (unsigned long long)scan->messages);
}

static void infer_ts_width(ntr_search *s) {
    ntr_params *p = &s->out->params;
    bool wraps = s->scan.backward_sums && ntr_ts_rule_of(p) == NTR_TS_DIFFERENCE && !is_given(s, NTR_PARAMETER_TS_WIDTH);
    char value[8];
    if (wraps) p->ts_width = (uint8_t)(64 - __builtin_clzll(s->scan.latest | 1));
    snprintf(value, sizeof value, "%u", p->ts_width ? p->ts_width : 64);
    if (wraps)
        choose(s, NTR_PARAMETER_TS_WIDTH, NTR_CONFIDENCE_LIKELY, value,
               "absolute timestamps decrease %llu times; none needs more bits",
               (unsigned long long)s->scan.backward_sums);
    else
        choose(s, NTR_PARAMETER_TS_WIDTH, NTR_CONFIDENCE_NO_MATTER, value, "no timestamp wraps in the inspected part");
}

static void infer_mode(ntr_search *s) {
    const ntr_scan *scan = &s->scan;
    uint64_t btm = ntr_scan_count(scan, ntr_tcodes_with(NTR_IS_DIRECT));
    const char *value = btm && scan->history ? "btm+htm" : btm ? "btm" : scan->history ? "htm" : "either";
    choose_mode(s, btm || scan->history ? NTR_CONFIDENCE_SURE : NTR_CONFIDENCE_UNKNOWN, value,
                "%llu messages that only BTM has, %llu that only HTM has", (unsigned long long)btm,
                (unsigned long long)scan->history);
}

static void infer_xlen(ntr_search *s) {
    unsigned xlen = s->config->program ? ntr_program_xlen(s->config->program) : 0;
    ntr_params *p = &s->out->params;
    if (!is_given(s, NTR_PARAMETER_XLEN)) p->xlen = (uint8_t)xlen;
    const char *value = p->xlen == 32 ? "32" : "64";
    if (xlen)
        choose(s, NTR_PARAMETER_XLEN, NTR_CONFIDENCE_SURE, value, "from the program");
    else if (s->scan.high_addresses)
        choose(s, NTR_PARAMETER_XLEN, NTR_CONFIDENCE_LIKELY, value, "%llu addresses need more than 32 bits",
               (unsigned long long)s->scan.high_addresses);
    else
        choose(s, NTR_PARAMETER_XLEN, NTR_CONFIDENCE_UNKNOWN, value, "no address needs more than 32 bits");
}

/* The parameters that are never inferred. */
static void keep_others(ntr_search *s) {
    for (unsigned p = 0; p < NTR_PARAMETERS; p++) {
        char value[sizeof s->out->choices[p].value];
        if (!(NTR_PARAMETERS_NOT_INFERRED >> p & 1)) continue;
        value_text(s, p, value, sizeof value);
        choose(s, p, NTR_CONFIDENCE_GIVEN, value, "%s", "");
    }
}

static ntr_status infer_each(ntr_search *s) {
    s->out->params = s->trials[s->best].params;
    infer_src_bits(s);
    ntr_scan_stream(&s->out->params, s->window, s->config->mid_stream, &s->scan);
    infer_dialect(s);
    ntr_scan_stream(&s->out->params, s->window, s->config->mid_stream, &s->scan);
    ntr_status status = infer_implicit_return(s);
    if (status == NTR_OK) status = infer_sequential_jump(s);
    infer_extend_addr(s);
    infer_all_jumps(s);
    infer_no_addr_diff(s);
    infer_ts_rule(s);
    infer_timestamps(s);
    infer_ts_width(s);
    infer_mode(s);
    infer_xlen(s);
    keep_others(s);
    return status;
}

ntr_status ntr_infer(const ntr_infer_config *given, ntr_bytes stream, ntr_inference *inference) {
    ntr_infer_config loaded, *config = &loaded;
    ntr_status loading = ntr_config_load(&loaded, sizeof loaded, given);
    if (loading != NTR_OK) return loading;
    if (!inference) return NTR_E_INVALID;
    ntr_search *s = ntr_alloc(config->allocator, 1, sizeof *s);
    ntr_program *none = config->program ? NULL : ntr_program_new(config->allocator);
    ntr_status status = NTR_E_MEMORY;
    if (s && (config->program || none)) {
        ntr_infer_config used = *config;
        if (!used.program) used.program = none;
        if (!used.params.dialect) used.params.dialect = ntr_dialect_at(0);
        s->config = &used;
        s->out = inference;
        memset(inference, 0, sizeof *inference);
        status = ntr_search_run(s, stream);
        if (status == NTR_OK) status = infer_each(s);
    }
    ntr_program_free(none);
    ntr_dealloc(config->allocator, s);
    return status;
}
