/* Tables of one DWARF compilation unit. See dwarf.h. */
#ifndef NTR_ANALYSIS_DWARF_UNIT_H
#define NTR_ANALYSIS_DWARF_UNIT_H

#include <ntrace/allocator.h>
#include <ntrace/debug_info.h>

#include <elfutils/libdw.h>

#include "analysis/function_symbols.h"
#include "analysis/line_program.h"
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
    bool artificial;        /* DW_AT_artificial: the source does not have the function */
    bool part;              /* code that the compiler has split off the function; the function is not entered here */
} ntr_scope;
#define NTR_SCOPE_NONE UINT32_MAX

/* Range [low, high) of `scope`. After ntr_unit_load ranges are disjoint and sorted. */
typedef struct ntr_scope_range {
    uint64_t low, high;
    uint32_t scope, depth;
} ntr_scope_range;

/* A file of the line table that has rows, with its MD5. */
typedef struct ntr_digest {
    const char *file;
    const uint8_t *md5; /* 16 bytes, in .debug_line */
} ntr_digest;

/* A function that is defined, and has no code of its own: the linker has discarded its section, or kept an equal one.
 */
typedef struct ntr_left_out {
    const char *linkage, *file;
    uint32_t line;
} ntr_left_out;

typedef struct ntr_dwarf_unit {
    const ntr_allocator *allocator;
    ntr_scope *scopes;
    size_t scope_count, scope_capacity;
    ntr_scope_range *ranges; /* disjoint and sorted after loading; nested while loading */
    size_t range_count, range_capacity;
    ntr_line_row *rows;
    size_t row_count, row_capacity;
    ntr_digest *digests;
    size_t digest_count, digest_capacity;
    ntr_left_out *left_out;
    size_t left_out_count, left_out_capacity;
    const char *directory; /* of compilation; NULL: not known */
    bool by_llvm, optimized; /* ntr_line_row */
    ntr_damage *damage;
    const char *file; /* name of the ELF file, in damage */
    ntr_texts cleaned; /* names in which control characters were replaced, and files with their folder */
} ntr_dwarf_unit;

/* Where the tables of a unit are read. */
typedef struct ntr_unit_source {
    Dwarf_Die *die;    /* lines and the folder of compilation */
    Dwarf_Die *scopes; /* functions: `die`, or the unit of a .dwo file to which it refers */
    uint64_t bias;     /* is added to libdw's addresses */
    ntr_bytes lines;   /* .debug_line; empty: no rows */
    bool (*owns)(const void *user, uint64_t address); /* whether the code at an address is of this unit */
    const void *user;
    const ntr_function_symbols *symbols; /* of the file, without a bias */
    ntr_damage *damage;
    const char *file; /* name of the ELF file, in damage */
} ntr_unit_source;

/* Reads the lines and scopes of the code that the unit owns. Damaged parts are skipped and added to `damage`.
 * Errors: NTR_E_MEMORY. */
ntr_status ntr_unit_load(ntr_dwarf_unit *unit, const ntr_unit_source *source, const ntr_allocator *allocator);
void ntr_unit_release(ntr_dwarf_unit *unit);

/* ---- parts of ntr_unit_load: unit_lines.c ------------------------------------------------------ */

/* Longest list of names that a unit keeps; a name beyond it is "?". */
#define NTR_UNIT_CLEANED_MAX (1 << 14)
/* Returns the name with control characters replaced. NULL remains NULL. Equal names have equal results. */
const char *ntr_unit_shown(ntr_dwarf_unit *unit, const char *name);
/* The same for a file, in which tabs and line feeds remain: the name finds the file. A name that is relative to the
 * folder of compilation becomes absolute: clang writes such folders into line tables, and the folder of the caller is
 * another one. "FOLDER/.." is removed: each file has one name. */
const char *ntr_unit_shown_file(ntr_dwarf_unit *unit, const char *name);
/* Reads the rows of the unit. Errors: NTR_E_MEMORY. */
ntr_status ntr_unit_load_lines(ntr_dwarf_unit *unit, const ntr_unit_source *source);

/* Adds "FILE: unit NAME: WHAT: " and libdw's last error. `unit` may be NULL. */
void ntr_dwarf_damage(ntr_damage *damage, const char *file, Dwarf_Die *unit, const char *what);

/* Calls `visit` for each row of the unit's line table that is of code it owns, also for rows without an instruction.
 * Addresses are libdw's. Damage is added. A result of `visit` other than NTR_OK stops the iteration and is returned. */
ntr_status ntr_unit_rows(const ntr_unit_source *source, ntr_status (*visit)(void *user, const ntr_program_row *row),
                         void *user);

/* Stores the files of the unit's line table. Returns false when it has none, or when they are damaged, which is added.
 */
bool ntr_unit_files(const ntr_unit_source *source, Dwarf_Files **files, size_t *count);

/* Returns the innermost scope at `address`, or NTR_SCOPE_NONE. */
uint32_t ntr_unit_scope_at(const ntr_dwarf_unit *unit, uint64_t address);

/* Returns the row that contains `address`, or NULL. */
const ntr_line_row *ntr_unit_row_at(const ntr_dwarf_unit *unit, uint64_t address);

/* Comparison function for qsort: by address. */
int ntr_line_row_compare(const void *a, const void *b);

#endif
