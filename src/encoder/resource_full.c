/* ResourceFull with a history: RCODE 1, or RCODE 2 with the number of its repeats. N-Trace 1.0 section 6.8. */
#include "encoder/state.h"

void ntr_enc_history_send(ntr_encoder *e, uint64_t rdata, uint32_t count, uint64_t time) {
    if (e->quick_runs) {
        ntr_enc_quick_history_send(e, rdata, count);
        return;
    }
    ntr_message *m = ntr_enc_message(e, NTR_TCODE_RESOURCE_FULL);
    NTR_SET(m, RCODE, rcode, count == 1 ? NTR_RCODE_HIST : NTR_RCODE_HIST_REPEATED);
    NTR_SET(m, RDATA0, rdata0, rdata);
    if (count > 1) NTR_SET(m, RDATA1, rdata1, count);
    e->history_sent = true;
    ntr_enc_send(e, m, time);
}
