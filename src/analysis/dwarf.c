#include "analysis/dwarf.h"

#include "analysis/unit_map.h"
#include "analysis/die.h"
#include "analysis/dwarf_package.h"
#include "analysis/dwarf_unit.h"
#include "analysis/dwfl_file.h"
#include "base/allocator.h"
#include "base/macros.h"
#include "base/text.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

typedef struct lazy_unit {
    Dwarf_Die die;
    Dwarf_Die split; /* the unit of the .dwo file to which `die` refers; otherwise `die` */
    bool has_lines;  /* a unit that others import (dwz) shares their line table */
    bool loaded;
    ntr_dwarf_unit tables;
} lazy_unit;

struct ntr_dwarf {
    const ntr_allocator *allocator;
    ntr_damage *damage;
    const char *name; /* of the file, in damage */
    ntr_dwfl_file file;
    uint64_t bias; /* difference between libdw's addresses and those of the file */
    lazy_unit *units;
    size_t unit_count, unit_capacity;
    ntr_unit_map map;
    ntr_dwarf_package *package; /* units of a .dwp file */
    ntr_bytes lines; /* .debug_line */
    ntr_function_symbols symbols;
    ntr_line_row *rows; /* rows of all units, created on first use */
    size_t row_count;
    bool rows_made;
};

static ntr_status add_unit(ntr_dwarf *d, Dwarf_Die *die, const Dwarf_Die *split, bool has_lines) {
    if (ntr_reserve(d->allocator, (void **)&d->units, &d->unit_capacity, d->unit_count + 1, sizeof *d->units))
        return NTR_E_MEMORY;
    d->units[d->unit_count] = (lazy_unit){.die = *die, .split = *split, .has_lines = has_lines};
    Dwarf_Addr base = 0, low, high;
    Dwarf_Attribute table;
    ptrdiff_t at = 0;
    bool damaged = false, has_code = false;
    while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
        has_code = true;
        ntr_status status = ntr_unit_map_add(&d->map, low + d->bias, high + d->bias, (uint32_t)d->unit_count);
        if (status) return status;
    }
    if (dwarf_tag(die) == DW_TAG_invalid)
        ntr_dwarf_damage(d->damage, d->name, NULL, "abbreviations of a unit");
    else if (at < 0 || (!has_code && ntr_die_has_empty_ranges(die)))
        ntr_dwarf_damage(d->damage, d->name, die, "addresses");
    else if ((has_lines && !d->lines.size && ntr_die_own(die, DW_AT_stmt_list, &table, &damaged)) || damaged)
        ntr_dwarf_damage(d->damage, d->name, die, "line table");
    d->unit_count++;
    return NTR_OK;
}

/* A unit of which the compiler has written the functions to another file (-gsplit-dwarf), and that file is not here. */
static void miss_split(ntr_dwarf *d, Dwarf_Die *die) {
    Dwarf_Attribute attribute;
    char name[NTR_NAME_CLEANED_MAX + 1] = "?";
    const char *file = dwarf_formstring(dwarf_attr(die, DW_AT_dwo_name, &attribute));
    if (!file) file = dwarf_formstring(dwarf_attr(die, DW_AT_GNU_dwo_name, &attribute));
    if (file) ntr_name_clean(file, name);
    ntr_damage_add(
        d->damage,
        "%.120s: debug information: %.120s: not found beside the program, in the folder of compilation, or in "
        "a package (.dwp); functions, inlined copies and decisions are missing",
        d->name ? d->name : "", name);
}

/* Returns the size of .debug_info when it is expanded. */
static uint64_t info_size(Dwarf *dw) {
    Elf *elf = dwarf_getelf(dw);
    Elf_Scn *scn = NULL;
    GElf_Shdr header;
    size_t names;
    if (!elf || elf_getshdrstrndx(elf, &names)) return 0;
    while ((scn = elf_nextscn(elf, scn))) {
        const char *name = gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        const Elf_Data *data = name && strstr(name, "debug_info") ? elf_getdata(scn, NULL) : NULL;
        if (data) return data->d_size;
    }
    return 0;
}

