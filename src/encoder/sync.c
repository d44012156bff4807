/* When a synchronizing message is due, and why. N-Trace 1.0 sections 8 and 9. */
#include "encoder/state.h"
#include "message/values.h"

void ntr_enc_sync_progress(ntr_encoder *e, ntr_sync_mode counted, uint64_t amount) {
    if (e->config.sync_mode != counted || !e->active) return;
    e->sync_count += amount;
    if (e->sync_count >= e->sync_period) e->periodic_due = true;
}

bool ntr_enc_sync_due(const ntr_encoder *e, bool branch) {
    return e->sync_wanted || (e->periodic_due && (branch || e->config.sync_exact));
}

/* Of several reasons at once the first in the order of values.def (OQ-25); those without a row come last. */
unsigned ntr_enc_sync_reason(const ntr_encoder *e) {
    const ntr_value_info *row;
    for (size_t i = 0; e->sync_wanted && (row = ntr_value_at(i)); i++)
        if (row->field == NTR_FIELD_SYNC && e->sync_wanted >> row->first & 1) return row->first;
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
