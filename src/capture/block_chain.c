#include "capture/block_chain.h"
#include "capture/run.h"

/* Larger blocks are not followed. 64 blocks of this size fit a run, so its size need not be checked at every block. */
enum { LINK_HALFWORDS = 128 };

/* What the block does to the return stack of a hart that has one. */
static uint8_t stack_use(const struct ntr_capture_harts *harts, const ntr_code_block *code) {
    if (harts->config->params.implicit_return == NTR_RETURN_OFF) return NTR_CAPTURE_STACK_NONE;
    switch (code->itype) {
    case NTR_ITYPE_DIRECT_CALL: return NTR_CAPTURE_STACK_CALL;
    case NTR_ITYPE_INDIRECT_CALL:
        return ntr_capture_needs_target(harts, code) ? NTR_CAPTURE_STACK_NONE : NTR_CAPTURE_STACK_CALL;
    case NTR_ITYPE_RETURN: return NTR_CAPTURE_STACK_RETURN;
    default: return NTR_CAPTURE_STACK_NONE;
    }
}

void ntr_capture_chain_learn(struct ntr_capture_harts *harts, uint32_t number, const struct ntr_capture_block *block,
                             uint32_t next, bool taken) {
    struct ntr_capture_link *link = &harts->links[number];

    link->start = block->code.start;
    link->halfwords = (uint16_t)block->code.halfwords;
    link->instructions = (uint16_t)block->code.instructions;
    link->branches = block->code.flow == NTR_FLOW_BRANCH;
    link->jump = ntr_capture_needs_target(harts, &block->code) ? block->code.itype : 0;
    link->stack = stack_use(harts, &block->code);
    if (link->halfwords <= LINK_HALFWORDS && link->stack != NTR_CAPTURE_STACK_RETURN) link->next[taken] = next;
}

static bool is_known(const struct ntr_capture_harts *harts, uint32_t number) {
    return number < harts->block_capacity && harts->links[number].halfwords;
}

/* Does the return stack predict that a return goes to block `number`? */
static bool returns_to(const struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t number) {
    return is_known(harts, number) && ntr_enc_stack_returns_to(hart->stack, harts->links[number].start);
}

static bool is_full(const struct ntr_capture_hart *hart) {
    return !ntr_capture_run_room(hart) || hart->run.iretire > NTR_CAPTURE_RUN_HALFWORDS;
}

/* Extend the run while each word is a known successor of the block before. Returns the first word that is not. */
static const uint32_t *follow_links(const struct ntr_capture_harts *harts, struct ntr_capture_hart *hart,
                                    const uint32_t *words, const uint32_t *end) {
    const struct ntr_capture_link *links = harts->links;
    uint32_t last = hart->last, halfwords = 0, instructions = 0, branches = 0;
    uint64_t outcomes = hart->run.outcomes;

    if (end - words > (ptrdiff_t)ntr_capture_run_room(hart)) end = words + ntr_capture_run_room(hart);
    for (; words < end; words++) {
        const struct ntr_capture_link *link = &links[last];
        uint32_t word = *words;
        /* One test for both successors: which one comes cannot be predicted. */
        if ((uint64_t)(word ^ link->next[0]) * (word ^ link->next[1]) == 0) {
            if (link->stack) ntr_enc_stack_push(hart->stack, link->start + 2u * link->halfwords);
        } else if (link->stack != NTR_CAPTURE_STACK_RETURN || !returns_to(harts, hart, word)) {
            break;
        }
        last = word;
        outcomes = outcomes << link->branches | (word == link->next[1]);
        branches += link->branches;
        halfwords += link->halfwords;
        instructions += link->instructions;
    }
    hart->last = last;
    hart->run.iretire += halfwords;
    hart->run.branches = (uint8_t)(hart->run.branches + branches);
    hart->run.outcomes = outcomes;
    hart->time += instructions;
    return words;
}

/* The last block ends in a register jump to block `word`. Returns false when it does not. */
static bool take_jump(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t word) {
    const struct ntr_capture_link *link = &harts->links[hart->last];

    if (!link->jump || !word || word & CHANNEL_RECORD) return false;
    hart->run.iretire += link->halfwords;
    hart->time += link->instructions;
    ntr_capture_run_push(harts, hart, &harts->blocks[hart->last].code, link->jump);
    hart->last = word;
    return true;
}

const uint32_t *ntr_capture_chain_follow(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart,
                                         const uint32_t *words, const uint32_t *end) {
    while (words < end && is_known(harts, hart->last)) {
        if (!hart->run.iretire) {
            if (is_full(hart)) break;
            const struct ntr_capture_link *first = &harts->links[hart->last];
            ntr_capture_run_begin(harts, hart, first->start, first->instructions);
        }
        words = follow_links(harts, hart, words, end);
        if (words == end) break;
        if (is_full(hart)) ntr_capture_run_flush(harts, hart);
        else if (take_jump(harts, hart, *words)) words++;
        else break;
    }
    return words;
}

uint64_t ntr_capture_chain_repeat(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t number,
                                  uint64_t count) {
    ntr_enc_run *run = &hart->run;

    if (!is_known(harts, number) || !run->iretire || run->iretire > NTR_CAPTURE_RUN_HALFWORDS) return 0;
    const struct ntr_capture_link *link = &harts->links[number];
    if (link->next[1] != number) return 0;
    uint64_t n = (NTR_CAPTURE_RUN_HALFWORDS - run->iretire) / link->halfwords + 1;
    if (n > ntr_capture_run_room(hart)) n = ntr_capture_run_room(hart);
    if (n > count) n = count;
    if (n) run->outcomes = (n < 64 ? run->outcomes << n : 0) | UINT64_MAX >> (64 - n);
    run->branches = (uint8_t)(run->branches + n);
    run->iretire += (uint32_t)n * link->halfwords;
    hart->time += n * link->instructions;
    return n;
}
