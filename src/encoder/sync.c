/* Synchronizing messages: when one is due, and its SYNC. N-Trace 1.0 sections 8 and 9.
 *
 * Events set a reason in `sync_wanted`; the next block then makes a synchronizing message. The periodic
 * synchronization (SYNC=2) counts messages, cycles or halfwords. When the period is over it waits for the next
 * branch message, which becomes the synchronizing form at little cost (case 6b). After one more period without a branch
 * message, or at once with `sync_exact`, it is sent at the next block (case 6a). A synchronizing message resets what a
 * decoder that starts there does not know: I-CNT, history, return stack, repeats and the reference. */
#include "encoder/run.h"
#include "encoder/state.h"
#include "message/values.h"

bool ntr_enc_sync_is_late(const ntr_encoder *e) {
    return e->periodic_due && e->sync_count >= 2 * e->sync_period;
}

bool ntr_enc_sync_due(const ntr_encoder *e, bool branch) {
    return e->sync_wanted || (e->periodic_due && (branch || e->config.sync_exact || ntr_enc_sync_is_late(e)));
}

/* Returns the reason with the first row in values.def (OQ-25); reasons without a row come last. */
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
    e->data_known = false;
    ntr_enc_history_clear(e);
    e->stack.count = e->stack.reported = 0;
    e->stats.syncs++;
}
