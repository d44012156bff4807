/* The innermost decision at a place of the source. */
#ifndef NTR_DECISION_EXTENTS_H
#define NTR_DECISION_EXTENTS_H

#include "decision/record.h"

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

#endif
