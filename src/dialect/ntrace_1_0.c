#include "dialect/dialects.h"

const ntr_dialect ntr_dialect_ntrace_1_0 = {
    .name = "ntrace-1.0",
    .summary = "N-Trace 1.0 as ratified",
    .messages = NTR_MESSAGES_1_0,
    .encoder = "",
};
