/* Executions of message memos for the count callback.
 *
 * Idea: a memo that was applied 1000 times stands for 1000 executions of the same spans. The message is decoded once
 * more, from the block and in the state of the key, as one walk with 1000 executions; so are the messages of a sequence
 * memo. It ends as it did when the memo was made, because all that it depends on is in the key.
 *
 * Invariant: outside of the counters of blocks and history memos, the decoder is as before. The message belongs to a
 * source of its own, which takes the place of the true one meanwhile; totals are not counted again. */
#include "base/allocator.h"
#include "decoder/count_callback.h"
#include "decoder/sequence_memo.h"

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

/* What is decoded once more: the key of a memo. */
typedef struct memo_key {
    uint32_t from, ahead;
    uint64_t ref;
    unsigned pops;
    ntr_block *const *calls;
} memo_key;

/* Make the return stack of the key: the entries that the messages remove. */
static ntr_status make_stack(const ntr_decoder *d, ntr_source *s, const memo_key *key) {
    ntr_status status = NTR_OK;
    ntr_return_stack_clear(&s->stack);
    for (unsigned i = key->pops; i-- > 0 && status == NTR_OK;)
        status = ntr_return_stack_push(
            &s->stack, d->allocator,
            (ntr_return){.address = key->calls[i]->next, .call = key->calls[i], .stamp = s->stamp});
    return status;
}

/* Bring the source into the state of the key. */
static ntr_status make_source(const ntr_decoder *d, ntr_source *s, const memo_key *key) {
    ntr_blocks *blocks = d->blocks;
    ntr_block *block = ntr_blocks_at(blocks, (key->from >> 2) - 1);
    const int32_t ahead = (int32_t)key->ahead;
    uint16_t src;
    const ntr_context *context = ntr_blocks_owner(blocks, block->view, &src);
    *s = (ntr_source){
        .id = src,
        .state = NTR_SOURCE_FOLLOWING,
        .mode = key->from & NTR_MESSAGE_MEMO_MODE,
        .pc_known = true,
        .active = true, /* not to be added to the list */
        .begun = true,
        .view_known = true,
        .pc = block->start,
        .block = block,
        .ref = key->ref,
        .icnt = ahead < 0 ? (uint64_t)-(int64_t)ahead : 0,
        .halfwords_ahead = ahead < 0 ? 0 : (uint64_t)ahead,
        .stack = s->stack,
        .context = *context,
        .view = block->view,
        .generation = blocks->generation,
        .epoch = blocks->epoch,
    };
    return make_stack(d, s, key);
}

static ntr_status decode_again(ntr_decoder *d, ntr_source *s, const ntr_message_words *words) {
    ntr_source **place = &d->sources[s->id], *true_source = *place;
    d->message = (ntr_message){0};
    ntr_words_decode(&d->params, words, &d->message);
    d->message.offset = d->blocks->unchanged_from;
    *place = s;
    ntr_status status = d->recount(d);
    *place = true_source;
    return status;
}

/* Prepare the source for the key. */
static ntr_status begin(ntr_decoder *d, const memo_key *key) {
    ntr_source **s = &d->message_memos.replayed;
    if (!*s && !(*s = ntr_alloc(d->allocator, 1, sizeof **s))) return NTR_E_MEMORY;
    if (!(*s)->stack.limit) ntr_return_stack_init(&(*s)->stack, 0);
    return make_source(d, *s, key);
}

/* Decode the messages in these bytes, behind which 16 must be readable, as `times` executions. */
static void replay(ntr_decoder *d, const memo_key *key, const uint8_t *bytes, size_t size, uint64_t times) {
    ntr_counts counted = {0};
    const decoder_part part = take_part(d);
    d->counts = &counted;
    d->replays = true;
    ntr_status status = begin(d, key);
    for (const uint8_t *end = bytes + size; bytes < end && status == NTR_OK;) {
        ntr_message_words words;
        bytes += ntr_words_load(&words, bytes);
        d->times = times;
        status = decode_again(d, d->message_memos.replayed, &words);
    }
    if (status < 0 && d->failed == NTR_OK) d->failed = status;
    d->replays = false;
    put_part(d, &part);
}

void ntr_message_memo_replay(ntr_decoder *d, ntr_message_memo *memo) {
    ntr_message_memo_more *more = ntr_message_memo_more_of(memo);
    const memo_key key = {memo->from, memo->ahead, memo->ref, memo->stack.pops, more->calls};
    uint8_t bytes[2 * NTR_WORDS_BYTES] = {0};
    if (!memo->from || !more->times || d->failed != NTR_OK) return;
    ntr_store8(bytes, memo->message.word[0]);
    ntr_store8(bytes + 8, memo->message.word[1]);
    replay(d, &key, bytes, 1, more->times);
    more->times = 0;
}

void ntr_sequence_memo_replay(ntr_decoder *d, ntr_sequence_memo *memo) {
    const memo_key key = {memo->from, memo->ahead, memo->ref, memo->stack.pops, memo->calls};
    uint8_t bytes[NTR_SEQUENCE_BYTES + NTR_WORDS_BYTES] = {0};
    if (!memo->from || !memo->times || d->failed != NTR_OK) return;
    memcpy(bytes, memo->bytes, memo->size);
    replay(d, &key, bytes, memo->size, memo->times);
    memo->times = 0;
}

void ntr_message_memos_replay(ntr_decoder *d) {
    const ntr_message_memos *memos = &d->message_memos;
    if (!memos->counted || !memos->table) return;
    for (size_t i = 0; i < (size_t)1 << memos->bits; i++) ntr_message_memo_replay(d, ntr_message_memo_at(memos, i));
    if (!memos->sequences) return;
    for (size_t i = 0; i < (size_t)1 << memos->sequence_bits; i++) ntr_sequence_memo_replay(d, &memos->sequences[i]);
}
