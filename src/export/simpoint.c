/* Basic-block vectors for SimPoint (-loadFVFile): for each interval of instructions the basic blocks that ran in it, as
 * "T:BLOCK:INSTRUCTIONS :BLOCK:INSTRUCTIONS ...". SimPoint ignores lines that do not begin with T.
 *
 * A block is straight code from where control arrived to where it left. An interval ends with the block in which its
 * last instruction is; the next one is shorter by what was too much, so that the ends do not drift. */
#include "export/export.h"

#include "base/allocator.h"

#include <stdio.h>

enum { INTERVAL_DEFAULT = 100000000, BB_TABLE_FIRST = 1 << 10 };

typedef struct bb_block {
    uint64_t address, instructions;
    uint32_t scontext, function; /* the address space, or 0; number of the function */
    uint64_t ran; /* instructions in this interval */
} bb_block;

typedef struct bb_writer {
    bb_block *blocks;
    size_t count, capacity;
    uint32_t *table; /* number of a block + 1; 0: free */
    size_t table_size;
    uint32_t *used; /* blocks of this interval, in the order of their first execution */
    size_t used_count, used_capacity;
    bb_block open; /* the block that has not ended */
    bool is_open, has_source, has_other;
    uint16_t src, other; /* the hart, and another one */
    uint64_t every, total, next; /* instructions of an interval, so far, and at its end */
} bb_writer;

static size_t place_of(const bb_writer *w, const bb_block *block) {
    const uint64_t hash =
        (block->address ^ block->instructions << 48 ^ (uint64_t)block->scontext << 32) * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(hash >> 32) & (w->table_size - 1);
    for (; w->table[at]; at = (at + 1) & (w->table_size - 1)) {
        const bb_block *b = &w->blocks[w->table[at] - 1];
        if (b->address == block->address && b->instructions == block->instructions && b->scontext == block->scontext)
            break;
    }
    return at;
}

static ntr_status grow_table(ntr_export *x, bb_writer *w) {
    const size_t size = w->table_size ? 2 * w->table_size : BB_TABLE_FIRST;
    uint32_t *table = ntr_alloc(x->allocator, size, sizeof *table);
    if (!table) return NTR_E_MEMORY;
    ntr_dealloc(x->allocator, w->table);
    w->table = table;
    w->table_size = size;
    for (size_t i = 0; i < w->count; i++) w->table[place_of(w, &w->blocks[i])] = (uint32_t)i + 1;
    return NTR_OK;
}

/* Stores the number of a block, which is added when it is new. */
static ntr_status number_of(ntr_export *x, bb_writer *w, const bb_block *block, uint32_t *number) {
    if (2 * w->count >= w->table_size && grow_table(x, w)) return NTR_E_MEMORY;
    const size_t at = place_of(w, block);
    if (!w->table[at]) {
        if (w->count == UINT32_MAX - 1) return NTR_E_LIMIT;
        if (ntr_reserve(x->allocator, (void **)&w->blocks, &w->capacity, w->count + 1, sizeof *w->blocks))
            return NTR_E_MEMORY;
        w->blocks[w->count++] = *block;
        w->table[at] = (uint32_t)w->count;
    }
    *number = w->table[at] - 1;
    return NTR_OK;
}

static void write_interval(ntr_export *x, bb_writer *w) {
    if (!w->used_count) return;
    ntr_out_char(&x->out, 'T');
    for (size_t i = 0; i < w->used_count; i++) {
        bb_block *block = &w->blocks[w->used[i]];
        ntr_out_format(&x->out, ":%lu:%llu ", (unsigned long)w->used[i] + 1, (unsigned long long)block->ran);
        block->ran = 0;
    }
    ntr_out_char(&x->out, '\n');
    w->used_count = 0;
}

