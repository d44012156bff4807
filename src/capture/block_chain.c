#include "capture/block_chain.h"
#include "capture/message_cache.h"
#include "capture/run.h"

/* Larger blocks are not followed. 64 blocks of this size fit a run, so its size need not be checked at every block. */
enum { LINK_HALFWORDS = 128 };

void ntr_capture_chain_learn(struct ntr_capture_harts *harts, uint32_t number, const struct ntr_capture_block *block,
                             uint32_t next, bool taken) {
    struct ntr_capture_link *link = &harts->links[number];

    link->start = block->code.start;
    link->halfwords = (uint16_t)block->code.halfwords;
    link->instructions = (uint16_t)block->code.instructions;
    link->branches = block->code.flow == NTR_FLOW_BRANCH;
    link->jump = ntr_capture_is_register_jump(&block->code) ? block->code.itype : 0;
    if (link->halfwords <= LINK_HALFWORDS) link->next[taken] = next;
}

/* Extend the run while each word is a known successor of the block before. Returns the first word that is not. */
static const uint32_t *follow_links(const struct ntr_capture_link *links, struct ntr_capture_hart *hart,
                                    const uint32_t *words, const uint32_t *end) {
    uint32_t last = hart->last, halfwords = 0, instructions = 0, branches = 0;
    uint64_t outcomes = hart->run.outcomes;

    if (!hart->run.iretire) hart->run.iaddr = links[last].start;
    if (hart->run.iretire > NTR_CAPTURE_RUN_HALFWORDS) return words;
    if (end - words > (ptrdiff_t)ntr_capture_run_room(hart)) end = words + ntr_capture_run_room(hart);
    for (; words < end; words++) {
        const struct ntr_capture_link *link = &links[last];
        uint32_t word = *words;
        /* One test for both successors: which one comes cannot be predicted. */
        if ((uint64_t)(word ^ link->next[0]) * (word ^ link->next[1]) != 0) break;
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

    if (!link->jump || !ntr_capture_run_room(hart) || !word || word & CHANNEL_RECORD) return false;
    if (!hart->run.iretire) hart->run.iaddr = link->start;
    hart->run.iretire += link->halfwords;
    hart->time += link->instructions;
    ntr_capture_run_push(harts, hart, &harts->blocks[hart->last].code, link->jump);
    hart->last = word;
    return true;
}

static bool is_known(const struct ntr_capture_harts *harts, uint32_t number) {
    return number < harts->block_capacity && harts->links[number].halfwords;
}

/* Follows a path (message_cache.h) past its register jump and stores it in the cache. Returns false when the chain
 * does not know all of the path; *words is then the first unknown word. */
static bool follow_path(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, const uint32_t **words,
                        const uint32_t *end) {
    const uint32_t *from = *words;
    bool fresh = hart->cache && !hart->run.iretire;
    uint32_t start = hart->last;
    uint64_t time = hart->time;

    *words = follow_links(harts->links, hart, from, end);
    if (*words == end) return false;
    struct ntr_capture_message message = {.halfwords = hart->run.iretire + harts->links[hart->last].halfwords};
    if (!take_jump(harts, hart, **words)) return false;
    ++*words;
    message.instructions = (uint32_t)(hart->time - time);
    message.size =
        (uint8_t)ntr_enc_push_next(hart->encoder, ntr_capture_shared(harts, hart->last)->address, message.bytes);
    if (fresh && message.size) ntr_capture_message_cache_learn(hart->cache, start, from, *words, &message);
    return true;
}

const uint32_t *ntr_capture_chain_follow(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart,
                                         const uint32_t *words, const uint32_t *end) {
    while (words < end && is_known(harts, hart->last)) {
        bool fresh = hart->cache && !hart->run.iretire;
        const uint32_t *behind = fresh ? ntr_capture_message_cache_take(harts, hart, words, end) : words;
        if (behind == words && !follow_path(harts, hart, &behind, end)) return behind;
        words = behind;
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
