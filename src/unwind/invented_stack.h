/* The invented stack: registers and memory from which a debugger unwinds the call stack of a trace.
 *
 * A trace has no data, but a debugger finds callers by sp, ra, s0 and words of the stack. So a stack is laid out that holds
 * just these words, where the frame rules of the code look for them. Its frames are placed from the outermost one down:
 *
 *     cfa[outermost] = top
 *     sp[i] = cfa[i] - offset of the rule at pc[i];  cfa[i - 1] = sp[i]
 *     word at cfa[i] + offset of ra = return address of frame i, 0 for the outermost; if frame i has not saved it: the
 *     word where a frame further in has saved the register, or the register
 *     word at cfa[i] + offset of s0 = s0 of the caller, if a frame further out needs it
 *
 * Invariant: the addresses of a frame depend on the frames further out and on its own pc only. So the CFA of a frame is
 * the same from its first to its last instruction, which debuggers rely on for steps. */
#ifndef NTR_UNWIND_INVENTED_STACK_H
#define NTR_UNWIND_INVENTED_STACK_H

#include "unwind/frame_rules.h"

#include <ntrace/replay.h>

typedef struct ntr_stack_word {
    uint64_t address, value;
} ntr_stack_word;

typedef struct ntr_invented_frame {
    uint64_t pc, lookup, returns_to, cfa;
    ntr_frame_rule rule;
} ntr_invented_frame;

typedef struct ntr_invented_stack {
    const ntr_allocator *allocator;
    ntr_frame_rules *rules;
    unsigned xlen;
    ntr_stack_word *words; /* addresses decrease */
    size_t word_count, word_capacity;
    ntr_invented_frame *frames; /* innermost first */
    size_t frame_count, frame_capacity;
    uint64_t sp, ra, t0, fp;
    bool has_ra, has_t0, has_fp;
} ntr_invented_stack;

/* Lays out the stack of a hart below `top`. Errors: NTR_E_MEMORY. */
ntr_status ntr_invented_stack_make(ntr_invented_stack *stack, const ntr_replay *replay, const ntr_replay_hart *hart,
                                   uint64_t top);

/* Copies up to `size` bytes of the stack at `address`. Returns the number of bytes that are known. */
size_t ntr_invented_stack_read(const ntr_invented_stack *stack, uint64_t address, uint8_t *out, size_t size);

void ntr_invented_stack_release(ntr_invented_stack *stack);

#endif