static ntr_status end_block(ntr_export *x, bb_writer *w) {
    uint32_t number;
    if (!w->is_open) return NTR_OK;
    w->is_open = false;
    const ntr_status status = number_of(x, w, &w->open, &number);
    if (status) return status;
    if (!w->blocks[number].ran) {
        if (ntr_reserve(x->allocator, (void **)&w->used, &w->used_capacity, w->used_count + 1, sizeof *w->used))
            return NTR_E_MEMORY;
        w->used[w->used_count++] = number;
    }
    w->blocks[number].ran += w->open.instructions;
    w->total += w->open.instructions;
    if (w->total < w->next) return NTR_OK;
    write_interval(x, w);
    while (w->next <= w->total) w->next += w->every;
    return NTR_OK;
}

static ntr_status begin(ntr_export *x) {
    bb_writer *w = x->state;
    w->every = w->next = x->analysis.sample_every ? x->analysis.sample_every : INTERVAL_DEFAULT;
    ntr_out_format(&x->out, "# basic-block vectors, %llu instructions each\n", (unsigned long long)w->every);
    return grow_table(x, w);
}

static ntr_status take_span(ntr_export *x, bb_writer *w, const ntr_event *e) {
    if (w->has_source && e->src != w->src) {
        w->other = e->src;
        w->has_other = true;
        return NTR_OK; /* `end` has the error, and its sentence */
    }
    w->has_source = true;
    w->src = e->src;
    if (!w->is_open)
        w->open = (bb_block){.address = e->address,
                             .scontext = e->context.has_scontext ? (uint32_t)e->context.scontext : 0,
                             .function = ntr_functions_at(x->analysis.functions, ntr_event_place(e, e->address))};
    w->is_open = true;
    w->open.instructions += e->instructions;
    return e->end == NTR_SPAN_CUT ? NTR_OK : end_block(x, w);
}

static ntr_status events(ntr_export *x, const ntr_event *list, size_t count) {
    bb_writer *w = x->state;
    ntr_status status = NTR_OK;
    for (size_t i = 0; i < count && !status && !w->has_other; i++) {
        const ntr_event *e = &list[i];
        if (e->kind == NTR_EVENT_SPAN && e->instructions) status = take_span(x, w, e);
        if (e->kind == NTR_EVENT_GAP || e->kind == NTR_EVENT_STOP) status = end_block(x, w);
        if (e->kind == NTR_EVENT_GAP && !status)
            ntr_out_format(&x->out, "# gap after instruction %llu: %s\n", (unsigned long long)w->total,
                           ntr_status_text((ntr_status)e->reason));
    }
    return status;
}

/* The last interval can be shorter. The list of blocks follows. */
static ntr_status end(ntr_export *x) {
    bb_writer *w = x->state;
    if (w->has_other) {
        snprintf(x->error, sizeof x->error, "expected one hart, found those with SRC %u and %u; select one with --src",
                 w->src, w->other);
        return NTR_E_UNSUPPORTED;
    }
    const ntr_status status = end_block(x, w);
    if (status) return status;
    write_interval(x, w);
    ntr_out_text(&x->out, "# block address instructions function\n");
    for (size_t i = 0; i < w->count && !x->out.status; i++) {
        const ntr_function *function = ntr_functions_get(x->analysis.functions, w->blocks[i].function);
        ntr_out_format(&x->out, "# %zu 0x%llx %llu ", i + 1, (unsigned long long)w->blocks[i].address,
                       (unsigned long long)w->blocks[i].instructions);
        ntr_out_line(&x->out, function ? function->name : "?");
        ntr_out_char(&x->out, '\n');
    }
    return NTR_OK;
}

static void release(ntr_export *x) {
    bb_writer *w = x->state;
    ntr_dealloc(x->allocator, w->blocks);
    ntr_dealloc(x->allocator, w->table);
    ntr_dealloc(x->allocator, w->used);
}

const ntr_exporter ntr_exporter_simpoint = {
    .name = "simpoint",
    .family = "export",
    .summary = "basic-block vectors of one hart (simpoint -loadFVFile)",
    .aliases = {"bb", "bbv"},
    .needs = NTR_NEEDS_EVENTS,
    .state_size = sizeof(bb_writer),
    .begin = begin,
    .events = events,
    .end = end,
    .release = release,
};
