/* The search for parameters: decodes with every combination of values and compares the results. For infer.c. */
#ifndef NTR_INFER_SEARCH_H
#define NTR_INFER_SEARCH_H

#include "infer/scan.h"
#include "infer/trial.h"

#include <ntrace/infer.h>

enum { NTR_SEARCH_SRC_BITS = 12, NTR_TRIALS_MAX = 320 };

/* From how many messages, failures or returns a value is likely, and from how many it may be sure: fewer may be damage.
 */
enum { NTR_EVIDENCE_SOME = 4, NTR_EVIDENCE_LARGE = 16 };

typedef struct ntr_search {
    const ntr_infer_config *config;
    ntr_bytes window;
    bool complete; /* the window is the complete stream */
    ntr_infer_trial trials[NTR_TRIALS_MAX];
    size_t count, best;
    ntr_scan scan; /* statistics with the best parameters */
    uint32_t said; /* the parameters that a message of the stream says */
    ntr_inference *out;
} ntr_search;

/* How a parameter's value compares with the other values. */
typedef struct ntr_verdict {
    ntr_confidence confidence;
    const ntr_infer_trial *other; /* the best trial with another value */
} ntr_verdict;

/* Try all combinations on the beginning of the stream, then those without contradiction on more of it. Errors:
 * NTR_E_MEMORY. */
ntr_status ntr_search_run(ntr_search *search, ntr_bytes stream);

/* Decode the window with these parameters. Errors: NTR_E_MEMORY. */
ntr_status ntr_search_try(const ntr_search *search, const ntr_params *params, ntr_infer_trial *trial);

/* Returns the set of parameters that have the caller's values: those given, and those never inferred that the caller
 * has changed. */
uint32_t ntr_search_kept(const ntr_search *search);

/* Returns whether a trial with this dialect is no worse than the best one. */
bool ntr_search_explains(const ntr_search *search, const ntr_dialect *dialect);

/* Returns whether any message could be followed in the program. */
bool ntr_search_has_evidence(const ntr_search *search);

/* Returns whether no trial follows the stream for long. */
bool ntr_search_is_poor(const ntr_search *search);

/* Compare the best trial with the best of those that have another value of the parameter. */
ntr_verdict ntr_search_judge(const ntr_search *search, ntr_parameter parameter);

#endif
