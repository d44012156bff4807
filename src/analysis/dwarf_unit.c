#include "analysis/dwarf_unit.h"

#include "analysis/die.h"
#include "base/allocator.h"
#include "base/macros.h"
#include "base/text.h"

#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCOPE_DEPTH_MAX = 256 };

/* ---- damage ------------------------------------------------------------------------------------ */

static void damaged(ntr_dwarf_unit *unit, Dwarf_Die *die, const char *what) {
    ntr_dwarf_damage(unit->damage, unit->file, die, what);
}

/* ---- files ------------------------------------------------------------------------------------- */

static const char *call_file(Dwarf_Die *unit, Dwarf_Die *die, bool *damaged) {
    Dwarf_Word number;
    return ntr_die_constant(die, DW_AT_call_file, &number, damaged) ? ntr_die_file(unit, number, damaged) : NULL;
}

/* File of the declaration. dwarf_decl_file treats number 0 as "no file", which is not correct for DWARF 5, and fails an
 * assertion in units of .dwo files. */
static const char *declared_file(Dwarf_Die *die, bool *damaged) {
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    Dwarf_Die unit;
    Dwarf_Half version;
    if (!ntr_die_any(die, DW_AT_decl_file, &attribute, damaged)) return NULL;
    if (dwarf_formudata(&attribute, &number) != 0 ||
        !dwarf_cu_die(attribute.cu, &unit, &version, NULL, NULL, NULL, NULL, NULL)) {
        *damaged = true;
        return NULL;
    }
    return number == 0 && version < 5 ? NULL : ntr_die_file(&unit, number, damaged);
}

/* ---- scopes ------------------------------------------------------------------------------------ */

/* The parent of scopes in code that is not of this unit. */
#define SCOPE_LEFT_OUT (NTR_SCOPE_NONE - 1)

/* A function in a class, a namespace or another function, without a linkage name. */
typedef struct member_name {
    Dwarf_Off die;
    const char *name; /* "outer::inner" */
} member_name;

/* An inlined scope whose name is a member_name; it may be read later. `dies`: the origin, and its declaration or 0. */
typedef struct nameless_scope {
    uint32_t scope;
    Dwarf_Off dies[2];
} nameless_scope;

typedef struct die_walk {
    ntr_dwarf_unit *unit;
    const ntr_unit_source *source;
    member_name *members; /* sorted by `die` */
    size_t member_count, member_capacity;
    nameless_scope *nameless;
    size_t nameless_count, nameless_capacity;
    bool damaged; /* an entry, or an attribute of it */
} die_walk;

/* An entry and those that contain it. */
typedef struct die_path {
    const struct die_path *outer;
    Dwarf_Die *die;
} die_path;

/* Returns whether a value is an address, or its number in .debug_addr. */
static bool is_address(Dwarf_Attribute *attribute) {
    static const unsigned forms[] = {DW_FORM_addr,   DW_FORM_addrx,  DW_FORM_addrx1,        DW_FORM_addrx2,
                                     DW_FORM_addrx3, DW_FORM_addrx4, DW_FORM_GNU_addr_index};
    for (size_t i = 0; i < NTR_COUNT(forms); i++)
        if (dwarf_whatform(attribute) == forms[i]) return true;
    return false;
}

/* Returns the entry address of a scope in libdw's addresses. `first` is its lowest address; in DWARF 5 the entry may be
 * an offset from it. */
static Dwarf_Addr entry_of(Dwarf_Die *die, Dwarf_Addr first, bool *damaged) {
    Dwarf_Attribute attribute;
    Dwarf_Addr address;
    Dwarf_Word offset;
    if (!ntr_die_own(die, DW_AT_entry_pc, &attribute, damaged)) return first;
    if (dwarf_formaddr(&attribute, &address) == 0) return address;
    if (!is_address(&attribute) && dwarf_formudata(&attribute, &offset) == 0) return first + offset;
    *damaged = true;
    return first;
}

