#include "capture/block_chain.h"
#include "capture/run.h"
#include "capture/spaces.h"

/* Larger blocks are not followed. So many blocks of this size fit a run that is not full, so its size need not be
 * checked at every block. */
enum { LINK_HALFWORDS = 128, LINKS_AT_ONCE = (NTR_ENC_RUN_HALFWORDS - NTR_CAPTURE_RUN_HALFWORDS) / LINK_HALFWORDS };

/* What the block does to the return stack of a hart that has one, as far as the chain follows it. */
static uint8_t stack_use(const struct ntr_capture_harts *harts, const ntr_code_block *code) {
    if (code->halfwords > LINK_HALFWORDS) return NTR_CAPTURE_STACK_NONE;
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

    if (link->space != block->space) link->next[0] = link->next[1] = link->callee = 0;
    link->space = block->space;
    link->start = block->code.start;
    link->halfwords = (uint16_t)block->code.halfwords;
    link->instructions = (uint16_t)block->code.instructions;
    link->branches = block->code.flow == NTR_FLOW_BRANCH;
    link->jump = ntr_capture_needs_target(harts, &block->code) ? block->code.itype : 0;
    link->stack = stack_use(harts, &block->code);
    link->sums = link->halfwords | (uint64_t)link->instructions << NTR_CAPTURE_SUM_BITS |
                 (uint64_t)link->branches << 2 * NTR_CAPTURE_SUM_BITS;
    if (link->stack == NTR_CAPTURE_STACK_CALL)
        link->callee = next;
    else if (link->halfwords <= LINK_HALFWORDS && link->stack != NTR_CAPTURE_STACK_RETURN)
        link->next[taken] = next;
}

/* The space of the code that the hart executes. */
static uint32_t space_of(struct ntr_capture_harts *harts, const struct ntr_capture_hart *hart) {
    return harts->keeps_spaces ? ntr_capture_machine_space(harts, hart, hart->last) : 0;
}

static bool is_known(const struct ntr_capture_harts *harts, uint32_t number, uint32_t space) {
    return number < harts->block_capacity && harts->links[number].halfwords && harts->links[number].space == space;
}

/* Takes a return to block `number` from the return stack. Returns false if the stack does not predict it. */
static bool return_to(const struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t number,
                      uint32_t space) {
    return is_known(harts, number, space) && ntr_enc_extend_by_return(hart->encoder, harts->links[number].start);
}

/* Takes the call or return at the end of the link's block in the return stack. Returns false, and leaves the stack as
 * it is, if block `number` does not follow by it. */
static inline bool step_by_stack(const struct ntr_capture_harts *harts, struct ntr_capture_hart *hart,
                                 const struct ntr_capture_link *link, uint32_t number, uint32_t space) {
    if (link->stack == NTR_CAPTURE_STACK_RETURN) return return_to(harts, hart, number, space);
    if (link->stack != NTR_CAPTURE_STACK_CALL || number != link->callee) return false;
    ntr_enc_extend_by_call(hart->encoder, link->start + 2u * link->halfwords);
    return true;
}

static bool is_full(const struct ntr_capture_hart *hart) {
    return !ntr_capture_run_room(hart) || hart->run.iretire > NTR_CAPTURE_RUN_HALFWORDS;
}

static uint32_t sum_of(uint64_t sums, unsigned which) {
    return (uint32_t)(sums >> which * NTR_CAPTURE_SUM_BITS & ((1u << NTR_CAPTURE_SUM_BITS) - 1));
}

/* Extend the run while it has room for branches and each of at most LINKS_AT_ONCE words is a known successor of the
 * block before. Returns the first word that is not. `spaces` is constant: user programs have one space. */
static inline __attribute__((always_inline)) const uint32_t *follow_links_in(const struct ntr_capture_harts *harts,
                                                                             struct ntr_capture_hart *hart,
                                                                             const uint32_t *words, const uint32_t *end,
                                                                             bool spaces, uint32_t space) {
    const struct ntr_capture_link *links = harts->links;
    uint32_t last = hart->last;
    uint64_t outcomes = hart->run.outcomes, sums = 0;
    const uint64_t full = (uint64_t)ntr_capture_run_room(hart) << 2 * NTR_CAPTURE_SUM_BITS; /* so many branches */

    for (; words < end && sums < full; words++) {
        const struct ntr_capture_link *link = &links[last];
        /* One test for both successors, because which one comes cannot be predicted; calls and returns fail in it. */
        const uint32_t word = *words, taken = word == link->next[1];
        if (spaces && link->space != space) break; /* learned elsewhere since */
        if (word != link->next[taken] && !step_by_stack(harts, hart, link, word, space)) break;
        last = word;
        outcomes = outcomes << link->branches | taken;
        sums += link->sums;
    }
    hart->last = last;
    hart->run.iretire += sum_of(sums, 0);
    hart->time += sum_of(sums, 1);
    hart->run.branches = (uint8_t)(hart->run.branches + sum_of(sums, 2));
    hart->run.outcomes = outcomes;
    return words;
}

static const uint32_t *follow_links(const struct ntr_capture_harts *harts, struct ntr_capture_hart *hart,
                                    const uint32_t *words, const uint32_t *end, uint32_t space) {
    return harts->keeps_spaces ? follow_links_in(harts, hart, words, end, true, space)
                               : follow_links_in(harts, hart, words, end, false, 0);
}

/* The last block ends in a register jump to block `word`. Returns false when it does not, or when a program in user
 * mode may have other code there than before: that begins before the jump (hart.c). */
static bool take_jump(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t word) {
    const struct ntr_capture_link *link = &harts->links[hart->last];

    if (!link->jump || !word || word & CHANNEL_RECORD) return false;
    if (!harts->machine && !is_known(harts, word, 0)) return false;
    hart->run.iretire += link->halfwords;
    hart->time += link->instructions;
    ntr_capture_run_push(harts, hart, &harts->blocks[hart->last].code, link->jump);
    hart->last = word;
    return true;
}

const uint32_t *ntr_capture_chain_follow(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart,
                                         const uint32_t *words, const uint32_t *end) {
    if (!harts->in_runs || !hart->last || !ntr_capture_machine_is_reported(harts, hart)) return words;
    uint32_t space = space_of(harts, hart);
    while (words < end && is_known(harts, hart->last, space)) {
        if (!hart->run.iretire) {
            if (is_full(hart)) break;
            const struct ntr_capture_link *first = &harts->links[hart->last];
            ntr_capture_run_begin(harts, hart, first->start, first->instructions);
        }
        const uint32_t *limit = end - words > LINKS_AT_ONCE ? words + LINKS_AT_ONCE : end;
        words = follow_links(harts, hart, words, limit, space);
        if (words == end) break;
        if (is_full(hart))
            ntr_capture_run_flush(harts, hart);
        else if (words == limit)
            continue;
        else if (take_jump(harts, hart, *words))
            words++;
        else
            break;
    }
    return words;
}

uint64_t ntr_capture_chain_repeat(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t number,
                                  uint64_t count) {
    ntr_enc_run *run = &hart->run;

    if (!is_known(harts, number, space_of(harts, hart)) || !run->iretire || run->iretire > NTR_CAPTURE_RUN_HALFWORDS)
        return 0;
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
