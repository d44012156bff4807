#include "infer/search.h"

#include "dialect/params.h"

#include <string.h>

/* The first window contradicts most wrong values, and is short enough for a hundred trials. The second one is for the
 * values without contradiction. */
#define FIRST_WINDOW  ((size_t)32 * 1024)
#define SECOND_WINDOW ((size_t)1024 * 1024)

static bool is_given(const ntr_search *s, ntr_parameter p) {
    return s->config->given >> p & 1;
}

static ntr_decoder_config decoder_config(const ntr_search *s, const ntr_params *params) {
    return (ntr_decoder_config){.size = sizeof(ntr_decoder_config),
                                .params = *params,
                                .program = s->config->program,
                                .allocator = s->config->allocator,
                                .mid_stream = s->config->mid_stream};
}

ntr_status ntr_search_try(const ntr_search *s, const ntr_params *params, ntr_infer_trial *trial) {
    ntr_decoder_config config = decoder_config(s, params);
    return ntr_infer_trial_run(&config, s->window, NULL, trial);
}

/* How the messages of a trial differ: MSB extension, traced jumps, full addresses; a set. */
enum { FORM_PLAIN = 0, FORM_EXTENDED = 1, FORM_JUMPS = 2, FORM_FULL = 4, FORMS = 8 };

uint32_t ntr_search_kept(const ntr_search *s) {
    ntr_params initial;
    ntr_params_init(&initial, s->config->params.dialect);
    return s->config->given | (NTR_PARAMETERS_NOT_INFERRED & ntr_params_difference(&initial, &s->config->params));
}

/* Returns the parameters of one trial. Kept parameters have the caller's values. */
static ntr_params trial_params(const ntr_search *s, const ntr_dialect *dialect, unsigned src_bits, unsigned form) {
    ntr_params p;
    ntr_params_init(&p, dialect);
    p.src_bits = (uint8_t)src_bits;
    p.extend_addr = form & FORM_EXTENDED;
    p.all_jumps = form & FORM_JUMPS;
    p.no_addr_diff = form & FORM_FULL;
    if (!p.implicit_return) p.implicit_return = NTR_RETURN_FULL;
    p.sequential_jump = true;
    ntr_params_copy(&p, &s->config->params, ntr_search_kept(s) & ~(1u << NTR_PARAMETER_DIALECT));
    return p;
}

static unsigned form_of(const ntr_params *p) {
    return (p->extend_addr ? FORM_EXTENDED : 0u) | (p->all_jumps ? FORM_JUMPS : 0u) |
           (p->no_addr_diff ? FORM_FULL : 0u);
}

/* Returns whether this value of a parameter is to be tried. */
static bool is_candidate(const ntr_search *s, ntr_parameter p, unsigned given, unsigned value) {
    return !is_given(s, p) || given == value;
}

static ntr_status add_trial(ntr_search *s, const ntr_params *params) {
    const ntr_decoder_config config = decoder_config(s, params);
    const ntr_infer_trial *best = s->count ? &s->trials[s->best] : NULL;
    ntr_status status = ntr_infer_trial_run(&config, s->window, best, &s->trials[s->count]);
    if (status != NTR_OK) return status;
    if (ntr_infer_trial_better(&s->trials[s->count], &s->trials[s->best])) s->best = s->count;
    s->count++;
    return NTR_OK;
}

static ntr_status add_form(ntr_search *s, const ntr_dialect *dialect, unsigned src_bits, unsigned form) {
    const ntr_params *given = &s->config->params;
    /* A dialect of a single chip is tried with the SRC width of that chip only. */
    if (dialect->src_bits && dialect->src_bits != src_bits && !is_given(s, NTR_PARAMETER_DIALECT)) return NTR_OK;
    /* Older silicon has neither MSB extension nor traced jumps. */
    if (form != FORM_PLAIN && dialect->messages != NTR_MESSAGES_1_0 && !is_given(s, NTR_PARAMETER_DIALECT))
        return NTR_OK;
    if (!is_candidate(s, NTR_PARAMETER_NO_ADDR_DIFF, given->no_addr_diff, (form & FORM_FULL) != 0)) return NTR_OK;
    if (!is_candidate(s, NTR_PARAMETER_EXTEND_ADDR, given->extend_addr, (form & FORM_EXTENDED) != 0)) return NTR_OK;
    if (!is_candidate(s, NTR_PARAMETER_ALL_JUMPS, given->all_jumps, (form & FORM_JUMPS) != 0)) return NTR_OK;
    if (!is_candidate(s, NTR_PARAMETER_SRC_BITS, given->src_bits, src_bits)) return NTR_OK;
    ntr_params params = trial_params(s, dialect, src_bits, form);
    return add_trial(s, &params);
}