static ntr_status add_range(die_walk *w, uint64_t low, uint64_t high, uint32_t scope, uint32_t depth) {
    ntr_dwarf_unit *u = w->unit;
    if (high <= low) return NTR_OK;
    if (ntr_reserve(u->allocator, (void **)&u->ranges, &u->range_capacity, u->range_count + 1, sizeof *u->ranges))
        return NTR_E_MEMORY;
    u->ranges[u->range_count++] = (ntr_scope_range){low + w->source->bias, high + w->source->bias, scope, depth};
    return NTR_OK;
}

static bool owns(const ntr_unit_source *source, Dwarf_Addr address) {
    return source->owns(source->user, address + source->bias);
}

/* Returns the end of a range. For RISC-V, assemblers leave the sizes in .dwo files to the linker, which does not see
 * these files. The size of a function is then that of its symbol. */
static Dwarf_Addr end_of(die_walk *w, Dwarf_Die *die, Dwarf_Addr low, Dwarf_Addr high) {
    if (high != low || w->source->scopes == w->source->die || dwarf_tag(die) != DW_TAG_subprogram) return high;
    return low + ntr_function_symbols_size(w->source->symbols, low + w->source->bias);
}

/* Adds the address ranges of a scope. The entry is not always in the lowest range; the size of the scope is that of the
 * range with the entry. Ranges of code that the linker has discarded, or kept from another unit, are left out. */
static ntr_status add_ranges(die_walk *w, Dwarf_Die *die, uint32_t scope, uint32_t depth) {
    ntr_scope *s = &w->unit->scopes[scope];
    const uint64_t bias = w->source->bias;
    Dwarf_Addr base = 0, low, high, entry = 0;
    ptrdiff_t at = 0;
    while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
        high = end_of(w, die, low, high);
        if (high <= low || !owns(w->source, low)) continue;
        ntr_status status = add_range(w, low, high, scope, depth);
        if (status) return status;
        bool first = s->size == 0;
        if (first) entry = entry_of(die, low, &w->damaged);
        bool has_entry = entry >= low && entry < high;
        if (!first && !has_entry) continue;
        s->entry = (has_entry ? entry : low) + bias;
        s->size = high + bias - s->entry;
    }
    if (at < 0) damaged(w->unit, w->source->scopes, "addresses of a function");
    return NTR_OK;
}

/* Returns the first row at or after `address`, or NULL. */
static const ntr_line_row *row_after(const ntr_dwarf_unit *unit, uint64_t address) {
    size_t low = 0, high = unit->row_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const ntr_line_row *row = &unit->rows[middle];
        if (address >= row->address && address - row->address >= row->size)
            low = middle + 1;
        else
            high = middle;
    }
    return low < unit->row_count ? &unit->rows[low] : NULL;
}

/* Also of an instance of a template: operator()<int>. */
static bool is_call_operator(const char *name) {
    return name && strncmp(name, "operator()", strlen("operator()")) == 0;
}

/* gcc gives an instance of a generic lambda no place. It is that of the class of the lambda, to which operator() has a
 * pointer. */
static void declare_as_class(die_walk *w, ntr_scope *scope, Dwarf_Die *die, const char *name) {
    enum { TYPES_MAX = 8 }; /* parameter, const, pointer, class */
    Dwarf_Attribute attribute;
    Dwarf_Die at;
    if (scope->declared_line || !is_call_operator(name)) return;
    if (!ntr_die_any(die, DW_AT_object_pointer, &attribute, &w->damaged)) return;
    if (!ntr_die_entry(&attribute, &at, &w->damaged)) return;
    for (unsigned i = 0; i < TYPES_MAX; i++) {
        const int tag = ntr_die_tag(&at, &w->damaged);
        if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type) break;
        if (!ntr_die_any(&at, DW_AT_type, &attribute, &w->damaged)) return;
        if (!ntr_die_entry(&attribute, &at, &w->damaged)) return;
    }
    scope->declared_file = ntr_unit_shown_file(w->unit, declared_file(&at, &w->damaged));
    scope->declared_line = scope->declared_file ? ntr_die_number(&at, DW_AT_decl_line, &w->damaged) : 0;
}

