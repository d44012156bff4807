/* Costs: the instructions of an execution by names that do not depend on addresses, and what changed from one execution
 * (A) to another (B), for example of two builds of a program.
 *
 * A function is named by its name, the file of its declaration and its image. Copies that a compiler made of a function
 * (foo.constprop.0, foo.part.0, foo.cold) count for the function. Nothing is left out: the sums over all functions, all
 * lines and all paths are the instructions of the execution, also of code without a name and of functions that only one
 * of the executions has. Objects are not thread-safe. */
#ifndef NTRACE_COSTS_H
#define NTRACE_COSTS_H

#include <ntrace/calltree.h>
#include <ntrace/profile.h>
#include <ntrace/tally.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What costs hold: a set of these. */
enum {
    NTR_COSTS_SELF = 1u << 0, /* instructions in the code of a function */
    NTR_COSTS_CALLS = 1u << 1, /* calls, totals with callees, and call paths */
    NTR_COSTS_LINES = 1u << 2, /* instructions of lines, and of functions with their inlined copies */
};

typedef struct ntr_costs ntr_costs;

/* Makes empty costs. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_costs_new(const ntr_allocator *allocator, ntr_costs **out);
NTR_API void ntr_costs_free(ntr_costs *costs);

/* Takes over what an analysis has counted: its call tree (after ntr_calltree_finish), its tally, or both; at least one
 * is not NULL. Strings are copied: the analysis may be freed afterwards. Errors: NTR_E_MEMORY, NTR_E_INVALID. */
NTR_API ntr_status ntr_costs_take(ntr_costs *costs, const ntr_program *program, ntr_debug_info *debug,
                                  ntr_functions *functions, const ntr_calltree *tree, ntr_tally *tally);

/* Adds a row of a profile by function or by line, for costs that hold nothing else. All rows have the same `by`.
 * Errors: NTR_E_MEMORY, NTR_E_INVALID. */
NTR_API ntr_status ntr_costs_add(ntr_costs *costs, ntr_profile_by by, const ntr_profile_row *row);

NTR_API unsigned ntr_costs_holds(const ntr_costs *costs);

/* ---- changes ----------------------------------------------------------------------------------- */

typedef enum ntr_cost_match {
    NTR_COST_BOTH, /* both executions have it */
    NTR_COST_ONLY, /* only one of them has it, */
    NTR_COST_FILE, /* ... the other one has the name in another file or image, */
    NTR_COST_UNCLEAR, /* ... the other one has several that it could be, */
    NTR_COST_UNPAIRED, /* ... of a line: it is not known which line of the other one it is, */
    NTR_COST_UNNAMED, /* code without a symbol, one row for each image */
} ntr_cost_match;

/* In arrays of two: A is 0, B is 1. Numbers of what one of them does not have are 0, its texts NULL. */
typedef struct ntr_cost_function {
    const char *name;
    const char *file[2], *image[2]; /* of the declaration; NULL: not known */
    uint32_t line[2];
    uint8_t match; /* ntr_cost_match */
    uint8_t present; /* bit 0: A, bit 1: B */
    uint64_t self[2]; /* instructions in its own code, with what was inlined there */
    uint64_t total[2]; /* with the functions that it called */
    uint64_t calls[2];
    uint64_t written[2]; /* instructions of its source, wherever it was inlined, without what was inlined there */
} ntr_cost_function;

typedef struct ntr_cost_line {
    uint32_t function; /* number in `functions` */
    uint8_t match; /* ntr_cost_match */
    uint8_t present;
    const char *file[2]; /* NULL: code without a line */
    uint32_t line[2];
    uint64_t self[2];
} ntr_cost_line;

/* A call path: a node of the tree of both executions. Number 0 is the parent of all roots; parents precede children. */
typedef struct ntr_cost_path {
    uint32_t parent, function; /* `function` UINT32_MAX: of number 0 */
    uint8_t kind; /* ntr_frame_kind */
    uint64_t self[2], total[2], calls[2];
} ntr_cost_path;

typedef struct ntr_cost_image {
    const char *name[2]; /* names of one image in A and B; NULL: only one has it */
} ntr_cost_image;

typedef struct ntr_cost_changes {
    const ntr_allocator *allocator;
    unsigned holds; /* what both executions hold; the other numbers are 0, the other arrays are empty */
    bool lines_by_number; /* lines are paired by their numbers: a profile does not say where functions begin */
    uint64_t instructions[2];
    ntr_cost_function *functions; /* by the change of `self` (without it, of `written`), the largest first */
    size_t function_count;
    ntr_cost_line *lines; /* by the change of `self` */
    size_t line_count;
    ntr_cost_path *paths;
    size_t path_count;
    ntr_cost_image *images;
    size_t image_count;
} ntr_cost_changes;

/* Compares. Strings of the result belong to the costs. A line is named by its function and its distance from the
 * declaration; where the function's number of lines differs, lines are not paired. Release the result with
 * ntr_cost_changes_release. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_costs_compare(ntr_costs *a, ntr_costs *b, ntr_cost_changes *changes,
                                     const ntr_allocator *allocator);
NTR_API void ntr_cost_changes_release(ntr_cost_changes *changes);

#ifdef __cplusplus
}
#endif
#endif
