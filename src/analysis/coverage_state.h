/* State of ntr_coverage. */
#ifndef NTR_ANALYSIS_COVERAGE_STATE_H
#define NTR_ANALYSIS_COVERAGE_STATE_H

#include <ntrace/coverage.h>

#include "analysis/line_regions.h"
#include "analysis/texts.h"

typedef struct source_line {
    const char *file;
    uint32_t line;
} source_line;

/* A function of which at least one instruction was executed. */
typedef struct ran_function {
    const char *file, *linkage;
    uint32_t line;
} ran_function;

/* The lines of a function are [line, end], without those of functions that begin in between. */
typedef struct cover_extent {
    const char *file, *linkage;
    uint32_t line, end;
} cover_extent;

/* What one function adds to a line (coverage_lines.c). Texts are those of `texts`. */
typedef struct added_line {
    ntr_cover_line line;
    const char *owner; /* the function without arguments; NULL: it does not matter */
    bool by_llvm;
    bool contained; /* ntr_line_insn */
    bool empty; /* the function has no code on the line: it counts where another instance of it has some */
    bool brace; /* and where any code is: a lambda begins or ends there */
    uint64_t function; /* entry address, and the line of its declaration or 0 */
    uint32_t declared;
} added_line;

struct ntr_coverage {
    const ntr_allocator *allocator;
    ntr_texts texts; /* file and function names */
    const char *last_file, *last_kept; /* a file of the image that is being added, and its copy in `texts` */
    added_line *added; /* of the run that is being added */
    size_t added_count, added_capacity;
    ntr_cover_line *lines;
    size_t line_count, line_capacity;
    ntr_cover_branch *branches;
    size_t branch_count, branch_capacity;
    ntr_cover_function *functions;
    size_t function_count, function_capacity;
    ntr_cover_function *listed; /* the functions that have lines */
    size_t listed_count, listed_capacity;
    uint32_t *ends; /* the last line of each listed function */
    size_t end_capacity;
    ran_function *ran; /* executed functions of the run that is being added */
    size_t ran_count, ran_capacity;
    source_line *copied;  /* lines of functions with inlined copies */
    ran_function *hidden; /* functions that doubt_hidden looks at */
    size_t copied_count, copied_capacity, hidden_count, hidden_capacity;
    cover_extent *extents;
    size_t extent_count, extent_capacity;
    uint64_t gaps;
    ntr_cover_rule rule;
    unsigned rules; /* ntr_coverage_rules */
    ntr_line_sources sources; /* ntr_coverage_set_sources */
    const char *const *only; /* ntr_coverage_only */
    size_t only_count;
    const char *compared_file; /* the last file that was compared with `only` */
    bool last_selected;
};

/* Sorts what was added, merges equal items, and makes the lists that are derived. Errors: NTR_E_MEMORY. */
ntr_status ntr_coverage_settle(ntr_coverage *c);

/* Adds what an instruction adds to a line. Errors: NTR_E_MEMORY. */
ntr_status ntr_coverage_add_line(ntr_coverage *c, const added_line *added);

/* Appends the lines of what was added. Errors: NTR_E_MEMORY. */
ntr_status ntr_coverage_join_lines(ntr_coverage *c);

/* Returns whether the lines of a file are counted. */
bool ntr_coverage_selects(ntr_coverage *c, const char *file);

/* Adds what was executed of image `index` beside the code of lines, and where its functions end. `known`: the trace has
 * no gap. Errors: NTR_E_MEMORY. */
ntr_status ntr_coverage_add_ran(ntr_coverage *c, const ntr_program *program, size_t index, ntr_debug_info *debug,
                                const ntr_line_flow *flow, bool known);

/* Remembers what the debug information of the run that is being added says about inlined copies of a function.
 * `constant`: it returns a constant, in optimized code. Names are texts of the coverage. Errors: NTR_E_MEMORY. */
ntr_status ntr_coverage_add_copies(ntr_coverage *c, const ntr_frame *frame, const ntr_cover_function *function,
                                   bool constant);

/* Counts the functions that were executed without being entered. Lines and functions are sorted, equal ones merged. */
void ntr_coverage_count_ran(ntr_coverage *c);

/* Returns the last line of a function. */
uint32_t ntr_coverage_extent(const ntr_coverage *c, const ntr_cover_function *function);

#endif