/* Full addresses are rare: together with the other forms they are tried only when the best trial has contradictions or
 * full addresses itself. */
static ntr_status try_dialect(ntr_search *s, const ntr_dialect *dialect, bool rare) {
    static const uint8_t usual[] = {FORM_PLAIN, FORM_EXTENDED, FORM_JUMPS, FORM_EXTENDED | FORM_JUMPS, FORM_FULL};
    static const uint8_t others[] = {FORM_FULL | FORM_EXTENDED, FORM_FULL | FORM_JUMPS,
                                     FORM_FULL | FORM_EXTENDED | FORM_JUMPS};
    const uint8_t *forms = rare ? others : usual;
    const size_t count = rare ? sizeof others : sizeof usual;
    ntr_status status = NTR_OK;
    for (unsigned src_bits = 0; src_bits <= NTR_SEARCH_SRC_BITS && status == NTR_OK; src_bits++)
        for (size_t i = 0; i < count && status == NTR_OK; i++) status = add_form(s, dialect, src_bits, forms[i]);
    return status;
}

static ntr_status try_rare_forms(ntr_search *s, const ntr_dialect *dialect) {
    const ntr_infer_trial *best = &s->trials[s->best];
    if (ntr_infer_failures(best) || best->params.no_addr_diff) return try_dialect(s, dialect, true);
    /* That U-ADDR is an XOR is sure only if full addresses contradict the stream. */
    return add_form(s, dialect, best->params.src_bits, form_of(&best->params) | FORM_FULL);
}

/* The simplest values come first: of equal trials the first one is the best. */
static ntr_status try_all(ntr_search *s) {
    static const char *const dialects[] = {"ntrace-1.0", "p550", "sifive-pre1.0", "tt-dfd"};
    const ntr_dialect *given = s->config->params.dialect;
    ntr_status status = NTR_OK;
    if (!s->config->program) return add_form(s, given, s->config->params.src_bits, FORM_PLAIN);
    if (is_given(s, NTR_PARAMETER_DIALECT)) {
        status = try_dialect(s, given, false);
        return status == NTR_OK ? try_rare_forms(s, given) : status;
    }
    for (size_t i = 0; i < sizeof dialects / sizeof dialects[0] && status == NTR_OK; i++)
        status = try_dialect(s, ntr_dialect_find(dialects[i]), false);
    return status == NTR_OK ? try_rare_forms(s, ntr_dialect_at(0)) : status;
}

/* Try a dialect, where a form and a width of addresses are possible. */
static ntr_status try_with(ntr_search *s, const ntr_dialect *dialect, const ntr_params *like, unsigned form) {
    const ntr_params *given = &s->config->params;
    if (!is_candidate(s, NTR_PARAMETER_ALL_JUMPS, given->all_jumps, (form & FORM_JUMPS) != 0)) return NTR_OK;
    if (!is_candidate(s, NTR_PARAMETER_NO_ADDR_DIFF, given->no_addr_diff, (form & FORM_FULL) != 0)) return NTR_OK;
    ntr_params params = trial_params(s, dialect, like->src_bits, form);
    params.addr_bits = like->addr_bits;
    return add_trial(s, &params);
}

/* Try addresses of the width of each virtual memory system; they matter only where addresses have their top bits set.
 * The best trial may be of older silicon, which was tried neither with traced jumps nor with full addresses. All
 * combinations are tried, as a value is sure only if a trial that differs in nothing else fails. */
