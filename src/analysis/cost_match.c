/* Which functions of two executions are the same.
 *
 * Images are paired first, by the names of their files; of those left over, the ones with the most instructions are one
 * pair: the program itself, which may have another name in another build. Functions of equal name are then paired by
 * the first of these that applies: the same image and file; the same image, and the files have the longest common end
 * of their paths; the same image, where one side knows no file; any image, where each side has one function left.
 * Invariant: a function is in one pair at most, and a pair is made only if no other would be as good. Example: A has
 * `init` of net/main.c and of disk/main.c, B those of /build/disk/main.c and /build/net/main.c: the folder decides. */
#include "analysis/cost_table.h"
#include "base/allocator.h"

#include <stdlib.h>
#include <string.h>

/* The units of one side, sorted by name, pair of the image, and file. */
typedef struct cost_side {
    ntr_costs *costs;
    cost_unit **units;
    size_t count;
} cost_side;

typedef struct matcher {
    cost_side sides[2];
    ntr_cost_changes *changes;
} matcher;

/* A group of equal name: [from, to) of each side. */
typedef struct group {
    size_t from[2], to[2];
} group;

/* Products of larger groups are not searched: their functions are paired by the first rule only. */
enum { GROUP_MAX = 1 << 22 };

/* ---- images */

static ntr_cost_image *add_image(ntr_cost_changes *c, uint32_t *number) {
    *number = (uint32_t)c->image_count;
    c->images[c->image_count] = (ntr_cost_image){{NULL}};
    return &c->images[c->image_count++];
}

static cost_image *largest(ntr_costs *c) {
    cost_image *found = NULL;
    for (size_t i = 0; i < c->image_keys.count; i++) {
        cost_image *image = &c->images[i];
        if (image->pair == NTR_COST_NONE && *image->name && (!found || image->count > found->count)) found = image;
    }
    return found;
}

static void pair_images(ntr_cost_changes *c, cost_image *a, cost_image *b) {
    ntr_cost_image *image = add_image(c, &a->pair);
    b->pair = a->pair;
    image->name[0] = a->name;
    image->name[1] = b->name;
}

static void pair_by_name(ntr_cost_changes *c, ntr_costs *a, ntr_costs *b, bool whole) {
    for (size_t i = 0; i < a->image_keys.count; i++)
        for (size_t k = 0; a->images[i].pair == NTR_COST_NONE && k < b->image_keys.count; k++) {
            const char *x = a->images[i].name, *y = b->images[k].name;
            if (!whole) {
                x = ntr_cost_base(x);
                y = ntr_cost_base(y);
            }
            if (b->images[k].pair == NTR_COST_NONE && strcmp(x, y) == 0) pair_images(c, &a->images[i], &b->images[k]);
        }
}

static ntr_status match_images(matcher *m) {
    ntr_costs *a = m->sides[0].costs, *b = m->sides[1].costs;
    ntr_cost_changes *c = m->changes;
    c->images = ntr_alloc(c->allocator, a->image_keys.count + b->image_keys.count, sizeof *c->images);
    if (!c->images && a->image_keys.count + b->image_keys.count) return NTR_E_MEMORY;
    for (unsigned s = 0; s < 2; s++) {
        ntr_costs *costs = m->sides[s].costs;
        for (size_t i = 0; i < costs->image_keys.count; i++) costs->images[i].pair = NTR_COST_NONE;
        for (size_t i = 0; i < costs->image_keys.count; i++) costs->images[i].count = 0;
        for (size_t i = 0; i < costs->unit_keys.count; i++)
            costs->images[costs->units[i].image_number].count += costs->units[i].self + costs->units[i].written;
    }
    pair_by_name(c, a, b, true);
    pair_by_name(c, a, b, false);
    cost_image *x = largest(a), *y = largest(b);
    if (x && y) pair_images(c, x, y);
    for (unsigned s = 0; s < 2; s++)
        for (size_t i = 0; i < m->sides[s].costs->image_keys.count; i++) {
            cost_image *image = &m->sides[s].costs->images[i];
            if (image->pair == NTR_COST_NONE) add_image(c, &image->pair)->name[s] = image->name;
        }
    return NTR_OK;
}

/* ---- functions */

static int order(const cost_unit *x, const cost_unit *y) {
    int by = strcmp(x->name, y->name);
    if (by) return by;
    if (x->pair != y->pair) return x->pair < y->pair ? -1 : 1;
    return strcmp(x->file, y->file);
}

