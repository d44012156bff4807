/* Names, damage and lines of a compilation unit. */
#include "analysis/dwarf_unit.h"

#include "analysis/die.h"
#include "base/allocator.h"
#include "base/text.h"

#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ntr_unit_shown(ntr_dwarf_unit *unit, const char *name) {
    char cleaned[NTR_NAME_CLEANED_MAX + 1];
    if (!name || ntr_name_is_clean(name)) return name;
    ntr_name_clean(name, cleaned);
    const char *kept = unit->cleaned.count < NTR_UNIT_CLEANED_MAX ? ntr_texts_keep(&unit->cleaned, cleaned) : NULL;
    return kept ? kept : "?";
}

/* Copies a path with '?' for what controls a terminal, except for tabs and line feeds. Returns false when there is
 * nothing to replace, or when the path is too long. */
static bool clean_path(const char *path, char cleaned[PATH_MAX]) {
    bool found = false;
    size_t size = 0;
    while (*path) {
        const size_t hazard = *path == '\t' || *path == '\n' ? 0 : ntr_text_hazard(path);
        const size_t length = hazard ? 1 : ntr_text_step(path);
        if (size + length >= PATH_MAX) break;
        memcpy(cleaned + size, hazard ? "?" : path, length);
        size += length;
        path += hazard ? hazard : length;
        found |= hazard != 0;
    }
    cleaned[size] = '\0';
    return found && !*path;
}

/* Removes "//", "/./" and "FOLDER/.." from a path: `../inc/a.h` of two folders is one file. As in lcov and gcovr, links
 * to folders are not followed. Example: "/a/b/../c//d.h" becomes "/a/c/d.h", "../x/../y.h" becomes "../y.h". */
static void join_folders(char *path) {
    const char *from = path;
    char *to = path, *kept = path; /* before `kept` is nothing that ".." removes */

    if (*from == '/') *to++ = *from++, kept = to;
    while (*from) {
        const size_t size = strcspn(from, "/");
        const bool up = size == 2 && from[0] == '.' && from[1] == '.', here = size == 1 && from[0] == '.' && to != path;
        if (up && to > kept) {
            do to--;
            while (to > kept && to[-1] != '/');
        } else if (size && !here && !(up && *path == '/')) {
            memmove(to, from, size);
            to += size;
            if (from[size]) *to++ = '/';
            if (up || (size == 1 && from[0] == '.')) kept = to;
        }
        from += size + (from[size] == '/');
    }
    *to = '\0';
}

const char *ntr_unit_shown_file(ntr_dwarf_unit *unit, const char *name) {
    char path[PATH_MAX], cleaned[PATH_MAX];
    if (!name || strlen(name) >= PATH_MAX) return ntr_unit_shown(unit, name);
    const char *shown = name;
    if (name[0] != '/' && unit->directory && unit->directory[0] == '/') {
        const int size = snprintf(path, sizeof path, "%s/%s", unit->directory, name);
        if (size >= 0 && (size_t)size < sizeof path) shown = path;
    }
    if (strstr(shown, "/.") || strstr(shown, "//")) {
        if (shown == name) memcpy(path, name, strlen(name) + 1);
        shown = path;
        join_folders(path);
    }
    if (clean_path(shown, cleaned))
        shown = cleaned;
    else if (shown != path)
        return name;
    const char *kept = unit->cleaned.count < NTR_UNIT_CLEANED_MAX ? ntr_texts_keep(&unit->cleaned, shown) : NULL;
    return kept ? kept : ntr_unit_shown(unit, name);
}

/* ---- damage ------------------------------------------------------------------------------------ */

void ntr_dwarf_damage(ntr_damage *damage, const char *file, Dwarf_Die *unit, const char *what) {
    char name[NTR_NAME_CLEANED_MAX + 1] = "";
    const char *reason = dwarf_errmsg(0);
    const char *given = unit ? dwarf_diename(unit) : NULL;
    if (given) ntr_name_clean(given, name);
    ntr_damage_add(damage, "%.120s: debug information: %s%.120s%s%s: damaged%s%s; names and lines are missing",
                   file ? file : "", *name ? "unit " : "", name, *name ? ": " : "", what, reason ? ": " : "",
                   reason ? reason : "");
}

