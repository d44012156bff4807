#include "infer/trial.h"

#include <string.h>

enum { TRIAL_EVENTS = 256, TRIAL_SPANS_MAX = 1 << 20, RECENT_CALLERS = 64, RECENT_SOURCES = 16 };

/* The latest return addresses of one source. */
typedef struct recent_callers {
    uint64_t address[RECENT_CALLERS];
    uint64_t message[RECENT_CALLERS]; /* number of the message that reports the call */
    unsigned top, count;
    uint16_t src;
    bool leaf; /* no call or return since the latest call: even a return stack of one entry has its address */
    uint64_t redundant; /* number of the message of the latest redundant return, plus 1 */
    bool redundant_early; /* its call was in the same message */
    uint64_t silent_return, silent_jump; /* number of the message of the latest implicit return, jump */
} recent_callers;

/* Returns the entry of a source. Sources with the same entry replace each other. */
static recent_callers *callers_of(recent_callers *all, uint16_t src) {
    recent_callers *c = &all[src % RECENT_SOURCES];
    if (c->src != src) *c = (recent_callers){.src = src};
    return c;
}

static void push(recent_callers *c, uint64_t address, uint64_t message) {
    c->message[c->top % RECENT_CALLERS] = message;
    c->address[c->top++ % RECENT_CALLERS] = address;
    if (c->count < RECENT_CALLERS) c->count++;
    c->leaf = true;
}

/* Remove the latest return address. Returns whether every encoder with a return stack would have inferred this
 * target. *message: the number of the message with the call, if one is known. */
static bool pop_matches(recent_callers *c, uint64_t target, uint64_t *message) {
    bool leaf = c->leaf;
    c->leaf = false;
    if (c->count == 0) return false;
    c->count--;
    *message = c->message[--c->top % RECENT_CALLERS];
    return c->address[c->top % RECENT_CALLERS] == target && leaf;
}

/* Counts messages with a kind of inference: in one message, damaged perhaps, a loop may have any number of them. */
static void count_message(uint64_t *count, uint64_t *latest, const ntr_event *e) {
    if (!(e->flags & NTR_EVENT_IMPLICIT) || *latest == e->message) return;
    *latest = e->message;
    ++*count;
}

static void returns(ntr_infer_trial *trial, recent_callers *c, const ntr_event *e) {
    const bool implicit = e->flags & NTR_EVENT_IMPLICIT;
    uint64_t call = UINT64_MAX;
    count_message(&trial->implicit_returns, &c->silent_return, e);
    const bool known = pop_matches(c, e->target, &call), early = call == e->message;
    if (implicit && early) trial->implicit_early++;
    if (!known || implicit) return;
    trial->redundant_returns++;
    trial->redundant_early += early;
    c->redundant = e->message + 1;
    c->redundant_early = early;
}

/* A synchronizing message clears the return stack. A return reported by it is not redundant: the message was sent
 * anyway. */
static void synchronize(ntr_infer_trial *trial, recent_callers *c, const ntr_event *e) {
    if (c->redundant == e->message + 1) {
        trial->redundant_returns--;
        trial->redundant_early -= c->redundant_early;
    }
    c->redundant = 0;
    c->count = 0;
}

static void follow_calls(ntr_infer_trial *trial, recent_callers *c, const ntr_event *e) {
    switch (e->end) {
    case NTR_SPAN_INDIRECT_CALL:
        count_message(&trial->implicit_jumps, &c->silent_jump, e);
        push(c, e->address + 2 * (uint64_t)e->halfwords, e->message);
        break;
    case NTR_SPAN_CALL: push(c, e->address + 2 * (uint64_t)e->halfwords, e->message); break;
    case NTR_SPAN_INDIRECT_JUMP:
    case NTR_SPAN_CO_SWAP: count_message(&trial->implicit_jumps, &c->silent_jump, e); break;
    case NTR_SPAN_RETURN: returns(trial, c, e); break;
    default: break;
    }
}

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static void add_span(ntr_infer_trial *trial, recent_callers *c, const ntr_event *e) {
    trial->instructions += ntr_event_executed(e);
    trial->spans++;
    trial->span_hash = mix(mix(mix(trial->span_hash, e->address), e->target), (uint64_t)e->halfwords << 16 | e->src);
    follow_calls(trial, c, e);
}

