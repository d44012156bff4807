#include "export/perf_record.h"

#include "base/allocator.h"

#include <string.h>

uint32_t ntr_perf_pid(const ntr_context *context) {
    uint32_t pid = context->has_scontext ? (uint32_t)context->scontext & 0x3fffffff : 1;
    return pid ? pid : 1;
}

/* ---- call chains */

enum { CHAIN_MOST = 1 << 12, TABLE_FIRST = 1 << 12 };

static size_t place_of(const ntr_perf_samples *s, uint32_t parent, uint64_t return_to) {
    uint64_t hash = (return_to ^ (uint64_t)parent << 40) * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(hash >> 32) & (s->table_size - 1);

    while (s->table[at]) {
        const ntr_perf_node *n = &s->nodes[s->table[at]];
        if (n->parent == parent && n->return_to == return_to) break;
        at = (at + 1) & (s->table_size - 1);
    }
    return at;
}

static int grow_table(ntr_perf_samples *s) {
    size_t size = s->table_size ? 2 * s->table_size : TABLE_FIRST;
    uint32_t *table = ntr_alloc(s->allocator, size, sizeof *table);

    if (!table) return -1;
    ntr_dealloc(s->allocator, s->table);
    s->table = table;
    s->table_size = size;
    for (uint32_t i = 1; i < s->node_count; i++) s->table[place_of(s, s->nodes[i].parent, s->nodes[i].return_to)] = i;
    return 0;
}

ntr_status ntr_perf_chain_begin(ntr_perf_samples *s) {
    if (ntr_reserve(s->allocator, (void **)&s->nodes, &s->node_capacity, 1, sizeof *s->nodes)) return NTR_E_MEMORY;
    s->nodes[0] = (ntr_perf_node){0};
    s->node_count = 1;
    return grow_table(s) ? NTR_E_MEMORY : NTR_OK;
}

uint32_t ntr_perf_chain_child(ntr_perf_samples *s, uint32_t parent, uint64_t return_to) {
    size_t at = place_of(s, parent, return_to);

    if (s->table[at]) return s->table[at];
    if (s->nodes[parent].depth == CHAIN_MOST || s->node_count == UINT32_MAX) return parent;
    if (2 * s->node_count > s->table_size) {
        if (grow_table(s)) return parent;
        at = place_of(s, parent, return_to);
    }
    if (ntr_reserve(s->allocator, (void **)&s->nodes, &s->node_capacity, s->node_count + 1, sizeof *s->nodes))
        return parent;
    s->nodes[s->node_count] =
        (ntr_perf_node){.return_to = return_to, .parent = parent, .depth = s->nodes[parent].depth + 1};
    return s->table[at] = (uint32_t)s->node_count++;
}

/* ---- samples */

int ntr_perf_samples_add(ntr_perf_samples *s, const ntr_perf_sample *sample, const ntr_perf_branch *ring,
                         uint32_t branches) {
    const uint32_t kept = !ring ? 0 : branches < s->depth ? branches : s->depth;

    if (ntr_reserve(s->allocator, (void **)&s->items, &s->capacity, s->count + 1, sizeof *s->items)) return -1;
    if (s->depth && ntr_reserve(s->allocator, (void **)&s->branches, &s->branch_capacity, (s->count + 1) * s->depth,
                                sizeof *s->branches))
        return -1;
    s->items[s->count] = *sample;
    s->items[s->count].branches = (uint16_t)kept;
    for (uint32_t i = 0; s->depth && i < kept; i++) /* the newest first */
        s->branches[s->count * s->depth + i] = ring[(branches - 1 - i) % s->depth];
    s->count++;
    return 0;
}

void ntr_perf_samples_release(ntr_perf_samples *s) {
    ntr_dealloc(s->allocator, s->changes);
    ntr_dealloc(s->allocator, s->files);
    ntr_dealloc(s->allocator, s->items);
    ntr_dealloc(s->allocator, s->branches);
    ntr_dealloc(s->allocator, s->nodes);
    ntr_dealloc(s->allocator, s->table);
}
