/* The inside of run_harts: a hart, the blocks it runs, and what was executed and not told yet. */
#ifndef CLI_RUN_HART_H
#define CLI_RUN_HART_H

#include "capture/harts.h"

/* A block of the channel, ready to be encoded. */
struct run_block {
    ntr_code_block code;
    uint32_t generation; /* of run_code when its bytes were last seen to agree; 0: not prepared yet */
    bool is_ecall;
    bool last_traps;
};

/* The same for the quick way: what it adds to a run. */
struct run_step {
    uint32_t next[2]; /* numbers of blocks that it leads to by itself, the second if it branches there; 0: not known */
    uint16_t halfwords, instructions; /* 0: nothing is known */
    uint8_t branches;                 /* 0 or 1 */
    uint8_t ends;                     /* itype of the register jump that ends it, and any run; 0: another end */
    uint64_t start;
};

struct run_hart {
    ntr_encoder *encoder; /* NULL: nothing has run here */
    ntr_classifier *classifier;
    uint32_t *at;      /* next word of the ring */
    uint64_t consumed; /* batches */
    uint64_t time;     /* instructions retired */
    uint32_t last;     /* block being executed; what it did is known when the next one begins. 0: none */
    ntr_run run;       /* what was executed and not given to the encoder yet; it ends where `last` begins */
    struct run_paths *paths; /* or NULL: out of memory */
    uint8_t branches;  /* a run with so many is given to the encoder */
    uint8_t fill;      /* words of a record that are here */
    uint32_t record[4];
    uint32_t entry; /* CHANNEL_ENTRY record that belongs to the next block, or 0 */
    bool ended;
};

enum { RUN_HALFWORDS = 1 << 14 }; /* a run with so many is given to the encoder */

static inline void run_hart_note(struct run_harts *harts, ntr_status status) {
    if (status != NTR_OK && harts->failure == NTR_OK) harts->failure = status;
}

static inline const struct channel_block *run_hart_shared(const struct run_harts *harts, uint32_t number) {
    return &harts->channel->blocks[number];
}

static inline unsigned run_hart_branches_left(const struct run_hart *hart) {
    return hart->run.branches < hart->branches ? (unsigned)hart->branches - hart->run.branches : 0;
}

static inline bool run_hart_is_register_jump(const ntr_code_block *code) {
    return code->flow >= NTR_FLOW_INDIRECT_JUMP && code->flow <= NTR_FLOW_RETURN;
}

/* ---- run/hart.c */

/* The block, ready for use; NULL: out of memory. */
struct run_block *run_hart_block(struct run_harts *harts, uint32_t number);

/* Block `number` begins: what the last one did is known now. */
void run_hart_begin(struct run_harts *harts, struct run_hart *hart, uint32_t number);

/* The last block ran to its end; `number` begins (0: nobody knows what). */
void run_hart_complete(struct run_harts *harts, struct run_hart *hart, uint32_t number);

/* The instruction behind the first `retired` ones of the last block trapped. Returns its address. */
uint64_t run_hart_complete_part(struct run_harts *harts, struct run_hart *hart, unsigned retired);

/* Give the run to the encoder; it ends behind `code` (NULL: in nothing special) like this. */
void run_hart_push(struct run_harts *harts, struct run_hart *hart, const ntr_code_block *code, unsigned itype);

/* The hart's window closes at address `next`: what is pending is told, then that tracing stopped. */
void run_hart_close(struct run_harts *harts, struct run_hart *hart, uint64_t next);

/* ---- run/block_chain.c: the quick way, for blocks that are known to lead to each other */

/* Block `number` was seen to lead on to block `next` (0: to one that is not to be foreseen). */
void run_steps_learn(struct run_harts *harts, uint32_t number, const struct run_block *block, uint32_t next, bool taken);

/* Returns the first word that the quick way does not know how to take. */
const uint32_t *run_steps_take(struct run_harts *harts, struct run_hart *hart, const uint32_t *words,
                               const uint32_t *end);

/* Steps of the last block to itself, `count` of them at most, that fit the run. Returns how many were made. */
uint64_t run_steps_repeat(struct run_hart *hart, const struct run_step *step, uint64_t count);

#endif
