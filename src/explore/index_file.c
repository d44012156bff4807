/* The index of a trace as bytes, so that the next start need not make it.
 *
 * After a head with the key and a checksum follow numbers of 7 bits a byte, the lowest first, the last one below 0x80:
 * instructions by hart, functions, nodes, cells with their counts, slices, gaps, runs. What grows is written as the
 * difference to the item before.
 *
 * A function is the place where it was found first, and a hash of its names. Reading looks each one up again, in the
 * order of their numbers, and refuses the file if one has other names now. So names are never those of an older
 * program. All numbers are checked before anything is taken: a file from elsewhere cannot make a reader crash. */
#include "explore/state.h"

#include "analysis/sums.h"
#include "base/allocator.h"
#include "base/bytes.h"
#include "base/macros.h"

#include <ntrace/export.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_MAGIC = 8, KEY_MOST = 64, HEAD_SIZE = HEAD_MAGIC + 4 + KEY_MOST + 8 + 8, NUMBER_SIZE = 10 };

static const char magic[HEAD_MAGIC + 1] = "NTRXIDX1";

/* ---- numbers */

typedef struct index_writer {
    const ntr_allocator *allocator;
    uint8_t *bytes;
    size_t size, capacity;
    bool failed;
} index_writer;

static void put(index_writer *w, uint64_t value) {
    if (w->failed || ntr_reserve(w->allocator, (void **)&w->bytes, &w->capacity, w->size + NUMBER_SIZE, 1)) {
        w->failed = true;
        return;
    }
    for (; value >= 0x80; value >>= 7) w->bytes[w->size++] = (uint8_t)(value | 0x80);
    w->bytes[w->size++] = (uint8_t)value;
}

typedef struct index_reader {
    const uint8_t *at, *end;
    bool damaged;
} index_reader;

