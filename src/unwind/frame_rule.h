/* Frame rules: how a debugger finds the caller of a frame, at one address of the code.
 *
 * The rule comes from the call frame information (CFI) of the file, or where there is none from the instructions of the
 * function's prologue, as GDB analyses them. Offsets are those that GDB uses: a stack that is laid out by these rules
 * is understood by an unmodified GDB, also where its prologue analysis is not what the code really does. */
#ifndef NTR_UNWIND_FRAME_RULE_H
#define NTR_UNWIND_FRAME_RULE_H

#include <ntrace/debug_info.h>

enum { NTR_REG_RA = 1, NTR_REG_SP = 2, NTR_REG_T0 = 5, NTR_REG_FP = 8 };

/* Where the value that a register had in the caller is. */
typedef struct ntr_saved_register {
    bool saved;     /* in memory, at CFA + offset; else still in the register */
    bool unsure; /* a debugger may believe that it is still in the register (GDB 13, when it was saved behind a load) */
    int64_t offset;
} ntr_saved_register;

/* CFA (canonical frame address, the caller's sp) = register + offset. */
typedef struct ntr_frame_rule {
    bool by_fp; /* the register is s0, else sp */
    int64_t offset;
    bool by_t0; /* the return address is in t0 (or where t0 is saved), as in functions that save registers for others */
    ntr_saved_register ra, t0, fp;
} ntr_frame_rule;

#endif
