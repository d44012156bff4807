/* Executions of message memos for the count callback.
 *
 * Idea: a memo that was applied 1000 times stands for 1000 executions of the same spans. The message is decoded once
 * more, from the block and in the state of the key, as one walk with 1000 executions. It ends as it did when the memo
 * was made, because all that it depends on is in the key.
 *
 * Invariant: outside of the counters of blocks and history memos, the decoder is as before. The message belongs to a
 * source of its own, which takes the place of the true one meanwhile; totals are not counted again. */
#include "base/allocator.h"
#include "decoder/count_callback.h"
#include "decoder/message_memo.h"

/* What the message changes in the decoder. */
typedef struct decoder_part {
    ntr_message message;
    ntr_walk_request request;
    ntr_event header;
    ntr_counts *counts;
    uint64_t times;
} decoder_part;

static decoder_part take_part(const ntr_decoder *d) {
    return (decoder_part){d->message, d->request, d->header, d->counts, d->times};
}

static void put_part(ntr_decoder *d, const decoder_part *part) {
    d->message = part->message;
    d->request = part->request;
    d->header = part->header;
    d->counts = part->counts;
    d->times = part->times;
}

/* Make the return stack of the key: the entries that the message removes. */
static ntr_status make_stack(const ntr_decoder *d, ntr_source *s, ntr_message_memo *memo) {
    ntr_block *const *calls = ntr_message_memo_more_of(memo)->calls;
    ntr_status status = NTR_OK;
    ntr_return_stack_clear(&s->stack);
    for (unsigned i = memo->stack.pops; i-- > 0 && status == NTR_OK;)
        status = ntr_return_stack_push(&s->stack, d->allocator,
                                       (ntr_return){.address = calls[i]->next, .call = calls[i], .stamp = s->stamp});
    return status;
}

/* Bring the source into the state of the key. */
static ntr_status make_source(const ntr_decoder *d, ntr_source *s, ntr_message_memo *memo) {
    ntr_blocks *blocks = d->blocks;
    ntr_block *block = ntr_blocks_at(blocks, (memo->from >> 2) - 1);
    const int32_t ahead = (int32_t)memo->ahead;
    uint16_t src;
    const ntr_context *context = ntr_blocks_owner(blocks, block->view, &src);
    *s = (ntr_source){
        .id = src,
        .state = NTR_SOURCE_FOLLOWING,
        .mode = memo->from & NTR_MESSAGE_MEMO_MODE,
        .pc_known = true,
        .active = true, /* not to be added to the list */
        .begun = true,
        .view_known = true,
        .pc = block->start,
        .block = block,
        .ref = memo->ref,
        .icnt = ahead < 0 ? (uint64_t)-(int64_t)ahead : 0,
        .halfwords_ahead = ahead < 0 ? 0 : (uint64_t)ahead,
        .stack = s->stack,
        .context = *context,
        .view = block->view,
        .generation = blocks->generation,
        .epoch = blocks->epoch,
    };
    return make_stack(d, s, memo);
}

static ntr_status decode_again(ntr_decoder *d, ntr_source *s, const ntr_message_memo *memo) {
    ntr_source **place = &d->sources[s->id], *true_source = *place;
    d->message = (ntr_message){0};
    ntr_words_decode(&d->params, &memo->message, &d->message);
    d->message.offset = d->blocks->unchanged_from;
    *place = s;
    ntr_status status = ntr_decoder_recount(d);
    *place = true_source;
    return status;
}

static ntr_status replay(ntr_decoder *d, ntr_message_memo *memo, uint64_t times) {
    ntr_source **s = &d->message_memos.replayed;
    if (!*s && !(*s = ntr_alloc(d->allocator, 1, sizeof **s))) return NTR_E_MEMORY;
    if (!(*s)->stack.limit) ntr_return_stack_init(&(*s)->stack, 0);
    ntr_status status = make_source(d, *s, memo);
    if (status != NTR_OK) return status;
    d->times = times;
    return decode_again(d, *s, memo);
}

void ntr_message_memo_replay(ntr_decoder *d, ntr_message_memo *memo) {
    ntr_message_memo_more *more = ntr_message_memo_more_of(memo);
    ntr_counts counted = {0};
    if (!memo->from || !more->times || d->failed != NTR_OK) return;
    const decoder_part part = take_part(d);
    d->counts = &counted;
    d->replays = true;
    ntr_status status = replay(d, memo, more->times);
    if (status < 0 && d->failed == NTR_OK) d->failed = status;
    d->replays = false;
    more->times = 0;
    put_part(d, &part);
}

void ntr_message_memos_replay(ntr_decoder *d) {
    const ntr_message_memos *memos = &d->message_memos;
    if (!memos->counted || !memos->table) return;
    for (size_t i = 0; i < (size_t)1 << memos->bits; i++) ntr_message_memo_replay(d, ntr_message_memo_at(memos, i));
}
