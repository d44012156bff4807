/* What ntr_infer says of a parameter: value, confidence and evidence. For the files of this folder. */
#ifndef NTR_INFER_CHOICE_H
#define NTR_INFER_CHOICE_H

#include "infer/search.h"

/* Returns whether the caller, or a message of the stream, gives the parameter. */
static inline bool ntr_infer_given(const ntr_search *search, ntr_parameter parameter) {
    return search->config->given >> parameter & 1;
}

/* Sets value, confidence and evidence of a parameter. What the caller gives has no evidence. */
__attribute__((format(printf, 5, 6))) void ntr_choose(ntr_search *search, ntr_parameter parameter,
                                                      ntr_confidence confidence, const char *value, const char *format,
                                                      ...);

/* The same for the trace mode. */
__attribute__((format(printf, 4, 5))) void ntr_choose_mode(ntr_search *search, ntr_confidence confidence,
                                                           const char *value, const char *format, ...);

/* Sets what the comparison of trials says of the parameter. */
void ntr_choose_by_trial(ntr_search *search, ntr_parameter parameter, ntr_verdict verdict, const char *value);

#endif
