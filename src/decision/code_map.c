#include "decision/code_map.h"

#include "base/allocator.h"
#include "base/compare.h"
#include "base/try.h"
#include "decision/extents.h"
#include "decision/match.h"
#include "decision/paths.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A conditional branch that is inside of a decision. */
typedef struct found_branch {
    uint64_t address;
    uint64_t low, high;    /* the function around it */
    uint64_t scope;        /* the copy: entry of the innermost inlined function, or of the function */
    uint32_t record;       /* the innermost decision; of several with the same extent the first */
    uint32_t whole;        /* extents: the largest expression around it, */
    uint32_t root;         /* ... and the outermost decision */
    bool outside;          /* it is in that expression, and in no decision */
    uint32_t line, column;
} found_branch;

typedef struct map_builder {
    ntr_code_map *map;
    ntr_decisions *decisions;
    const ntr_source_options *options;
    ntr_debug_info *debug;
    ntr_extents extents;
    ntr_graph graph;
    found_branch *found;
    size_t found_count, found_capacity;
    const char *last_name; /* the last file of a row, and what it is */
    const ntr_extent_file *last_file;
    const char *last_relative; /* the same before its folder was added; NULL: it is absolute */
    ntr_statements statements;
    ntr_code_kind kind; /* of the code of `graph` */
} map_builder;

/* ---- branches in the line table ---------------------------------------------------------------- */

/* The name that debug information has for the file is shown, so that all results name files in the same way. */
static void name_file(map_builder *b, const char *path, const char *name) {
    const ntr_decisions *d = b->decisions;
    const char *kept = ntr_texts_keep(&b->decisions->texts, name);
    for (size_t i = 0; kept && i < d->count; i++)
        if (d->records[i]->path == path && d->records[i]->shown.file == path) d->records[i]->shown.file = kept;
}

static const ntr_extent_file *file_of(map_builder *b, const char *name) {
    if (name == b->last_name) return b->last_file;
    const char *path = ntr_path_find(&b->decisions->texts, b->options->source_path, name);
    b->last_name = name;
    b->last_relative = NULL;
    b->last_file = path ? ntr_extents_file(&b->extents, path) : NULL;
    if (b->last_file) name_file(b, path, name);
    return b->last_file;
}

/* The same for a name that may be relative to the folder of compilation. */
static const ntr_extent_file *file_in(map_builder *b, const char *directory, const char *name) {
    char path[PATH_MAX];
    if (name[0] == '/' || !directory || directory[0] != '/') return file_of(b, name);
    if (name == b->last_relative) return b->last_file;
    int size = snprintf(path, sizeof path, "%s/%s", directory, name);
    const char *kept = size > 0 && (size_t)size < sizeof path ? ntr_texts_keep(&b->decisions->texts, path) : NULL;
    const ntr_extent_file *file = kept ? file_of(b, kept) : NULL;
    b->last_relative = name;
    return file;
}

static ntr_status add_branch(map_builder *b, uint64_t address, const ntr_line_row *row,
                             const ntr_extent_entry *entry) {
    ntr_frame frames[NTR_FRAMES_MAX];
    size_t count = ntr_debug_info_frames(b->debug, NULL, address, frames, NTR_FRAMES_MAX);
    if (count == 0 || !frames[count - 1].size) return NTR_OK;
    const ntr_frame *function = &frames[count - 1];
    if (ntr_reserve(b->map->allocator, (void **)&b->found, &b->found_capacity, b->found_count + 1, sizeof *b->found))
        return NTR_E_MEMORY;
    uint64_t scope = frames[0].inlined ? frames[0].entry : 0;
    for (size_t i = 1; frames[0].inlined && i < count; i++)
        scope = scope * 31 + (uint64_t)frames[i].line * 1000 + frames[i].column; /* the places of the calls */
    b->found[b->found_count++] = (found_branch){
        .address = address, .low = function->entry, .high = function->entry + function->size, .scope = scope,
        .record = entry->record, .whole = ntr_extents_root(&b->extents, entry, true),
        .root = ntr_extents_root(&b->extents, entry, false), .outside = entry->whole, .line = row->line, .column = row->column,
    };
    return NTR_OK;
}