static int compare_units(const void *a, const void *b) {
    return order(*(cost_unit *const *)a, *(cost_unit *const *)b);
}

static ntr_status sort_units(cost_side *s, const ntr_allocator *allocator) {
    s->count = s->costs->unit_keys.count;
    s->units = ntr_alloc(allocator, s->count, sizeof *s->units);
    if (!s->units && s->count) return NTR_E_MEMORY;
    for (size_t i = 0; i < s->count; i++) {
        cost_unit *unit = s->units[i] = &s->costs->units[i];
        unit->pair = s->costs->images[unit->image_number].pair;
        unit->row = NTR_COST_NONE;
    }
    if (s->count) qsort(s->units, s->count, sizeof *s->units, compare_units);
    return NTR_OK;
}

static const char *text_or_null(const char *text) {
    return *text ? text : NULL;
}

static void fill(ntr_cost_function *f, unsigned s, cost_unit *unit, uint32_t row) {
    f->name = unit->name;
    f->file[s] = text_or_null(unit->file);
    f->image[s] = text_or_null(unit->image);
    f->line[s] = unit->line;
    f->present |= (uint8_t)(1u << s);
    f->self[s] = unit->self;
    f->total[s] = unit->total;
    f->calls[s] = unit->calls;
    f->written[s] = unit->written;
    unit->row = row;
}

/* Makes the row of a pair, or with one of them NULL of a function that has none. */
static void add_row(ntr_cost_changes *c, cost_unit *a, cost_unit *b, ntr_cost_match match) {
    const uint32_t row = (uint32_t)c->function_count++;
    ntr_cost_function *f = &c->functions[row];
    *f = (ntr_cost_function){.match = (uint8_t)((a ? a : b)->unnamed ? NTR_COST_UNNAMED : match)};
    if (a) fill(f, 0, a, row);
    if (b) fill(f, 1, b, row);
}

static bool is_free(const cost_unit *unit) {
    return unit->row == NTR_COST_NONE;
}

/* Returns how many folders and file names are equal at the end of both paths; 0: not even the file's name. */
static unsigned common_end(const char *a, const char *b) {
    const char *x = a + strlen(a), *y = b + strlen(b);
    unsigned parts = 0;
    while (x > a && y > b && x[-1] == y[-1]) {
        x--;
        y--;
        parts += *x == '/';
    }
    return parts + ((x == a || x[-1] == '/') && (y == b || y[-1] == '/') && (x == a || y == b || *x != '/'));
}

/* Returns the number of `other`'s units that are the best for `unit`, and stores one of them. */
static size_t best_file(const cost_unit *unit, const cost_side *other, size_t from, size_t to, cost_unit **found) {
    unsigned most = 0;
    size_t equal = 0;
    for (size_t i = from; i < to; i++) {
        cost_unit *candidate = other->units[i];
        if (!is_free(candidate) || candidate->pair != unit->pair) continue;
        const unsigned parts = *unit->file && *candidate->file ? common_end(unit->file, candidate->file) : 0;
        if (parts && parts == most) equal++;
        if (parts <= most) continue;
        most = parts;
        equal = 1;
        *found = candidate;
    }
    return equal;
}

/* Pairs functions of one image by the ends of their paths. */
static void match_files(matcher *m, const group *g) {
    for (size_t i = g->from[0]; i < g->to[0]; i++) {
        cost_unit *a = m->sides[0].units[i], *b = NULL, *back = NULL;
        if (!is_free(a) || best_file(a, &m->sides[1], g->from[1], g->to[1], &b) != 1) continue;
        if (best_file(b, &m->sides[0], g->from[0], g->to[0], &back) == 1 && back == a)
            add_row(m->changes, a, b, NTR_COST_BOTH);
    }
}

/* Returns the free unit of the group if there is one only, of the image `pair` (NTR_COST_NONE: of any image). */
static cost_unit *only_one(const cost_side *s, size_t from, size_t to, uint32_t pair) {
    cost_unit *found = NULL;
    for (size_t i = from; i < to; i++) {
        if (!is_free(s->units[i]) || (pair != NTR_COST_NONE && s->units[i]->pair != pair)) continue;
        if (found) return NULL;
        found = s->units[i];
    }
    return found;
}

static bool one_file_unknown(const cost_unit *a, const cost_unit *b) {
    return !*a->file || !*b->file;
}

