/* RISC-V instructions, as far as trace needs them: length, control-flow class, direct target.
 *
 * N-Trace 1.0 section 1. RV32 and RV64, G, C, Zcb, Zcmp, Zcmt; everything unknown is linear with the
 * length that its low bits give (16 to 64 bit and more, RISC-V unprivileged specification, "base
 * instruction-length encoding"). */
#ifndef NTRACE_ISA_H
#define NTRACE_ISA_H

#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* itype of the ingress port, 4-bit form (section 1.3); NTR_ITYPE_INDIRECT exists in the 3-bit form only. */
typedef enum ntr_itype {
    NTR_ITYPE_NONE = 0,
    NTR_ITYPE_EXCEPTION = 1,
    NTR_ITYPE_INTERRUPT = 2,
    NTR_ITYPE_TRAP_RETURN = 3,
    NTR_ITYPE_NOT_TAKEN = 4,
    NTR_ITYPE_TAKEN = 5,
    NTR_ITYPE_INDIRECT = 6,
    NTR_ITYPE_INDIRECT_CALL = 8,
    NTR_ITYPE_DIRECT_CALL = 9,
    NTR_ITYPE_INDIRECT_JUMP = 10,
    NTR_ITYPE_DIRECT_JUMP = 11,
    NTR_ITYPE_CO_SWAP = 12,
    NTR_ITYPE_RETURN = 13,
    NTR_ITYPE_OTHER_INDIRECT = 14,
    NTR_ITYPE_OTHER_DIRECT = 15,
} ntr_itype;

/* What an instruction can do to the flow: the itype it has when it retires, except that a branch is one
 * class whatever its outcome, and that some never retire. */
typedef enum ntr_flow {
    NTR_FLOW_LINEAR = 0,
    NTR_FLOW_BRANCH,         /* itype 4 or 5 */
    NTR_FLOW_DIRECT_JUMP,    /* 11, 15, CM.JT */
    NTR_FLOW_DIRECT_CALL,    /* 9, CM.JALT */
    NTR_FLOW_INDIRECT_JUMP,  /* 10, 14 */
    NTR_FLOW_INDIRECT_CALL,  /* 8 */
    NTR_FLOW_CO_SWAP,        /* 12 */
    NTR_FLOW_RETURN,         /* 13 */
    NTR_FLOW_TRAP_RETURN,    /* 3: MRET, SRET (and MNRET, DRET, URET) */
    NTR_FLOW_TRAP,           /* 1: ECALL, EBREAK, C.EBREAK; never retire */
} ntr_flow;

/* Extensions whose encodings mean something else without them. */
enum {
    NTR_ISA_RV32 = 1u << 0, /* else RV64 */
    NTR_ISA_ZCMP = 1u << 1, /* CM.PUSH, CM.POP... instead of C.FSDSP */
    NTR_ISA_ZCMT = 1u << 2, /* CM.JT, CM.JALT instead of C.FSDSP */
};

/* How a register jump gets its target, for sequential jumps (section 11.1). */
typedef struct ntr_insn {
    uint8_t size;      /* bytes: 2, 4, 6, ... */
    uint8_t flow;      /* ntr_flow */
    uint8_t itype;     /* ntr_itype; NTR_ITYPE_NOT_TAKEN for a branch, NTR_ITYPE_EXCEPTION for NTR_FLOW_TRAP */
    uint8_t rd;        /* register written by LUI, AUIPC, C.LUI (sets_constant) or by the jump */
    uint8_t rs1;       /* register a register jump goes to */
    bool sets_constant;/* LUI, C.LUI, AUIPC: `target` is the constant */
    bool table_jump;   /* CM.JT, CM.JALT: `immediate` is the table index, `target` is not known here */
    int32_t immediate; /* register jumps: offset added to rs1 */
    uint64_t target;   /* branches, direct jumps and calls: where to; cut to XLEN */
} ntr_insn;

/* Length in bytes that the first 16 bits of an instruction give: 2, 4, 6, 8, 10 .. 22. The reserved
 * pattern for 192 bits and more gives 2, so that a walk always advances. */
NTR_API unsigned ntr_insn_length(uint16_t first);

/* Decode the instruction at `pc` from `size` bytes. `isa` is a set of NTR_ISA_*.
 * NTR_E_SPACE when it is longer than `size` (insn->size then tells the length, or 2 with fewer than two bytes). */
NTR_API ntr_status ntr_insn_decode(const uint8_t *bytes, size_t size, uint64_t pc, unsigned isa, ntr_insn *insn);

#ifdef __cplusplus
}
#endif
#endif