/* Returns whether a unit ends inside its section. libdw takes a unit that is longer for the last one. */
static bool is_inside(Dwarf_Die *die, uint64_t size) {
    const Dwarf_Off begin = dwarf_dieoffset(die) - dwarf_cuoffset(die);
    Dwarf_Off end;
    size_t header;
    return dwarf_next_unit(dwarf_cu_getdwarf(die->cu), begin, &end, &header, NULL, NULL, NULL, NULL, NULL, NULL) == 0 &&
           end <= size;
}

/* Where the package of the .dwo files is searched, on first use. */
typedef struct package_place {
    Dwarf *skeletons;
    const char *program, *folders;
    const char *file; /* with the skeletons */
    bool searched;
} package_place;

/* Stores the unit of a skeleton unit without a .dwo file. Returns NTR_END if there is none. */
static ntr_status find_packed(ntr_dwarf *d, package_place *place, Dwarf_Die *die, Dwarf_Die *split) {
    if (!place->searched)
        TRY(ntr_dwarf_package_open(&d->package, &d->file, place->program, place->folders, place->skeletons));
    place->searched = true;
    const ntr_status status = d->package ? ntr_dwarf_package_unit(d->package, die, split) : NTR_END;
    return status ? status : ntr_debug_paths_add(&d->file.paths, ntr_dwarf_package_path(d->package));
}

/* Type units have no code, and repeat the line table of their unit. */
static ntr_status list_units(ntr_dwarf *d, package_place place) {
    Dwarf *const dw = place.skeletons;
    Dwarf_CU *cu = NULL;
    Dwarf_Die die, split;
    uint8_t type;
    int result;
    const uint64_t size = info_size(dw);
    memset(&split, 0, sizeof split);
    while ((result = dwarf_get_units(dw, cu, &cu, NULL, &type, &die, &split)) == 0) {
        if (type == DW_UT_type || type == DW_UT_split_type) continue;
        ntr_status status = NTR_OK;
        if (type == DW_UT_skeleton)
            status = split.addr ? ntr_debug_paths_split(&d->file.paths, place.file, &die)
                                : find_packed(d, &place, &die, &split);
        if (status == NTR_END)
            miss_split(d, &die);
        else if (status)
            return status;
        const bool has_split = type == DW_UT_skeleton && split.addr;
        if (!is_inside(&die, size)) ntr_dwarf_damage(d->damage, d->name, &die, "length of a unit");
        if (has_split && !is_inside(&split, info_size(dwarf_cu_getdwarf(split.cu))))
            ntr_dwarf_damage(d->damage, d->name, &split, "length of a unit");
        TRY(add_unit(d, &die, has_split ? &split : &die, type != DW_UT_partial));
    }
    if (result < 0) ntr_dwarf_damage(d->damage, d->name, NULL, "units after the first ones");
    return ntr_unit_map_finish(&d->map);
}

static ntr_status read_sections(ntr_dwarf *d, Elf *elf) {
    Elf_Scn *scn = NULL;
    GElf_Shdr header;
    size_t names;
    if (!elf || elf_getshdrstrndx(elf, &names)) {
        ntr_dwarf_damage(d->damage, d->name, NULL, "table of sections");
        return NTR_OK;
    }
    while ((scn = elf_nextscn(elf, scn))) {
        const char *name = gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!name) {
            ntr_dwarf_damage(d->damage, d->name, NULL, "header of a section");
            continue;
        }
        const bool has_lines = ntr_dwfl_is_section(name, ".debug_line");
        const Elf_Data *data = has_lines ? elf_getdata(scn, NULL) : NULL;
        if (data) d->lines = (ntr_bytes){data->d_buf, data->d_size};
        if (has_lines && !data) ntr_dwarf_damage(d->damage, d->name, NULL, ".debug_line");
        if ((header.sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) != (SHF_ALLOC | SHF_EXECINSTR) || !header.sh_size) continue;
        const uint64_t low = header.sh_addr + d->bias;
        ntr_status status = ntr_unit_map_add_section(&d->map, low, low + header.sh_size);
        if (status) return status;
    }
    return NTR_OK;
}

