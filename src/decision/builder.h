/* How a code map is made: the branches that the line table places inside of decisions are found, and matched in the
 * order of the source (in_order.c) or by their places (by_place.c). */
#ifndef NTR_DECISION_BUILDER_H
#define NTR_DECISION_BUILDER_H

#include "decision/code_map.h"
#include "decision/match.h"
#include "decision/record.h"

/* ---- The innermost decision at a place of the source. */

typedef struct ntr_extent_entry {
    ntr_extent extent;
    uint32_t record; /* index of a decision; of several with the same extent the first */
    uint32_t parent; /* index of the entry around it + 1; 0: none */
    bool whole;      /* the largest expression around decisions, not a decision */
} ntr_extent_entry;

/* The entries of one file. A file that is included several times has none: they are in one file for each function, with
 * the path of its group. */
typedef struct ntr_extent_file {
    const char *path;
    size_t first, count;
    bool divided;
} ntr_extent_file;

typedef struct ntr_extents {
    const ntr_allocator *allocator;
    ntr_extent_entry *items; /* sorted by (file, begin, end descending) */
    size_t count, capacity;
    ntr_extent_file *files; /* sorted by path */
    size_t file_count, file_capacity;
} ntr_extents;

/* `decisions` are sorted. Errors: NTR_E_MEMORY. */
ntr_status ntr_extents_make(ntr_extents *extents, const ntr_decisions *decisions);
void ntr_extents_release(ntr_extents *extents);

const ntr_extent_file *ntr_extents_file(const ntr_extents *extents, const char *path);
/* Returns the innermost entry at a place, or NULL. */
const ntr_extent_entry *ntr_extents_at(const ntr_extents *extents, const ntr_extent_file *file, uint32_t line,
                                       uint32_t column);

/* Returns the index of the outermost entry around an entry: of a decision, or also of a whole expression. */
uint32_t ntr_extents_root(const ntr_extents *extents, const ntr_extent_entry *entry, bool whole);

/* A conditional branch that is inside of a decision. */
typedef struct ntr_found_branch {
    uint64_t address;
    uint64_t low, high; /* the function around it */
    uint64_t scope; /* the copy: entry of the innermost inlined function, or of the function */
    uint32_t record; /* the innermost decision; of several with the same extent the first */
    uint32_t whole; /* extents: the largest expression around it, */
    uint32_t root; /* ... and the outermost decision */
    bool outside; /* it is in that expression, and in no decision */
    bool inlined; /* its function was inlined, here or at another place */
    uint32_t line, column;
} ntr_found_branch;

/* Code of a decision that is no branch, in one copy of its function. */
typedef struct ntr_found_code {
    uint64_t address, low, high, scope; /* as of ntr_found_branch */
    uint32_t record;
    bool inlined;
} ntr_found_code;

/* How code that was not optimized evaluates ?:. */
typedef struct ntr_choice_shape {
    bool tests_operands; /* both operands of a condition b ? c : d have branches */
    bool computes_choices; /* no branch tests the last condition of a decision that controls ?: of two constants */
} ntr_choice_shape;

/* The state of one map that is being made. */
typedef struct ntr_map_builder {
    ntr_code_map *map;
    ntr_decisions *decisions;
    const ntr_source_options *options;
    ntr_debug_info *debug;
    ntr_extents extents;
    ntr_graph graph;
    ntr_found_branch *found;
    size_t found_count, found_capacity;
    ntr_found_code *codes;
    size_t code_count, code_capacity;
    const char *last_name; /* the last file of a row, and what it is */
    const ntr_extent_file *last_file;
    size_t image; /* index of the one whose statements are taken */
    uint64_t scopes[8]; /* the last functions, and copies of them, of which the decisions were added */
    unsigned scope_count;
    const char *last_relative; /* the same before its folder was added; NULL: it is absolute */
    ntr_statements statements;
    ntr_code_kind kind; /* of the code of `graph` */
    ntr_choice_shape shape;
} ntr_map_builder;

/* Finds all branches inside of decisions (found.c), and where statements begin. Errors: NTR_E_MEMORY. */
ntr_status ntr_builder_find(ntr_map_builder *b);

/* Reads the function around a branch, if it is not the last one that was read. Errors: NTR_E_MEMORY. */
ntr_status ntr_builder_enter(ntr_map_builder *b, const ntr_found_branch *branch);
/* Adds a copy of a decision. `reason`: why its branches are not known, or NULL. Errors: NTR_E_MEMORY. */
ntr_status ntr_builder_add_copy(ntr_map_builder *b, ntr_decision_record *record, const ntr_found_branch *found,
                                const char *reason);
/* Matches branches with one decision. `parts`: of each branch and one more, or NULL (match.h). Returns NULL, or why it
 * is not possible. */
const char *ntr_builder_try(ntr_map_builder *b, const ntr_decision_record *record, const ntr_found_branch *const *found,
                            size_t count, const ntr_operand_part *parts, ntr_match *match);
/* The same, where the compiler computes conditions together (groups.h). */
const char *ntr_builder_try_groups(ntr_map_builder *b, const ntr_decision_record *record,
                                   const ntr_found_branch *const *found, size_t count, ntr_match *match);
/* The same, where the compiler stores the result and does not test the last condition. Stores the load of the result.
 */
const char *ntr_builder_try_stored(ntr_map_builder *b, const ntr_decision_record *record,
                                   const ntr_found_branch *const *found, size_t count, const ntr_operand_part *parts,
                                   ntr_match *match, uint32_t *load);
/* The same, where no instruction shows the last condition. */
const char *ntr_builder_try_lost(ntr_map_builder *b, const ntr_decision_record *record,
                                 const ntr_found_branch *const *found, size_t count, const ntr_operand_part *parts,
                                 ntr_match *match);
/* Returns the branches (bit I: the branch I of at most 64) that only test the result of the others (ntr_match_retests).
 */
uint64_t ntr_builder_retests(ntr_map_builder *b, const ntr_found_branch *found, size_t count);
/* Adds a copy with the branches of a match. Errors: NTR_E_MEMORY. */
ntr_status ntr_builder_keep_stored(ntr_map_builder *b, ntr_decision_record *record,
                                   const ntr_found_branch *const *found, size_t count, const ntr_match *match,
                                   uint32_t load);
ntr_status ntr_builder_keep_lost(ntr_map_builder *b, ntr_decision_record *record, const ntr_found_branch *const *found,
                                 size_t count, const ntr_match *match);
ntr_status ntr_builder_keep(ntr_map_builder *b, ntr_decision_record *record, const ntr_found_branch *const *found,
                            size_t count, const ntr_match *match, const char *reason);

/* Matches the branches inside of an entry of the extents in the order of the source, which code has that was not
 * optimized. Stores whether all of them fit. Errors: NTR_E_MEMORY. */
ntr_status ntr_builder_in_order(ntr_map_builder *b, uint32_t entry, const ntr_found_branch *found, size_t count,
                                bool *done);
/* Adds copies that are not known: of decisions inside of the outermost decision around the branches that have no branch
 * of their own, or of all of them. Errors: NTR_E_MEMORY. */
ntr_status ntr_builder_without_branches(ntr_map_builder *b, const ntr_found_branch *found, size_t count);
ntr_status ntr_builder_unknown(ntr_map_builder *b, const ntr_found_branch *found);

/* Matches all branches that were found (by_place.c). Errors: NTR_E_MEMORY. */
ntr_status ntr_builder_match(ntr_map_builder *b);

#endif