static ntr_status try_widths_like(ntr_search *s, ntr_params like) {
    static const uint8_t widths[] = {39, 48, 57};
    static const uint8_t changes[] = {FORM_PLAIN, FORM_JUMPS, FORM_FULL, FORM_JUMPS | FORM_FULL};
    const ntr_dialect *dialect = is_given(s, NTR_PARAMETER_DIALECT) ? s->config->params.dialect : ntr_dialect_at(0);
    ntr_status status = NTR_OK;
    for (size_t i = 0; i < sizeof widths && status == NTR_OK; i++) {
        like.addr_bits = widths[i];
        for (size_t k = 0; k < sizeof changes && status == NTR_OK; k++)
            status = try_with(s, dialect, &like, form_of(&like) ^ changes[k]);
    }
    return status;
}

/* If the best trial has contradictions, its SRC may be wrong, too: with the right one, most trials end at the first
 * address that is to be extended, so that another SRC may follow more messages by accident. */
static ntr_status try_address_widths(ntr_search *s) {
    ntr_params like = s->trials[s->best].params;
    if (!s->config->program || is_given(s, NTR_PARAMETER_ADDR_BITS) || like.extend_addr) return NTR_OK;
    ntr_status status = try_widths_like(s, like);
    if (!ntr_infer_failures(&s->trials[s->best]) || is_given(s, NTR_PARAMETER_SRC_BITS)) return status;
    const uint8_t tried = like.src_bits;
    for (unsigned bits = 0; bits <= NTR_SEARCH_SRC_BITS && status == NTR_OK; bits++) {
        like.src_bits = (uint8_t)bits;
        if (bits != tried) status = try_widths_like(s, like);
    }
    return status;
}

static bool is_tried(const ntr_search *s, const ntr_dialect *dialect) {
    for (size_t i = 0; i < s->count; i++)
        if (s->trials[i].params.dialect == dialect) return true;
    return false;
}

/* Try the best parameters with every other dialect: some differ in few messages, or in none that this stream has. If
 * the best trial has contradictions, addresses may have the other form, too. */
static ntr_status try_other_dialects(ntr_search *s) {
    const ntr_params best = s->trials[s->best].params;
    const bool fails = ntr_infer_failures(&s->trials[s->best]);
    const ntr_dialect *dialect;
    ntr_status status = NTR_OK;
    if (!s->config->program || is_given(s, NTR_PARAMETER_DIALECT)) return NTR_OK;
    for (size_t i = 0; (dialect = ntr_dialect_at(i)) && status == NTR_OK; i++) {
        if (is_tried(s, dialect)) continue;
        status = try_with(s, dialect, &best, form_of(&best));
        if (fails && status == NTR_OK) status = try_with(s, dialect, &best, form_of(&best) ^ FORM_FULL);
    }
    return status;
}