ntr_dwarf *ntr_dwarf_open(const ntr_image_info *image, const char *debug_path, ntr_damage *damage,
                          const ntr_limits *limits, const ntr_allocator *allocator) {
    ntr_dwarf *d = ntr_alloc(allocator, 1, sizeof *d);
    if (!d) return NULL;
    d->allocator = allocator;
    d->damage = damage;
    d->name = image->name;
    Dwarf_Addr bias = 0;
    Dwarf *dw = NULL;
    if (ntr_dwfl_file_open(&d->file, image, debug_path, damage, limits, allocator) == NTR_OK && d->file.module)
        dw = ntr_dwfl_file_dwarf(&d->file, &bias);
    d->bias = bias;
    d->map.allocator = d->symbols.allocator = allocator;
    package_place place = {.skeletons = dw, .program = image->path, .folders = debug_path};
    if (dw) dwfl_module_info(d->file.module, NULL, NULL, NULL, NULL, NULL, NULL, &place.file);
    if (!place.file) place.file = image->path;
    if (dw && ntr_function_symbols_read(&d->symbols, d->file.module) == NTR_OK &&
        read_sections(d, dwarf_getelf(dw)) == NTR_OK && list_units(d, place) == NTR_OK) {
        if (d->symbols.damaged) ntr_dwarf_damage(damage, d->name, NULL, "symbols");
        return d;
    }
    ntr_dwarf_close(d);
    return NULL;
}

void ntr_dwarf_close(ntr_dwarf *d) {
    if (!d) return;
    for (size_t i = 0; i < d->unit_count; i++)
        if (d->units[i].loaded) ntr_unit_release(&d->units[i].tables);
    ntr_dealloc(d->allocator, d->units);
    ntr_unit_map_release(&d->map);
    ntr_function_symbols_release(&d->symbols);
    ntr_dealloc(d->allocator, d->rows);
    ntr_dwarf_package_close(d->package);
    ntr_dwfl_file_close(&d->file);
    ntr_dealloc(d->allocator, d);
}

/* A unit and the map that says whose code it is. */
typedef struct unit_owner {
    const ntr_unit_map *map;
    uint32_t unit;
} unit_owner;

static bool owns(const void *user, uint64_t address) {
    const unit_owner *o = user;
    return ntr_unit_map_owns(o->map, o->unit, address);
}

static ntr_unit_source source_of(ntr_dwarf *d, const unit_owner *owner) {
    lazy_unit *u = &d->units[owner->unit];
    return (ntr_unit_source){
        .die = &u->die,
        .scopes = &u->split,
        .bias = d->bias,
        .lines = u->has_lines ? d->lines : (ntr_bytes){0},
        .owns = owns,
        .user = owner,
        .symbols = &d->symbols,
        .damage = d->damage,
        .file = d->name,
    };
}

static ntr_dwarf_unit *load(ntr_dwarf *d, uint32_t index) {
    lazy_unit *u = &d->units[index];
    const unit_owner owner = {&d->map, index};
    const ntr_unit_source source = source_of(d, &owner);
    if (!u->loaded) {
        if (ntr_unit_load(&u->tables, &source, d->allocator) != NTR_OK) return NULL;
        u->loaded = true;
    }
    return &u->tables;
}

static ntr_dwarf_unit *unit_at(ntr_dwarf *d, uint64_t address) {
    const uint32_t unit = ntr_unit_map_unit(&d->map, address);
    return unit == NTR_UNIT_NONE ? NULL : load(d, unit);
}

static ntr_frame frame_of(const ntr_scope *scope) {
    return (ntr_frame){
        .function = scope->name,
        .linkage = scope->linkage,
        .declared_in = scope->declared_file,
        .declared_line = scope->declared_line,
        .entry = scope->entry,
        .size = scope->size,
        .inlined = scope->parent != NTR_SCOPE_NONE,
        .inlined_somewhere = scope->inlined_somewhere,
        .never_returns = scope->never_returns,
        .returns_value = scope->returns_value,
        .artificial = scope->artificial,
        .part = scope->part,
    };
}