/* Returns the entry of the decision itself instead of that of its further place. */
static const ntr_extent_entry *own_entry(const map_builder *b, const ntr_extent_file *file, const ntr_decision_record *r,
                                         const ntr_extent_entry *point) {
    const ntr_extent_entry *entry = ntr_extents_at(&b->extents, file, r->extent.line, r->extent.column);
    while (entry && !ntr_extent_equal(&entry->extent, &r->extent))
        entry = entry->parent ? &b->extents.items[entry->parent - 1] : NULL;
    return entry ? entry : point;
}

static ntr_status take_row(map_builder *b, const ntr_line_row *row) {
    ntr_insn insn;
    const ntr_extent_file *file = row->line && row->file ? file_of(b, row->file) : NULL;
    const ntr_extent_entry *entry = file ? ntr_extents_at(&b->extents, file, row->line, row->column) : NULL;
    if (!entry) return NTR_OK;
    const ntr_decision_record *r = b->decisions->records[entry->record];
    if (ntr_extent_equal(&entry->extent, &r->point)) entry = own_entry(b, file, r, entry);
    for (uint64_t at = row->address; at - row->address < row->size; at += insn.size) {
        if (ntr_program_insn(b->map->program, NULL, NTR_POSITION_ANY, at, &insn) != NTR_OK) break;
        if (insn.flow == NTR_FLOW_BRANCH) TRY(add_branch(b, at, row, entry));
    }
    return NTR_OK;
}

static int compare_found(const void *a, const void *b) {
    const found_branch *x = a, *y = b;
    NTR_COMPARE_BY(low);
    NTR_COMPARE_BY(scope);
    NTR_COMPARE_BY(whole);
    NTR_COMPARE_BY(address);
    return 0;
}

static int compare_roots(const void *a, const void *b) {
    const found_branch *x = a, *y = b;
    NTR_COMPARE_BY(outside);
    NTR_COMPARE_BY(root);
    NTR_COMPARE_BY(address);
    return 0;
}

static int compare_innermost(const void *a, const void *b) {
    const found_branch *x = a, *y = b;
    NTR_COMPARE_BY(record);
    NTR_COMPARE_BY(address);
    return 0;
}

/* ---- copies ------------------------------------------------------------------------------------ */

static ntr_status add_copy(map_builder *b, ntr_decision_record *record, const found_branch *found, const char *reason) {
    ntr_code_map *m = b->map;
    if (ntr_reserve(m->allocator, (void **)&m->copies, &m->copy_capacity, m->copy_count + 1, sizeof *m->copies))
        return NTR_E_MEMORY;
    uint32_t function = (uint32_t)(m->function_count - 1);
    m->copies[m->copy_count++] = (ntr_decision_copy){
        .record = record, .reason = reason, .function = function, .inlined = found->scope != 0,
        .plain = b->kind.plain,
    };
    return NTR_OK;
}

static ntr_status add_matched(map_builder *b, uint64_t address, const ntr_matched *matched) {
    ntr_code_map *m = b->map;
    if (ntr_reserve(m->allocator, (void **)&m->branches, &m->branch_capacity, m->branch_count + 1, sizeof *m->branches))
        return NTR_E_MEMORY;
    m->branches[m->branch_count++] = (ntr_decision_branch){
        .address = address, .copy = (uint32_t)(m->copy_count - 1), .condition = matched->condition,
        .taken_is = matched->taken_is, .first = matched->first,
    };
    return NTR_OK;
}