/* Functions that a compiler has made (wrappers of Go) have no line of declaration. It is then that of their first row.
 */
static void complete_declaration(ntr_dwarf_unit *u, ntr_scope *scope) {
    const ntr_line_row *row = scope->declared_line || !scope->size ? NULL : row_after(u, scope->entry);
    if (!row || !row->file || (row->address > scope->entry && row->address - scope->entry >= scope->size)) return;
    scope->declared_file = row->file;
    scope->declared_line = row->line;
}

/* DW_AT_inline is that of the abstract function, to which its copies refer. */
static bool was_inlined(die_walk *w, Dwarf_Die *die) {
    const Dwarf_Word kind = ntr_die_number(die, DW_AT_inline, &w->damaged);
    return kind == DW_INL_inlined || kind == DW_INL_declared_inlined;
}

/* gcc marks lambdas, which are in the source. */
static bool is_artificial(die_walk *w, Dwarf_Die *die, const char *name) {
    return ntr_die_flag(die, DW_AT_artificial, &w->damaged) && !is_call_operator(name);
}

/* Returns the offset of the entry to which an attribute refers, and the entry; or 0. */
static Dwarf_Off referred(Dwarf_Die *die, unsigned name, Dwarf_Die *entry, bool *damaged) {
    Dwarf_Attribute attribute;
    if (!ntr_die_own(die, name, &attribute, damaged)) return 0;
    return ntr_die_entry(&attribute, entry, damaged) ? dwarf_dieoffset(entry) : 0;
}

/* Remembers that an inlined scope has no linkage name. */
static ntr_status add_nameless(die_walk *w, Dwarf_Die *die, uint32_t scope) {
    Dwarf_Die origin, declaration;
    nameless_scope added = {.scope = scope};
    if (!(added.dies[0] = referred(die, DW_AT_abstract_origin, &origin, &w->damaged))) return NTR_OK;
    added.dies[1] = referred(&origin, DW_AT_specification, &declaration, &w->damaged);
    if (ntr_reserve(w->unit->allocator, (void **)&w->nameless, &w->nameless_capacity, w->nameless_count + 1,
                    sizeof *w->nameless))
        return NTR_E_MEMORY;
    w->nameless[w->nameless_count++] = added;
    return NTR_OK;
}

static int member_compare(const void *a, const void *b) {
    const member_name *x = a, *y = b;
    return x->die < y->die ? -1 : x->die > y->die;
}

static void name_nameless(die_walk *w) {
    for (size_t i = 0; i < w->nameless_count && w->member_count; i++) {
        const member_name *found = NULL;
        for (unsigned k = 0; k < 2 && !found; k++) {
            const member_name key = {.die = w->nameless[i].dies[k]};
            found = bsearch(&key, w->members, w->member_count, sizeof key, member_compare);
        }
        if (!found) continue;
        ntr_scope *scope = &w->unit->scopes[w->nameless[i].scope];
        scope->name = scope->linkage = found->name;
    }
}

/* Writes the names of the entries of a path, with "::" between them. A class without a name has its place; that of a
 * lambda has operator(). Returns the length. */
static size_t write_path(die_walk *w, const die_path *path, bool in_lambda, char *text, size_t size) {
    size_t length = path->outer ? write_path(w, path->outer, in_lambda, text, size) : 0;
    const int tag = ntr_die_tag(path->die, &w->damaged);
    char place[64];
    if (tag == DW_TAG_lexical_block || tag == DW_TAG_compile_unit || tag == DW_TAG_partial_unit) return length;
    const char *name = ntr_die_string(path->die, DW_AT_name, &w->damaged);
    snprintf(place, sizeof place, "{%s at %u:%u}", in_lambda ? "lambda" : "unnamed",
             ntr_die_number(path->die, DW_AT_decl_line, &w->damaged),
             ntr_die_number(path->die, DW_AT_decl_column, &w->damaged));
    if (!name) name = tag == DW_TAG_namespace ? "(anonymous namespace)" : place;
    const int added = snprintf(text + length, size - length, "%s%s", length ? "::" : "", name);
    return added < 0 || (size_t)added >= size - length ? size - 1 : length + (size_t)added;
}