size_t ntr_dwarf_frames(ntr_dwarf *d, uint64_t address, ntr_frame *frames, size_t capacity) {
    ntr_dwarf_unit *unit = unit_at(d, address);
    if (!unit) return 0;
    const ntr_line_row *row = ntr_unit_row_at(unit, address);
    const char *file = row ? row->file : NULL;
    uint32_t line = row ? row->line : 0, column = row ? row->column : 0;
    size_t count = 0;
    for (uint32_t at = ntr_unit_scope_at(unit, address); at != NTR_SCOPE_NONE && count < capacity;) {
        const ntr_scope *scope = &unit->scopes[at];
        frames[count] = frame_of(scope);
        frames[count].file = file;
        frames[count].line = line;
        frames[count].column = column;
        if (count == 0 && row) frames[count].discriminator = row->discriminator;
        if (!row && count == 0 && scope->parent == NTR_SCOPE_NONE) { /* Go: a function begins before its first row */
            frames[0].file = scope->declared_file;
            frames[0].line = scope->declared_line;
        }
        count++;
        file = scope->call_file;
        line = scope->call_line;
        column = scope->call_column;
        at = scope->parent;
    }
    return count;
}

ntr_status ntr_dwarf_functions(ntr_dwarf *d, ntr_status (*visit)(void *user, const ntr_frame *function), void *user) {
    for (uint32_t i = 0; i < d->unit_count; i++) {
        const ntr_dwarf_unit *unit = load(d, i);
        if (!unit) return NTR_E_MEMORY;
        for (size_t k = 0; k < unit->scope_count; k++) {
            const ntr_frame frame = frame_of(&unit->scopes[k]);
            ntr_status status = frame.size ? visit(user, &frame) : NTR_OK;
            if (status) return status;
        }
    }
    return NTR_OK;
}

static ntr_status make_rows(ntr_dwarf *d) {
    size_t capacity = 0;
    for (uint32_t i = 0; i < d->unit_count; i++) {
        const ntr_dwarf_unit *unit = load(d, i);
        if (!unit) return NTR_E_MEMORY;
        if (unit->row_count == 0) continue;
        if (ntr_reserve(d->allocator, (void **)&d->rows, &capacity, d->row_count + unit->row_count, sizeof *d->rows))
            return NTR_E_MEMORY;
        memcpy(d->rows + d->row_count, unit->rows, unit->row_count * sizeof *d->rows);
        d->row_count += unit->row_count;
    }
    if (d->row_count) qsort(d->rows, d->row_count, sizeof *d->rows, ntr_line_row_compare);
    d->rows_made = true;
    return NTR_OK;
}

ntr_status ntr_dwarf_lines(ntr_dwarf *d, const ntr_line_row **rows, size_t *count) {
    ntr_status status = d->rows_made ? NTR_OK : make_rows(d);
    *rows = d->rows;
    *count = status ? 0 : d->row_count;
    return status;
}

ntr_status ntr_dwarf_digests(ntr_dwarf *d, ntr_status (*visit)(void *user, const char *file, const uint8_t *md5),
                             void *user) {
    for (uint32_t i = 0; i < d->unit_count; i++) {
        const ntr_dwarf_unit *unit = load(d, i);
        if (!unit) return NTR_E_MEMORY;
        for (size_t k = 0; k < unit->digest_count; k++) {
            ntr_status status = visit(user, unit->digests[k].file, unit->digests[k].md5);
            if (status) return status;
        }
    }
    return NTR_OK;
}

const char *ntr_dwarf_path(const ntr_dwarf *d, size_t index) {
    return index < d->file.paths.count ? d->file.paths.items[index] : NULL;
}

/* ---- functions without code of their own ------------------------------------------------------- */

static int by_linkage(const void *a, const void *b) {
    const ntr_left_out *x = a, *y = b;
    return strcmp(x->linkage, y->linkage);
}

