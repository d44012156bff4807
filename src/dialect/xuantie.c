#include "dialect/dialects.h"

/* docs/dialects.md section 8. The driver switches all optional features off. */
const ntr_dialect ntr_dialect_xuantie = {
    .name = "xuantie",
    .summary = "XuanTie cores, captured by the Linux driver",
    .encoder = "implicit-return=off sequential-jump=off repeated-history=off",
    .messages = NTR_MESSAGES_1_0,
};
