#include "dialect/dialects.h"

/* Most of its habits (SYNC=1 at the start, CDF=0 with an empty HIST, I-CNT of any width, no RCODE 0) fall
 * within what a 1.0 decoder accepts (OQ-10, OQ-11, OQ-25). It knows no traps: an ECALL is one more indirect jump. */
const ntr_dialect ntr_dialect_refcode = {
    .name = "refcode",
    .summary = "output of the task group's C reference encoder",
    .messages = NTR_MESSAGES_1_0,
    .trap_counts = true,
};
