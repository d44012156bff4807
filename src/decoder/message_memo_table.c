/* The tables of message memos and sequence memos. */
#include "decoder/sequence_memo.h"

#include "base/allocator.h"

/* The table begins with 1 Ki memos and grows in steps to 128 Ki memos (8 MiB; 16 MiB with implicit returns or a count
 * callback), with 16 Ki or 32 Ki sequence memos (up to 6 MiB). Growing discards all memos. */
enum { BITS_FIRST = 10, BITS_STEP = 3, BITS_MOST = 17, SEQUENCE_BITS_FIRST = 14 };

void ntr_message_memos_release(ntr_message_memos *message_memos, const ntr_allocator *allocator) {
    ntr_dealloc(allocator, message_memos->memory);
    ntr_dealloc(allocator, message_memos->sequence_memory);
    ntr_dealloc(allocator, message_memos->seen);
    if (message_memos->replayed) ntr_return_stack_release(&message_memos->replayed->stack, allocator);
    ntr_dealloc(allocator, message_memos->replayed);
    *message_memos = (ntr_message_memos){0};
}

/* Returns the first cache line in the memory. */
static void *first_line(void *memory) {
    uintptr_t lines = (uintptr_t)memory + sizeof(ntr_message_memo) - 1;
    return (void *)(lines - lines % sizeof(ntr_message_memo));
}

/* Without memory for them, the decoder works without sequence memos. */
static void make_sequences(ntr_decoder *d) {
    ntr_message_memos *memos = &d->message_memos;
    memos->sequence_bits = memos->bits < SEQUENCE_BITS_FIRST + 2 ? SEQUENCE_BITS_FIRST : memos->bits - 2;
    memos->sequence_balance = NTR_SEQUENCE_BALANCE;
    memos->stack_limit = d->params.return_stack ? d->params.return_stack : NTR_RETURN_STACK_MAX;
    memos->sequence_memory = ntr_alloc(d->allocator, ((size_t)1 << memos->sequence_bits) + 1, sizeof *memos->sequences);
    memos->seen = ntr_alloc(d->allocator, (size_t)1 << NTR_SEQUENCE_SEEN_BITS, sizeof *memos->seen);
    if (memos->sequence_memory && memos->seen) memos->sequences = first_line(memos->sequence_memory);
}

/* Make an empty table. Without memory for it, the decoder works without message memos. */
static bool make_table(ntr_decoder *d, unsigned bits) {
    ntr_message_memos *memos = &d->message_memos;
    if (memos->counted) ntr_message_memos_replay(d);
    ntr_message_memos_release(memos, d->allocator);
    memos->bits = bits;
    memos->counted = d->count_callback != NULL;
    memos->wide = memos->counted || ntr_implicit_returns(d);
    memos->epoch = d->blocks->epoch;
    memos->memory = ntr_alloc(d->allocator, ((size_t)1 << (memos->bits + memos->wide)) + 1, sizeof *memos->table);
    if (!memos->memory) return false;
    memos->table = first_line(memos->memory);
    make_sequences(d);
    return true;
}

bool ntr_message_memos_prepare(ntr_decoder *d) {
    const ntr_message_memos *memos = &d->message_memos;
    if (!memos->table || memos->epoch != d->blocks->epoch) return make_table(d, BITS_FIRST);
    if (memos->bits == BITS_MOST || memos->learned < UINT32_C(1) << (memos->bits - 1)) return true;
    unsigned bits = memos->bits + BITS_STEP;
    return make_table(d, bits < BITS_MOST ? bits : BITS_MOST);
}