static ntr_status use_graph(map_builder *b, const found_branch *branch) {
    ntr_code_map *m = b->map;
    const ntr_decision_function *last = m->function_count ? &m->functions[m->function_count - 1] : NULL;
    if (last && last->low == branch->low && last->high == branch->high) return NTR_OK;
    if (ntr_reserve(m->allocator, (void **)&m->functions, &m->function_capacity, m->function_count + 1,
                    sizeof *m->functions))
        return NTR_E_MEMORY;
    m->functions[m->function_count++] = (ntr_decision_function){.low = branch->low, .high = branch->high};
    TRY(ntr_graph_make(&b->graph, b->map->program, branch->low, branch->high));
    b->kind = ntr_code_ranges_at(&m->ranges, branch->address);
    if (b->kind.unknown) b->kind.plain = ntr_graph_unoptimized(&b->graph);
    return NTR_OK;
}

/* Matches branches with one decision. Returns NULL, or why it is not possible. */
static const char *try_match(map_builder *b, const ntr_decision_record *record, const found_branch *const *found,
                             size_t count, ntr_match *match) {
    ntr_candidate candidates[NTR_CANDIDATES_MAX];
    match->placed = false;
    if (record->too_large) return record->shown.reason;
    if (count > NTR_CANDIDATES_MAX) return "it has more than 64 branches";
    *match = (ntr_match){.graph = &b->graph, .debug = b->debug, .record = record, .candidates = candidates, .count = count};
    for (size_t i = 0; i < count; i++) {
        uint32_t at = ntr_graph_at(&b->graph, found[i]->address);
        candidates[i] = (ntr_candidate){at, found[i]->line, found[i]->column};
        if (at == NTR_GRAPH_OUTSIDE) return "its code is not in one piece";
    }
    match->statements = &b->statements;
    match->kind = b->kind;
    const char *reason = ntr_match_find(match);
    match->candidates = NULL;
    return reason;
}

static ntr_status keep_match(map_builder *b, ntr_decision_record *record, const found_branch *const *found, size_t count,
                             const ntr_match *match, const char *reason) {
    TRY(add_copy(b, record, found[0], reason));
    for (size_t i = 0; i < count && !reason; i++) TRY(add_matched(b, found[i]->address, &match->matched[i]));
    return NTR_OK;
}

/* ---- in the order of the source ---------------------------------------------------------------- */

/* A condition at a place where several decisions may be. */
typedef struct expected {
    ntr_decision_record *record;
    uint8_t condition;
    uint32_t order;
} expected;

static int compare_expected(const void *a, const void *b) {
    const expected *x = a, *y = b;
    NTR_COMPARE_BY(order);
    return 0;
}

static bool within(const ntr_extent *outer, const ntr_extent *inner) {
    return ntr_extent_has(outer, inner->line, inner->column) &&
           (inner->end_line < outer->end_line ||
            (inner->end_line == outer->end_line && inner->end_column <= outer->end_column));
}

/* Number of branches that evaluate a condition in code that was not optimized. clang computes the last condition of a
 * decision whose result is stored, and evaluates both operands of ?: with branches of their own. */
static unsigned branches_for(const map_builder *b, const ntr_decision_record *r, size_t condition) {
    if (r->conditions[condition].constant) return 0;
    if (b->kind.gnu || !b->kind.plain) return 1;
    if (r->is_value && condition + 1 == r->shown.condition_count) return 0;
    return r->flow[condition].choice ? 2 : 1;
}

static bool computes_last(const map_builder *b, const ntr_decision_record *r) {
    return !b->kind.gnu && r->is_value;
}

/* Lists the conditions of all decisions in the extent of an entry, one for each branch. Returns their number, or 0 when
 * there are more than `capacity`. */
