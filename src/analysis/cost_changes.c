/* Changes of costs from one execution to another: pairs of functions (cost_match.c), of their lines, and of call paths.
 *
 * Lines of a pair are paired by their distance from the declaration, if the function has as many lines in A as in B:
 * from its declaration to the last line of its code, or to the declaration of the next function that both have; where
 * there is neither (of a function that is only inlined), to the last line with code of the file. If it has not, nothing
 * says which line is which, and the lines of A and of B are rows of their own. Example: `sum` is declared in line 10 of
 * A and in line 14 of B, `main` after it in lines 20 and 24. Line 12 of A is line 16 of B. */
#include "analysis/cost_table.h"
#include "base/allocator.h"

#include <stdlib.h>
#include <string.h>

static uint64_t distance(const uint64_t count[2]) {
    return count[0] > count[1] ? count[0] - count[1] : count[1] - count[0];
}

static int order_text(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "");
}

/* ---- functions */

typedef struct numbered {
    ntr_cost_function function;
    uint32_t number; /* before sorting */
} numbered;

static int compare_functions(const void *a, const void *b) {
    const ntr_cost_function *x = &((const numbered *)a)->function, *y = &((const numbered *)b)->function;
    if (distance(x->self) != distance(y->self)) return distance(x->self) > distance(y->self) ? -1 : 1;
    if (distance(x->written) != distance(y->written)) return distance(x->written) > distance(y->written) ? -1 : 1;
    int order = strcmp(x->name, y->name);
    for (unsigned s = 0; s < 2 && !order; s++) order = order_text(x->file[s], y->file[s]);
    for (unsigned s = 0; s < 2 && !order; s++) order = order_text(x->image[s], y->image[s]);
    return order ? order : x->present - y->present;
}

/* Sets to 0 what only one side holds. */
static void clear_unknown(ntr_cost_changes *c) {
    for (size_t i = 0; i < c->function_count; i++)
        for (unsigned s = 0; s < 2; s++) {
            ntr_cost_function *f = &c->functions[i];
            if (!(c->holds & NTR_COSTS_SELF)) f->self[s] = 0;
            if (!(c->holds & NTR_COSTS_CALLS)) f->total[s] = f->calls[s] = 0;
            if (!(c->holds & NTR_COSTS_LINES)) f->written[s] = 0;
        }
}

/* Sorts the functions; units then have the new numbers. */
static ntr_status sort_functions(ntr_costs *sides[2], ntr_cost_changes *c) {
    const size_t count = c->function_count;
    numbered *rows = ntr_alloc(c->allocator, count, sizeof *rows);
    uint32_t *now = ntr_alloc(c->allocator, count, sizeof *now);
    const bool fine = (rows && now) || !count;
    for (size_t i = 0; fine && i < count; i++) rows[i] = (numbered){c->functions[i], (uint32_t)i};
    if (fine && count) qsort(rows, count, sizeof *rows, compare_functions);
    for (size_t i = 0; fine && i < count; i++) {
        c->functions[i] = rows[i].function;
        now[rows[i].number] = (uint32_t)i;
    }
    for (unsigned s = 0; fine && s < 2; s++)
        for (size_t i = 0; i < sides[s]->unit_keys.count; i++) sides[s]->units[i].row = now[sides[s]->units[i].row];
    ntr_dealloc(c->allocator, rows);
    ntr_dealloc(c->allocator, now);
    return fine ? NTR_OK : NTR_E_MEMORY;
}

/* ---- functions with as many lines in A as in B */

/* A function of both sides that has a file and the line of its declaration in both. */
typedef struct declared {
    const cost_unit *unit[2];
    uint32_t row;
} declared;

