/* What one instruction does to the mask of interrupts or to the count of preemption, by the instructions in front of
 * it. */
#ifndef NTR_ANALYSIS_MASK_CODE_H
#define NTR_ANALYSIS_MASK_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MASK_CODE_BEFORE = 16 }; /* instructions that are looked at */

typedef enum ntr_code_action {
    NTR_CODE_OFF,
    NTR_CODE_SAVE, /* off, and the state before is kept */
    NTR_CODE_ON,
    NTR_CODE_RESTORE,
    NTR_CODE_COUNT, /* of preemption: `value` is added */
} ntr_code_action;

typedef struct mask_code {
    uint8_t action; /* ntr_code_action */
    int16_t value;
} mask_code;

static inline bool mask_code_is_short(uint32_t word) {
    return (word & 3) != 3;
}

/* For an instruction that may switch (ntr_insn_may_switch). `before`: the instructions in front of it, the nearest
 * first. `machine`: in M-mode. `narrow`: RV32. */
bool ntr_mask_code(uint32_t word, const uint32_t *before, size_t count, bool machine, bool narrow, mask_code *found);

#endif
