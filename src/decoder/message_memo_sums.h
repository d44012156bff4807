/* Sums of the totals of message memos, several totals in each addition. */
#ifndef NTR_DECODER_MESSAGE_MEMO_SUMS_H
#define NTR_DECODER_MESSAGE_MEMO_SUMS_H

#include "decoder/message_memo.h"

/* Totals of messages that are not added to the decoder's totals yet, in lanes of 32 bits: first and third, second and
 * fourth total of the groups in ntr_message_memo. */
typedef struct ntr_memo_sums {
    uint64_t messages;
    uint64_t spans_taken, branches_calls, halfwords_returns, instructions_traps;
} ntr_memo_sums;

#define NTR_MEMO_SUMS_MASK UINT64_C(0x0000ffff0000ffff)

/* Number of messages that can be added before one of the two bytes of traps overflows. */
enum { NTR_MEMO_SUMS_MOST = UINT8_MAX };

/* Four totals in lanes of 16 bits; one load on little-endian machines. */
static inline uint64_t ntr_memo_sums_group(uint16_t first, uint16_t second, uint16_t third, uint16_t fourth) {
    return first | (uint64_t)second << 16 | (uint64_t)third << 32 | (uint64_t)fourth << 48;
}

/* Add the totals of `messages` messages. */
static inline void ntr_memo_sums_add(ntr_memo_sums *sum, const ntr_memo_totals *totals, unsigned messages) {
    sum->messages += messages;
    uint64_t group = ntr_memo_sums_group(totals->spans, totals->branches, totals->taken, totals->calls);
    sum->spans_taken += group & NTR_MEMO_SUMS_MASK;
    sum->branches_calls += group >> 16 & NTR_MEMO_SUMS_MASK;
    group = ntr_memo_sums_group(totals->halfwords, totals->instructions, totals->returns,
                                (uint16_t)(totals->exceptions | totals->interrupts << 8));
    sum->halfwords_returns += group & NTR_MEMO_SUMS_MASK;
    sum->instructions_traps += group >> 16 & NTR_MEMO_SUMS_MASK;
}

static inline void ntr_memo_sums_flush(ntr_counts *counts, ntr_memo_sums *sum) {
    counts->messages += sum->messages;
    counts->spans += (uint32_t)sum->spans_taken;
    counts->taken += sum->spans_taken >> 32;
    counts->branches += (uint32_t)sum->branches_calls;
    counts->calls += sum->branches_calls >> 32;
    counts->halfwords += (uint32_t)sum->halfwords_returns;
    counts->returns += sum->halfwords_returns >> 32;
    counts->instructions += (uint32_t)sum->instructions_traps;
    counts->exceptions += sum->instructions_traps >> 32 & UINT8_MAX;
    counts->interrupts += sum->instructions_traps >> 40;
    *sum = (ntr_memo_sums){0};
}

#endif
