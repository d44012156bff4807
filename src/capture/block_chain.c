#include "capture/message_cache.h"

enum { STEP_HALFWORDS = 128 }; /* larger blocks are not followed: 64 small ones need no look at how long the run is */

void run_steps_learn(struct run_harts *harts, uint32_t number, const struct run_block *block, uint32_t next, bool taken) {
    struct run_step *step = &harts->steps[number];

    step->start = block->code.start;
    step->halfwords = (uint16_t)block->code.halfwords;
    step->instructions = (uint16_t)block->code.instructions;
    step->branches = block->code.flow == NTR_FLOW_BRANCH;
    step->ends = run_hart_is_register_jump(&block->code) ? block->code.itype : 0;
    if (step->halfwords <= STEP_HALFWORDS) step->next[taken] = next;
}

/* The quick way: as long as each block is one that the block before is known to lead to. Returns the first word
 * that is not. */
static const uint32_t *follow_steps(const struct run_step *steps, struct run_hart *hart, const uint32_t *words,
                                    const uint32_t *end) {
    uint32_t last = hart->last, halfwords = 0, instructions = 0, branches = 0;
    uint64_t outcomes = hart->run.outcomes;

    if (!hart->run.iretire) hart->run.iaddr = steps[last].start;
    if (hart->run.iretire > RUN_HALFWORDS) return words;
    if (end - words > (ptrdiff_t)run_hart_branches_left(hart)) end = words + run_hart_branches_left(hart);
    for (; words < end; words++) {
        const struct run_step *step = &steps[last];
        uint32_t word = *words;
        /* One test for both: which of them it is, nobody can foresee. */
        if ((uint64_t)(word ^ step->next[0]) * (word ^ step->next[1]) != 0) break;
        last = word;
        outcomes = outcomes << step->branches | (word == step->next[1]);
        branches += step->branches;
        halfwords += step->halfwords;
        instructions += step->instructions;
    }
    hart->last = last;
    hart->run.iretire += halfwords;
    hart->run.branches = (uint8_t)(hart->run.branches + branches);
    hart->run.outcomes = outcomes;
    hart->time += instructions;
    return words;
}

/* The last block ends in a register jump, to the block that `word` tells. Returns false when that is not so. */
static bool jump_on(struct run_harts *harts, struct run_hart *hart, uint32_t word) {
    const struct run_step *step = &harts->steps[hart->last];

    if (!step->ends || !run_hart_branches_left(hart) || !word || word & CHANNEL_RECORD) return false;
    if (!hart->run.iretire) hart->run.iaddr = step->start;
    hart->run.iretire += step->halfwords;
    hart->time += step->instructions;
    run_hart_push(harts, hart, &harts->blocks[hart->last].code, step->ends);
    hart->last = word;
    return true;
}

/* Whether the quick way knows the last block. */
static bool is_stepping(const struct run_harts *harts, const struct run_hart *hart) {
    return hart->last < harts->block_capacity && harts->steps[hart->last].halfwords;
}

/* On to behind the next register jump. Returns false, with `words` at the first one that the quick way does not know
 * how to take, when it does not come so far. */
static bool take_way(struct run_harts *harts, struct run_hart *hart, const uint32_t **words, const uint32_t *end) {
    const uint32_t *from = *words;
    bool whole = hart->paths && !hart->run.iretire;
    uint32_t start = hart->last;
    uint64_t time = hart->time;

    *words = follow_steps(harts->steps, hart, from, end);
    if (*words == end) return false;
    struct run_path path = {.halfwords = hart->run.iretire + harts->steps[hart->last].halfwords};
    if (!jump_on(harts, hart, **words)) return false;
    ++*words;
    path.instructions = (uint32_t)(hart->time - time);
    path.size = (uint8_t)ntr_encoder_push_next(hart->encoder, run_hart_shared(harts, hart->last)->address, path.message);
    if (whole && path.size) run_paths_learn(hart->paths, start, from, *words, &path);
    return true;
}

const uint32_t *run_steps_take(struct run_harts *harts, struct run_hart *hart, const uint32_t *words,
                               const uint32_t *end) {
    while (words < end && is_stepping(harts, hart)) {
        bool fresh = hart->paths && !hart->run.iretire;
        const uint32_t *behind = fresh ? run_paths_take(harts, hart, words, end) : words;
        if (behind == words && !take_way(harts, hart, &behind, end)) return behind;
        words = behind;
    }
    return words;
}

uint64_t run_steps_repeat(struct run_hart *hart, const struct run_step *step, uint64_t count) {
    ntr_run *run = &hart->run;
    uint64_t n = (RUN_HALFWORDS - run->iretire) / step->halfwords + 1;

    if (n > run_hart_branches_left(hart)) n = run_hart_branches_left(hart);
    if (n > count) n = count;
    if (n) run->outcomes = (n < 64 ? run->outcomes << n : 0) | UINT64_MAX >> (64 - n);
    run->branches = (uint8_t)(run->branches + n);
    run->iretire += (uint32_t)n * step->halfwords;
    hart->time += n * step->instructions;
    return n;
}
