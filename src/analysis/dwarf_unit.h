/* Tables of one DWARF compilation unit. See dwarf.h. */
#ifndef NTR_ANALYSIS_DWARF_UNIT_H
#define NTR_ANALYSIS_DWARF_UNIT_H

#include <ntrace/allocator.h>
#include <ntrace/debug_info.h>

#include <elfutils/libdw.h>

#include "analysis/texts.h"
#include "base/damage.h"

/* A function, or a function inlined into its parent. */
typedef struct ntr_scope {
    uint32_t parent; /* index of the enclosing scope, or NTR_SCOPE_NONE for a function */
    uint32_t call_line, call_column, declared_line;
    const char *call_file, *declared_file;
    const char *name, *linkage;
    uint64_t entry, size; /* entry address; bytes from there to the end of that range */
    bool inlined_somewhere; /* DW_AT_inline: the compiler has inlined the function */
    bool never_returns;     /* DW_AT_noreturn */
    bool returns_value;     /* DW_AT_type */
} ntr_scope;
#define NTR_SCOPE_NONE UINT32_MAX

/* Range [low, high) of `scope`. After ntr_unit_load ranges are disjoint and sorted. */
typedef struct ntr_scope_range {
    uint64_t low, high;
    uint32_t scope, depth;
} ntr_scope_range;

typedef struct ntr_dwarf_unit {
    const ntr_allocator *allocator;
    ntr_scope *scopes;
    size_t scope_count, scope_capacity;
    ntr_scope_range *ranges; /* disjoint and sorted after loading; nested while loading */
    size_t range_count, range_capacity;
    ntr_line_row *rows;
    size_t row_count, row_capacity;
    const char *directory; /* of compilation; NULL: not known */
    ntr_damage *damage;
    const char *file; /* name of the ELF file, in damage */
    ntr_texts cleaned; /* names in which control characters were replaced, and files with their folder */
} ntr_dwarf_unit;

/* Reads the lines and scopes of the unit. `bias` is added to libdw's addresses. Damaged parts are skipped and
 * added to `damage`. Errors: NTR_E_MEMORY. */
ntr_status ntr_unit_load(ntr_dwarf_unit *unit, Dwarf_Die *die, uint64_t bias, ntr_damage *damage, const char *file,
                         const ntr_allocator *allocator);
void ntr_unit_release(ntr_dwarf_unit *unit);

/* Adds "FILE: unit NAME: WHAT: " and libdw's last error. `unit` may be NULL. */
void ntr_dwarf_damage(ntr_damage *damage, const char *file, Dwarf_Die *unit, const char *what);

/* Stores the line table of a unit. Returns false when it has none, or when the table is damaged, which is added. */
bool ntr_dwarf_lines_of(Dwarf_Die *unit, Dwarf_Lines **lines, size_t *count, ntr_damage *damage, const char *file);

/* Returns the innermost scope at `address`, or NTR_SCOPE_NONE. */
uint32_t ntr_unit_scope_at(const ntr_dwarf_unit *unit, uint64_t address);

/* Returns the row that contains `address`, or NULL. */
const ntr_line_row *ntr_unit_row_at(const ntr_dwarf_unit *unit, uint64_t address);

/* Comparison function for qsort: by address. */
int ntr_line_row_compare(const void *a, const void *b);

#endif
