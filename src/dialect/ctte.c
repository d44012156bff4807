#include "dialect/dialects.h"

/* docs/dialects.md section 12. */
const ntr_dialect ntr_dialect_ctte = {
    .name = "ctte",
    .summary = "Accemic CEDARtools.TraceEncoder",
    .return_stack = 16,
    .encoder =
        "return-stack=16 sequential-jump=off repeated-history=off icnt-bits=8 hist-bits=31 empty-hist=send empty-cdf=1 "
        "btype-detail=on",
    .messages = NTR_MESSAGES_1_0 | NTR_MESSAGES_CTTE | NTR_MESSAGES_DATA,
    .data_loss = true,
    .describes_itself = true,
    .drops_stragglers = true,
};
