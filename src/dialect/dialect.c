/* The dialects: one constant for each, and the table of all. docs/dialects.md lists the differences. */
#include "dialect/dialects.h"

#include <ntrace/params.h>

#include <string.h>

const ntr_dialect ntr_dialect_ntrace_1_0 = {
    .name = "ntrace-1.0",
    .summary = "N-Trace 1.0 as ratified",
    .messages = NTR_MESSAGES_1_0,
    .encoder = "",
};

/* Differences that both dialects have (docs/dialects.md section 1). The encoders always count calls: implicit_return
 * is on. */
#define SIFIVE_DIFFERENCES                                                                                             \
    .addr_bits = 48, .ts_width = 40, .implicit_return = NTR_RETURN_COUNT, .return_stack = 1023,                        \
    .messages = NTR_MESSAGES_1_0 | NTR_MESSAGES_SIFIVE, .ts_rule = NTR_TS_RULE_XOR, .rcode_counts = true,              \
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

/* A decoder of N-Trace 1.0 accepts most differences of this encoder: CDF=0 without history (OQ-10), I-CNT of any
 * width and no RCODE 0 (OQ-11), SYNC=1 at every start (OQ-25). The encoder has no traps: it sends ECALL like an
 * indirect jump (OQ-32). See docs/dialects.md section 4. */
const ntr_dialect ntr_dialect_refcode = {
    .name = "refcode",
    .summary = "output of the task group's C reference encoder",
    .messages = NTR_MESSAGES_1_0,
    .trap_counts = true,
};

/* docs/dialects.md section 5. */
const ntr_dialect ntr_dialect_nexus_data = {
    .name = "nexus-data",
    .summary = "N-Trace 1.0 with the data trace and watchpoint messages of Nexus",
    .messages = NTR_MESSAGES_1_0 | NTR_MESSAGES_DATA,
    .data_loss = true,
    .encoder = "",
};

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
    .ts_rule = NTR_TS_RULE_ABSOLUTE,
    .context0 = NTR_CONTEXT0_SCONTEXT,
    .any_end_idle = true,
    .empty_icnt = true,
    .repeat_xors = true,
    .stop_hides_target = true,
    .htm_count_sync = true,
    .sync_branch_from_faddr = true,
};

/* docs/dialects.md section 7. SRC, U-ADDR and address width depend on the capture: its file header says them. */
const ntr_dialect ntr_dialect_andes = {
    .name = "andes",
    .summary = "Andes NCETRACE200",
    .encoder = "mode=htm sync-mode=messages sync-max=4 implicit-return=off sequential-jump=off repeated-history=off",
    .messages = NTR_MESSAGES_1_0 | NTR_MESSAGES_ANDES,
};

/* docs/dialects.md section 8. The driver switches all optional features off. */
const ntr_dialect ntr_dialect_xuantie = {
    .name = "xuantie",
    .summary = "XuanTie cores, captured by the Linux driver",
    .encoder = "implicit-return=off sequential-jump=off repeated-history=off",
    .messages = NTR_MESSAGES_1_0,
};

/* docs/dialects.md section 9. */
const ntr_dialect ntr_dialect_microblaze_v = {
    .name = "microblaze-v",
    .summary = "AMD MicroBlaze V",
    .src_bits = 2,
    .encoder = "implicit-return=off sequential-jump=off repeated-history=off",
    .messages = NTR_MESSAGES_1_0,
};

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

static const ntr_dialect *const dialects[] = {
    &ntr_dialect_ntrace_1_0,   &ntr_dialect_sifive, &ntr_dialect_p550,  &ntr_dialect_refcode,
    &ntr_dialect_nexus_data,   &ntr_dialect_tt_dfd, &ntr_dialect_andes, &ntr_dialect_xuantie,
    &ntr_dialect_microblaze_v, &ntr_dialect_ctte,
};

const ntr_dialect *ntr_dialect_at(size_t index) {
    return index < sizeof dialects / sizeof dialects[0] ? dialects[index] : NULL;
}

const ntr_dialect *ntr_dialect_find(const char *name) {
    for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++)
        if (strcmp(dialects[i]->name, name) == 0) return dialects[i];
    return NULL;
}
