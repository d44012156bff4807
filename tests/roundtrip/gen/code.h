/* RISC-V machine code for random programs, with the generator's own description of each instruction.
 *
 * Nothing here comes from src/isa: the classes are those of N-Trace 1.0 section 1, given by the writer of
 * the instruction and not read back from its bits. */
#ifndef NTRACE_TESTS_CODE_H
#define NTRACE_TESTS_CODE_H

#include "prng.h"

typedef enum gen_kind {
    GEN_PLAIN,
    GEN_BRANCH,
    GEN_JUMP,        /* jal x0, c.j */
    GEN_CALL,        /* jal ra / t0, c.jal */
    GEN_JUMP_LINK,   /* jal with another rd */
    GEN_REG_JUMP,    /* jalr x0, rs; c.jr */
    GEN_REG_CALL,    /* jalr ra, rs; c.jalr */
    GEN_REG_LINK,    /* jalr with another rd */
    GEN_SWAP,        /* jalr ra, t0; jalr t0, ra; c.jalr t0 */
    GEN_RETURN,      /* jalr x0 or another rd, ra / t0; c.jr ra / t0 */
    GEN_TRAP_RETURN, /* mret, sret */
    GEN_ECALL,
    GEN_EBREAK,
    GEN_SET,         /* lui, c.lui, auipc: half of a sequential jump */
    GEN_SCONTEXT,    /* csrw scontext */
    GEN_HCONTEXT,    /* csrw hcontext */
} gen_kind;

/* How the 4-bit port reports each kind when it retires (branches: 4, or 5 when taken). */
extern const unsigned char gen_itype[];

typedef struct gen_insn {
    uint64_t pc, target; /* target: direct ones, and register jumps whose register was set just before */
    uint8_t kind, size;
    uint8_t rd, rs;
    bool has_target;
    uint8_t pattern;     /* branches: how the executor decides them */
    uint32_t function;   /* index of the function it is in */
} gen_insn;

/* An instruction's bits: what to write, with the operands known. `target` is where it goes or, for GEN_SET,
 * the constant to make; a register jump adds the constant's low 12 bits (`low`). */
typedef struct gen_code {
    gen_kind kind;
    unsigned xlen;
    bool compressed, pc_relative /* GEN_SET: auipc */, low /* register jump after GEN_SET */;
    unsigned rd, rs;
    uint64_t pc, target, set_pc /* of the auipc before a register jump; `pc` otherwise */;
} gen_code;

/* Whether such an instruction exists (ranges; compressed forms have few). */
bool gen_code_fits(const gen_code *code);

/* Write it; returns its size. */
unsigned gen_code_write(const gen_code *code, prng *random, uint8_t *out);

#endif