/* ---- lines ------------------------------------------------------------------------------------- */

static bool owns(const ntr_unit_source *source, Dwarf_Addr address) {
    return source->owns(source->user, address + source->bias);
}

int ntr_line_row_compare(const void *a, const void *b) {
    const ntr_line_row *x = a, *y = b;
    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* A file without a name: the table of texts was overwritten. */
static bool has_nameless_file(Dwarf_Files *files, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *name = dwarf_filesrc(files, i, NULL, NULL);
        if (!name || !*name || name[strlen(name) - 1] == '/') return true;
    }
    return false;
}

bool ntr_unit_files(const ntr_unit_source *source, Dwarf_Files **files, size_t *count) {
    Dwarf_Attribute table;
    bool damaged = false;
    if (!source->lines.size || (!ntr_die_own(source->die, DW_AT_stmt_list, &table, &damaged) && !damaged)) return false;
    if (!damaged && dwarf_getsrcfiles(source->die, files, count) == 0) {
        if (has_nameless_file(*files, *count))
            ntr_dwarf_damage(source->damage, source->file, source->die, "names of files");
        return true;
    }
    ntr_dwarf_damage(source->damage, source->file, source->die, "line table");
    return false;
}

/* Where rows of owned code go. */
typedef struct owned_rows {
    const ntr_unit_source *source;
    ntr_status (*visit)(void *user, const ntr_program_row *row);
    void *user;
} owned_rows;

static ntr_status take_row(void *user, const ntr_program_row *row) {
    const owned_rows *to = user;
    const bool owned = owns(to->source, row->sequence) && owns(to->source, row->address);
    return owned ? to->visit(to->user, row) : NTR_OK;
}

ntr_status ntr_unit_rows(const ntr_unit_source *source, ntr_status (*visit)(void *user, const ntr_program_row *row),
                         void *user) {
    Dwarf_Attribute attribute;
    Dwarf_Word offset;
    owned_rows to = {source, visit, user};
    bool is_damaged = true;
    ntr_status status = NTR_OK;
    (void)dwarf_errno(); /* forget older errors */
    if (dwarf_formudata(dwarf_attr(source->die, DW_AT_stmt_list, &attribute), &offset) == 0)
        status = ntr_line_program_read(source->lines, offset, take_row, &to, &is_damaged);
    if (is_damaged) ntr_dwarf_damage(source->damage, source->file, source->die, "line table");
    return status;
}

/* Rows of a unit with rising addresses. */
typedef struct row_run {
    uint64_t low, high, sequence;
    size_t first, end;
} row_run;

typedef struct row_adder {
    ntr_dwarf_unit *unit;
    const ntr_unit_source *source;
    row_run *runs;
    size_t run_count, run_capacity;
    Dwarf_Files *files;
    size_t file_count;
    const uint8_t **digests; /* by number of the file; NULL: it has none, or it was added */
    uint64_t number; /* of the last file */
    const char *file;
    bool damaged; /* a row has a file that is not in the table */
} row_adder;

static ntr_status add_digest(row_adder *adder, uint64_t number, const char *file) {
    ntr_dwarf_unit *u = adder->unit;
    if (!file || number >= adder->file_count || !adder->digests[number]) return NTR_OK;
    if (ntr_reserve(u->allocator, (void **)&u->digests, &u->digest_capacity, u->digest_count + 1, sizeof *u->digests))
        return NTR_E_MEMORY;
    u->digests[u->digest_count++] = (ntr_digest){file, adder->digests[number]};
    adder->digests[number] = NULL;
    return NTR_OK;
}

