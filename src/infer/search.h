/* The search for parameters: every combination tried, the best one, and how the others compare. For infer.c. */
#ifndef NTR_INFER_SEARCH_H
#define NTR_INFER_SEARCH_H

#include "infer/scan.h"
#include "infer/trial.h"

#include <ntrace/infer.h>

enum { NTR_SEARCH_SRC_BITS = 12, NTR_TRIALS_MAX = 128 };

typedef struct ntr_search {
    const ntr_infer_config *config;
    ntr_bytes window;
    bool complete; /* the window is the whole stream */
    ntr_infer_trial trials[NTR_TRIALS_MAX];
    size_t count, best;
    ntr_scan scan; /* with the best parameters */
    ntr_inference *out;
} ntr_search;

/* How one parameter's value compares with the others. */
typedef struct ntr_verdict {
    ntr_confidence confidence;
    const ntr_infer_trial *other; /* the best trial that has another value */
} ntr_verdict;

/* Try all combinations on the beginning of the stream, then what was not contradicted on more of it.
 * Errors: NTR_E_MEMORY. */
ntr_status ntr_search_run(ntr_search *search, ntr_bytes stream);

ntr_status ntr_search_try(const ntr_search *search, const ntr_params *params, ntr_infer_trial *trial);

/* Whether the program told anything of the stream. */
bool ntr_search_has_evidence(const ntr_search *search);

ntr_verdict ntr_search_judge(const ntr_search *search, ntr_parameter parameter);

#endif
