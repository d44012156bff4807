#include "infer/dialects.h"

#include "dialect/params.h"
#include "message/sets.h"
#include "wire/mdo.h"

/* Absolute times rise all the time, and their sums get ahead of the clock. If a difference is read as XOR, time
 * decreases every other time; if an XOR is read as a difference, the sum gets ahead of the clock. */
ntr_times ntr_classify_times(const ntr_scan *scan) {
    enum { FEW = 3, MANY = 8 };
    if (scan->steps == 0) return NTR_TIMES_SUMS; /* no relative times: both are the same */
    bool sums_fail = scan->backward_sums * 8 > scan->summed_syncs;
    bool rises = scan->steps >= MANY && scan->backward_absolutes * 64 <= scan->steps;
    if (rises && (sums_fail || scan->summed_syncs == 0)) return NTR_TIMES_ABSOLUTE;
    if (scan->backward_xors * 8 > scan->steps) return NTR_TIMES_SUMS;
    if (sums_fail) return NTR_TIMES_XORS;
    if (scan->summed_syncs >= MANY) return NTR_TIMES_SUMS;
    return scan->summed_syncs == 0 && scan->steps >= FEW ? NTR_TIMES_XORS : NTR_TIMES_UNKNOWN;
}

/* ---- tt-dfd */

/* Returns whether the end of the stream is filled with idle bytes. */
static bool is_filled(const ntr_search *s) {
    enum { FILL_LEAST = 8 };
    size_t fill = 0;
    while (fill < FILL_LEAST && fill < s->window.size && s->window.data[s->window.size - 1 - fill] == NTR_IDLE) fill++;
    return fill == FILL_LEAST;
}

/* Returns whether the stream is a number of frames of one size, and no message crosses their ends. */
static bool is_framed(const ntr_search *s, const ntr_scan *scan) {
    const size_t fewest = is_filled(s) ? 1 : 2;
    for (unsigned i = 0; i < NTR_FRAME_SIZES; i++) {
        const size_t frame = (size_t)NTR_FRAME_UNIT * (i + 1);
        if (!(scan->crossed >> i & 1) && s->window.size / frame >= fewest && s->window.size % frame == 0) return true;
    }
    return false;
}

/* Returns whether the stream, read with this width of SRC, has the signs of tt-dfd and no defect: frames, stray bytes,
 * contexts in Ownership messages with FORMAT 0, trap values. Where SRC is inhibited, values are damaged, too. */
static bool looks_like_tt_dfd(const ntr_search *s, unsigned src_bits) {
    ntr_params params;
    ntr_scan scan;
    enum { FEW = 4 };
    if (ntr_infer_given(s, NTR_PARAMETER_DIALECT)) return false;
    if (ntr_infer_given(s, NTR_PARAMETER_SRC_BITS) && s->config->params.src_bits != src_bits) return false;
    ntr_params_init(&params, ntr_dialect_find("tt-dfd"));
    params.src_bits = (uint8_t)src_bits;
    ntr_scan_stream(&params, s->window, s->config->mid_stream, &scan);
    bool htm = scan.history && !ntr_scan_count(&scan, ntr_tcodes_with(NTR_FLAG_DIRECT));
    uint64_t signs = scan.strays + scan.contexts_0 + ntr_scan_count(&scan, ntr_tcodes_of_role(NTR_ROLE_TRAP_VALUE));
    if (!htm || scan.defects) return false;
    if (src_bits == 0) return signs >= FEW && is_framed(s, &scan);
    return scan.unusual == 0 && (signs >= FEW || is_framed(s, &scan));
}

bool ntr_infer_signs_of_tt_dfd(const ntr_search *s, unsigned *src_bits) {
    const ntr_dialect *dialect = ntr_dialect_find("tt-dfd");
    *src_bits = dialect->src_bits;
    if (ntr_search_has_evidence(s) && !ntr_search_is_poor(s))
        return ntr_search_explains(s, dialect) && looks_like_tt_dfd(s, *src_bits);
    if (looks_like_tt_dfd(s, *src_bits)) return true;
    *src_bits = 0;
    return looks_like_tt_dfd(s, 0);
}

/* ---- choice */

/* Set the dialect and the parameters that it determines. */
static void adopt_dialect(ntr_search *s, const ntr_dialect *dialect) {
    ntr_params *p = &s->out->params, initial;
    ntr_params_init(&initial, dialect);
    ntr_params_copy(p, &initial, NTR_PARAMETERS_NOT_INFERRED & ~ntr_search_kept(s));
    p->dialect = dialect;
    if (!ntr_infer_given(s, NTR_PARAMETER_TS_WIDTH)) p->ts_width = dialect->ts_width;
    if (!ntr_infer_given(s, NTR_PARAMETER_IMPLICIT_RETURN) && dialect->implicit_return)
        p->implicit_return = dialect->implicit_return;
}

static void set_dialect(ntr_search *s, const char *name, ntr_confidence confidence, const char *evidence) {
    adopt_dialect(s, ntr_dialect_find(name));
    ntr_choose(s, NTR_PARAMETER_DIALECT, confidence, name, "%s", evidence);
}

/* Returns whether the dialect is possible: no other one explains the execution better, or nothing shows the execution.
 */
static bool is_possible(const ntr_search *s, const ntr_dialect *dialect) {
    return !ntr_search_has_evidence(s) || ntr_search_explains(s, dialect);
}

