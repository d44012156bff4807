/* Which conditional branch evaluates which condition.
 *
 * Idea: the short-circuit graph of a decision must be found in the control-flow graph of the code. The branches that
 * the line table places inside of a decision are its candidates. From each outcome of a candidate, the candidates that
 * can be reached next, through any other code, must be exactly the branches of the condition that the source evaluates
 * next; from an outcome that decides the result, none must be reachable before the decision begins again.
 *
 * A match is accepted only when it is the only one, all candidates have a place in it, and both results lead to
 * different code. In code that was optimized, the line table must also place each branch at its own condition.
 * Everything else is not determinable, with the reason. A second check is made while events are counted: branches that
 * are executed in an order that the match does not have invalidate it.
 *
 * Example: if (a && b) is compiled to beqz A, L; beqz B, L; ...; L: ... From "not taken" of the first branch the second
 * is reached, from "taken" none is: a is true when the first branch is not taken. "taken" of the second leads to the
 * same code as "taken" of the first, which is the result false: b is false when the second branch is taken. */
#ifndef NTR_DECISION_CODE_MAP_H
#define NTR_DECISION_CODE_MAP_H

#include "decision/groups.h"
#include "decision/record.h"
#include "decision/sources.h"

/* One copy of the code of a decision: in a function, or inlined into one. */
typedef struct ntr_decision_copy {
    ntr_decision_record *record;
    const char *reason; /* why its branches are not known; NULL: they are */
    bool unoptimized;         /* compiled with -O0 */
    bool debug;         /* compiled by gcc with -Og */
    bool complete;      /* each evaluation executes its branches */
    bool inlined;
    bool unseen; /* further copies may have no place in debug information, because the compiler has merged them with
                    other code */
    uint32_t function; /* index of the function that contains it */
    bool stored; /* its last condition has no branch: the load of its stored result shows it */
    bool lost;   /* ... and no load shows it either: its value is not known */
    ntr_grouping
        *grouping; /* its conditions are computed together, and those of its branches are numbers of groups; or NULL */
    bool changed; /* a branch was another instruction when it was executed */
    uint64_t unknown, misfits;
    ntr_vector
        *witnessed; /* vectors that values of the trace show (witness.h); added to the others when the trace ends */
    size_t witnessed_count, witnessed_capacity;
    uint64_t results[2]; /* evaluations, false and true, of which only the result is known */
    ntr_vector *vectors;
    size_t vector_count, vector_capacity;
} ntr_decision_copy;

/* A branch of a copy. */
typedef struct ntr_decision_branch {
    uint64_t address;
    uint32_t copy;
    uint8_t condition;
    bool taken_is; /* value of the condition when the branch is taken */
    bool first; /* an evaluation begins here */
    bool load; /* it is not a branch but the load of a stored result, of which the register has the lowest bit at `root`
                */
    uint8_t root_reg; /* the register that has the operand of its group of conditions before the instruction at `root`;
                         0: not known */
    uint64_t root;
    bool retested[2]; /* by outcome, not taken and taken: a result is tested once more, by a later branch of the copy */
    bool goes_on[2]; /* by outcome: the condition has no value yet, and another branch of it follows */
} ntr_decision_branch;

/* A call instruction of a statement that executes one (operands.c). */
typedef struct ntr_counted_call {
    uint64_t address;
    uint32_t id; /* in terms of flows */
    uint64_t executed;
} ntr_counted_call;

/* A function with decisions. */
typedef struct ntr_decision_function {
    uint64_t low, high;
    bool executed;
    uint64_t entries; /* number of times that it was entered */
} ntr_decision_function;

/* A file whose code the map describes. */
typedef struct ntr_map_image {
    uint64_t low, high;
    size_t number; /* in the program */
    size_t around; /* index + 1 of the smallest one around it; 0: none */
} ntr_map_image;

typedef struct ntr_code_map {
    const ntr_allocator *allocator;
    const ntr_program *program;
    ntr_map_image *images; /* sorted by address; disjoint, or the newer one inside of the other one */
    size_t image_count;
    uint32_t *first_image; /* ntr_program_first_images */
    ntr_code_ranges ranges;
    ntr_decision_copy *copies;
    size_t copy_count, copy_capacity;
    ntr_decision_branch *branches; /* sorted by address */
    size_t branch_count, branch_capacity;
    ntr_counted_call *calls; /* sorted by address */
    size_t call_count, call_capacity;
    ntr_decision_function *functions; /* sorted by address */
    size_t function_count, function_capacity;
    uint64_t *slots; /* hash table of branches: index + 1 */
    size_t slot_mask;
} ntr_code_map;

/* Selects the images that the map describes: files of which no two are at the same address. Others are left out; those
 * with decisions are named (ntr_sources_leave_out). Errors: NTR_E_MEMORY. */
ntr_status ntr_code_map_choose(ntr_code_map *map, ntr_decisions *decisions, const ntr_source_options *options,
                               ntr_debug_info *debug);

/* Returns the file whose code the map describes at an address, or NULL. */
const ntr_map_image *ntr_code_map_image(const ntr_code_map *map, uint64_t address);

/* Returns the place of an address of the map. */
ntr_place ntr_code_map_place(const ntr_code_map *map, uint64_t address);

/* Returns whether the map describes what is at the place. */
bool ntr_code_map_describes(const ntr_code_map *map, ntr_place place);

/* Returns whether the instruction at a place that the map describes is another one than the map has there: code was
 * changed at run time. */
bool ntr_code_map_differs(const ntr_code_map *map, ntr_place place);

/* Sorts the branches, so that they can be found. Errors: NTR_E_MEMORY. */
ntr_status ntr_code_map_index(ntr_code_map *map);
void ntr_code_map_release(ntr_code_map *map);

/* Returns the number of functions with decisions that begin at or below `address`. */
size_t ntr_code_map_functions_below(const ntr_code_map *map, uint64_t address);

/* Returns the index of the first of `calls` at `address` or behind it. */
size_t ntr_code_map_call_at(const ntr_code_map *map, uint64_t address);

/* Returns the first branch at `address`, or NULL. Others at this address, of other copies, follow it: `map->branches`
 * is sorted. */
const ntr_decision_branch *ntr_code_map_find(const ntr_code_map *map, uint64_t address);

#endif