static size_t list_expected(const map_builder *b, uint32_t entry, expected *list, size_t capacity) {
    const ntr_decisions *d = b->decisions;
    const ntr_extent *outer = &b->extents.items[entry].extent;
    size_t count = 0, first = b->extents.items[entry].record;
    const char *path = d->records[first]->path;
    while (first && d->records[first - 1]->path == path && d->records[first - 1]->shown.line >= outer->line) first--;
    for (size_t i = first; i < d->count && d->records[i]->path == path; i++) {
        ntr_decision_record *r = d->records[i];
        if (r->shown.line > outer->end_line) break;
        if (!within(outer, &r->extent) || r->too_large) continue;
        for (size_t k = 0; k < r->shown.condition_count; k++)
            for (unsigned branches = branches_for(b, r, k); branches; branches--) {
                if (count == capacity) return 0;
                list[count++] = (expected){r, (uint8_t)k, r->flow[k].order};
            }
    }
    if (count) qsort(list, count, sizeof *list, compare_expected);
    return count;
}

/* The branches of the decision of condition `at` of the list, if it is its first one. */
static size_t branches_of(const expected *list, size_t count, size_t at, const found_branch *found,
                          const found_branch **branches) {
    size_t used = 0;
    for (size_t i = 0; i < at; i++)
        if (list[i].record == list[at].record) return 0;
    for (size_t i = at; i < count; i++)
        if (list[i].record == list[at].record) branches[used++] = &found[i];
    return used;
}

static bool same_order(const expected *list, size_t count, const ntr_decision_record *record, const ntr_match *match) {
    size_t at = 0;
    for (size_t i = 0; i < count; i++)
        if (list[i].record == record && match->matched[at++].condition != list[i].condition) return false;
    return true;
}

/* Code that was not optimized has its branches in the order of the source. Some compilers place the branches of nested
 * decisions, and of those in macros, at the decision around them, so their places say little. The branches are given to
 * the conditions in order, and each decision is then matched. Stores whether all of them fit. */
static ntr_status match_in_order(map_builder *b, uint32_t entry, const found_branch *found, size_t count, bool *done) {
    enum { EXPECTED_MAX = 256 };
    expected list[EXPECTED_MAX] = {{0}};
    const found_branch *branches[EXPECTED_MAX] = {0};
    ntr_match match = {0};
    size_t need = list_expected(b, entry, list, EXPECTED_MAX), used;
    *done = false;
    if (need != count || !b->kind.plain) return NTR_OK;
    for (size_t i = 0; i < count; i++) {
        if (!(used = branches_of(list, count, i, found, branches)) || computes_last(b, list[i].record)) continue;
        try_match(b, list[i].record, branches, used, &match);
        if (!match.placed || !same_order(list, count, list[i].record, &match)) return NTR_OK;
    }
    *done = true;
    for (size_t i = 0; i < count; i++) {
        if (!(used = branches_of(list, count, i, found, branches))) continue;
        const char *reason = computes_last(b, list[i].record) ? "the compiler computed its last condition without a branch"
                                                              : try_match(b, list[i].record, branches, used, &match);
        TRY(keep_match(b, list[i].record, branches, used, &match, reason));
    }
    return NTR_OK;
}

/* ---- by place ---------------------------------------------------------------------------------- */

/* Matches branches that have the same innermost decision. Several decisions with the same extent cannot be distinguished. */
static ntr_status match_by_place(map_builder *b, const found_branch *found, size_t count) {
    const ntr_decisions *d = b->decisions;
    const found_branch *branches[NTR_CANDIDATES_MAX + 1];
    ntr_decision_record *first = d->records[found->record];
    ntr_match match = {0};
    bool single = true;
    for (size_t i = 0; i < count && i <= NTR_CANDIDATES_MAX; i++) branches[i] = &found[i];
    for (size_t i = found->record + 1; i < d->count && d->records[i]->path == first->path; i++) {
        if (d->records[i]->shown.line > first->shown.line) break;
        if (!ntr_extent_equal(&d->records[i]->extent, &first->extent)) continue;
        TRY(add_copy(b, d->records[i], found, "several decisions, of a macro, have the same place"));
        single = false;
    }
    const char *reason = single ? try_match(b, first, branches, count, &match)
                                : "several decisions, of a macro, have the same place";
    return keep_match(b, first, branches, count, &match, reason);
}

