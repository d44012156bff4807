/* When a synchronizing message is due, and why. N-Trace 1.0 sections 8 and 9. */
#include "encoder/state.h"

/* When several reasons are due at once, SYNC is the first of these (OQ-25). */
static const uint8_t PRIORITY[] = {
    NTR_SYNC_OVERRUN,     NTR_SYNC_DEBUG_EXIT,  NTR_SYNC_RESET,     NTR_SYNC_POWER_DOWN, NTR_SYNC_TRACE_ENABLE,
    NTR_SYNC_TRACE_EVENT, NTR_SYNC_EXTERNAL_TRIGGER, NTR_SYNC_ICNT_FULL, NTR_SYNC_PERIODIC,
};

void ntr_enc_sync_progress(ntr_encoder *e, ntr_sync_mode counted, uint64_t amount) {
    if (e->config.sync_mode != counted || !e->active) return;
    e->sync_count += amount;
    if (e->sync_count >= e->sync_period) e->periodic_due = true;
}

bool ntr_enc_sync_due(const ntr_encoder *e, bool branch) {
    return e->sync_wanted || (e->periodic_due && (branch || e->config.sync_exact));
}

unsigned ntr_enc_sync_reason(const ntr_encoder *e) {
    for (size_t i = 0; i < sizeof PRIORITY; i++)
        if (e->sync_wanted >> PRIORITY[i] & 1) return PRIORITY[i];
    return e->sync_wanted ? (unsigned)__builtin_ctz(e->sync_wanted) : NTR_SYNC_PERIODIC;
}

void ntr_enc_sync_done(ntr_encoder *e, uint64_t address) {
    e->sync_wanted = 0;
    e->periodic_due = false;
    e->sync_count = 0;
    e->ref = address;
    e->icnt = 0;
    e->last = (last_branch){0};
    ntr_enc_history_clear(e);
    ntr_enc_stack_clear(e);
    e->stats.syncs++;
}