static void match_rest(matcher *m, const group *g) {
    for (size_t i = g->from[0]; i < g->to[0]; i++) {
        cost_unit *a = m->sides[0].units[i];
        if (!is_free(a) || only_one(&m->sides[0], g->from[0], g->to[0], a->pair) != a) continue;
        cost_unit *b = only_one(&m->sides[1], g->from[1], g->to[1], a->pair);
        if (b && one_file_unknown(a, b)) add_row(m->changes, a, b, NTR_COST_BOTH);
    }
    cost_unit *a = only_one(&m->sides[0], g->from[0], g->to[0], NTR_COST_NONE);
    cost_unit *b = only_one(&m->sides[1], g->from[1], g->to[1], NTR_COST_NONE);
    if (a && b && a->pair != b->pair && !a->unnamed &&
        (one_file_unknown(a, b) || strcmp(ntr_cost_base(a->file), ntr_cost_base(b->file)) == 0))
        add_row(m->changes, a, b, NTR_COST_BOTH);
}

/* Returns why a function has no pair. */
static ntr_cost_match reason(const cost_unit *unit, const cost_side *other, size_t from, size_t to) {
    ntr_cost_match found = NTR_COST_ONLY;
    for (size_t i = from; i < to; i++) {
        const cost_unit *candidate = other->units[i];
        const bool same_image = candidate->pair == unit->pair;
        const bool may_be = *unit->file && *candidate->file ? common_end(unit->file, candidate->file) > 0 : same_image;
        found = NTR_COST_FILE;
        if (may_be) return NTR_COST_UNCLEAR;
    }
    return found;
}

static void add_unmatched(matcher *m, const group *g, bool searched) {
    for (unsigned s = 0; s < 2; s++) {
        const unsigned o = 1 - s;
        for (size_t i = g->from[s]; i < g->to[s]; i++) {
            cost_unit *unit = m->sides[s].units[i];
            if (!is_free(unit)) continue;
            const ntr_cost_match why = searched ? reason(unit, &m->sides[o], g->from[o], g->to[o]) : NTR_COST_UNCLEAR;
            add_row(m->changes, s ? NULL : unit, s ? unit : NULL, why);
        }
    }
}

static void match_group(matcher *m, const group *g) {
    size_t a = g->from[0], b = g->from[1];
    while (a < g->to[0] && b < g->to[1]) { /* exactly the same */
        cost_unit *x = m->sides[0].units[a], *y = m->sides[1].units[b];
        const int by = order(x, y);
        if (!by) add_row(m->changes, x, y, NTR_COST_BOTH);
        a += by <= 0;
        b += by >= 0;
    }
    const size_t na = g->to[0] - g->from[0], nb = g->to[1] - g->from[1];
    const bool searched = na <= GROUP_MAX && nb <= GROUP_MAX && na * nb <= GROUP_MAX && na * na <= GROUP_MAX;
    if (searched && na && nb) {
        match_files(m, g);
        match_rest(m, g);
    }
    add_unmatched(m, g, searched || !na || !nb);
}

static size_t end_of_name(const cost_side *s, size_t from, const char *name) {
    while (from < s->count && strcmp(s->units[from]->name, name) == 0) from++;
    return from;
}

static void match_all(matcher *m) {
    group g = {{0}, {0}};
    for (;;) {
        const char *name = NULL;
        for (unsigned s = 0; s < 2; s++) {
            g.from[s] = g.to[s];
            if (g.from[s] == m->sides[s].count) continue;
            const char *first = m->sides[s].units[g.from[s]]->name;
            if (!name || strcmp(first, name) < 0) name = first;
        }
        if (!name) return;
        for (unsigned s = 0; s < 2; s++) g.to[s] = end_of_name(&m->sides[s], g.from[s], name);
        match_group(m, &g);
    }
}

ntr_status ntr_costs_match(ntr_costs *sides[2], ntr_cost_changes *c) {
    matcher m = {.sides = {{.costs = sides[0]}, {.costs = sides[1]}}, .changes = c};
    const size_t most = sides[0]->unit_keys.count + sides[1]->unit_keys.count;
    c->functions = ntr_alloc(c->allocator, most, sizeof *c->functions);
    ntr_status status = c->functions || !most ? match_images(&m) : NTR_E_MEMORY;
    for (unsigned s = 0; s < 2 && !status; s++) status = sort_units(&m.sides[s], c->allocator);
    if (!status) match_all(&m);
    for (unsigned s = 0; s < 2; s++) ntr_dealloc(c->allocator, m.sides[s].units);
    return status;
}
