/* Frame rules of all code of a program, looked up by address. */
#ifndef NTR_UNWIND_FRAME_RULES_H
#define NTR_UNWIND_FRAME_RULES_H

#include <ntrace/debug_info.h>

/* ---- Frame rules: how a debugger finds the caller of a frame, at one address of the code.
 *
 * The rule comes from the call frame information (CFI) of the file, or where there is none from the instructions of the
 * function's prologue, as GDB analyses them. Offsets are those that GDB uses: a stack that is laid out by these rules
 * is understood by an unmodified GDB, also where its prologue analysis is not what the code really does. */

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

/* ---- Frame rules from the instructions of a function's prologue, as GDB's riscv_scan_prologue finds them. */

/* Returns the rule at the end of the code [start, end) of a prologue, which begins at the function's entry. */
ntr_frame_rule ntr_prologue_rule(const ntr_program *program, const ntr_context *context, uint64_t position,
                                 uint64_t start, uint64_t end);

/* ---- Frame rules from the call frame information of ELF files (.eh_frame, .debug_frame), read with libdw. */

typedef struct ntr_frame_cfi ntr_frame_cfi;

/* Opens the file of an image. Returns NULL when it has no CFI, when it cannot be read, and without libdw. */
ntr_frame_cfi *ntr_frame_cfi_open(const ntr_image_info *image, const char *debug_path, const ntr_limits *limits,
                                  const ntr_allocator *allocator);
void ntr_frame_cfi_close(ntr_frame_cfi *cfi);

/* Stores the rule at an address of the image. Returns false when the CFI has none, or one that is no register with an
 * offset. */
bool ntr_frame_cfi_rule(const ntr_frame_cfi *cfi, uint64_t address, ntr_frame_rule *rule);

typedef struct ntr_frame_rules ntr_frame_rules;

/* Returns an object, or NULL when out of memory. `debug` may be NULL; both must outlive it. `debug_path`: as for
 * ntr_debug_info_set_path. */
ntr_frame_rules *ntr_frame_rules_new(const ntr_program *program, ntr_debug_info *debug, const char *debug_path,
                                     const ntr_allocator *allocator);
void ntr_frame_rules_free(ntr_frame_rules *rules);

/* The debugger has its own description of some code: where `has_rule` returns true, `rule` holds. */
void ntr_frame_rules_set_own(ntr_frame_rules *rules, const ntr_frame_rule *rule,
                             bool (*has_rule)(void *user, ntr_place place), void *user);

/* Returns the rule at `pc`. `lookup` is the address by which the function and its CFI are found: pc, or pc - 1 where pc
 * is a return address. */
ntr_frame_rule ntr_frame_rule_at(ntr_frame_rules *rules, const ntr_context *context, uint64_t position, uint64_t pc,
                                 uint64_t lookup);

#endif
