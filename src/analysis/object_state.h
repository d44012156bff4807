/* The state of object coverage (object_coverage.c, object_run.h), and the merging of several traces (object_merge.c).
 */
#ifndef NTR_ANALYSIS_OBJECT_STATE_H
#define NTR_ANALYSIS_OBJECT_STATE_H

#include <ntrace/object_coverage.h>

#include "analysis/code_versions.h"
#include "analysis/texts.h"

/* A function as it is collected: its instructions are [first, first + count) of `insns`, or were merged into another.
 */
typedef struct ntr_collected_function {
    ntr_object_function shown;
    size_t first;
} ntr_collected_function;

struct ntr_object_coverage {
    const ntr_allocator *allocator;
    ntr_texts texts;
    ntr_collected_function *functions; /* sorted by (image, address) */
    size_t function_count, function_capacity;
    ntr_object_insn *insns;
    size_t insn_count, insn_capacity;
    ntr_object_target *targets;
    size_t target_count, target_capacity;
    ntr_object_function *listed;
    ntr_code_versions versions;
    uint64_t gaps;
    const char *const *only; /* ntr_object_coverage_only */
    size_t only_count;
};

/* Adds the counts of equal targets, and of equal functions. Sorts them. */
void ntr_object_merge_targets(ntr_object_coverage *coverage);
void ntr_object_merge_functions(ntr_object_coverage *coverage);

#endif
