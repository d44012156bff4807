#include "dialect/dialects.h"

#include <ntrace/params.h>

/* Differences that both dialects have (docs/dialects.md section 1). The encoders always count calls: implicit_return
 * is on. */
#define SIFIVE_DIFFERENCES                                                                                             \
    .addr_bits = 48, .ts_width = 40, .implicit_return = NTR_RETURN_COUNT, .return_stack = 1023,                        \
    .messages = NTR_MESSAGES_1_0 | NTR_MESSAGES_SIFIVE, .ts_rule = NTR_TS_XOR, .rcode_counts = true,                   \
    .zero_idle = true, .branch_on_jump = true, .jalr_to_next_silent = true, .sync_branch_from_faddr = true,            \
    .history_whole = true

const ntr_dialect ntr_dialect_sifive = {
    .name = "sifive-pre1.0",
    .summary = "SiFive trace encoders before 1.0 (E31 class and later)",
    SIFIVE_DIFFERENCES,
};

const ntr_dialect ntr_dialect_p550 = {
    .name = "p550",
    .summary = "HiFive Premier P550 / EIC7700X",
    SIFIVE_DIFFERENCES,
    .src_bits = 2,
    .timestamps = NTR_TIMESTAMPS_SEEN,
    .swap_is_call = true,
};
