#include "dialect/dialects.h"

/* docs/dialects.md section 12. */
const ntr_dialect ntr_dialect_ctte = {
    .name = "ctte",
    .summary = "Accemic CEDARtools.TraceEncoder",
    .return_stack = 16,
    .messages = NTR_MESSAGES_1_0 | NTR_MESSAGES_CTTE | NTR_MESSAGES_DATA,
    .data_loss = true,
    .drops_stragglers = true,
};