/* Remembers the name of a function that has no linkage name and is not at the top level. Names that are too long to be
 * written are left out, also when nothing else tells them apart. */
static ntr_status add_member(die_walk *w, const die_path *path) {
    char text[1024], cleaned[NTR_NAME_CLEANED_MAX + 1];
    ntr_dwarf_unit *u = w->unit;
    const char *name = ntr_die_string(path->die, DW_AT_name, &w->damaged);
    if (!name || u->cleaned.count >= NTR_UNIT_CLEANED_MAX) return NTR_OK;
    if (ntr_die_string(path->die, DW_AT_linkage_name, &w->damaged)) return NTR_OK;
    if (write_path(w, path, is_call_operator(name), text, sizeof text) >= sizeof text - 1) return NTR_OK;
    ntr_name_clean(text, cleaned);
    if (strcmp(cleaned, name) == 0) return NTR_OK;
    if (ntr_reserve(u->allocator, (void **)&w->members, &w->member_capacity, w->member_count + 1, sizeof *w->members))
        return NTR_E_MEMORY;
    const char *kept = ntr_texts_keep(&u->cleaned, cleaned);
    if (!kept) return NTR_E_MEMORY;
    w->members[w->member_count++] = (member_name){dwarf_dieoffset(path->die), kept};
    return NTR_OK;
}

/* Returns whether a scope is a part of its function. What gcc splits off can be inlined into the rest again: then the
 * function seems to call itself at its own name. */
static bool is_part(die_walk *w, Dwarf_Die *die, const ntr_scope *s) {
    if (s->parent == NTR_SCOPE_NONE) return s->size && ntr_function_symbols_is_part(w->source->symbols, s->entry);
    const ntr_scope *parent = &w->unit->scopes[s->parent];
    return s->call_line && s->call_line == s->declared_line && parent->declared_line == s->declared_line &&
           s->call_column == ntr_die_number(die, DW_AT_decl_column, &w->damaged) && s->name && parent->name &&
           strcmp(s->name, parent->name) == 0;
}

static ntr_status add_scope(die_walk *w, Dwarf_Die *die, uint32_t parent, uint32_t depth, uint32_t *index) {
    ntr_dwarf_unit *u = w->unit;
    if (ntr_reserve(u->allocator, (void **)&u->scopes, &u->scope_capacity, u->scope_count + 1, sizeof *u->scopes))
        return NTR_E_MEMORY;
    bool *const damaged = &w->damaged;
    Dwarf_Attribute type;
    *index = (uint32_t)u->scope_count++;
    ntr_scope *s = &u->scopes[*index];
    const char *linkage = ntr_die_string(die, DW_AT_linkage_name, damaged);
    if (!linkage) linkage = ntr_die_string(die, DW_AT_MIPS_linkage_name, damaged);
    const char *name = ntr_die_string(die, DW_AT_name, damaged);
    if (!name && !ntr_die_ends(die)) *damaged = true;
    *s = (ntr_scope){
        .parent = parent,
        .name = ntr_unit_shown(u, name),
        .declared_file = ntr_unit_shown_file(u, declared_file(die, damaged)),
        .declared_line = ntr_die_number(die, DW_AT_decl_line, damaged),
        .inlined_somewhere = was_inlined(w, die),
        .never_returns = parent == NTR_SCOPE_NONE && ntr_die_flag(die, DW_AT_noreturn, damaged),
        .returns_value = ntr_die_any(die, DW_AT_type, &type, damaged),
        .artificial = is_artificial(w, die, name),
    };
    if (parent != NTR_SCOPE_NONE) {
        s->call_file = ntr_unit_shown_file(u, call_file(w->source->scopes, die, damaged));
        s->call_line = ntr_die_number(die, DW_AT_call_line, damaged);
        s->call_column = ntr_die_number(die, DW_AT_call_column, damaged);
    }
    ntr_status status = add_ranges(w, die, *index, depth);
    declare_as_class(w, s, die, name);
    complete_declaration(u, s);
    s->part = is_part(w, die, s);
    if (!linkage && s->size && parent == NTR_SCOPE_NONE)
        linkage = ntr_function_symbols_linkage(w->source->symbols, s->entry, name);
    s->linkage = ntr_unit_shown(u, linkage ? linkage : name);
    if (!status && !linkage && parent != NTR_SCOPE_NONE) status = add_nameless(w, die, *index);
    return status;
}