static uint64_t get(index_reader *r) {
    uint64_t value = 0;
    for (unsigned shift = 0; r->at < r->end && shift < 64; shift += 7) {
        const uint8_t byte = *r->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
    r->damaged = true;
    return 0;
}

/* A number in [0, most]. */
static uint64_t get_most(index_reader *r, uint64_t most) {
    const uint64_t value = get(r);
    if (value <= most) return value;
    r->damaged = true;
    return 0;
}

static bool get_bool(index_reader *r) {
    return get_most(r, 1);
}

/* A number of items, each of which has at least one byte: what is allocated is bounded by the size of the file. */
static size_t get_count(index_reader *r) {
    return (size_t)get_most(r, (uint64_t)(r->end - r->at));
}

/* `before`, and what was added to it, at most `most` in all. */
static uint64_t get_after(index_reader *r, uint64_t before, uint64_t most) {
    return before + get_most(r, most - before);
}

static void put_context(index_writer *w, const ntr_context *context) {
    put(w, context->prv);
    put(w, (unsigned)context->v | (unsigned)context->has_scontext << 1 | (unsigned)context->has_hcontext << 2);
    put(w, context->scontext);
    put(w, context->hcontext);
}

static ntr_context get_context(index_reader *r) {
    ntr_context context = {.prv = (uint8_t)get_most(r, UINT8_MAX)};
    const unsigned bits = (unsigned)get_most(r, 7);
    context.v = bits & 1;
    context.has_scontext = bits >> 1 & 1;
    context.has_hcontext = bits >> 2 & 1;
    context.scontext = get(r);
    context.hcontext = get(r);
    return context;
}

/* ---- functions */

static uint64_t hash_name(uint64_t hash, const char *name) {
    return ntr_hash(hash, name ? name : "\1", name ? strlen(name) + 1 : 1);
}

static uint64_t identity_of(const ntr_function *function) {
    const char *const names[] = {function->name, function->linkage, function->file, function->image};
    uint64_t hash = NTR_HASH_START ^ function->line;
    for (size_t i = 0; i < NTR_COUNT(names); i++) hash = hash_name(hash, names[i]);
    return hash;
}

/* An address that was looked up as this function, in the place's context and at its position. The entry of a function
 * may be outside of what was there. */
static uint64_t address_of(const ntr_function *function, const ntr_function_place *place) {
    return place->start != NTR_NO_START && function->high > function->low ? function->low : place->address;
}

static void put_functions(index_writer *w, const ntr_functions *functions) {
    const ntr_function *function;
    uint32_t count = 0;
    while (ntr_functions_get(functions, count)) count++;
    put(w, count);
    for (uint32_t i = 0; (function = ntr_functions_get(functions, i)); i++) {
        const ntr_function_place place = ntr_functions_place(functions, i);
        put(w, identity_of(function));
        put(w, place.only_name);
        if (place.only_name) {
            put(w, strlen(function->name));
            for (const char *c = function->name; *c; c++) put(w, (uint8_t)*c);
            continue;
        }
        put_context(w, &place.context);
        put(w, address_of(function, &place));
        put(w, place.position);
    }
}

/* Returns the number of the function that has only this name, UINT32_MAX when out of memory. */
static uint32_t get_named(index_reader *r, const ntr_explorer *x) {
    const size_t size = get_count(r);
    char *name = ntr_alloc(x->allocator, size + 1, 1);
    if (!name) return UINT32_MAX;
    for (size_t i = 0; i < size; i++) name[i] = (char)get_most(r, UINT8_MAX);
    const uint32_t number = ntr_functions_named(x->config.functions, name);
    ntr_dealloc(x->allocator, name);
    return number;
}

/* Stores the number of each function, in new memory. Returns NTR_END when one has other names now. */
static ntr_status get_functions(index_reader *r, ntr_explorer *x, uint32_t **numbers, size_t *count) {
    *count = get_count(r);
    *numbers = ntr_alloc(x->allocator, *count + 1, sizeof **numbers);
    if (!*numbers) return NTR_E_MEMORY;
    for (size_t i = 0; i < *count && !r->damaged; i++) {
        const uint64_t identity = get(r);
        uint32_t number;
        if (get_bool(r)) {
            number = get_named(r, x);
        } else {
            const ntr_context context = get_context(r);
            const uint64_t address = get(r), position = get(r);
            if (r->damaged) break;
            number = ntr_functions_at(x->config.functions, ntr_place_at(&context, position, address));
        }
        if (number == UINT32_MAX) return NTR_E_MEMORY;
        if (identity_of(ntr_functions_get(x->config.functions, number)) != identity) return NTR_END;
        (*numbers)[i] = number;
    }
    return r->damaged ? NTR_E_FORMAT : NTR_OK;
}

/* ---- nodes */

static void put_nodes(index_writer *w, const ntr_nodes *nodes) {
    put(w, nodes->count);
    put(w, nodes->left_out);
    for (size_t i = 0; i < nodes->count; i++) {
        const ntr_node *node = &nodes->items[i];
        put(w, node->parent == NTR_NODE_NONE ? 0 : (uint64_t)node->parent + 1);
        put(w, node->function);
        if (node->parent != NTR_NODE_NONE) put(w, node->kind);
    }
}

static ntr_status get_nodes(index_reader *r, const ntr_explorer *x, const uint32_t *numbers, size_t functions,
                            ntr_nodes *nodes) {
    const size_t count = get_count(r);
    nodes->left_out = get(r);
    for (size_t i = 0; i < count && !r->damaged; i++) {
        const uint64_t parent = get_most(r, i), function = get(r);
        const uint8_t kind = parent ? (uint8_t)get_most(r, NTR_FRAME_INTERRUPT) : NTR_NODE_HART;
        uint32_t number;
        if (r->damaged || function >= (parent ? functions : NTR_SOURCES_MAX)) return NTR_E_FORMAT;
        if (parent)
            number = ntr_nodes_call(nodes, (uint32_t)parent - 1, numbers[function], kind);
        else if (x->replay->hart_number[function])
            number = ntr_nodes_hart(nodes, (uint16_t)function);
        else
            return NTR_E_FORMAT;
        if (number == NTR_NODE_NONE) return NTR_E_MEMORY;
        if (number != i) return NTR_E_FORMAT; /* it was there before, or its caller is too deep */
    }
    return r->damaged ? NTR_E_FORMAT : NTR_OK;
}

/* ---- cells */

static void put_cells(index_writer *w, const ntr_explore_index *index) {
    put(w, index->width);
    put(w, index->cell_count);
    put(w, index->count_count);
    for (size_t cell = 0; cell < index->cell_count; cell++) {
        size_t count;
        uint32_t before = 0;
        const ntr_cell_count *counts = ntr_cell_counts(index, cell, &count);
        put(w, count);
        put(w, index->cells[cell].timed);
        put(w, index->cells[cell].time);
        for (size_t i = 0; i < count; before = counts[i++].node) {
            put(w, counts[i].node - before);
            put(w, counts[i].self);
            put(w, counts[i].calls);
        }
    }
}

/* Adds the counts of a cell. Each instruction of the trace is one of a cell: `*sum` is their number. */
static void get_counts(index_reader *r, ntr_explore_index *index, size_t count, size_t nodes, uint64_t *sum) {
    uint64_t node = 0;
    for (size_t i = 0; i < count && !r->damaged; i++) {
        const uint64_t step = get_most(r, nodes);
        node += step;
        if (node >= nodes || (i && !step)) r->damaged = true;
        const uint64_t self = get_most(r, index->done - *sum);
        index->counts[index->count_count++] = (ntr_cell_count){(uint32_t)node, self, get(r)};
        *sum += self;
    }
}

static ntr_status get_cells(index_reader *r, ntr_explore_index *index, size_t nodes) {
    uint64_t sum = 0;
    index->width = get(r);
    const size_t cells = get_count(r), counts = get_count(r);
    index->cells = ntr_alloc(index->allocator, cells + 1, sizeof *index->cells);
    index->counts = ntr_alloc(index->allocator, counts + 1, sizeof *index->counts);
    if (!index->cells || !index->counts) return NTR_E_MEMORY;
    index->cell_capacity = cells + 1;
    index->count_capacity = counts + 1;
    for (; index->cell_count < cells && !r->damaged; index->cell_count++) {
        const size_t count = (size_t)get_most(r, counts - index->count_count);
        ntr_cell *cell = &index->cells[index->cell_count];
        *cell = (ntr_cell){.first = index->count_count, .timed = get_bool(r)};
        cell->time = get(r);
        get_counts(r, index, count, nodes, &sum);
    }
    if (r->damaged || !index->width || index->count_count != counts || sum != index->done) return NTR_E_FORMAT;
    return cells == index->done / index->width + (index->done % index->width != 0) ? NTR_OK : NTR_E_FORMAT;
}

/* ---- slices, gaps, runs */

static void put_slices(index_writer *w, const ntr_explore_index *index) {
    put(w, index->slice_count);
    put(w, index->least);
    for (size_t i = 0; i < index->slice_count; i++) {
        const ntr_stack_slice *slice = &index->slices[i];
        put(w, slice->begin);
        put(w, slice->end - slice->begin);
        put(w, slice->node);
        put(w, (unsigned)slice->cut_begin | (unsigned)slice->cut_end << 1);
    }
}

static ntr_status get_slices(index_reader *r, ntr_explore_index *index, size_t nodes) {
    const size_t count = get_count(r);
    index->least = get(r);
    index->slices = ntr_alloc(index->allocator, count + 1, sizeof *index->slices);
    if (!index->slices) return NTR_E_MEMORY;
    for (size_t i = 0; i < count && !r->damaged; i++) {
        ntr_stack_slice *slice = &index->slices[i];
        slice->begin = get_most(r, index->done);
        slice->end = get_after(r, slice->begin, index->done);
        slice->node = (uint32_t)get(r);
        const unsigned cut = (unsigned)get_most(r, 3);
        slice->cut_begin = cut & 1;
        slice->cut_end = cut >> 1;
        if (slice->node >= nodes) r->damaged = true;
    }
    index->slice_count = index->slice_capacity = count;
    return r->damaged ? NTR_E_FORMAT : NTR_OK;
}

static void put_gaps(index_writer *w, const ntr_explore_index *index) {
    put(w, index->gap_count);
    put(w, index->gaps_left_out);
    for (size_t i = 0; i < index->gap_count; i++) {
        const ntr_event *e = &index->gaps[i].event;
        put(w, index->gaps[i].position);
        put(w, e->flags);
        put(w, e->code);
        put(w, e->src);
        put(w, (uint16_t)e->reason);
        put(w, e->offset);
        put(w, e->message);
        put(w, e->time);
        put_context(w, &e->context);
        const uint64_t numbers[] = {e->gap.from_address, e->gap.until,     e->gap.until_message,
                                    e->gap.to_address,   e->gap.from_time, e->gap.to_time};
        for (size_t k = 0; k < NTR_COUNT(numbers); k++) put(w, numbers[k]);
        put(w, (unsigned)e->gap.from_known | (unsigned)e->gap.to_known << 1 | (unsigned)e->gap.from_timed << 2 |
                   (unsigned)e->gap.to_timed << 3);
        put(w, e->gap.tcode);
        put(w, e->gap.field);
    }
}

static void get_gap(index_reader *r, ntr_event *e) {
    e->kind = NTR_EVENT_GAP;
    e->flags = (uint8_t)get_most(r, UINT8_MAX);
    e->code = (uint8_t)get_most(r, UINT8_MAX);
    e->src = (uint16_t)get_most(r, NTR_SOURCES_MAX - 1);
    e->reason = (int16_t)(uint16_t)get_most(r, UINT16_MAX);
    e->offset = get(r);
    e->message = get(r);
    e->time = get(r);
    e->context = get_context(r);
    uint64_t *const numbers[] = {&e->gap.from_address, &e->gap.until,     &e->gap.until_message,
                                 &e->gap.to_address,   &e->gap.from_time, &e->gap.to_time};
    for (size_t k = 0; k < NTR_COUNT(numbers); k++) *numbers[k] = get(r);
    const unsigned bits = (unsigned)get_most(r, 15);
    e->gap.from_known = bits & 1;
    e->gap.to_known = bits >> 1 & 1;
    e->gap.from_timed = bits >> 2 & 1;
    e->gap.to_timed = bits >> 3 & 1;
    e->gap.tcode = (uint8_t)get_most(r, UINT8_MAX);
    e->gap.field = (uint8_t)get_most(r, UINT8_MAX);
}

static ntr_status get_gaps(index_reader *r, ntr_explore_index *index) {
    const size_t count = (size_t)get_most(r, NTR_GAPS_MAX);
    index->gaps_left_out = get(r);
    index->gaps = ntr_alloc(index->allocator, count + 1, sizeof *index->gaps);
    if (!index->gaps) return NTR_E_MEMORY;
    for (size_t i = 0; i < count && !r->damaged; i++) {
        index->gaps[i].position = get_most(r, index->done);
        get_gap(r, &index->gaps[i].event);
    }
    index->gap_count = index->gap_capacity = count;
    return r->damaged ? NTR_E_FORMAT : NTR_OK;
}

static void put_runs(index_writer *w, const ntr_runs *runs) {
    put(w, runs->count);
    put(w, runs->least);
    for (size_t i = 0; i < runs->count; i++) {
        put(w, runs->items[i].begin);
        put(w, runs->items[i].end - runs->items[i].begin);
        put(w, runs->items[i].src);
        put_context(w, &runs->items[i].context);
    }
}

static ntr_status get_runs(index_reader *r, ntr_runs *runs, uint64_t done) {
    const size_t count = get_count(r);
    runs->least = get(r);
    runs->items = ntr_alloc(runs->allocator, count + 1, sizeof *runs->items);
    if (!runs->items) return NTR_E_MEMORY;
    for (size_t i = 0; i < count && !r->damaged; i++) {
        ntr_run *run = &runs->items[i];
        run->begin = get_most(r, done);
        run->end = get_after(r, run->begin, done);
        run->src = (uint16_t)get_most(r, NTR_SOURCES_MAX - 1);
        run->context = get_context(r);
    }
    runs->count = runs->capacity = count;
    return r->damaged ? NTR_E_FORMAT : NTR_OK;
}

/* ---- harts */

static void put_harts(index_writer *w, const ntr_explorer *x) {
    put(w, x->replay->hart_count);
    for (size_t i = 0; i < x->replay->hart_count; i++) {
        put(w, x->replay->harts[i]);
        put(w, ntr_replay_executed(x->replay, x->replay->harts[i]));
    }
}

/* The replay has the harts in the same order from now on; it counts their instructions anew. */
static ntr_status get_harts(index_reader *r, ntr_explorer *x, uint64_t done) {
    const size_t count = (size_t)get_most(r, NTR_SOURCES_MAX);
    uint64_t sum = 0;
    uint64_t *executed = ntr_alloc(x->allocator, count + 1, sizeof *executed);
    if (!executed) return NTR_E_MEMORY;
    x->executed = executed;
    x->executed_count = count;
    for (size_t i = 0; i < count && !r->damaged; i++) {
        const uint16_t src = (uint16_t)get_most(r, NTR_SOURCES_MAX - 1);
        executed[i] = get_most(r, done - sum);
        sum += executed[i];
        if (r->damaged || x->replay->hart_number[src]) return NTR_E_FORMAT;
        if (ntr_replay_hart_index(x->replay, src) == SIZE_MAX) return NTR_E_MEMORY;
    }
    return r->damaged || sum != done ? NTR_E_FORMAT : NTR_OK;
}

/* ---- the file */

ntr_status ntr_explorer_save(const ntr_explorer *x, ntr_bytes key, const ntr_output *output) {
    index_writer w = {.allocator = x->allocator};
    uint8_t head[HEAD_SIZE] = {0};
    if (key.size > KEY_MOST) return NTR_E_INVALID;
    if (!x->index.complete || !x->replay->complete || *ntr_replay_error(x->replay)) return NTR_E_STATE;
    put(&w, x->index.done);
    put_harts(&w, x);
    put_functions(&w, x->config.functions);
    put_nodes(&w, &x->nodes);
    put_cells(&w, &x->index);
    put_slices(&w, &x->index);
    put_gaps(&w, &x->index);
    put_runs(&w, &x->index.runs);
    memcpy(head, magic, HEAD_MAGIC);
    ntr_little_put(head + HEAD_MAGIC, key.size, 4);
    if (key.size) memcpy(head + HEAD_MAGIC + 4, key.data, key.size);
    ntr_little_put(head + HEAD_SIZE - 16, w.size, 8);
    ntr_status status = w.failed ? NTR_E_MEMORY : NTR_OK;
    if (status == NTR_OK) ntr_little_put(head + HEAD_SIZE - 8, ntr_hash(NTR_HASH_START, w.bytes, w.size), 8);
    if (status == NTR_OK) status = output->write(output->user, head, HEAD_SIZE);
    if (status == NTR_OK) status = output->write(output->user, w.bytes, w.size);
    ntr_dealloc(x->allocator, w.bytes);
    return status;
}

/* Returns NTR_OK; NTR_END: it has another key; NTR_E_FORMAT: it is damaged. */
static ntr_status check_head(ntr_bytes key, ntr_bytes file) {
    const uint8_t *head = file.data;
    if (file.size < HEAD_SIZE || memcmp(head, magic, HEAD_MAGIC) != 0) return NTR_E_FORMAT;
    if (ntr_little_64(head + HEAD_SIZE - 16) != file.size - HEAD_SIZE ||
        ntr_little_64(head + HEAD_SIZE - 8) != ntr_hash(NTR_HASH_START, head + HEAD_SIZE, file.size - HEAD_SIZE))
        return NTR_E_FORMAT;
    const bool same = ntr_little_32(head + HEAD_MAGIC) == key.size &&
                      (!key.size || memcmp(head + HEAD_MAGIC + 4, key.data, key.size) == 0);
    return same ? NTR_OK : NTR_END;
}

static ntr_status read_parts(index_reader *r, ntr_explorer *x) {
    uint32_t *numbers = NULL;
    size_t functions = 0;
    ntr_explore_index *index = &x->index;
    index->done = get(r);
    ntr_status status = get_harts(r, x, index->done);
    if (status == NTR_OK) status = get_functions(r, x, &numbers, &functions);
    if (status == NTR_OK) status = get_nodes(r, x, numbers, functions, &x->nodes);
    if (status == NTR_OK) status = get_cells(r, index, x->nodes.count);
    if (status == NTR_OK) status = get_slices(r, index, x->nodes.count);
    if (status == NTR_OK) status = get_gaps(r, index);
    if (status == NTR_OK) status = get_runs(r, &index->runs, index->done);
    if (status == NTR_OK && r->at != r->end) status = NTR_E_FORMAT;
    ntr_dealloc(x->allocator, numbers);
    return status;
}

ntr_status ntr_explorer_load(ntr_explorer *x, ntr_bytes key, ntr_bytes file) {
    if (x->index.begun || x->nodes.count || x->replay->executed || x->replay->hart_count || key.size > KEY_MOST)
        return NTR_E_STATE;
    TRY(check_head(key, file));
    index_reader r = {file.data + HEAD_SIZE, file.data + file.size, false};
    const ntr_status status = read_parts(&r, x);
    if (status == NTR_OK) {
        x->index.begun = x->index.complete = true;
        return NTR_OK;
    }
    ntr_explorer_forget(x);
    ntr_replay_forget_harts(x->replay);
    return status;
}