static ntr_status list_left_out(ntr_dwarf *d, ntr_left_out **items, size_t *count) {
    size_t capacity = 0;
    for (uint32_t i = 0; i < d->unit_count; i++) {
        const ntr_dwarf_unit *unit = load(d, i);
        if (!unit ||
            ntr_reserve(d->allocator, (void **)items, &capacity, *count + unit->left_out_count + 1, sizeof **items))
            return NTR_E_MEMORY;
        if (unit->left_out_count) memcpy(*items + *count, unit->left_out, unit->left_out_count * sizeof **items);
        *count += unit->left_out_count;
    }
    if (*count) qsort(*items, *count, sizeof **items, by_linkage);
    return NTR_OK;
}

/* Returns the function that is defined without code and has this linkage name. gcc gives static functions of C++ no
 * linkage name: then the name in it counts ("four" of "_ZL4fouri"). */
static const ntr_left_out *find_left_out(const ntr_left_out *items, size_t count, const char *linkage) {
    char name[NTR_NAME_CLEANED_MAX + 1];
    const ntr_left_out key = {.linkage = linkage};
    const ntr_left_out *found = bsearch(&key, items, count, sizeof *items, by_linkage);
    if (found || strncmp(linkage, "_ZL", 3) != 0) return found;
    char *end;
    const unsigned long size = strtoul(linkage + 3, &end, 10);
    if (!size || size >= sizeof name || strlen(end) < size) return NULL;
    memcpy(name, end, size);
    name[size] = '\0';
    return bsearch(&(ntr_left_out){.linkage = name}, items, count, sizeof *items, by_linkage);
}

/* Returns whether two linkage names are those of one constructor or destructor, such as _ZN1AC1Ev and _ZN1AC2Ev. */
static bool is_variant(const char *a, const char *b) {
    for (char last = 0; *a || *b; last = *a++, b++)
        if (*a != *b && ((last != 'C' && last != 'D') || *a < '0' || *a > '9' || *b < '0' || *b > '9')) return false;
    return true;
}

/* Stores the function whose entry is the address of the symbol, if it is another one than `left`. */
static bool has_other_code(ntr_dwarf *d, const ntr_function_symbol *symbol, const ntr_left_out *left, ntr_frame *kept) {
    ntr_frame frames[NTR_FRAMES_MAX];
    const size_t count = ntr_dwarf_frames(d, symbol->address, frames, NTR_FRAMES_MAX);
    if (!count) return false;
    *kept = frames[count - 1];
    if (kept->entry != symbol->address || !kept->linkage || strcmp(kept->linkage, symbol->name) == 0) return false;
    const bool same_file = left->file && kept->declared_in && strcmp(left->file, kept->declared_in) == 0;
    return !same_file || left->line != kept->declared_line || !is_variant(kept->linkage, symbol->name);
}

ntr_status ntr_dwarf_folded(ntr_dwarf *d,
                            ntr_status (*visit)(void *user, const ntr_frame *folded, const ntr_frame *kept),
                            void *user) {
    ntr_left_out *items = NULL;
    ntr_frame kept;
    size_t count = 0;
    ntr_status status = list_left_out(d, &items, &count);
    for (size_t i = 0; i < d->symbols.count && count && !status; i++) {
        const ntr_function_symbol *symbol = &d->symbols.items[i], *last = i ? symbol - 1 : NULL;
        if (last && last->address == symbol->address && strcmp(last->name, symbol->name) == 0) continue;
        const ntr_left_out *left = find_left_out(items, count, symbol->name);
        if (!left || !has_other_code(d, symbol, left, &kept)) continue;
        const ntr_frame folded = {.function = left->linkage,
                                  .linkage = left->linkage,
                                  .declared_in = left->file,
                                  .declared_line = left->line,
                                  .entry = symbol->address,
                                  .size = kept.size};
        status = visit(user, &folded, &kept);
    }
    ntr_dealloc(d->allocator, items);
    return status;
}

/* ---- units ------------------------------------------------------------------------------------- */

typedef struct unit_tables {
    uint64_t (*ranges)[2];
    size_t range_count, range_capacity;
    ntr_debug_statement *statements;
    size_t statement_count, statement_capacity;
} unit_tables;