static bool is_concrete(Dwarf_Die *die, int tag, bool *damaged) {
    Dwarf_Attribute attribute;
    if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) return false;
    return ntr_die_own(die, DW_AT_low_pc, &attribute, damaged) || ntr_die_own(die, DW_AT_ranges, &attribute, damaged);
}

/* Returns whether the unit owns some code of a function. */
static bool has_code(die_walk *w, Dwarf_Die *die) {
    Dwarf_Addr base = 0, low, high;
    for (ptrdiff_t at = 0; (at = ntr_die_ranges(die, at, &base, &low, &high, &w->damaged)) > 0;)
        if (end_of(w, die, low, high) > low && owns(w->source, low)) return true;
    return false;
}

static ntr_status add_left_out(die_walk *w, Dwarf_Die *die) {
    ntr_dwarf_unit *u = w->unit;
    const char *linkage = ntr_die_string(die, DW_AT_linkage_name, &w->damaged);
    if (!linkage) linkage = ntr_die_string(die, DW_AT_name, &w->damaged);
    if (!linkage) {
        w->damaged |= !ntr_die_ends(die);
        return NTR_OK;
    }
    if (ntr_reserve(u->allocator, (void **)&u->left_out, &u->left_out_capacity, u->left_out_count + 1,
                    sizeof *u->left_out))
        return NTR_E_MEMORY;
    u->left_out[u->left_out_count++] = (ntr_left_out){linkage, ntr_unit_shown_file(u, declared_file(die, &w->damaged)),
                                                      ntr_die_number(die, DW_AT_decl_line, &w->damaged)};
    return NTR_OK;
}

/* Returns whether a function of the source has no code in this unit: it was inlined everywhere, or gcc has folded it
 * with an equal one (-fipa-icf) and its symbol is at that one. */
static bool is_defined_without_code(Dwarf_Die *die, bool *damaged) {
    Dwarf_Attribute attribute;
    return !is_concrete(die, DW_TAG_subprogram, damaged) && !ntr_die_flag(die, DW_AT_declaration, damaged) &&
           !ntr_die_own(die, DW_AT_abstract_origin, &attribute, damaged);
}

/* Adds the scope of a DIE, if it is one, and stores the parent of the scopes in it. A function in a left out one, such
 * as a method of a local class, has code of its own. */
static ntr_status add_if_scope(die_walk *w, Dwarf_Die *die, uint32_t parent, uint32_t depth, uint32_t *scope) {
    const int tag = ntr_die_tag(die, &w->damaged);
    const bool is_function = tag == DW_TAG_subprogram;
    *scope = parent;
    if (is_function && is_defined_without_code(die, &w->damaged)) return add_left_out(w, die);
    if (!is_concrete(die, tag, &w->damaged) || (!is_function && parent == SCOPE_LEFT_OUT)) return NTR_OK;
    if (is_function && !has_code(w, die)) {
        *scope = SCOPE_LEFT_OUT;
        return add_left_out(w, die);
    }
    return add_scope(w, die, is_function ? NTR_SCOPE_NONE : parent, depth, scope);
}

/* Returns the row of the iterator of a range-based for in the code [low, stop), which begins with the range; or NULL.
 * All that is implicit has its place: the colon before the range. */
static const ntr_line_row *colon_row(const ntr_dwarf_unit *u, uint64_t low, uint64_t stop) {
    const ntr_line_row *const range = row_after(u, low), *const end = u->rows + u->row_count;
    for (const ntr_line_row *row = range; row && row < end && row->address < stop; row++) {
        if (row->column == range->column) continue;
        return row->line == range->line && row->file == range->file && row->column < range->column ? row : NULL;
    }
    return NULL;
}

