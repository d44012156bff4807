#include "dialect/dialects.h"

/* docs/dialects.md section 9. */
const ntr_dialect ntr_dialect_microblaze_v = {
    .name = "microblaze-v",
    .summary = "AMD MicroBlaze V",
    .src_bits = 2,
    .encoder = "implicit-return=off sequential-jump=off repeated-history=off",
    .messages = NTR_MESSAGES_1_0,
};
