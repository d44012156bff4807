/* A message that was decoded in full becomes a memo. */
#include "decoder/message_memo.h"

/* Returns whether the decoded message had no effect except those a memo can store. */
static bool is_learnable(const ntr_decoder *d, const ntr_memo_candidate *t) {
    const ntr_message *m = &d->message;
    bool adds_icnt = ntr_has_role(m->tcode, NTR_ROLE_RESOURCE) && m->rcode == NTR_RCODE_ICNT;
    return m->defect == NTR_OK && !NTR_HAS(m, TSTAMP) && !adds_icnt && d->failed == NTR_OK &&
           d->counts->gaps == t->before.gaps && d->other_events == t->other_events &&
           ntr_message_memo_is_plain(d, t->source) && d->message_memos.epoch == d->blocks->epoch &&
           t->source->mode == (t->key.from & NTR_MESSAGE_MEMO_MODE);
}

/* Stores the difference of two totals. Returns whether it is at most `most`. */
#define LEARN(name, type, most)                                                                                        \
    (totals->name = (type)(after->name - before->name), after->name - before->name <= (most))

static bool learn_counts(ntr_memo_totals *totals, const ntr_counts *before, const ntr_counts *after) {
    return LEARN(halfwords, uint16_t, UINT16_MAX) && LEARN(instructions, uint16_t, UINT16_MAX) &&
           LEARN(spans, uint16_t, UINT16_MAX) && LEARN(branches, uint16_t, UINT16_MAX) &&
           LEARN(taken, uint16_t, UINT16_MAX) && LEARN(calls, uint16_t, UINT16_MAX) &&
           LEARN(returns, uint16_t, UINT16_MAX) && LEARN(exceptions, uint8_t, 1) && LEARN(interrupts, uint8_t, 1);
}

/* Returns whether the state that counts halfwords is the one that following the memo leads to. */
static bool counters_fit(const ntr_memo_candidate *t, const ntr_message_memo *memo) {
    const ntr_source *s = t->source;
    if (ntr_message_memo_deducts(&memo->message)) return s->halfwords_ahead == 0 && s->icnt == 0;
    return s->halfwords_ahead == t->halfwords_ahead + memo->totals.halfwords && s->icnt == t->icnt;
}

/* Stores the calling block of an entry of the return stack. Returns false when it is not known. */
static bool learn_call(const ntr_source *s, const ntr_return *entry, ntr_block **call) {
    *call = entry->call;
    return entry->call && entry->stamp == s->stamp;
}

static bool learn_stack(ntr_message_memo *memo, ntr_message_memo_more *more, const ntr_memo_candidate *t) {
    const ntr_source *s = t->source;
    const ntr_return_stack *stack = &s->stack;
    uint32_t pops = t->depth - stack->least, rise = stack->most - t->depth;
    uint32_t pushes = stack->count + stack->dropped - stack->least;
    if (pops + pushes > NTR_MESSAGE_MEMO_CALLS || rise > UINT8_MAX) return false;
    if (rise > stack->limit) return false; /* the message drops entries that it has added itself */
    if (stack->ran_empty && (pops != t->depth || stack->dropped)) return false;
    memo->stack = (ntr_stack_effect){(uint8_t)pops, (uint8_t)pushes, (uint8_t)rise, stack->ran_empty};
    if (ntr_message_memo_kept(stack, memo->stack, t->depth) < pops) return false;
    for (unsigned i = 0; i < pops; i++)
        if (!learn_call(s, &t->callers[i], &more->calls[i])) return false;
    for (unsigned i = 0; i < pushes; i++)
        if (!learn_call(s, ntr_return_stack_at(stack, pushes - 1 - i), &more->calls[pops + i])) return false;
    return true;
}

static bool is_free(const ntr_message_memos *memos, size_t place) {
    return ntr_message_memo_at(memos, place)->from == 0;
}

/* Choose a place: a free one, if possible the one that is found early. Only memos that take a return address are apart
 * for each caller. Sometimes a memo that nothing uses any more has to leave its place. */
static size_t choose_place(const ntr_message_memos *memos, const ntr_message_memo_places *places,
                           const ntr_message_memo *memo) {
    enum { RENEW = 8 };
    bool by_caller = memos->wide ? memo->stack.pops != 0 : memos->learned % 2;
    if (is_free(memos, places->of_message) || memos->learned % RENEW == 0) return places->of_message;
    if (is_free(memos, places->of_state)) return places->of_state;
    return by_caller || (!memos->wide && is_free(memos, places->of_caller)) ? places->of_caller : places->of_state;
}

static void store_memo(ntr_decoder *d, size_t place, const ntr_message_memo *memo, const ntr_message_memo_more *more) {
    const ntr_message_memos *memos = &d->message_memos;
    ntr_message_memo *to = ntr_message_memo_at(memos, place);
    if (memos->counted) ntr_message_memo_replay(d, to);
    *to = *memo;
    if (memos->wide) *ntr_message_memo_more_of(to) = *more;
}

void ntr_message_memo_learn(ntr_decoder *d, const ntr_memo_candidate *t) {
    ntr_source *s = t->source;
    ntr_message_memo memo = t->key;
    ntr_message_memo_more more = {0};
    if (!is_learnable(d, t) || !learn_counts(&memo.totals, &t->before, d->counts) || !counters_fit(t, &memo)) return;
    const ntr_block *to = ntr_message_memo_block(d, s);
    if (to->halfwords == 0) return;
    memo.ref_xor = t->ref ^ s->ref;
    memo.to = to->number;
    if (d->message_memos.wide && !learn_stack(&memo, &more, t)) return;
    store_memo(d, choose_place(&d->message_memos, &t->places, &memo), &memo, &more);
    d->message_memos.learned++;
}
