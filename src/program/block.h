/* A basic block: a straight run of code with the classification of its last instruction. blocks.h describes where a
 * block ends and how blocks are found. */
#ifndef NTR_PROGRAM_BLOCK_H
#define NTR_PROGRAM_BLOCK_H

#include "program/program.h"

#define NTR_BLOCK_HALFWORDS_MAX 255
#define NTR_BLOCK_WORDS         ((NTR_BLOCK_HALFWORDS_MAX + 63) / 64)

/* Block flags. */
enum {
    NTR_BLOCK_CUT = 1u << 0,        /* the block ends before a control transfer; its last instruction is linear */
    NTR_BLOCK_NO_IMAGE = 1u << 1,   /* the instruction at `next` is not known */
    NTR_BLOCK_SEQUENTIAL = 1u << 2, /* register jump to `target`, set by the LUI or AUIPC directly before it */
    NTR_BLOCK_NO_TARGET = 1u << 3,  /* CM.JT or CM.JALT without a jump table in any image */
    NTR_BLOCK_DIVIDED = 1u << 5,    /* linear code that ends where another function begins */
    NTR_BLOCK_CLASSIFIED = 1u << 4, /* for use by the decoder: NTR_BLOCK_INSIDE and NTR_BLOCK_KEPT are valid */
    NTR_BLOCK_KEPT = 1u << 6,       /* ... ntr_decoder_set_join_except: its spans are returned in these modes */
    NTR_BLOCK_INSIDE = 1u << 7,     /* for use by the decoder: see ntr_decoder_set_join */
};

/* Two cache lines. A walk reads only the first one. The alignment of pointers matters where they have 32 bits. */
typedef struct ntr_block ntr_block;
struct ntr_block {
    uint64_t key;           /* `start`; NTR_BLOCK_INVALID when the code has changed */
    _Alignas(8) ntr_block *taken; /* result of the last ntr_blocks_jump; private */
    _Alignas(8) ntr_block *fall;  /* result of the last ntr_blocks_fall; private */
    uint64_t executed;      /* counters of the decoder: executions up to the end of the block, */
    uint64_t jumped;        /*   and those of them in which the last instruction jumped (branch: taken) */
    uint64_t next;          /* address after the last instruction */
    uint64_t target;        /* target of a branch, a direct jump or call, or a sequential jump */
    uint16_t view;
    uint8_t halfwords;
    uint8_t instructions;
    uint8_t last_halfwords; /* size of the last instruction */
    uint8_t flow;           /* ntr_flow of the last instruction. A trap is part of the block but never retires */
    uint8_t reach;          /* for use by the decoder; initially 0 */
    uint8_t flags;          /* NTR_BLOCK_* */

    uint64_t start;
    uint64_t starts[NTR_BLOCK_WORDS]; /* bit k: an instruction starts k halfwords after `start` */
    _Alignas(8) ntr_block *neighbour; /* private */
    _Alignas(8) void *user; /* for use by the decoder; initially NULL */
    uint8_t itype;          /* ntr_itype; NTR_ITYPE_NOT_TAKEN for a branch */
    int16_t status;         /* not a block: see ntr_block_status */
    uint32_t number;        /* 0, 1, ... in the order of creation since the last flush */
};
#define NTR_BLOCK_INVALID UINT64_C(1) /* odd, therefore not the address of an instruction */

/* Fills `block` (zeroed) from the code visible to `context` at `address`. `halfwords` is 0, and `status` says why, when
 * there is no code, or code that cannot be followed. An instruction of unknown class begins a block, and is noted
 * (program/unknown.h): it was reached. */
void ntr_block_make(ntr_block *block, const ntr_program *program, const ntr_context *context, uint64_t position,
                    uint64_t address);

/* Returns whether all `count` addresses, as `context` sees them at stream offset `position`, are in one function. */
typedef bool ntr_block_same(void *user, const ntr_context *context, uint64_t position, const uint64_t *addresses,
                            size_t count);

/* Ends the block where its code runs into another function: the block is linear then, and NTR_BLOCK_DIVIDED. A jump
 * that needs the instruction before it (NTR_BLOCK_SEQUENTIAL) is not separated from it. */
void ntr_block_divide(ntr_block *block, const ntr_program *program, const ntr_context *context, uint64_t position,
                      ntr_block_same *same, void *user);

/* Returns whether the contents of the block depend on the bytes [first, last]. */
bool ntr_block_depends(const ntr_block *block, const ntr_program *program, uint64_t first, uint64_t last);

/* Maximum distance, from its start, of a byte that a block can depend on. */
#define NTR_BLOCK_REACH (2 * NTR_BLOCK_HALFWORDS_MAX + NTR_INSN_BYTES_MAX)

/* Returns NTR_OK for a block, otherwise NTR_E_NO_IMAGE, NTR_E_UNDECIDED, NTR_E_JUMP_TABLE (EXEC.IT),
 * NTR_E_HARDWARE_LOOP, NTR_E_MEMORY or NTR_E_LIMIT. */
static inline ntr_status ntr_block_status(const ntr_block *block) {
    return block->halfwords ? NTR_OK : (ntr_status)block->status;
}

/* Returns the address of the last instruction. In a 32-bit program it may need truncation to XLEN after a wrap. */
static inline uint64_t ntr_block_last(const ntr_block *block) {
    return block->start + 2u * (unsigned)(block->halfwords - block->last_halfwords);
}

/* Returns whether an instruction starts, or the block ends, `halfwords` halfwords after its start. */
static inline bool ntr_block_boundary(const ntr_block *block, unsigned halfwords) {
    if (halfwords >= block->halfwords) return halfwords == block->halfwords;
    return block->starts[halfwords / 64] >> halfwords % 64 & 1;
}

/* Returns the number of instructions that start in the first `halfwords` halfwords. */
unsigned ntr_block_count(const ntr_block *block, unsigned halfwords);

/* Returns the next instruction boundary after `halfwords`, at most block->halfwords. */
unsigned ntr_block_after(const ntr_block *block, unsigned halfwords);

/* Returns the previous instruction boundary before `halfwords` (> 0). */
unsigned ntr_block_before(const ntr_block *block, unsigned halfwords);

#endif
