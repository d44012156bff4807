/* Counting decode with a callback (ntr_decoder_set_count_callback): which spans were executed, and how often.
 *
 * Idea: spans are not reported one by one. A block counts how often it was executed and how often its branch was taken;
 * a history memo counts how often it was walked, a message memo how often it was applied. ntr_count_flush turns these
 * counters into spans with a number of executions. Spans that no counter represents (indirect jumps, spans with linear
 * code before the block) are reported immediately.
 *
 * Invariant: the spans reported so far and those in the counters are together all spans executed so far. Example: a
 * block that ends with a branch was executed 1000 times and jumped 999 times. The flush reports two spans: "not taken"
 * once and "taken" 999 times. */
#include "decoder/count_callback.h"
#include "decoder/message_memo.h"

static void report(ntr_decoder *d, const ntr_event *e, uint64_t times) {
    ntr_status status = d->count_callback(d->count_user, e, times);
    if (status != NTR_OK && d->failed == NTR_OK) d->failed = status;
}

void ntr_count_event(ntr_decoder *d, const ntr_event *e) {
    report(d, e, d->times);
}

/* ---- spans */

/* Returns the span of linear code `run` followed by block `b`. The counters are flushed before an image becomes valid
 * or invalid (ntr_source_update_view): what they count was executed while the images were those of `unchanged_from`. */
static ntr_event span_of(const ntr_decoder *d, uint16_t src, const ntr_context *context, const ntr_open_span *run,
                         const ntr_block *b, unsigned end, uint64_t target) {
    return (ntr_event){.kind = NTR_EVENT_SPAN,
                       .offset = d->blocks->unchanged_from,
                       .src = src,
                       .context = *context,
                       .end = (uint8_t)end,
                       .address = b->start - 2 * (uint64_t)run->halfwords,
                       .last = ntr_block_last(b),
                       .target = target,
                       .instructions = run->instructions + b->instructions,
                       .halfwords = run->halfwords + b->halfwords};
}

/* Returns whether the block itself determines its target, so that its counters describe its spans. */
static bool is_direct(const ntr_block *b) {
    return b->flow == NTR_FLOW_BRANCH || b->flow == NTR_FLOW_DIRECT_JUMP || b->flow == NTR_FLOW_DIRECT_CALL;
}

void ntr_count_step(ntr_decoder *d, const ntr_walk_state *walk, ntr_block *b, const ntr_step *step) {
    const ntr_source *s = d->request.source;
    if (is_direct(b) && walk->run.halfwords == 0) {
        b->executed += d->times;
        if (step->end == NTR_SPAN_TAKEN) b->jumped += d->times;
        return;
    }
    ntr_event e = span_of(d, s->id, &s->context, &walk->run, b, step->end, step->target);
    report(d, &e, d->times);
}

/* ---- flush */

/* Report `times` executions of the span, with source and context of the block's view. */
static void report_block(ntr_decoder *d, const ntr_open_span *run, const ntr_block *b, unsigned end, uint64_t times) {
    uint16_t src;
    if (times == 0) return;
    const ntr_context *context = ntr_blocks_owner(d->blocks, b->view, &src);
    ntr_event e = span_of(d, src, context, run, b, end, end <= NTR_SPAN_NOT_TAKEN ? b->next : b->target);
    report(d, &e, times);
}

struct memo_flush {
    ntr_open_span run;
    uint64_t times;
};

static void flush_block(ntr_decoder *d, void *user, ntr_block *b, bool jumped) {
    struct memo_flush *s = user;
    if (b->flow == NTR_FLOW_LINEAR && !(b->flags & NTR_BLOCK_DIVIDED)) {
        s->run.instructions += b->instructions;
        s->run.halfwords += b->halfwords;
        return;
    }
    bool branch = b->flow == NTR_FLOW_BRANCH;
    if (s->run.halfwords || b->flow == NTR_FLOW_LINEAR) {
        report_block(d, &s->run, b, branch && jumped ? NTR_SPAN_TAKEN : ntr_flow_ends[b->flow], s->times);
        s->run = (ntr_open_span){0};
        return;
    }
    b->executed += s->times;
    if (branch && jumped) b->jumped += s->times;
}

static void flush_memo(ntr_decoder *d, const ntr_history_memo *memo, uint64_t times) {
    struct memo_flush s = {.times = times};
    ntr_history_memo_follow(d, memo, flush_block, &s);
}

void ntr_count_flush_memo(ntr_decoder *d, ntr_history_memo *memo) {
    if (memo->times) flush_memo(d, memo, memo->times);
    memo->times = 0;
}

void ntr_count_history_memo(ntr_decoder *d, ntr_history_memo *memo) {
    if (d->times <= UINT32_MAX - memo->times)
        memo->times += (uint32_t)d->times;
    else
        flush_memo(d, memo, d->times);
}

static void flush_counters(ntr_decoder *d, ntr_block *b) {
    static const ntr_open_span none = {0};
    if (b->executed == 0) return;
    report_block(d, &none, b, ntr_flow_ends[b->flow], b->executed - b->jumped);
    report_block(d, &none, b, NTR_SPAN_TAKEN, b->jumped);
    b->executed = b->jumped = 0;
}

void ntr_count_flush(ntr_decoder *d) {
    if (!d->count_callback) return;
    ntr_message_memos_replay(d);
    for (size_t i = 0; i < d->history_memos.count; i++) ntr_count_flush_memo(d, &d->history_memos.table[i]);
    for (size_t i = 0; i < d->blocks->count; i++) flush_counters(d, ntr_blocks_at(d->blocks, i));
}
