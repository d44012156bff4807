/* RISC-V instructions: length, control-flow class and direct target, which is what trace requires.
 *
 * N-Trace 1.0 section 1. Supported: RV32 and RV64, G, C, Zcb, Zcmp, Zcmt, Zibi, and branches and jumps of vendors
 * (NTR_ISA_*). Any other instruction is linear; its length
 * follows from its low bits (RISC-V unprivileged specification, "base instruction-length encoding"). */
#ifndef NTRACE_ISA_H
#define NTRACE_ISA_H

#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* itype of the ingress port, 4-bit encoding (section 1.3). NTR_ITYPE_INDIRECT exists in the 3-bit encoding only. */
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

/* Control-flow class of an instruction. Comments list the itype values of the retired instruction. A branch has one
 * class for both outcomes. Some instructions never retire. */
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

/* Extensions that reuse encodings of other extensions. */
enum {
    NTR_ISA_RV32 = 1u << 0, /* RV32; without this flag RV64 */
    NTR_ISA_ZCMP = 1u << 1, /* CM.PUSH, CM.POP... instead of C.FSDSP */
    NTR_ISA_ZCMT = 1u << 2, /* CM.JT, CM.JALT instead of C.FSDSP */
    NTR_ISA_XANDESPERF = 1u << 3, /* Andes: branches on a bit or a constant in custom-2 */
    NTR_ISA_XCVBI = 1u << 4,      /* CORE-V: branches on a constant in custom-0 */
    NTR_ISA_XQCIBI = 1u << 5,     /* Qualcomm: branches on a constant in custom-3, and of 48 bits */
    NTR_ISA_XQCILB = 1u << 6,     /* Qualcomm: QC.E.J, QC.E.JAL of 48 bits */
    NTR_ISA_XTHEADINT = 1u << 7,  /* T-Head: TH.IPOP returns from an interrupt */
    NTR_ISA_XCVHWLP = 1u << 8,    /* CORE-V: hardware loops (ntr_insn.loop) */
    NTR_ISA_XESPLOOP = 1u << 9,   /* Espressif: hardware loops */
    NTR_ISA_XQCIINT = 1u << 10,   /* Qualcomm: QC.C.MRET, MNRET, MILEAVERET return from an interrupt */
    NTR_ISA_XANDESCODENSE =
        1u << 11, /* Andes: EXEC.IT executes an instruction of a table, instead of C.LBU and others */
    /* All instructions of a vendor in custom-0 .. custom-3 are linear, but for those above: ntr_insn_is_known. */
    NTR_ISA_CUSTOM_0 = 1u << 12,
    NTR_ISA_CUSTOM_1 = 1u << 13,
    NTR_ISA_CUSTOM_2 = 1u << 14,
    NTR_ISA_CUSTOM_3 = 1u << 15,
    NTR_ISA_ALL = (1u << 16) - 1,
};

/* Reads the name of an instruction set, as -march has it and Tag_RISCV_arch: "rv32imac_zcmp1p0". Extensions that do not
 * change the control flow, or are not known, are skipped. Errors: NTR_E_NAME (it does not begin with rv32 or rv64). */
NTR_API ntr_status ntr_isa_parse(const char *text, unsigned *isa);

/* A decoded instruction. rd, rs1 and sets_constant serve sequentially inferable jumps (section 11.1). */
typedef struct ntr_insn {
    uint8_t size; /* bytes: 2, 4, 6, ... */
    uint8_t flow; /* ntr_flow */
    uint8_t itype; /* ntr_itype; NTR_ITYPE_NOT_TAKEN for a branch, NTR_ITYPE_EXCEPTION for NTR_FLOW_TRAP */
    uint8_t rd; /* register written by LUI, AUIPC, C.LUI (sets_constant) or by the jump */
    uint8_t rs1; /* register with the target of a register jump */
    bool sets_constant; /* LUI, C.LUI, AUIPC: `target` is the constant */
    bool table_jump; /* CM.JT, CM.JALT: `immediate` is the table index, `target` is not set. EXEC.IT, of linear flow:
                      * `immediate` is the offset in its table of the instruction that is executed in its place */
    bool loop; /* begins a hardware loop: where it ends is in no instruction, and no decoder can follow it */
    int32_t immediate; /* register jumps: offset added to rs1 */
    uint64_t target; /* branches, direct jumps and calls: target address, truncated to XLEN */
} ntr_insn;

/* Returns the length in bytes encoded in the first 16 bits of an instruction: 2, 4, 6, 8, 10 .. 22. Returns 2 for the
 * reserved pattern of 192 bits and more, so that a decoder always advances. */
NTR_API unsigned ntr_insn_length(uint16_t first);

/* Decodes the instruction at `pc` from `size` bytes. `isa` is a set of NTR_ISA_*.
 * Errors: NTR_E_SPACE when it is longer than `size`; insn->size is then its length, or 2 with less than two bytes. */
NTR_API ntr_status ntr_insn_decode(const uint8_t *bytes, size_t size, uint64_t pc, unsigned isa, ntr_insn *insn);

/* Returns whether a ratified extension, but for Zibi, defines the encoding at `bytes`. Any other encoding may be a
 * custom jump or branch, which an encoder sends like an indirect jump when it is taken (section 15.8). `size` is at
 * least 4, or that of the instruction. */
NTR_API bool ntr_insn_is_standard(const uint8_t *bytes, size_t size, unsigned isa);

/* Returns whether the class of the instruction is known: it is standard, or of an extension of a vendor in `isa`.
 * `size` is as above. */
NTR_API bool ntr_insn_is_known(const uint8_t *bytes, size_t size, unsigned isa);

#ifdef __cplusplus
}
#endif
#endif
