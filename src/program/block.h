/* One basic block: a straight run of code, classified once. blocks.h explains where a block ends and how blocks are
 * found. */
#ifndef NTR_PROGRAM_BLOCK_H
#define NTR_PROGRAM_BLOCK_H

#include "program/program.h"

#define NTR_BLOCK_HALFWORDS_MAX 255
#define NTR_BLOCK_WORDS ((NTR_BLOCK_HALFWORDS_MAX + 63) / 64)

/* Block flags. */
enum {
    NTR_BLOCK_CUT = 1u << 0,        /* the last instruction is linear */
    NTR_BLOCK_NO_IMAGE = 1u << 1,   /* nothing is known of the instruction at `next` */
    NTR_BLOCK_SEQUENTIAL = 1u << 2, /* register jump; the LUI or AUIPC directly before it makes `target` */
    NTR_BLOCK_NO_TARGET = 1u << 3,  /* CM.JT or CM.JALT whose jump table no image has */
    NTR_BLOCK_PART = 1u << 4,       /* made by ntr_blocks_part */
    NTR_BLOCK_NO_MEMORY = 1u << 5,  /* no block: see ntr_block_status */
    NTR_BLOCK_LIMIT = 1u << 6,      /* likewise */
};

/* Two cache lines; a walk needs the first one only. */
typedef struct ntr_block ntr_block;
struct ntr_block {
    uint64_t key;           /* `start`; NTR_BLOCK_DEAD when the code changed */
    ntr_block *taken;       /* where ntr_blocks_jump led last; private */
    ntr_block *fall;        /* the same for ntr_blocks_fall; private */
    uint64_t executed;      /* the walker's counters: walks to the end of the block, */
    uint64_t jumped;        /*   and those of them that jumped there (branch: taken) */
    uint64_t next;          /* address behind the last instruction */
    uint64_t target;        /* of a branch, a direct jump or call, a sequential jump */
    uint16_t view;
    uint8_t halfwords;
    uint8_t instructions;
    uint8_t last_halfwords; /* size of the last instruction */
    uint8_t flow;           /* ntr_flow of the last instruction. A trap is in the block, but never retires */
    uint8_t reach;          /* the walker's; 0 at first */
    uint8_t flags;          /* NTR_BLOCK_* */

    uint64_t start;
    uint64_t starts[NTR_BLOCK_WORDS]; /* bit k: an instruction starts k halfwords behind `start` */
    ntr_block *neighbour;   /* private */
    void *user;             /* the walker's; NULL at first */
    uint8_t itype;          /* ntr_itype; NTR_ITYPE_NOT_TAKEN for a branch */
    uint32_t number;        /* 0, 1, ... in the order of making, since the last flush */
};
#define NTR_BLOCK_DEAD UINT64_C(1) /* odd: no address of code */

/* Fill `block` (zeroed) with what `context` sees at `address`; halfwords is 0 when there is nothing. */
void ntr_block_make(ntr_block *block, const ntr_program *program, const ntr_context *context, uint64_t position,
                    uint64_t address);

/* Does what this block knows depend on the bytes [first, last]? */
bool ntr_block_depends(const ntr_block *block, const ntr_program *program, uint64_t first, uint64_t last);

/* The furthest byte behind its start that a block can depend on. */
#define NTR_BLOCK_REACH (2 * NTR_BLOCK_HALFWORDS_MAX + NTR_INSN_BYTES_MAX)

/* NTR_OK for a block; else NTR_E_NO_IMAGE, NTR_E_MEMORY, NTR_E_LIMIT. */
static inline ntr_status ntr_block_status(const ntr_block *block) {
    if (block->halfwords) return NTR_OK;
    if (block->flags & NTR_BLOCK_NO_MEMORY) return NTR_E_MEMORY;
    return block->flags & NTR_BLOCK_LIMIT ? NTR_E_LIMIT : NTR_E_NO_IMAGE;
}

/* Address of the last instruction (of a 32-bit program: before it is cut to XLEN, should it have wrapped). */
static inline uint64_t ntr_block_last(const ntr_block *block) {
    return block->start + 2u * (unsigned)(block->halfwords - block->last_halfwords);
}

/* Does an instruction start (or the block end) `halfwords` behind its start? */
static inline bool ntr_block_boundary(const ntr_block *block, unsigned halfwords) {
    if (halfwords >= block->halfwords) return halfwords == block->halfwords;
    return block->starts[halfwords / 64] >> halfwords % 64 & 1;
}

/* Instructions that start in the first `halfwords` halfwords. */
unsigned ntr_block_count(const ntr_block *block, unsigned halfwords);

/* Where the instruction after the one at `halfwords` starts: the next boundary; at most block->halfwords. */
unsigned ntr_block_after(const ntr_block *block, unsigned halfwords);

/* Where the instruction before `halfwords` (> 0) starts. */
unsigned ntr_block_before(const ntr_block *block, unsigned halfwords);

#endif
