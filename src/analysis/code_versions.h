/* Counts of code that was changed at run time, by version. See ntr_object_coverage_feed. */
#ifndef NTR_ANALYSIS_CODE_VERSIONS_H
#define NTR_ANALYSIS_CODE_VERSIONS_H

#include <ntrace/event.h>
#include <ntrace/object_coverage.h>

typedef struct ntr_code_versions {
    const ntr_allocator *allocator;
    const ntr_program *program; /* of the current run */
    uint64_t (*changed)[2];     /* ranges that images of a part of the run provide, sorted, disjoint */
    size_t changed_count, changed_capacity;
    ntr_object_version *items;  /* sorted by (address, bits) */
    size_t count, capacity;
    ntr_object_version *listed; /* those of addresses with several versions */
    size_t listed_count;
} ntr_code_versions;

/* Adds the spans of a run. Errors: NTR_E_MEMORY. */
ntr_status ntr_code_versions_feed(ntr_code_versions *versions, const ntr_program *program, const ntr_event *events,
                                  size_t count);
/* Ends a run and makes the list. Errors: NTR_E_MEMORY. */
ntr_status ntr_code_versions_end(ntr_code_versions *versions);
void ntr_code_versions_release(ntr_code_versions *versions);

#endif
