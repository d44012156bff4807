#include "trace/flow_tables.h"

#include "base/allocator.h"

#include <string.h>

enum { FIRST_COUNTER = 1, LOWEST_BIT = 2, ADDRESS_BITS_32 = 26, ADDRESS_BITS_64 = 64 };

static size_t counters_of(const ntr_flow_tables *tables) {
    return tables->counters ? (size_t)1 << tables->counter_bits : 0;
}

static size_t targets_of(const ntr_flow_tables *tables) {
    return tables->targets ? (size_t)1 << tables->cache_bits : 0;
}

/* Allocate tables of the sizes in *tables. */
static ntr_status allocate(ntr_flow_tables *tables, const ntr_allocator *allocator) {
    if (tables->counter_bits)
        tables->counters = ntr_alloc(allocator, (size_t)1 << tables->counter_bits, sizeof *tables->counters);
    if (tables->cache_bits)
        tables->targets = ntr_alloc(allocator, (size_t)1 << tables->cache_bits, sizeof *tables->targets);
    if ((!tables->counter_bits || tables->counters) && (!tables->cache_bits || tables->targets)) return NTR_OK;
    ntr_flow_tables_free(tables, allocator);
    return NTR_E_MEMORY;
}

ntr_status ntr_flow_tables_new(ntr_flow_tables *tables, const ntr_params *params, const ntr_allocator *allocator) {
    *tables = (ntr_flow_tables){.counter_bits = params->branch_predictor, .cache_bits = params->jump_cache};
    tables->address_bits = params->xlen == 32 ? ADDRESS_BITS_32 : ADDRESS_BITS_64;
    ntr_status status = allocate(tables, allocator);
    if (status == NTR_OK) ntr_flow_tables_reset(tables);
    tables->known = false;
    return status;
}

void ntr_flow_tables_free(ntr_flow_tables *tables, const ntr_allocator *allocator) {
    ntr_dealloc(allocator, tables->counters);
    ntr_dealloc(allocator, tables->targets);
    *tables = (ntr_flow_tables){0};
}

ntr_status ntr_flow_tables_copy(ntr_flow_tables *to, const ntr_flow_tables *from, const ntr_allocator *allocator) {
    *to = *from;
    to->counters = NULL;
    to->targets = NULL;
    if (!from->counters && !from->targets) return NTR_OK;
    ntr_status status = allocate(to, allocator);
    if (status != NTR_OK) return status;
    if (to->counters && from->counters) memcpy(to->counters, from->counters, counters_of(to) * sizeof *to->counters);
    if (to->targets && from->targets) memcpy(to->targets, from->targets, targets_of(to) * sizeof *to->targets);
    return NTR_OK;
}

bool ntr_flow_tables_equal(const ntr_flow_tables *a, const ntr_flow_tables *b) {
    if ((a->counters && a->known != b->known) || counters_of(a) != counters_of(b) || targets_of(a) != targets_of(b))
        return false;
    if (counters_of(a) && memcmp(a->counters, b->counters, counters_of(a) * sizeof *a->counters) != 0) return false;
    return !targets_of(a) || memcmp(a->targets, b->targets, targets_of(a) * sizeof *a->targets) == 0;
}

void ntr_flow_tables_reset(ntr_flow_tables *tables) {
    if (tables->counters) memset(tables->counters, FIRST_COUNTER, counters_of(tables) * sizeof *tables->counters);
    if (tables->targets) memset(tables->targets, 0, targets_of(tables) * sizeof *tables->targets);
    tables->known = true;
}

void ntr_flow_tables_lose(ntr_flow_tables *tables) {
    if (tables->targets) memset(tables->targets, 0, targets_of(tables) * sizeof *tables->targets);
    tables->known = false;
}

unsigned ntr_flow_cache_index(const ntr_flow_tables *tables, uint64_t target) {
    uint64_t index = 0, slice = (UINT64_C(1) << tables->cache_bits) - 1;
    if (tables->address_bits < 64) target &= (UINT64_C(1) << tables->address_bits) - 1;
    for (uint64_t left = target >> LOWEST_BIT; left; left >>= tables->cache_bits) index ^= left & slice;
    return (unsigned)index;
}

bool ntr_flow_cache_get(const ntr_flow_tables *tables, uint64_t index, uint64_t *target) {
    if (index >= targets_of(tables)) return false;
    *target = tables->targets[index] & ~UINT64_C(1);
    return tables->targets[index] != 0;
}