static int compare_declared(const void *a, const void *b) {
    const declared *x = a, *y = b;
    int order = strcmp(x->unit[0]->file, y->unit[0]->file);
    if (order) return order;
    if (x->unit[0]->line != y->unit[0]->line) return x->unit[0]->line < y->unit[0]->line ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Returns whether the file has as many lines with code in both, after these lines. */
static bool same_end(ntr_costs *sides[2], const char *const file[2], const uint32_t from[2]) {
    const uint32_t end[2] = {ntr_costs_file_end(sides[0], file[0]), ntr_costs_file_end(sides[1], file[1])};
    return end[0] && end[1] && (int64_t)end[0] - from[0] == (int64_t)end[1] - from[1];
}

static bool is_steady(ntr_costs *sides[2], const declared *all, size_t at, size_t count) {
    const cost_unit *const *unit = all[at].unit;
    const bool ends = unit[0]->end && unit[1]->end;
    if (ends && (int64_t)unit[0]->end - unit[0]->line == (int64_t)unit[1]->end - unit[1]->line) return true;
    for (size_t i = at + 1; i < count && strcmp(all[i].unit[0]->file, unit[0]->file) == 0; i++) {
        const cost_unit *const *next = all[i].unit;
        if (next[0]->line == unit[0]->line) continue;
        return strcmp(next[1]->file, unit[1]->file) == 0 &&
               (int64_t)next[0]->line - unit[0]->line == (int64_t)next[1]->line - unit[1]->line;
    }
    return !ends && same_end(sides, (const char *const[2]){unit[0]->file, unit[1]->file},
                             (const uint32_t[2]){unit[0]->line, unit[1]->line});
}

/* Sets steady[row] for each function whose lines can be paired. */
static ntr_status find_steady(ntr_costs *sides[2], const ntr_cost_changes *c, uint8_t *steady) {
    const cost_unit *(*units)[2] = ntr_alloc(c->allocator, c->function_count, sizeof *units);
    declared *all = ntr_alloc(c->allocator, c->function_count, sizeof *all);
    const bool fine = (units && all) || !c->function_count;
    size_t count = 0;
    for (unsigned s = 0; units && s < 2; s++)
        for (size_t i = 0; i < sides[s]->unit_keys.count; i++) units[sides[s]->units[i].row][s] = &sides[s]->units[i];
    for (size_t row = 0; units && all && row < c->function_count; row++) {
        const cost_unit *a = units[row][0], *b = units[row][1];
        if (!a || !b) continue;
        if (c->lines_by_number)
            steady[row] = true;
        else if (a->line && b->line)
            all[count++] = (declared){{a, b}, (uint32_t)row};
        else
            steady[row] = same_end(sides, (const char *const[2]){a->file, b->file}, (const uint32_t[2]){0, 0});
    }
    if (count) qsort(all, count, sizeof *all, compare_declared);
    for (size_t i = 0; i < count; i++) steady[all[i].row] = is_steady(sides, all, i, count);
    ntr_dealloc(c->allocator, units);
    ntr_dealloc(c->allocator, all);
    return fine ? NTR_OK : NTR_E_MEMORY;
}

/* ---- lines */

enum line_kind {
    KIND_NONE, /* code without a line */
    KIND_DISTANCE, /* `number` is the distance from the declaration */
    KIND_SAME, /* `number` is that of the line, in the file of the function, which is as long in both */
    KIND_PLAIN, /* `number` is that of the line, in the file with the name `base` */
    KIND_ALONE, /* cannot be paired; `number` is that of the line */
};

typedef struct line_entry {
    const cost_line *line;
    uint32_t row;
    uint8_t kind, side;
    const char *base;
    int64_t number;
} line_entry;

static line_entry entry_of(const ntr_costs *costs, const ntr_cost_changes *c, const uint8_t *steady, unsigned side,
                           const cost_line *line) {
    const cost_unit *unit = &costs->units[line->unit];
    const ntr_cost_function *f = &c->functions[unit->row];
    const bool own = line->file == unit->file && !c->lines_by_number;
    line_entry e = {line, unit->row, KIND_ALONE, (uint8_t)side, ntr_cost_base(line->file), line->line};
    if (!line->line)
        e.kind = KIND_NONE;
    else if (steady[unit->row])
        e.kind = !own ? KIND_PLAIN : f->line[0] && f->line[1] ? KIND_DISTANCE : KIND_SAME;
    if (e.kind == KIND_DISTANCE) e.number -= unit->line;
    return e;
}

/* All of a key but the side. */
static int compare_keys(const line_entry *x, const line_entry *y) {
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    int order = x->kind == KIND_PLAIN || x->kind == KIND_ALONE ? strcmp(x->base, y->base) : 0;
    if (order) return order;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int compare_entries(const void *a, const void *b) {
    const line_entry *x = a, *y = b;
    int order = compare_keys(x, y);
    if (!order) order = x->side - y->side;
    return order ? order : strcmp(x->line->file, y->line->file);
}

static void put_line(ntr_cost_line *row, const line_entry *e) {
    row->file[e->side] = e->line->line ? e->line->file : NULL;
    row->line[e->side] = e->line->line;
    row->self[e->side] = e->line->count;
    row->present |= (uint8_t)(1u << e->side);
}

static int compare_lines(const void *a, const void *b) {
    const ntr_cost_line *x = a, *y = b;
    if (distance(x->self) != distance(y->self)) return distance(x->self) > distance(y->self) ? -1 : 1;
    if (x->function != y->function) return x->function < y->function ? -1 : 1;
    for (unsigned s = 0; s < 2; s++)
        if (x->line[s] != y->line[s]) return x->line[s] < y->line[s] ? -1 : 1;
    int order = order_text(x->file[0], y->file[0]);
    return order ? order : order_text(x->file[1], y->file[1]);
}

/* Returns whether lines of equal key are the same line: of another file than that of the function, the number says it
 * only if the file has as many lines in both. */
static bool same_place(ntr_costs *sides[2], const ntr_cost_changes *c, const line_entry *a, const line_entry *b) {
    if (a->kind != KIND_PLAIN || c->lines_by_number) return true;
    return same_end(sides, (const char *const[2]){a->line->file, b->line->file}, (const uint32_t[2]){0, 0});
}

static void make_rows(ntr_costs *sides[2], ntr_cost_changes *c, const line_entry *entries, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const line_entry *e = &entries[i];
        ntr_cost_line *row = &c->lines[c->line_count++];
        *row = (ntr_cost_line){.function = e->row, .match = c->functions[e->row].match};
        if (e->kind == KIND_ALONE && row->match == NTR_COST_BOTH) row->match = NTR_COST_UNPAIRED;
        put_line(row, e);
        const bool last = e->kind == KIND_ALONE || i + 1 == count || entries[i + 1].side == e->side;
        if (!last && compare_keys(e, &entries[i + 1]) == 0 && same_place(sides, c, e, &entries[i + 1]))
            put_line(row, &entries[++i]);
        else if (row->match == NTR_COST_BOTH)
            row->match = e->kind == KIND_PLAIN && !c->lines_by_number ? NTR_COST_UNPAIRED : NTR_COST_ONLY;
    }
    if (c->line_count) qsort(c->lines, c->line_count, sizeof *c->lines, compare_lines);
}

static ntr_status compare_all_lines(ntr_costs *sides[2], ntr_cost_changes *c) {
    const size_t most = sides[0]->line_keys.count + sides[1]->line_keys.count;
    line_entry *entries = ntr_alloc(c->allocator, most, sizeof *entries);
    uint8_t *steady = ntr_alloc(c->allocator, c->function_count, sizeof *steady);
    c->lines = ntr_alloc(c->allocator, most, sizeof *c->lines);
    ntr_status status = !most || (entries && steady && c->lines) ? NTR_OK : NTR_E_MEMORY;
    size_t count = 0;
    if (!status && most) status = find_steady(sides, c, steady);
    for (unsigned s = 0; !status && s < 2; s++)
        for (size_t i = 0; i < sides[s]->line_keys.count; i++)
            entries[count++] = entry_of(sides[s], c, steady, s, &sides[s]->lines[i]);
    if (count) qsort(entries, count, sizeof *entries, compare_entries);
    make_rows(sides, c, entries, count);
    ntr_dealloc(c->allocator, entries);
    ntr_dealloc(c->allocator, steady);
    return status;
}

/* ---- call paths */

static ntr_status merge_tree(const ntr_costs *costs, unsigned side, ntr_cost_changes *c, ntr_keys *keys) {
    uint32_t *numbers = ntr_alloc(c->allocator, costs->node_keys.count, sizeof *numbers);
    if (!numbers) return NTR_E_MEMORY;
    bool fine = ntr_keys_number(keys, UINT64_MAX, UINT64_MAX, 0) == 0;
    for (size_t i = 1; fine && i < costs->node_keys.count; i++) {
        const cost_node *node = &costs->nodes[i];
        const uint32_t parent = numbers[node->parent], function = costs->units[node->unit].row;
        const uint32_t at = numbers[i] = ntr_keys_number(keys, parent, function, node->kind);
        fine = at != UINT32_MAX;
        if (!fine) break;
        ntr_cost_path *path = &c->paths[at];
        path->parent = parent;
        path->function = function;
        path->kind = node->kind;
        path->self[side] += node->self;
        path->total[side] += node->total;
        path->calls[side] += node->calls;
    }
    if (fine) c->paths[0].total[side] = costs->instructions;
    ntr_dealloc(c->allocator, numbers);
    return fine ? NTR_OK : NTR_E_MEMORY;
}

static ntr_status compare_paths(ntr_costs *sides[2], ntr_cost_changes *c) {
    ntr_keys keys = {.allocator = c->allocator};
    c->paths = ntr_alloc(c->allocator, sides[0]->node_keys.count + sides[1]->node_keys.count, sizeof *c->paths);
    ntr_status status = c->paths ? NTR_OK : NTR_E_MEMORY;
    if (!status) c->paths[0].function = UINT32_MAX;
    for (unsigned s = 0; s < 2 && !status; s++) status = merge_tree(sides[s], s, c, &keys);
    c->path_count = keys.count;
    ntr_keys_release(&keys);
    return status;
}

ntr_status ntr_costs_compare(ntr_costs *a, ntr_costs *b, ntr_cost_changes *c, const ntr_allocator *allocator) {
    ntr_costs *sides[2] = {a, b};
    *c = (ntr_cost_changes){
        .allocator = allocator,
        .holds = a->holds & b->holds,
        .lines_by_number = a->from_profile || b->from_profile,
        .instructions = {a->instructions, b->instructions},
    };
    ntr_status status = ntr_costs_match(sides, c);
    if (!status) clear_unknown(c);
    if (!status) status = sort_functions(sides, c);
    if (!status && c->holds & NTR_COSTS_LINES) status = compare_all_lines(sides, c);
    if (!status && c->holds & NTR_COSTS_CALLS) status = compare_paths(sides, c);
    if (status) ntr_cost_changes_release(c);
    return status;
}

void ntr_cost_changes_release(ntr_cost_changes *c) {
    ntr_dealloc(c->allocator, c->functions);
    ntr_dealloc(c->allocator, c->lines);
    ntr_dealloc(c->allocator, c->paths);
    ntr_dealloc(c->allocator, c->images);
    *c = (ntr_cost_changes){.allocator = c->allocator};
}
