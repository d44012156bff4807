#include "infer/search.h"

#include "dialect/params.h"

#include <string.h>

/* The first window contradicts most wrong values, and is short enough for a hundred trials. The second one is for the
 * values without contradiction. */
#define FIRST_WINDOW ((size_t)32 * 1024)
#define SECOND_WINDOW ((size_t)1024 * 1024)

static bool is_given(const ntr_search *s, ntr_parameter p) { return s->config->given >> p & 1; }

static ntr_decoder_config decoder_config(const ntr_search *s, const ntr_params *params) {
    return (ntr_decoder_config){.size = sizeof(ntr_decoder_config),
                                .params = *params,
                                .program = s->config->program,
                                .allocator = s->config->allocator,
                                .mid_stream = s->config->mid_stream};
}

ntr_status ntr_search_try(const ntr_search *s, const ntr_params *params, ntr_infer_trial *trial) {
    ntr_decoder_config config = decoder_config(s, params);
    return ntr_infer_trial_run(&config, s->window, trial);
}

/* How the messages of a trial differ: MSB extension, traced jumps, full addresses. */
enum { FORM_PLAIN, FORM_EXTENDED, FORM_JUMPS, FORM_BOTH, FORM_FULL, FORMS };

/* Returns the parameters of one trial. Given parameters and those that are never inferred have the caller's values. */
static ntr_params trial_params(const ntr_search *s, const ntr_dialect *dialect, unsigned src_bits, bool extend,
                               bool jumps) {
    ntr_params p;
    ntr_params_init(&p, dialect);
    p.src_bits = (uint8_t)src_bits;
    p.extend_addr = extend;
    p.all_jumps = jumps;
    if (!p.implicit_return) p.implicit_return = NTR_RETURN_FULL;
    p.sequential_jump = true;
    const uint32_t fixed = s->config->given | NTR_PARAMETERS_NOT_INFERRED;
    ntr_params_copy(&p, &s->config->params, fixed & ~(1u << NTR_PARAMETER_DIALECT));
    return p;
}

/* Returns whether this value of a parameter is to be tried. */
static bool is_candidate(const ntr_search *s, ntr_parameter p, unsigned given, unsigned value) {
    return !is_given(s, p) || given == value;
}

static ntr_status add_trial(ntr_search *s, const ntr_dialect *dialect, unsigned src_bits, unsigned form) {
    bool extend = form == FORM_EXTENDED || form == FORM_BOTH, jumps = form == FORM_JUMPS || form == FORM_BOTH;
    bool full = form == FORM_FULL;
    const ntr_params *given = &s->config->params;
    /* A dialect of a single chip is tried with the SRC width of that chip only. */
    if (dialect->src_bits && dialect->src_bits != src_bits && !is_given(s, NTR_PARAMETER_DIALECT)) return NTR_OK;
    /* Older silicon has neither MSB extension nor traced jumps. */
    if (form != FORM_PLAIN && dialect->messages != NTR_MESSAGES_1_0) return NTR_OK;
    if (!is_candidate(s, NTR_PARAMETER_NO_ADDR_DIFF, given->no_addr_diff, full)) return NTR_OK;
    if (!is_candidate(s, NTR_PARAMETER_EXTEND_ADDR, given->extend_addr, extend)) return NTR_OK;
    if (!is_candidate(s, NTR_PARAMETER_ALL_JUMPS, given->all_jumps, jumps)) return NTR_OK;
    if (!is_candidate(s, NTR_PARAMETER_SRC_BITS, given->src_bits, src_bits)) return NTR_OK;
    ntr_params params = trial_params(s, dialect, src_bits, extend, jumps);
    params.no_addr_diff = full;
    ntr_status status = ntr_search_try(s, &params, &s->trials[s->count]);
    if (status != NTR_OK) return status;
    if (ntr_infer_trial_better(&s->trials[s->count], &s->trials[s->best])) s->best = s->count;
    s->count++;
    return NTR_OK;
}

static ntr_status try_dialect(ntr_search *s, const ntr_dialect *dialect) {
    ntr_status status = NTR_OK;
    for (unsigned src_bits = 0; src_bits <= NTR_SEARCH_SRC_BITS && status == NTR_OK; src_bits++)
        for (unsigned form = FORM_PLAIN; form < FORMS && status == NTR_OK; form++)
            status = add_trial(s, dialect, src_bits, form);
    return status;
}