/* Returns the possible dialect that explains most messages and values that N-Trace 1.0 does not have; NULL when none or
 * several do. A few of them may be damage. Of dialects with the same messages, the one that was tried first counts. */
static const ntr_dialect *dialect_by_messages(const ntr_search *s) {
    const ntr_dialect *dialect, *most_of = NULL, *best = s->trials[s->best].params.dialect;
    uint64_t most = 0;
    enum { FEW = 8 };
    for (size_t i = 0; (dialect = ntr_dialect_at(i)); i++) {
        ntr_params params = s->out->params;
        ntr_scan scan;
        if (!is_possible(s, dialect) || (dialect != best && dialect->messages == best->messages)) continue;
        if (most_of && most_of->messages == dialect->messages) continue;
        params.dialect = dialect;
        ntr_scan_stream(&params, s->window, s->config->mid_stream, &scan);
        if (scan.own < FEW || scan.defects > s->scan.defects || scan.own < most) continue;
        most_of = scan.own > most ? dialect : NULL;
        most = scan.own;
    }
    return most_of;
}

/* Returns how many dialects besides that of the best trial are possible. */
static unsigned count_others(const ntr_search *s) {
    const ntr_dialect *dialect;
    unsigned count = 0;
    for (size_t i = 0; (dialect = ntr_dialect_at(i)); i++)
        count += dialect != s->trials[s->best].params.dialect && is_possible(s, dialect);
    return count;
}

/* Several dialects explain the stream: choose by the messages. Returns false when there are no signs. */
static bool infer_dialect_by_signs(ntr_search *s) {
    const ntr_scan *scan = &s->scan;
    const ntr_times times_are = ntr_classify_times(scan);
    const char *older = scan->fixed_48 ? "p550" : "sifive-pre1.0";
    const bool may_be_older = is_possible(s, ntr_dialect_find(older));
    const ntr_dialect *own = dialect_by_messages(s);
    unsigned src_bits;
    if (ntr_infer_signs_of_tt_dfd(s, &src_bits) && s->out->params.src_bits == src_bits)
        set_dialect(s, "tt-dfd", NTR_CONFIDENCE_LIKELY,
                    "frames, stray bytes, trap values or contexts of FORMAT 0, and no defect");
    else if (own)
        set_dialect(s, own->messages & NTR_MESSAGES_SIFIVE ? older : own->name, NTR_CONFIDENCE_LIKELY,
                    "the stream has messages or values that N-Trace 1.0 does not have");
    else if (times_are == NTR_TIMES_XORS && may_be_older)
        set_dialect(s, older, NTR_CONFIDENCE_LIKELY, "timestamps increase only when TSTAMP is an exclusive or");
    else if (times_are == NTR_TIMES_UNKNOWN && may_be_older && is_possible(s, ntr_dialect_at(0)))
        set_dialect(s, "ntrace-1.0", NTR_CONFIDENCE_UNKNOWN,
                    "too few timestamps to distinguish differences from exclusive ors; give --dialect");
    else if (scan->wide_icnt + s->trials[s->best].counted_traps >= NTR_EVIDENCE_SOME &&
             is_possible(s, ntr_dialect_find("refcode")))
        set_dialect(s, "refcode", NTR_CONFIDENCE_LIKELY, "I-CNT is wider than N-Trace 1.0 allows, or counts ECALL");
    else
        return false;
    return true;
}

/* No message shows which of several dialects it is. */
static void infer_dialect_without_signs(ntr_search *s, ntr_verdict v) {
    const ntr_dialect *best = s->trials[s->best].params.dialect;
    const bool decided = v.confidence == NTR_CONFIDENCE_SURE || v.confidence == NTR_CONFIDENCE_LIKELY;
    if (!ntr_search_has_evidence(s)) {
        set_dialect(s, "ntrace-1.0", NTR_CONFIDENCE_UNKNOWN, "no message shows another dialect");
        return;
    }
    adopt_dialect(s, best);
    if (decided)
        ntr_choose(
            s, NTR_PARAMETER_DIALECT, NTR_CONFIDENCE_LIKELY, best->name,
            "%llu messages followed with %llu contradictions, in %u more dialects as well; the next best: %llu with %llu",
            (unsigned long long)s->trials[s->best].followed,
            (unsigned long long)ntr_infer_failures(&s->trials[s->best]), count_others(s),
            (unsigned long long)v.other->followed, (unsigned long long)ntr_infer_failures(v.other));
    else
        ntr_choose_by_trial(s, NTR_PARAMETER_DIALECT, v, best->name);
}

void ntr_infer_dialect(ntr_search *s) {
    if (ntr_infer_given(s, NTR_PARAMETER_DIALECT)) {
        ntr_choose(s, NTR_PARAMETER_DIALECT, NTR_CONFIDENCE_GIVEN, s->out->params.dialect->name, "%s", "");
        return;
    }
    const ntr_verdict v = ntr_search_judge(s, NTR_PARAMETER_DIALECT);
    const bool decided = v.confidence == NTR_CONFIDENCE_SURE || v.confidence == NTR_CONFIDENCE_LIKELY;
    if (decided && count_others(s) == 0 && !ntr_search_is_poor(s)) {
        adopt_dialect(s, s->trials[s->best].params.dialect);
        ntr_choose_by_trial(s, NTR_PARAMETER_DIALECT, v, s->out->params.dialect->name);
    } else if (!infer_dialect_by_signs(s)) {
        infer_dialect_without_signs(s, v);
    }
}
