/* The invented stack: registers and memory from which a debugger unwinds the call stack of a trace.
 *
 * A trace has no data, but a debugger finds callers by sp, ra, s0 and words of the stack. So a stack is laid out that
 * holds just these words, where the frame rules of the code look for them. Its frames are placed from the outermost one
 * down:
 *
 *     cfa[outermost] = top
 *     sp[i] = cfa[i] - offset of the rule at pc[i];  cfa[i - 1] = sp[i]
 *     word at cfa[i] + offset of ra = return address of frame i, 0 for the outermost; if frame i has not saved it: the
 *     word where a frame further in has saved the register, or the register
 *     word at cfa[i] + offset of s0 = s0 of the caller, if a frame further out needs it
 *
 * Interrupts: a function that has not saved its return address needs the same register for two values, below the
 * handler: the address at which it was interrupted, and its own return address. Between the two frames there is then a
 * frame of a *return place*, an address without code, which the debugger knows as a signal trampoline
 * (gdb/symbol_file.h). The handler returns to it; its rules are those of ntr_return_place_word. It has no size, so that
 * no frame moves when it is left out.
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
    bool trap;      /* of the handler of a trap or a signal */
    unsigned place; /* it returns to this return place, counted from 1; 0: to the caller itself */
} ntr_invented_frame;

/* Return places: addresses at this distance. With more interrupts inside of each other, they are used again. */
enum { NTR_RETURN_PLACES = 8, NTR_RETURN_PLACE_SIZE = 16 };

/* What a return place saves: the address of the interruption, sp there, and the registers in which return addresses
 * are. */
typedef enum ntr_return_word {
    NTR_RETURN_WORD_PC,
    NTR_RETURN_WORD_SP,
    NTR_RETURN_WORD_RA,
    NTR_RETURN_WORD_T0,
    NTR_RETURN_WORDS
} ntr_return_word;

/* Returns how many bytes below its CFA, which is its sp, the return place `place` (from 1) saves a value. */
uint64_t ntr_return_place_word(unsigned place, ntr_return_word word, unsigned xlen);

typedef struct ntr_invented_stack {
    const ntr_allocator *allocator;
    ntr_frame_rules *rules;
    unsigned xlen;
    uint64_t places; /* address of the first return place; 0: there are none */
    bool direct;     /* do without return places: handlers return to what they have interrupted */
    bool has_places; /* one is used */
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

/* Returns how many frames are left when the handler that returns to the place at the address has returned; 0: there is
 * none. */
size_t ntr_invented_stack_behind(const ntr_invented_stack *stack, uint64_t address);

/* Copies up to `size` bytes of the stack at `address`. Returns the number of bytes that are known. */
size_t ntr_invented_stack_read(const ntr_invented_stack *stack, uint64_t address, uint8_t *out, size_t size);

void ntr_invented_stack_release(ntr_invented_stack *stack);

#endif