static void add(ntr_infer_trial *trial, recent_callers *all, const ntr_event *e) {
    recent_callers *c = callers_of(all, e->src);
    switch (e->kind) {
    case NTR_EVENT_SPAN: add_span(trial, c, e); break;
    case NTR_EVENT_SYNC: synchronize(trial, c, e); break;
    case NTR_EVENT_CONTEXT: c->count = 0; break;
    case NTR_EVENT_GAP:
        c->count = 0;
        if (ntr_reason_is_of_code(e->reason))
            trial->without_image++;
        else if (e->reason != NTR_E_TRUNCATED && e->reason != NTR_E_OVERFLOW)
            trial->contradictions++;
        break;
    case NTR_EVENT_NOTE:
        if (e->reason == NTR_E_NO_LANDING)
            trial->counted_traps++;
        else
            trial->contradictions++;
        break;
    default: break;
    }
}

/* Decodes what the decoder has been fed. Returns the decoder's status; NTR_OK: there were too many spans. */
static ntr_status read_part(ntr_decoder *decoder, ntr_infer_trial *trial, recent_callers *all, uint64_t *message) {
    ntr_event events[TRIAL_EVENTS];
    ntr_status status;
    do {
        size_t count;
        status = ntr_decoder_read(decoder, events, TRIAL_EVENTS, &count);
        for (size_t i = 0; i < count; i++) {
            trial->followed += events[i].kind == NTR_EVENT_SPAN && events[i].message != *message;
            *message = events[i].message;
            add(trial, all, &events[i]);
        }
    } while (status == NTR_OK && trial->spans < TRIAL_SPANS_MAX);
    return status;
}

/* Returns whether a trial follows next to nothing of what the best one, if it is a good one, has followed up to the end
 * of this part. */
static bool is_hopeless(const ntr_infer_trial *trial, const ntr_infer_trial *best, size_t part) {
    enum { SHARE = 64 };
    return best && ntr_infer_failures(best) * 8 <= best->followed &&
           (trial->followed + 1) * SHARE <= best->followed_by[part];
}

ntr_status ntr_infer_trial_run(const ntr_decoder_config *config, ntr_bytes stream, const ntr_infer_trial *best,
                               ntr_infer_trial *trial) {
    uint64_t message = 0;
    recent_callers all[RECENT_SOURCES] = {0};
    ntr_status status;
    memset(trial, 0, sizeof *trial);
    trial->params = config->params;
    ntr_decoder *decoder;
    status = ntr_decoder_new(config, &decoder);
    if (!decoder) return status;
    ntr_decoder_set_repeats(decoder, true);
    for (size_t part = 0, from = 0; part < NTR_TRIAL_PARTS; part++) {
        const bool last = part == NTR_TRIAL_PARTS - 1;
        const size_t to = last ? stream.size : stream.size / NTR_TRIAL_PARTS * (part + 1);
        ntr_decoder_feed(decoder, to > from ? stream.data + from : NULL, to - from, last);
        status = read_part(decoder, trial, all, &message);
        trial->followed_by[part] = trial->followed;
        if (status != NTR_NEED_MORE || is_hopeless(trial, best, part)) break;
        from = to;
    }
    trial->ran_away = status == NTR_OK;
    ntr_decoder_free(decoder);
    return status < 0 ? status : NTR_OK;
}

/* Compares the number of messages followed per failure. The number of instructions is no measure: one message read with
 * wrong parameters may stand for millions. In a damaged stream every trial has failures, so `a` must be better by a
 * quarter. */
bool ntr_infer_trial_better(const ntr_infer_trial *a, const ntr_infer_trial *b) {
    uint64_t failures_a = ntr_infer_failures(a), failures_b = ntr_infer_failures(b);
    if (failures_a == failures_b) return a->followed > b->followed;
    return a->followed * (failures_b + 1) * 4 > b->followed * (failures_a + 1) * 5;
}
