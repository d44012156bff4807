#include "dialect/dialects.h"

/* A decoder of N-Trace 1.0 accepts most differences of this encoder: CDF=0 without history (OQ-10), I-CNT of any
 * width and no RCODE 0 (OQ-11), SYNC=1 at every start (OQ-25). The encoder has no traps: it sends ECALL like an
 * indirect jump (OQ-32). See docs/dialects.md section 4. */
const ntr_dialect ntr_dialect_refcode = {
    .name = "refcode",
    .summary = "output of the task group's C reference encoder",
    .messages = NTR_MESSAGES_1_0,
    .trap_counts = true,
};