/* Decode more of the stream with all parameters that are not worse than the best so far. */
static ntr_status try_more(ntr_search *s, ntr_bytes stream) {
    if (s->window.size == stream.size) return NTR_OK;
    s->complete = stream.size <= SECOND_WINDOW;
    s->window.size = s->complete ? stream.size : SECOND_WINDOW;
    const ntr_infer_trial best = s->trials[s->best];
    for (size_t i = 0; i < s->count; i++) {
        ntr_infer_trial *t = &s->trials[i];
        if (t->ran_away || ntr_infer_failures(t) > ntr_infer_failures(&best) || ntr_infer_follows_little(&best, t))
            continue;
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

bool ntr_search_is_poor(const ntr_search *s) {
    const ntr_infer_trial *best = &s->trials[s->best];
    return best->followed < 4 * ntr_infer_failures(best);
}

/* ---- judging one parameter */

static unsigned dialect_index(const ntr_dialect *dialect) {
    unsigned index = 0;
    while (ntr_dialect_at(index) && ntr_dialect_at(index) != dialect) index++;
    return index;
}

static unsigned value_of(const ntr_infer_trial *t, ntr_parameter p) {
    switch (p) {
    case NTR_PARAMETER_DIALECT: return dialect_index(t->params.dialect);
    case NTR_PARAMETER_SRC_BITS: return t->params.src_bits;
    case NTR_PARAMETER_EXTEND_ADDR: return t->params.extend_addr;
    case NTR_PARAMETER_NO_ADDR_DIFF: return t->params.no_addr_diff;
    case NTR_PARAMETER_ADDR_BITS: return t->params.addr_bits;
    default: return t->params.all_jumps;
    }
}

/* How much more of the stream one trial explains than another one. */
typedef enum margin { MARGIN_NONE, MARGIN_SOME, MARGIN_LARGE } margin;

/* `b` follows next to nothing of what `a` follows. */
static margin margin_of_followed(const ntr_infer_trial *a, const ntr_infer_trial *b) {
    if (!ntr_infer_follows_little(a, b)) return MARGIN_NONE;
    return a->followed >= 4 * NTR_EVIDENCE_LARGE  ? MARGIN_LARGE
           : a->followed >= 4 * NTR_EVIDENCE_SOME ? MARGIN_SOME
                                                  : MARGIN_NONE;
}

/* `b` fails often where `a` does not. */
static margin margin_of_failures(const ntr_infer_trial *a, const ntr_infer_trial *b) {
    const uint64_t less = ntr_infer_failures(a), more = ntr_infer_failures(b);
    if (more >= less + NTR_EVIDENCE_LARGE && more >= 8 * less) return MARGIN_LARGE;
    return more >= less + NTR_EVIDENCE_SOME && more >= 4 * less ? MARGIN_SOME : MARGIN_NONE;
}

/* Returns whether addresses of a width, in messages of N-Trace 1.0, explain what the dialect of this trial explains. */
static bool is_by_addresses(const ntr_search *s, const ntr_infer_trial *trial) {
    for (size_t i = 0; i < s->count; i++) {
        const ntr_infer_trial *t = &s->trials[i];
        if (t->params.dialect == s->trials[0].params.dialect && t->params.addr_bits && ntr_infer_trial_same(t, trial))
            return true;
    }
    return false;
}

/* Returns how much more of the stream `a` explains than `b`, which has another value of `p`. One message that `b`
 * cannot read is one failure, however many messages are lost after it. What is followed therefore counts only for
 * parameters that change how messages are read throughout. A dialect may allow, at single places, what N-Trace 1.0
 * forbids: it has to explain everything, and even so may be the reading of damage. */
static margin margin_between(const ntr_search *s, const ntr_infer_trial *a, const ntr_infer_trial *b, ntr_parameter p) {
    const margin failures = margin_of_failures(a, b), followed = margin_of_followed(a, b);
    if (a->ran_away && !b->ran_away) return MARGIN_NONE;
    if (p != NTR_PARAMETER_DIALECT || is_by_addresses(s, a)) return failures > followed ? failures : followed;
    if (failures == MARGIN_NONE && followed == MARGIN_LARGE && !ntr_infer_failures(a)) return MARGIN_SOME;
    return failures;
}

static ntr_confidence compare(const ntr_search *s, const ntr_infer_trial *other, ntr_parameter p) {
    const ntr_infer_trial *best = &s->trials[s->best];
    if (ntr_infer_trial_same(best, other)) return NTR_CONFIDENCE_NO_MATTER;
    enum { DAMAGE_RATIO = 32 }; /* one contradiction in this many messages may be damage */
    enum { IMAGE_RATIO = 4 }; /* one gap without code in this many messages may be code that is not given */
    const bool clean =
        best->contradictions * DAMAGE_RATIO <= best->followed && best->without_image * IMAGE_RATIO <= best->followed;
    switch (margin_between(s, best, other, p)) {
    case MARGIN_LARGE: return clean ? NTR_CONFIDENCE_SURE : NTR_CONFIDENCE_LIKELY;
    case MARGIN_SOME: return NTR_CONFIDENCE_LIKELY;
    default: return NTR_CONFIDENCE_UNKNOWN;
    }
}

/* ---- the defaults of the specification */

/* The parameters that trials differ in, rarest first. */
static const uint8_t searched[] = {NTR_PARAMETER_NO_ADDR_DIFF, NTR_PARAMETER_ADDR_BITS,   NTR_PARAMETER_DIALECT,
                                   NTR_PARAMETER_ALL_JUMPS,    NTR_PARAMETER_EXTEND_ADDR, NTR_PARAMETER_SRC_BITS};

/* Returns whether a trial has the default value of parameter `p`, and in every other parameter the default or the value
 * of `like`. */
static bool is_simpler(const ntr_infer_trial *t, const ntr_infer_trial *like, const ntr_infer_trial *defaults,
                       ntr_parameter p) {
    for (size_t i = 0; i < sizeof searched; i++) {
        const unsigned value = value_of(t, searched[i]), initial = value_of(defaults, searched[i]);
        if (value != initial && (searched[i] == p || value != value_of(like, searched[i]))) return false;
    }
    return true;
}

/* Returns the best trial with the default value of `p` and no other value than the default and that of the best trial;
 * NULL if there is none. */
static const ntr_infer_trial *with_default(const ntr_search *s, ntr_parameter p) {
    const ntr_infer_trial *simple = NULL;
    for (size_t i = 0; i < s->count; i++) {
        const ntr_infer_trial *t = &s->trials[i];
        if (is_simpler(t, &s->trials[s->best], &s->trials[0], p) && (!simple || ntr_infer_trial_better(t, simple)))
            simple = t;
    }
    return simple;
}

/* Each value of the best trial that is not the default has to earn its place: the best trial with the default must be
 * worse by a margin, which damage of a few messages does not make. Example: one message of a BTM stream runs past a
 * register jump. SiFive's older encoders allow that, so a trial with their dialect has no contradiction; the
 * stream remains one of N-Trace 1.0 with an error. */
static void prefer_defaults(ntr_search *s) {
    const ntr_infer_trial *defaults = &s->trials[0];
    for (size_t i = 0; i < sizeof searched; i++) {
        const ntr_parameter p = searched[i];
        const ntr_infer_trial *best = &s->trials[s->best], *simple = with_default(s, p);
        if (value_of(best, p) == value_of(defaults, p)) continue;
        if (simple && margin_between(s, best, simple, p) == MARGIN_NONE) s->best = (size_t)(simple - s->trials);
    }
}

/* Returns whether the dialects of two trials cannot be told apart: with the same other parameters they give the same
 * execution, or the one has only messages more than the other, which has no contradiction either. */
static bool reads_alike(const ntr_infer_trial *a, const ntr_infer_trial *b) {
    return a->params.dialect == b->params.dialect ||
           (ntr_infer_trial_same(a, b) && ntr_infer_failures(a) == ntr_infer_failures(b));
}

bool ntr_search_explains(const ntr_search *s, const ntr_dialect *dialect) {
    const ntr_infer_trial *best = &s->trials[s->best];
    for (size_t i = 0; i < s->count; i++) {
        const ntr_infer_trial *t = &s->trials[i];
        if (t->params.dialect == dialect && !t->ran_away && ntr_infer_failures(t) <= ntr_infer_failures(best) &&
            (reads_alike(t, best) || t->followed * 8 >= best->followed * 7))
            return true;
    }
    return false;
}

/* Returns the trial to compare the best one with: the best of those with another value of `p`. A dialect that is not
 * the default is compared with the default. */
static const ntr_infer_trial *rival(const ntr_search *s, ntr_parameter p) {
    const ntr_infer_trial *best = &s->trials[s->best], *other = NULL;
    if (p == NTR_PARAMETER_DIALECT && value_of(best, p) != value_of(&s->trials[0], p)) return with_default(s, p);
    for (size_t i = 0; i < s->count; i++) {
        const ntr_infer_trial *t = &s->trials[i];
        if (p == NTR_PARAMETER_DIALECT ? reads_alike(t, best) : value_of(t, p) == value_of(best, p)) continue;
        /* A trial with the same execution is compared only if there is no other. */
        if (!other || ntr_infer_trial_better(t, other)) other = t;
    }
    return other;
}

ntr_verdict ntr_search_judge(const ntr_search *s, ntr_parameter p) {
    const ntr_infer_trial *best = &s->trials[s->best], *other = rival(s, p);
    if (!other) return (ntr_verdict){NTR_CONFIDENCE_NO_MATTER, best};
    return (ntr_verdict){ntr_search_has_evidence(s) ? compare(s, other, p) : NTR_CONFIDENCE_UNKNOWN, other};
}

ntr_status ntr_search_run(ntr_search *s, ntr_bytes stream) {
    s->complete = stream.size <= FIRST_WINDOW;
    s->window = (ntr_bytes){stream.data, s->complete ? stream.size : FIRST_WINDOW};
    ntr_status status = try_all(s);
    if (status == NTR_OK) status = try_address_widths(s);
    if (status == NTR_OK) status = try_more(s, stream);
    if (status == NTR_OK) status = try_other_dialects(s);
    if (status == NTR_OK) prefer_defaults(s);
    return status;
}