/* Decisions inside of the extent that have no branch of their own: whether they were computed, or their branches are
 * placed elsewhere, is not known. */
static ntr_status add_without_branches(map_builder *b, const found_branch *found, size_t count) {
    enum { EXPECTED_MAX = 256 };
    expected list[EXPECTED_MAX] = {{0}};
    size_t need = list_expected(b, found->root, list, EXPECTED_MAX);
    for (size_t i = 0; i < need; i++) {
        bool seen = i && list[i].record == list[i - 1].record;
        for (size_t k = 0; k < i && !seen; k++) seen = list[k].record == list[i].record;
        for (size_t k = 0; k < count && !seen; k++)
            seen = ntr_extent_equal(&b->decisions->records[found[k].record]->extent, &list[i].record->extent);
        if (!seen)
            TRY(add_copy(b, list[i].record, found, "it has no branches: the compiler folded or computed it"));
    }
    return NTR_OK;
}

/* The branches of clang have the order of the source, but not its places. */
static ntr_status add_unknown(map_builder *b, const found_branch *found) {
    enum { EXPECTED_MAX = 256 };
    expected list[EXPECTED_MAX] = {{0}};
    size_t count = list_expected(b, found->root, list, EXPECTED_MAX);
    for (size_t i = 0; i < count; i++) {
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++) seen = list[k].record == list[i].record;
        if (!seen) TRY(add_copy(b, list[i].record, found, "the expression around it has other branches than its conditions need"));
    }
    return NTR_OK;
}

/* Branches inside of one outermost decision. */
static ntr_status match_root(map_builder *b, found_branch *found, size_t count) {
    bool done = false;
    if (found->whole != found->root) TRY(match_in_order(b, found->root, found, count, &done));
    if (done) return NTR_OK;
    if (b->kind.plain && !b->kind.gnu) return add_unknown(b, found);
    TRY(add_without_branches(b, found, count));
    qsort(found, count, sizeof *found, compare_innermost);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && found[next].record == found[i].record;) next++;
        TRY(match_by_place(b, found + i, next - i));
    }
    return NTR_OK;
}

/* Branches inside of one expression. */
static ntr_status match_whole(map_builder *b, found_branch *found, size_t count) {
    bool done;
    TRY(use_graph(b, found));
    TRY(match_in_order(b, found->whole, found, count, &done));
    if (done) return NTR_OK;
    qsort(found, count, sizeof *found, compare_roots);
    for (size_t i = 0, next; i < count && !found[i].outside; i = next) {
        for (next = i + 1; next < count && !found[next].outside && found[next].root == found[i].root;) next++;
        TRY(match_root(b, found + i, next - i));
    }
    return NTR_OK;
}

/* ---- look-up ----------------------------------------------------------------------------------- */

static int compare_branches(const void *a, const void *b) {
    const ntr_decision_branch *x = a, *y = b;
    NTR_COMPARE_BY(address);
    NTR_COMPARE_BY(copy);
    return 0;
}