/* Marks the rows of the test and the step of a range-based for of clang: `variable` is the iterator in the block. */
static void mark_implicit(die_walk *w, Dwarf_Die *block, Dwarf_Die *variable) {
    static const char iterator[] = "__begin";
    ntr_dwarf_unit *u = w->unit;
    const char *name = ntr_die_string(variable, DW_AT_name, &w->damaged);
    const ntr_line_row *colon = NULL;
    Dwarf_Addr base = 0, low, high;
    if (!name || strncmp(name, iterator, sizeof iterator - 1) != 0 ||
        !ntr_die_flag(variable, DW_AT_artificial, &w->damaged))
        return;
    if (ntr_die_tag(block, &w->damaged) != DW_TAG_lexical_block) return;
    for (ptrdiff_t at = 0; (at = ntr_die_ranges(block, at, &base, &low, &high, &w->damaged)) > 0;) {
        const uint64_t stop = high + w->source->bias;
        const ntr_line_row *const first = row_after(u, low + w->source->bias);
        if (!colon && !(colon = colon_row(u, low + w->source->bias, stop))) return;
        const ntr_line_row place = *colon;
        for (size_t i = first ? (size_t)(first - u->rows) : u->row_count; i < u->row_count; i++) {
            ntr_line_row *row = &u->rows[i];
            if (row->address >= stop) break;
            row->implicit |= row->line == place.line && row->column == place.column && row->file == place.file;
        }
    }
}

/* Scopes that are deeper are left out. */
static ntr_status too_deep(die_walk *w) {
    damaged(w->unit, w->source->scopes, "entries more than 256 deep");
    return NTR_OK;
}

static ntr_status walk_children(die_walk *w, const die_path *outer, uint32_t parent, uint32_t depth) {
    Dwarf_Die die;
    const die_path path = {outer, &die};
    (void)dwarf_errno(); /* forget older errors */
    int more = dwarf_child(outer->die, &die);
    for (; more == 0; more = dwarf_siblingof(&die, &die)) {
        uint32_t scope;
        const int tag = dwarf_tag(&die);
        if (tag == DW_TAG_invalid) break;
        if (w->unit->by_llvm && tag == DW_TAG_variable) mark_implicit(w, outer->die, &die);
        ntr_status status = add_if_scope(w, &die, parent, depth, &scope);
        if (!status && scope == parent && tag == DW_TAG_subprogram) status = add_member(w, &path);
        if (!status && dwarf_haschildren(&die))
            status = depth < SCOPE_DEPTH_MAX ? walk_children(w, &path, scope, depth + 1) : too_deep(w);
        if (status) return status;
    }
    if (more <= 0) damaged(w->unit, w->source->scopes, "entries");
    return NTR_OK;
}

/* Sorts ranges by address; an enclosing range precedes those nested in it. */
static int range_compare(const void *a, const void *b) {
    const ntr_scope_range *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high > y->high ? -1 : 1;
    return x->depth < y->depth ? -1 : x->depth > y->depth;
}

/* Converts nested ranges to disjoint ones. Each address belongs to its innermost scope. */
static ntr_status flatten(ntr_dwarf_unit *u) {
    ntr_scope_range *flat = NULL, *stack = NULL;
    size_t count = 0, capacity = 0, depth = 0, stack_capacity = 0;
    uint64_t at = 0;
    ntr_status status = NTR_E_MEMORY;
    if (u->range_count) qsort(u->ranges, u->range_count, sizeof *u->ranges, range_compare);
    for (size_t i = 0; i <= u->range_count; i++) {
        const ntr_scope_range *next = i < u->range_count ? &u->ranges[i] : NULL;
        while (depth && (!next || stack[depth - 1].high <= next->low)) {
            ntr_scope_range *top = &stack[--depth];
            if (top->high <= at) continue;
            if (ntr_reserve(u->allocator, (void **)&flat, &capacity, count + 1, sizeof *flat)) goto out;
            flat[count++] = (ntr_scope_range){at, top->high, top->scope, top->depth};
            at = top->high;
        }
        if (!next) break;
        if (depth && at < next->low) {
            if (ntr_reserve(u->allocator, (void **)&flat, &capacity, count + 1, sizeof *flat)) goto out;
            flat[count++] = (ntr_scope_range){at, next->low, stack[depth - 1].scope, stack[depth - 1].depth};
        }
        if (at < next->low) at = next->low;
        if (ntr_reserve(u->allocator, (void **)&stack, &stack_capacity, depth + 1, sizeof *stack)) goto out;
        stack[depth++] = *next;
    }
    status = NTR_OK;
out:
    ntr_dealloc(u->allocator, stack);
    if (status) {
        ntr_dealloc(u->allocator, flat);
        return status;
    }
    ntr_dealloc(u->allocator, u->ranges);
    u->ranges = flat;
    u->range_count = count;
    u->range_capacity = capacity;
    return NTR_OK;
}