static ntr_status unit_ranges(ntr_dwarf *d, uint32_t unit, unit_tables *tables) {
    tables->range_count = 0;
    for (size_t i = 0; i < d->map.range_count; i++) {
        if (d->map.ranges[i].unit != unit) continue;
        if (ntr_reserve(d->allocator, (void **)&tables->ranges, &tables->range_capacity, tables->range_count + 1,
                        sizeof *tables->ranges))
            return NTR_E_MEMORY;
        tables->ranges[tables->range_count][0] = d->map.ranges[i].low;
        tables->ranges[tables->range_count++][1] = d->map.ranges[i].high;
    }
    return NTR_OK;
}

typedef struct statement_adder {
    ntr_dwarf *dwarf;
    unit_tables *tables;
    Dwarf_Files *files;
    size_t file_count;
    bool damaged;
} statement_adder;

static ntr_status add_statement(void *user, const ntr_program_row *row) {
    statement_adder *a = user;
    ntr_dwarf *d = a->dwarf;
    unit_tables *tables = a->tables;
    if (!row->is_statement || !row->line || !row->column) return NTR_OK;
    const char *file = row->file < a->file_count ? dwarf_filesrc(a->files, row->file, NULL, NULL) : NULL;
    if (!file) {
        a->damaged = true;
        return NTR_OK;
    }
    if (ntr_reserve(d->allocator, (void **)&tables->statements, &tables->statement_capacity,
                    tables->statement_count + 1, sizeof *tables->statements))
        return NTR_E_MEMORY;
    tables->statements[tables->statement_count++] = (ntr_debug_statement){
        .address = row->address + d->bias, .file = file, .line = row->line, .column = row->column};
    return NTR_OK;
}

static ntr_status unit_statements(ntr_dwarf *d, uint32_t unit, unit_tables *tables) {
    statement_adder adder = {.dwarf = d, .tables = tables};
    const unit_owner owner = {&d->map, unit};
    const ntr_unit_source source = source_of(d, &owner);
    tables->statement_count = 0;
    if (!ntr_unit_files(&source, &adder.files, &adder.file_count)) return NTR_OK;
    ntr_status status = ntr_unit_rows(&source, add_statement, &adder);
    if (adder.damaged) ntr_dwarf_damage(d->damage, d->name, &d->units[unit].die, "files of the line table");
    return status;
}

ntr_status ntr_dwarf_units(ntr_dwarf *d, ntr_status (*visit)(void *user, const ntr_debug_unit *unit), void *user) {
    unit_tables tables = {0};
    ntr_status status = NTR_OK;
    for (uint32_t i = 0; i < d->unit_count && !status; i++) {
        Dwarf_Die *die = &d->units[i].die, *split = &d->units[i].split;
        if ((status = unit_ranges(d, i, &tables)) != NTR_OK) break;
        if ((status = unit_statements(d, i, &tables)) != NTR_OK) break;
        Dwarf_Attribute table;
        bool damaged = false;
        ntr_debug_unit unit = {
            .name = ntr_die_string(split, DW_AT_name, &damaged),
            .directory = ntr_die_string(die, DW_AT_comp_dir, &damaged),
            .producer = ntr_die_string(split, DW_AT_producer, &damaged),
            .language = ntr_die_number(split, DW_AT_language, &damaged),
            .ranges = (const uint64_t(*)[2])tables.ranges,
            .range_count = tables.range_count,
            .statements = tables.statements,
            .statement_count = tables.statement_count,
        };
        Dwarf_Files *files;
        if (ntr_die_own(die, DW_AT_stmt_list, &table, &damaged) &&
            (dwarf_getsrcfiles(die, &files, NULL) != 0 ||
             dwarf_getsrcdirs(files, &unit.folders, &unit.folder_count) != 0))
            ntr_dwarf_damage(d->damage, d->name, die, "files of the line table");
        if (damaged) ntr_dwarf_damage(d->damage, d->name, die, "attributes of the unit");
        status = visit(user, &unit);
    }
    ntr_dealloc(d->allocator, tables.ranges);
    ntr_dealloc(d->allocator, tables.statements);
    return status;
}