static size_t slot_of(const ntr_code_map *map, uint64_t address) {
    return (size_t)((address >> 1) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & map->slot_mask;
}

static ntr_status make_slots(ntr_code_map *map) {
    size_t size = 64;
    while (size < map->branch_count * 4) size *= 2;
    if (map->branch_count) qsort(map->branches, map->branch_count, sizeof *map->branches, compare_branches);
    map->slots = ntr_alloc(map->allocator, size, sizeof *map->slots);
    if (!map->slots) return NTR_E_MEMORY;
    map->slot_mask = size - 1;
    for (size_t i = 0; i < map->branch_count; i++) {
        size_t at = slot_of(map, map->branches[i].address);
        while (map->slots[at]) at = (at + 1) & map->slot_mask;
        map->slots[at] = i + 1;
    }
    return NTR_OK;
}

size_t ntr_code_map_functions_below(const ntr_code_map *map, uint64_t address) {
    size_t low = 0, high = map->function_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map->functions[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const ntr_decision_branch *ntr_code_map_find(const ntr_code_map *map, uint64_t address) {
    for (size_t at = slot_of(map, address); map->slots[at]; at = (at + 1) & map->slot_mask)
        if (map->branches[map->slots[at] - 1].address == address) return &map->branches[map->slots[at] - 1];
    return NULL;
}

/* ---- */

static ntr_status take_rows(map_builder *b, ntr_debug_info *debug) {
    const ntr_line_row *rows;
    size_t count;
    for (size_t index = 0;; index++) {
        ntr_status status = ntr_debug_info_lines(debug, index, &rows, &count);
        if (status) return status == NTR_END ? NTR_OK : status;
        for (size_t i = 0; i < count; i++) TRY(take_row(b, &rows[i]));
    }
}

/* Takes the places in files with decisions. */
static ntr_status take_statements(void *user, const ntr_debug_unit *unit) {
    map_builder *b = user;
    for (size_t i = 0; i < unit->statement_count; i++) {
        const ntr_debug_statement *s = &unit->statements[i];
        const ntr_extent_file *file = s->file ? file_in(b, unit->directory, s->file) : NULL;
        if (!file) continue;
        const ntr_statement statement = {s->address + unit->bias, file->path, s->line, s->column};
        TRY(ntr_statements_add(&b->statements, &statement));
    }
    return NTR_OK;
}

static ntr_status find_statements(map_builder *b) {
    ntr_status status = NTR_OK;
    for (size_t index = 0; !status; index++) status = ntr_debug_info_units(b->debug, index, take_statements, b);
    ntr_statements_sort(&b->statements);
    return status == NTR_END ? NTR_OK : status;
}

static ntr_status match_all(map_builder *b) {
    if (b->found_count) qsort(b->found, b->found_count, sizeof *b->found, compare_found);
    for (size_t i = 0, next; i < b->found_count; i = next) {
        found_branch *first = &b->found[i];
        for (next = i + 1; next < b->found_count; next++) {
            const found_branch *f = &b->found[next];
            if (f->low != first->low || f->whole != first->whole || f->scope != first->scope) break;
        }
        TRY(match_whole(b, first, next - i));
    }
    return NTR_OK;
}

ntr_status ntr_code_map_make(ntr_code_map *map, ntr_decisions *decisions, const ntr_source_options *options,
                             const ntr_program *program, ntr_debug_info *debug) {
    map_builder b = {.map = map, .decisions = decisions, .options = options, .debug = debug,
                     .extents.allocator = map->allocator, .graph.allocator = map->allocator,
                     .statements.allocator = map->allocator};
    map->program = program;
    ntr_status status = ntr_extents_make(&b.extents, decisions);
    if (!status) status = take_rows(&b, debug);
    if (!status) status = find_statements(&b);
    if (!status) status = match_all(&b);
    if (!status) status = make_slots(map);
    ntr_extents_release(&b.extents);
    ntr_graph_release(&b.graph);
    ntr_statements_release(&b.statements);
    ntr_dealloc(map->allocator, b.found);
    return status;
}

void ntr_code_map_release(ntr_code_map *map) {
    for (size_t i = 0; i < map->copy_count; i++) ntr_dealloc(map->allocator, map->copies[i].vectors);
    ntr_dealloc(map->allocator, map->copies);
    ntr_dealloc(map->allocator, map->branches);
    ntr_dealloc(map->allocator, map->functions);
    ntr_dealloc(map->allocator, map->slots);
    ntr_dealloc(map->allocator, map->ranges.items);
}
