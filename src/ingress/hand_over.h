/* For the capture engine, which gives some code to a classifier and the rest to its encoder in runs (encoder/run.h).
 * No installed header declares this, and it may change with every version. */
#ifndef NTR_INGRESS_HAND_OVER_H
#define NTR_INGRESS_HAND_OVER_H

#include <ntrace/ingress.h>

/* The block entered last leads to `next`, and its record is sent. What follows does not come through the classifier. */
NTR_API ntr_status ntr_classifier_hand_over(ntr_classifier *classifier, uint64_t next);

/* The stream has this privilege mode and these contexts: a later block with them does not report them again. The time
 * of `state` is ignored. */
NTR_API void ntr_classifier_state_reported(ntr_classifier *classifier, const ntr_hart_state *state);

#endif
