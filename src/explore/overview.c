/* The overview: a range in columns, for each hart. */
#include "explore/state.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <string.h>

/* What a hart executed in a column. */
typedef struct overview_column {
    uint64_t instructions, interrupts, exceptions, gaps;
    uint64_t most;     /* instructions of `function` itself */
    uint32_t function; /* with the most */
} overview_column;

typedef struct overview {
    ntr_explorer *x;
    uint64_t from, to;
    size_t harts, columns, done;
    overview_column *values;  /* columns of the first hart, of the second, ... */
    uint64_t *bounds; /* columns + 1 */
    uint64_t *times;
    bool *timed;
    uint64_t *by_function; /* instructions of the hart in the overview_column */
    size_t functions;
    uint32_t *touched; /* functions with a value */
    size_t touched_count, touched_capacity;
    uint64_t *sums; /* of cells, by node */
} overview;

static overview_column *column_of(const overview *o, size_t hart, size_t number) {
    return &o->values[hart * o->columns + number];
}

/* ---- the sums of a overview_column */

static ntr_status add_function(overview *o, uint32_t function, uint64_t self) {
    const size_t old = o->functions;
    if (function >= old) {
        if (ntr_reserve(o->x->allocator, (void **)&o->by_function, &o->functions, (size_t)function + 1,
                        sizeof *o->by_function))
            return NTR_E_MEMORY;
        memset(o->by_function + old, 0, (o->functions - old) * sizeof *o->by_function);
    }
    if (!o->by_function[function]) {
        if (ntr_reserve(o->x->allocator, (void **)&o->touched, &o->touched_capacity, o->touched_count + 1,
                        sizeof *o->touched))
            return NTR_E_MEMORY;
        o->touched[o->touched_count++] = function;
    }
    o->by_function[function] += self;
    return NTR_OK;
}

/* Of two functions with as many instructions, the one with the lower address is taken. */
static bool is_before(const overview *o, uint32_t one, uint32_t other) {
    const ntr_function *a = ntr_functions_get(o->x->config.functions, one);
    const ntr_function *b = ntr_functions_get(o->x->config.functions, other);
    if (!a || !b) return one < other;
    return a->low != b->low ? a->low < b->low : strcmp(a->name, b->name) < 0;
}

static void take_most(overview *o, overview_column *c) {
    for (size_t i = 0; i < o->touched_count; i++) {
        const uint32_t function = o->touched[i];
        const uint64_t self = o->by_function[function];
        o->by_function[function] = 0;
        if (self < c->most || (self == c->most && (!self || is_before(o, c->function, function)))) continue;
        c->most = self;
        c->function = function;
    }
    o->touched_count = 0;
}

/* Adds the nodes of one hart to its column. */
static ntr_status add_hart(overview *o, size_t hart, const uint32_t *nodes, size_t count, const uint64_t *self,
                           const uint64_t *calls) {
    overview_column *c = column_of(o, hart, o->done);
    for (size_t i = 0; i < count; i++) {
        const ntr_node *node = &o->x->nodes.items[nodes[i]];
        if (o->x->replay->hart_number[node->src] - 1u != hart) continue;
        c->instructions += self[nodes[i]];
        if (node->kind == NTR_FRAME_INTERRUPT) c->interrupts += calls[nodes[i]];
        if (node->kind == NTR_FRAME_EXCEPTION) c->exceptions += calls[nodes[i]];
        if (self[nodes[i]] && node->kind != NTR_NODE_HART) TRY(add_function(o, node->function, self[nodes[i]]));
    }
    take_most(o, c);
    return NTR_OK;
}

static ntr_status add_column(overview *o, const uint32_t *nodes, size_t count, const uint64_t *self,
                             const uint64_t *calls) {
    for (size_t hart = 0; hart < o->harts; hart++) TRY(add_hart(o, hart, nodes, count, self, calls));
    o->done++;
    return NTR_OK;
}

/* ---- from a walk */

static ntr_status take_section(void *user, ntr_span_walk *walk, uint64_t end, uint64_t *next) {
    overview *o = user;
    (void)end;
    if (o->done == o->columns) return NTR_OK;
    o->times[o->done] = walk->time;
    o->timed[o->done] = walk->timed;
    TRY(add_column(o, walk->touched, walk->touched_count, walk->self, walk->calls));
    *next = o->done < o->columns ? o->bounds[o->done + 1] : UINT64_MAX;
    return NTR_OK;
}

