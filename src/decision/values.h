/* Known values of registers, and of words of the stack frame, in straight code.
 *
 * Registers have known values after an instruction that computes them from known values; everything else is not known.
 * The addresses of a large frame are computed from its register, too. Values of RV32 are kept sign-extended, so that
 * comparisons of both kinds are those of 64 bits. */
#ifndef NTR_DECISION_VALUES_H
#define NTR_DECISION_VALUES_H

#include "decision/graph.h"

#include <stdbool.h>
#include <stdint.h>

enum { NTR_VALUE_WORDS_MAX = 8 };

/* A word of the stack frame with a known value. */
typedef struct ntr_value_word {
    uint8_t base, size;
    int32_t offset;
    uint64_t value;
} ntr_value_word;

typedef struct ntr_values {
    uint64_t value[32];
    uint32_t known; /* bit R: register R */
    uint8_t frame[32]; /* a register of the frame (sp, s0) to which `value` is relative; 0: none. Such a value is not
                          known */
    ntr_value_word slots[NTR_VALUE_WORDS_MAX];
    unsigned slot_count;
    unsigned xlen;
} ntr_values;

static inline bool ntr_values_is_known(const ntr_values *k, unsigned reg) {
    return reg == 0 || (k->known >> reg & 1);
}

static inline uint64_t ntr_values_get(const ntr_values *k, unsigned reg) {
    return reg ? k->value[reg] : 0;
}

void ntr_values_set(ntr_values *k, unsigned reg, bool known, uint64_t value);

/* Executes an instruction (values.h) that is not a jump. Returns false when its effect is not known. */
bool ntr_values_execute(ntr_values *k, uint32_t insn);

/* Returns whether a branch is taken with these operands. */
bool ntr_values_taken(uint32_t insn, uint64_t a, uint64_t b);

/* ---- Branches that are decided by constants.
 *
 * Code without optimization, and C++ with gcc, computes the result of a decision as 0 or 1, and tests it with a further
 * branch. Example: while (a && b) is compiled to
 *
 *     beqz A, L; beqz B, L; li R, 1; j M; L: li R, 0; M: beqz R, end
 *
 * The taken outcome of the first branch sets R to 0, so the last branch is certainly taken then. The first branch leads
 * to `end`, as if the last one were not there. The same holds where the compiler does not branch for b but moves its
 * value to R: the last branch is then that of b.
 *
 * Only straight code is followed. Registers and words of the stack frame have known values after an instruction that
 * sets them to a constant; everything else is not known. */

enum { NTR_PASSED_MAX = 4 };

/* Branches (`joint` in the graph) on the way from an outcome of which the outcomes are certain. */
typedef struct ntr_passed {
    uint32_t at[NTR_PASSED_MAX]; /* instructions */
    bool taken[NTR_PASSED_MAX];
    unsigned count;
    uint32_t unset; /* the joint branch at which the code ends, if its operand is not known and was not set since
                       `from`; NTR_GRAPH_OUTSIDE: none */
} ntr_passed;

/* Returns the instruction after the last joint branch that is certain after an outcome of a branch; without any, the
 * one after this branch. `from`: the execution comes to the branch only through all instructions from here on. */
uint32_t ntr_constants_follow(const ntr_graph *graph, uint32_t from, uint32_t branch, bool taken, ntr_passed *passed);

#endif
