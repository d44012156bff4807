#include "dialect/dialects.h"

/* docs/dialects.md section 7. SRC, U-ADDR and address width depend on the capture: its file header says them. */
const ntr_dialect ntr_dialect_andes = {
    .name = "andes",
    .summary = "Andes NCETRACE200",
    .encoder = "mode=htm sync-mode=messages sync-max=4 implicit-return=off sequential-jump=off repeated-history=off",
    .messages = NTR_MESSAGES_1_0 | NTR_MESSAGES_ANDES,
};
