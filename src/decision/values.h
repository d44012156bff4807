/* Known values of registers, and of words of the stack frame, in straight code.
 *
 * Registers have known values after an instruction that computes them from known values; everything else is not known.
 * The addresses of a large frame are computed from its register, too. Values of RV32 are kept sign-extended, so that
 * comparisons of both kinds are those of 64 bits. */
#ifndef NTR_DECISION_VALUES_H
#define NTR_DECISION_VALUES_H

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

/* Executes an instruction (expand.h) that is not a jump. Returns false when its effect is not known. */
bool ntr_values_execute(ntr_values *k, uint32_t insn);

/* Returns whether a branch is taken with these operands. */
bool ntr_values_taken(uint32_t insn, uint64_t a, uint64_t b);

#endif
