#include "dialect/dialects.h"

/* docs/dialects.md section 6. */
const ntr_dialect ntr_dialect_tt_dfd = {
    .name = "tt-dfd",
    .summary = "Tenstorrent tt-dfd (HTM, 64-byte frames)",
    .src_bits = 4,
    .encoder =
        "mode=htm implicit-return=off sequential-jump=off repeated-history=off repeat-branch=on icnt-bits=12 hist-bits=32 "
        "bcnt-bits=4 full=after full-first=hist empty-hist=send empty-cdf=1 context=scontext start-sync=1 sync-form=exact "
        "btype-detail=on ts-messages=all announce=off frame=64",
    .trap_ownership = true,
    .trap_value = true,
    .untimed_ownership = true,
    .messages = NTR_MESSAGES_1_0 | NTR_MESSAGES_TTDFD,
    .ts_rule = NTR_TS_ABSOLUTE,
    .context0 = NTR_CONTEXT0_SCONTEXT,
    .any_end_idle = true,
    .empty_icnt = true,
    .repeat_xors = true,
    .stop_hides_target = true,
    .htm_count_sync = true,
    .sync_branch_from_faddr = true,
};