/* The simplest values come first: of equal trials the first one is the best. */
static ntr_status try_all(ntr_search *s) {
    static const char *const dialects[] = {"ntrace-1.0", "p550", "sifive-pre1.0", "tt-dfd"};
    if (!s->config->program) return add_trial(s, s->config->params.dialect, s->config->params.src_bits, FORM_PLAIN);
    if (is_given(s, NTR_PARAMETER_DIALECT)) return try_dialect(s, s->config->params.dialect);
    for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++) {
        ntr_status status = try_dialect(s, ntr_dialect_find(dialects[i]));
        if (status != NTR_OK) return status;
    }
    return NTR_OK;
}

/* Decode more of the stream with all parameters that are not worse than the best so far. */
static ntr_status try_more(ntr_search *s, ntr_bytes stream) {
    if (s->window.size == stream.size) return NTR_OK;
    s->complete = stream.size <= SECOND_WINDOW;
    s->window.size = s->complete ? stream.size : SECOND_WINDOW;
    uint64_t least = ntr_infer_failures(&s->trials[s->best]);
    for (size_t i = 0; i < s->count; i++) {
        ntr_infer_trial *t = &s->trials[i];
        if (t->ran_away || ntr_infer_failures(t) > least) continue;
        ntr_params params = t->params;
        ntr_status status = ntr_search_try(s, &params, t);
        if (status != NTR_OK) return status;
    }
    for (size_t i = 0; i < s->count; i++)
        if (ntr_infer_trial_better(&s->trials[i], &s->trials[s->best])) s->best = i;
    return NTR_OK;
}

bool ntr_search_has_evidence(const ntr_search *s) {
    return s->trials[s->best].followed > 0;
}

/* ---- judging one parameter */

static unsigned value_of(const ntr_infer_trial *t, ntr_parameter p) {
    switch (p) {
    case NTR_PARAMETER_DIALECT: return t->params.dialect->messages; /* the family of dialects */
    case NTR_PARAMETER_SRC_BITS: return t->params.src_bits;
    case NTR_PARAMETER_EXTEND_ADDR: return t->params.extend_addr;
    case NTR_PARAMETER_NO_ADDR_DIFF: return t->params.no_addr_diff;
    default: return t->params.all_jumps;
    }
}

static ntr_confidence compare(const ntr_infer_trial *best, const ntr_infer_trial *other) {
    if (ntr_infer_trial_same(best, other)) return NTR_CONFIDENCE_NO_MATTER;
    bool absurd = other->ran_away && !best->ran_away; /* few messages that stand for endless execution */
    if (ntr_infer_failures(best) == 0)
        return ntr_infer_failures(other) || absurd ? NTR_CONFIDENCE_SURE : NTR_CONFIDENCE_UNKNOWN;
    enum { DAMAGE_RATIO = 32 }; /* one contradiction in this many messages may be damage */
    bool clean = best->contradictions * DAMAGE_RATIO <= best->followed;
    bool poor = other->followed / (other->contradictions + 1) < best->followed / (best->contradictions + 1) / 4;
    return clean && poor ? NTR_CONFIDENCE_SURE : NTR_CONFIDENCE_LIKELY;
}

ntr_verdict ntr_search_judge(const ntr_search *s, ntr_parameter p) {
    const ntr_infer_trial *best = &s->trials[s->best], *other = NULL;
    for (size_t i = 0; i < s->count; i++) {
        const ntr_infer_trial *t = &s->trials[i];
        if (value_of(t, p) == value_of(best, p)) continue;
        /* A trial with the same execution is compared only if there is no other. */
        if (!other || ntr_infer_trial_better(t, other)) other = t;
    }
    if (!other) return (ntr_verdict){NTR_CONFIDENCE_NO_MATTER, best};
    return (ntr_verdict){ntr_search_has_evidence(s) ? compare(best, other) : NTR_CONFIDENCE_UNKNOWN, other};
}

ntr_status ntr_search_run(ntr_search *s, ntr_bytes stream) {
    s->complete = stream.size <= FIRST_WINDOW;
    s->window = (ntr_bytes){stream.data, s->complete ? stream.size : FIRST_WINDOW};
    ntr_status status = try_all(s);
    return status == NTR_OK ? try_more(s, stream) : status;
}