static void count_gap(overview *o, uint64_t position, const ntr_event *gap) {
    size_t low = 0, high = o->done;
    if (gap->src >= NTR_SOURCES_MAX || !o->x->replay->hart_number[gap->src] || !high) return;
    while (low + 1 < high) {
        const size_t middle = low + (high - low) / 2;
        if (o->bounds[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    const size_t hart = o->x->replay->hart_number[gap->src] - 1u;
    if (hart < o->harts) column_of(o, hart, low)->gaps++;
}

static ntr_status take_gap(void *user, uint64_t position, const ntr_event *gap) {
    overview *o = user;
    const size_t done = o->done;
    if (o->done < o->columns) o->done++; /* the column that is being filled */
    count_gap(o, position, gap);
    o->done = done;
    return NTR_OK;
}

static ntr_status walk_columns(overview *o, ntr_question *q) {
    const ntr_span_walk_user user = {.section = take_section, .gap = take_gap, .user = o};
    ntr_span_walk walk;
    ntr_event gap;
    bool found;
    for (size_t i = 0; i <= o->columns; i++)
        o->bounds[i] = o->from + (uint64_t)((__extension__(unsigned __int128)(o->to - o->from) * i) / o->columns);
    ntr_span_walk_begin(&walk, o->x->replay, &o->x->nodes, &user, o->from, o->to);
    walk.section_end = o->bounds[1];
    const ntr_status status = ntr_span_walk_all(&walk);
    ntr_span_walk_release(&walk);
    ntr_replay_gap_at_end(o->x->replay, &gap, &found);
    if (found && o->done == o->columns && o->to == o->x->replay->executed) count_gap(o, o->to, &gap);
    return ntr_question_went(q, status);
}

/* ---- from cells */

static ntr_status add_cells(overview *o, size_t from, size_t to) {
    const ntr_explore_index *index = &o->x->index;
    uint64_t *self = o->sums, *calls = o->sums + o->x->nodes.count;
    uint32_t *nodes = NULL;
    size_t used = 0, capacity = 0;
    ntr_status status = NTR_OK;
    for (size_t cell = from; cell < to && !status; cell++) {
        size_t count;
        const ntr_cell_count *counts = ntr_cell_counts(index, cell, &count);
        if (ntr_reserve(o->x->allocator, (void **)&nodes, &capacity, used + count, sizeof *nodes))
            status = NTR_E_MEMORY;
        for (size_t i = 0; i < count && !status; i++) {
            const uint32_t node = counts[i].node;
            if (!self[node] && !calls[node]) nodes[used++] = node;
            self[node] += counts[i].self;
            calls[node] += counts[i].calls;
        }
        o->times[o->done] = index->cells[cell].time;
        o->timed[o->done] = index->cells[cell].timed;
    }
    if (!status) status = add_column(o, nodes, used, self, calls);
    for (size_t i = 0; i < used; i++) self[nodes[i]] = calls[nodes[i]] = 0;
    ntr_dealloc(o->x->allocator, nodes);
    return status;
}

/* Columns are whole cells: the range is extended to them. */
static ntr_status sum_columns(overview *o, ntr_question *q) {
    const ntr_explore_index *index = &o->x->index;
    if (!index->cell_count) {
        q->partial = true;
        o->columns = 0;
        return NTR_OK;
    }
    const size_t first = (size_t)(o->from / index->width);
    size_t end = (size_t)((o->to + index->width - 1) / index->width);
    if (end > index->cell_count) {
        q->partial = !index->complete;
        end = index->cell_count;
    }
    if (first >= end) {
        o->columns = 0;
        return NTR_OK;
    }
    if (end - first < o->columns) o->columns = end - first;
    o->sums = ntr_alloc(o->x->allocator, 2 * o->x->nodes.count + 1, sizeof *o->sums);
    if (!o->sums) return NTR_E_MEMORY;
    for (size_t i = 0; i <= o->columns; i++) {
        const size_t cell = first + (end - first) * i / o->columns;
        o->bounds[i] = cell * index->width < index->done ? cell * index->width : index->done;
    }
    for (size_t i = 0; i < o->columns; i++)
        TRY(add_cells(o, first + (end - first) * i / o->columns, first + (end - first) * (i + 1) / o->columns));
    for (size_t i = 0; i < index->gap_count; i++)
        if (index->gaps[i].position >= o->bounds[0] && index->gaps[i].position <= o->bounds[o->columns])
            count_gap(o, index->gaps[i].position, &index->gaps[i].event);
    return NTR_OK;
}

/* ---- the answer */

typedef uint64_t column_value(const overview_column *c);

static uint64_t instructions(const overview_column *c) {
    return c->instructions;
}
static uint64_t most(const overview_column *c) {
    return c->most;
}
static uint64_t interrupts(const overview_column *c) {
    return c->interrupts;
}
static uint64_t exceptions(const overview_column *c) {
    return c->exceptions;
}
static uint64_t gaps(const overview_column *c) {
    return c->gaps;
}

static void write_values(const overview *o, ntr_answer *a, const char *key, size_t hart, column_value *value) {
    ntr_answer_open(a, key, '[');
    for (size_t i = 0; i < o->done; i++) ntr_answer_number(a, NULL, value(column_of(o, hart, i)));
    ntr_answer_close(a, ']');
}

static void write_hart(const overview *o, ntr_answer *a, size_t hart) {
    ntr_answer_open(a, NULL, '{');
    ntr_answer_number(a, "src", o->x->replay->harts[hart]);
    write_values(o, a, "instructions", hart, instructions);
    ntr_answer_open(a, "function", '[');
    for (size_t i = 0; i < o->done; i++) {
        const overview_column *c = column_of(o, hart, i);
        if (c->most)
            ntr_answer_function(a, NULL, c->function);
        else
            ntr_answer_null(a, NULL);
    }
    ntr_answer_close(a, ']');
    write_values(o, a, "most", hart, most);
    write_values(o, a, "interrupts", hart, interrupts);
    write_values(o, a, "exceptions", hart, exceptions);
    write_values(o, a, "gaps", hart, gaps);
    ntr_answer_close(a, '}');
}

static void write_overview(const overview *o, ntr_answer *a) {
    ntr_answer_number(a, "from", o->done ? o->bounds[0] : o->from);
    ntr_answer_number(a, "to", o->done ? o->bounds[o->done] : o->from);
    ntr_answer_open(a, "bounds", '[');
    for (size_t i = 0; o->done && i <= o->done; i++) ntr_answer_number(a, NULL, o->bounds[i]);
    ntr_answer_close(a, ']');
    ntr_answer_open(a, "times", '[');
    for (size_t i = 0; i < o->done; i++) {
        if (o->timed[i])
            ntr_answer_number(a, NULL, o->times[i]);
        else
            ntr_answer_null(a, NULL);
    }
    ntr_answer_close(a, ']');
    ntr_answer_open(a, "harts", '[');
    for (size_t hart = 0; hart < o->harts; hart++) write_hart(o, a, hart);
    ntr_answer_close(a, ']');
    ntr_answer_number(a, "left_out_harts", o->x->replay->hart_count - o->harts);
}

static ntr_status fill(overview *o, ntr_question *q) {
    o->harts = o->x->replay->hart_count;
    if (o->harts > 64) o->harts = 64;
    if (o->harts && o->columns > NTR_COLUMN_VALUES_MOST / o->harts) o->columns = NTR_COLUMN_VALUES_MOST / o->harts;
    if (o->to - o->from < o->columns) o->columns = (size_t)(o->to - o->from);
    o->values = ntr_alloc(o->x->allocator, o->harts * o->columns + 1, sizeof *o->values);
    o->bounds = ntr_alloc(o->x->allocator, o->columns + 1, sizeof *o->bounds);
    o->times = ntr_alloc(o->x->allocator, o->columns + 1, sizeof *o->times);
    o->timed = ntr_alloc(o->x->allocator, o->columns + 1, sizeof *o->timed);
    if (!o->values || !o->bounds || !o->times || !o->timed) return NTR_E_MEMORY;
    if (!o->columns || !o->harts) return NTR_OK;
    return ntr_range_is_live(o->from, o->to) ? walk_columns(o, q) : sum_columns(o, q);
}

ntr_status ntr_answer_overview(ntr_explorer *x, ntr_question *q) {
    overview o = {.x = x};
    uint64_t columns;
    TRY(ntr_question_range(x, q, &o.from, &o.to));
    TRY(ntr_question_number(q, "columns", 400, 1, NTR_COLUMNS_MOST, &columns));
    o.columns = (size_t)columns;
    const ntr_status status = fill(&o, q);
    if (status == NTR_OK) write_overview(&o, q->answer);
    void *blocks[] = {o.values, o.bounds, o.times, o.timed, o.by_function, o.touched, o.sums};
    for (size_t i = 0; i < NTR_COUNT(blocks); i++) ntr_dealloc(x->allocator, blocks[i]);
    return status;
}