static ntr_status add_row(void *user, const ntr_program_row *row) {
    row_adder *adder = user;
    ntr_dwarf_unit *u = adder->unit;
    if (row->end <= row->address) return NTR_OK;
    if (row->file != adder->number) {
        const char *name = row->file < adder->file_count ? dwarf_filesrc(adder->files, row->file, NULL, NULL) : NULL;
        if (!name && row->line) adder->damaged = true;
        adder->file = ntr_unit_shown_file(u, name);
        adder->number = row->file;
        if (add_digest(adder, row->file, adder->file) != NTR_OK) return NTR_E_MEMORY;
    }
    row_run *run = adder->run_count ? &adder->runs[adder->run_count - 1] : NULL;
    if (!run || run->sequence != row->sequence || row->address < run->high) {
        if (ntr_reserve(u->allocator, (void **)&adder->runs, &adder->run_capacity, adder->run_count + 1, sizeof *run))
            return NTR_E_MEMORY;
        run = &adder->runs[adder->run_count++];
        *run = (row_run){row->address, row->address, row->sequence, u->row_count, u->row_count};
    }
    if (ntr_reserve(u->allocator, (void **)&u->rows, &u->row_capacity, u->row_count + 1, sizeof *u->rows))
        return NTR_E_MEMORY;
    run->high = row->end;
    run->end = u->row_count + 1;
    u->rows[u->row_count++] = (ntr_line_row){
        .address = row->address + adder->source->bias,
        .size = row->end - row->address,
        .file = adder->file,
        .line = row->line > INT32_MAX ? 0 : row->line,
        .column = row->column,
        .discriminator = row->discriminator,
        .is_statement = row->is_statement,
        .optimized = u->optimized,
        .by_llvm = u->by_llvm,
    };
    return NTR_OK;
}

static int run_compare(const void *a, const void *b) {
    const row_run *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Puts the rows in the order of their addresses. Of several sequences for one piece of code, the first is kept. */
static ntr_status sort_rows(row_adder *adder) {
    ntr_dwarf_unit *u = adder->unit;
    bool sorted = true;
    for (size_t i = 1; i < adder->run_count; i++) sorted &= adder->runs[i - 1].high <= adder->runs[i].low;
    if (sorted) return NTR_OK;
    ntr_line_row *rows = ntr_alloc(u->allocator, u->row_count, sizeof *rows);
    if (!rows) return NTR_E_MEMORY;
    uint64_t high = 0;
    size_t count = 0;
    qsort(adder->runs, adder->run_count, sizeof *adder->runs, run_compare);
    for (size_t i = 0; i < adder->run_count; i++) {
        const row_run *run = &adder->runs[i];
        if (run->low < high) continue;
        memcpy(rows + count, u->rows + run->first, (run->end - run->first) * sizeof *rows);
        count += run->end - run->first;
        high = run->high;
    }
    ntr_dealloc(u->allocator, u->rows);
    u->rows = rows;
    u->row_count = u->row_capacity = count;
    return NTR_OK;
}

ntr_status ntr_unit_load_lines(ntr_dwarf_unit *u, const ntr_unit_source *source) {
    row_adder adder = {.unit = u, .source = source, .number = UINT64_MAX};
    Dwarf_Attribute attribute;
    Dwarf_Word offset;
    if (!ntr_unit_files(source, &adder.files, &adder.file_count)) return NTR_OK;
    adder.digests = ntr_alloc(u->allocator, adder.file_count + 1, sizeof *adder.digests);
    if (!adder.digests) return NTR_E_MEMORY;
    if (dwarf_formudata(dwarf_attr(source->die, DW_AT_stmt_list, &attribute), &offset) == 0)
        ntr_line_program_digests(source->lines, offset, adder.digests, adder.file_count);
    ntr_status status = ntr_unit_rows(source, add_row, &adder);
    if (adder.damaged) ntr_dwarf_damage(source->damage, source->file, source->die, "files of the line table");
    if (!status) status = sort_rows(&adder);
    ntr_dealloc(u->allocator, adder.runs);
    ntr_dealloc(u->allocator, adder.digests);
    return status;
}
