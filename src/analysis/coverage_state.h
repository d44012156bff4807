/* State of ntr_coverage. */
#ifndef NTR_ANALYSIS_COVERAGE_STATE_H
#define NTR_ANALYSIS_COVERAGE_STATE_H

#include <ntrace/coverage.h>

#include "analysis/texts.h"

/* A function of which at least one instruction was executed. */
typedef struct ran_function {
    const char *file, *linkage;
    uint32_t line;
} ran_function;

struct ntr_coverage {
    const ntr_allocator *allocator;
    ntr_texts texts; /* file and function names */
    const char *last_file, *last_kept; /* a file of the image that is being added, and its copy in `texts` */
    ntr_cover_line *lines;
    size_t line_count, line_capacity;
    ntr_cover_branch *branches;
    size_t branch_count, branch_capacity;
    ntr_cover_function *functions;
    size_t function_count, function_capacity;
    ntr_cover_function *listed; /* the functions that have lines */
    size_t listed_count, listed_capacity;
    ran_function *ran; /* executed functions of the run that is being added */
    size_t ran_count, ran_capacity;
    uint64_t gaps;
    const char *const *only; /* ntr_coverage_only */
    size_t only_count;
    const char *compared_file; /* the last file that was compared with `only` */
    bool last_selected;
};

/* Sorts what was added, merges equal items, and makes the lists that are derived. Errors: NTR_E_MEMORY. */
ntr_status ntr_coverage_settle(ntr_coverage *c);

#endif
