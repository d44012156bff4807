/* Coverage: how often every line, branch and function of a program ran, from the unmodified binary.
 *
 * The count of a line is the number of times control came to it from another line, plus the times it looped
 * on itself: what gcov counts. Lines and functions that never ran are there, with count 0. */
#ifndef NTRACE_COVERAGE_H
#define NTRACE_COVERAGE_H

#include <ntrace/debug_info.h>
#include <ntrace/tally.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_coverage ntr_coverage;

typedef struct ntr_cover_line {
    const char *file;
    uint32_t line;
    bool known;          /* false: count 0, but a gap in the trace may hide executions */
    uint64_t count;
    size_t first_branch; /* into ntr_coverage_branches */
    size_t branches;
} ntr_cover_line;

/* A conditional branch instruction; `address` is as linked. */
typedef struct ntr_cover_branch {
    const char *file;
    uint32_t line;
    uint64_t address;
    uint64_t taken, not_taken;
} ntr_cover_branch;

typedef struct ntr_cover_function {
    const char *name, *linkage, *file;
    uint32_t line;
    bool known;
    uint64_t count; /* times it was entered */
} ntr_cover_function;

/* NULL when out of memory. */
NTR_API ntr_coverage *ntr_coverage_new(const ntr_allocator *allocator);
NTR_API void ntr_coverage_free(ntr_coverage *coverage);

/* Add one run; counts of several runs of the same source add up. Nothing of the arguments is kept.
 * Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_coverage_add(ntr_coverage *coverage, const ntr_program *program, ntr_debug_info *source,
                                    ntr_tally *tally);

/* Sorted by (file, line), by (file, line, address), by (file, line, linkage). The arrays live until the next
 * ntr_coverage_add. */
NTR_API const ntr_cover_line *ntr_coverage_lines(ntr_coverage *coverage, size_t *count);
NTR_API const ntr_cover_branch *ntr_coverage_branches(ntr_coverage *coverage, size_t *count);
NTR_API const ntr_cover_function *ntr_coverage_functions(ntr_coverage *coverage, size_t *count);

/* Gaps in the traces of all runs. */
NTR_API uint64_t ntr_coverage_gaps(const ntr_coverage *coverage);

typedef struct ntr_cover_sums {
    uint64_t lines, lines_hit, lines_unknown;
    uint64_t branches, branches_hit; /* outcomes: two a branch instruction */
    uint64_t functions, functions_hit, functions_unknown;
} ntr_cover_sums;

/* Of one file, or of all with NULL. */
NTR_API void ntr_coverage_sums(ntr_coverage *coverage, const char *file, ntr_cover_sums *sums);

#ifdef __cplusplus
}
#endif
#endif
