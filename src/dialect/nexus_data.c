#include "dialect/dialects.h"

/* docs/dialects.md section 5. */
const ntr_dialect ntr_dialect_nexus_data = {
    .name = "nexus-data",
    .summary = "N-Trace 1.0 with the data trace and watchpoint messages of Nexus",
    .messages = NTR_MESSAGES_1_0 | NTR_MESSAGES_DATA,
    .data_loss = true,
    .encoder = "",
};
