#include "replay/span_set.h"

#include "base/allocator.h"

#include <stdlib.h>
#include <string.h>

/* ---- the table */

void ntr_span_table_begin(ntr_span_table *table) {
    table->part++;
    table->list_count = 0;
}

static size_t slot_of(const ntr_span_table *table, uint64_t address, uint32_t halfwords) {
    uint64_t hash = (address ^ (uint64_t)halfwords << 48) * UINT64_C(0x9e3779b97f4a7c15);
    size_t mask = table->slot_count - 1, at = (size_t)(hash >> 32) & mask;
    while (table->slots[at]) {
        const ntr_code_span *item = &table->items[table->slots[at] - 1];
        if (item->address == address && item->halfwords == halfwords) break;
        at = (at + 1) & mask;
    }
    return at;
}

static ntr_status grow_slots(ntr_span_table *table) {
    enum { SLOTS_FIRST = 4096 };
    size_t count = table->slot_count ? 2 * table->slot_count : SLOTS_FIRST;
    uint32_t *slots = ntr_alloc(table->allocator, count, sizeof *slots);
    if (!slots) return NTR_E_MEMORY;
    ntr_dealloc(table->allocator, table->slots);
    table->slots = slots;
    table->slot_count = count;
    for (size_t i = 0; i < table->count; i++)
        slots[slot_of(table, table->items[i].address, table->items[i].halfwords)] = (uint32_t)i + 1;
    return NTR_OK;
}

static ntr_status list_block(ntr_span_table *table, uint32_t number) {
    if (ntr_reserve(table->allocator, (void **)&table->list, &table->list_capacity, table->list_count + 1,
                    sizeof *table->list))
        return NTR_E_MEMORY;
    table->list[table->list_count++] = number;
    table->items[number].part = table->part;
    return NTR_OK;
}

ntr_status ntr_span_table_add(ntr_span_table *table, uint64_t address, uint32_t halfwords) {
    if (2 * (table->count + 1) > table->slot_count && grow_slots(table) != NTR_OK) return NTR_E_MEMORY;
    size_t slot = slot_of(table, address, halfwords);
    if (table->slots[slot]) {
        uint32_t number = table->slots[slot] - 1;
        return table->items[number].part == table->part ? NTR_OK : list_block(table, number);
    }
    if (table->count == UINT32_MAX - 1 ||
        ntr_reserve(table->allocator, (void **)&table->items, &table->capacity, table->count + 1, sizeof *table->items))
        return NTR_E_MEMORY;
    table->items[table->count] = (ntr_code_span){.address = address, .halfwords = halfwords};
    table->slots[slot] = (uint32_t)++table->count;
    return list_block(table, (uint32_t)table->count - 1);
}

static int by_number(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static size_t put_number(uint8_t *to, uint32_t number) {
    size_t size = 0;
    for (; number >= 0x80; number >>= 7) to[size++] = (uint8_t)(number | 0x80);
    to[size++] = (uint8_t)number;
    return size;
}

ntr_status ntr_span_table_take(ntr_span_table *table, ntr_span_set *set) {
    enum { NUMBER_BYTES = 5 };
    *set = (ntr_span_set){0};
    uint8_t *bytes = ntr_alloc(table->allocator, table->list_count + 1, NUMBER_BYTES);
    if (!bytes) return NTR_E_MEMORY;
    if (table->list_count) qsort(table->list, table->list_count, sizeof *table->list, by_number);
    uint32_t before = 0;
    for (size_t i = 0; i < table->list_count; before = table->list[i++])
        set->size += put_number(bytes + set->size, table->list[i] - before);
    set->bytes = ntr_realloc(table->allocator, bytes, set->size + 1, 1);
    if (!set->bytes) set->bytes = bytes;
    return NTR_OK;
}

void ntr_span_table_release(ntr_span_table *table) {
    ntr_dealloc(table->allocator, table->items);
    ntr_dealloc(table->allocator, table->slots);
    ntr_dealloc(table->allocator, table->list);
}

/* ---- filters */

size_t ntr_first_address(const uint64_t *addresses, size_t count, uint64_t address) {
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (addresses[middle] < address)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

ntr_status ntr_span_filter_set(ntr_span_filter *filter, const uint64_t *addresses, size_t count) {
    if (count == filter->count && (!count || memcmp(filter->addresses, addresses, count * sizeof *addresses) == 0))
        return NTR_OK;
    filter->done = 0;
    if (ntr_reserve(filter->allocator, (void **)&filter->addresses, &filter->capacity, count, sizeof *addresses))
        return NTR_E_MEMORY;
    if (count) memcpy(filter->addresses, addresses, count * sizeof *addresses);
    filter->count = count;
    return NTR_OK;
}

ntr_status ntr_span_filter_update(ntr_span_filter *filter, const ntr_span_table *table) {
    if (ntr_reserve(filter->allocator, (void **)&filter->bits, &filter->bits_capacity, table->count / 8 + 1, 1))
        return NTR_E_MEMORY;
    for (; filter->done < table->count; filter->done++) {
        const ntr_code_span *span = &table->items[filter->done];
        uint8_t *byte = &filter->bits[filter->done / 8], bit = (uint8_t)(1u << filter->done % 8);
        size_t at = ntr_first_address(filter->addresses, filter->count, span->address);
        bool has = at < filter->count && filter->addresses[at] - span->address < 2 * (uint64_t)span->halfwords;
        *byte = has ? *byte | bit : *byte & (uint8_t)~bit;
    }
    return NTR_OK;
}

bool ntr_span_filter_matches(const ntr_span_filter *filter, const ntr_span_set *set) {
    uint32_t number = 0;
    for (size_t i = 0; i < set->size;) {
        uint32_t difference = 0;
        unsigned shift = 0;
        for (; set->bytes[i] & 0x80; shift += 7) difference |= (uint32_t)(set->bytes[i++] & 0x7f) << shift;
        number += difference | (uint32_t)set->bytes[i++] << shift;
        if (filter->bits[number / 8] >> number % 8 & 1) return true;
    }
    return false;
}

void ntr_span_filter_release(ntr_span_filter *filter) {
    ntr_dealloc(filter->allocator, filter->addresses);
    ntr_dealloc(filter->allocator, filter->bits);
}
