/* Branch prediction: docs/dialects.md section 12.1. A branch that goes as predicted is only counted, in `predicted`.
 * Any other one makes BranchPredict with this count. A message that ends the history makes the rest of the count
 * superfluous: the decoder predicts the branches of its I-CNT itself. */
#include "encoder/state.h"

void ntr_enc_predict(ntr_encoder *e, uint64_t branch, bool taken) {
    bool right = ntr_flow_predict(&e->tables, branch) == taken;
    ntr_flow_learn(&e->tables, branch, taken);
    e->predicted += right;
    if (right) return;
    ntr_message *m = ntr_enc_message(e, NTR_TCODE_BRANCH_PREDICT);
    NTR_SET(m, BCNT, bcnt, e->predicted);
    e->predicted = 0;
    ntr_enc_send(e, m, e->now);
}