static bool is_of_llvm(const char *producer) {
    static const char *const names[] = {"clang", "LLVM", "LDC", "flang", "Swift"};
    for (size_t i = 0; producer && i < NTR_COUNT(names); i++)
        if (strstr(producer, names[i])) return true;
    return false;
}

/* The last level counts, as on the command line. */
static bool names_optimization(const char *producer) {
    bool optimized = false;
    for (const char *at = producer ? strstr(producer, " -O") : NULL; at; at = strstr(at + 1, " -O"))
        optimized = at[strlen(" -O")] != '0';
    return optimized;
}

ntr_status ntr_unit_load(ntr_dwarf_unit *unit, const ntr_unit_source *source, const ntr_allocator *allocator) {
    die_walk w = {.unit = unit, .source = source};
    const die_path path = {NULL, source->scopes};
    *unit = (ntr_dwarf_unit){
        .allocator = allocator, .damage = source->damage, .file = source->file, .cleaned = {.allocator = allocator}};
    unit->directory = ntr_die_string(source->die, DW_AT_comp_dir, &w.damaged);
    const char *producer = ntr_die_string(source->scopes, DW_AT_producer, &w.damaged);
    unit->optimized = names_optimization(producer);
    unit->by_llvm = is_of_llvm(producer);
    ntr_status status = ntr_unit_load_lines(unit, source);
    if (!status) status = walk_children(&w, &path, NTR_SCOPE_NONE, 0);
    if (w.damaged) damaged(unit, source->scopes, "attributes of entries");
    /* the linker has kept lines of this unit, and no function of its .dwo file */
    if (source->scopes != source->die && unit->row_count && !unit->scope_count && unit->left_out_count)
        damaged(unit, source->scopes, "addresses of the functions");
    name_nameless(&w);
    ntr_dealloc(allocator, w.members);
    ntr_dealloc(allocator, w.nameless);
    if (!status) status = flatten(unit);
    if (status) ntr_unit_release(unit);
    return status;
}

void ntr_unit_release(ntr_dwarf_unit *unit) {
    ntr_texts_release(&unit->cleaned);
    ntr_dealloc(unit->allocator, unit->scopes);
    ntr_dealloc(unit->allocator, unit->ranges);
    ntr_dealloc(unit->allocator, unit->rows);
    ntr_dealloc(unit->allocator, unit->digests);
    ntr_dealloc(unit->allocator, unit->left_out);
    *unit = (ntr_dwarf_unit){.allocator = unit->allocator};
}

uint32_t ntr_unit_scope_at(const ntr_dwarf_unit *unit, uint64_t address) {
    size_t low = 0, high = unit->range_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const ntr_scope_range *range = &unit->ranges[middle];
        if (address < range->low)
            high = middle;
        else if (address >= range->high)
            low = middle + 1;
        else
            return range->scope;
    }
    return NTR_SCOPE_NONE;
}

const ntr_line_row *ntr_unit_row_at(const ntr_dwarf_unit *unit, uint64_t address) {
    const ntr_line_row *row = row_after(unit, address);
    return row && row->address <= address ? row : NULL;
}
