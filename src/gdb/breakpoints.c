#include "gdb/breakpoints.h"

#include "base/allocator.h"

#include <string.h>

enum { BREAKPOINTS_MAX = 1 << 16 };

/* Returns the index of the first address that is not less. */
static size_t find(const uint64_t *list, size_t count, uint64_t address) {
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (list[middle] < address)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

static bool has(const uint64_t *list, size_t count, uint64_t address) {
    size_t at = find(list, count, address);
    return at < count && list[at] == address;
}

static ntr_status insert(const ntr_allocator *allocator, uint64_t **list, size_t *count, size_t *capacity,
                         uint64_t address) {
    if (has(*list, *count, address)) return NTR_OK;
    if (*count >= BREAKPOINTS_MAX) return NTR_E_LIMIT;
    if (ntr_reserve(allocator, (void **)list, capacity, *count + 1, sizeof **list)) return NTR_E_MEMORY;
    size_t at = find(*list, *count, address);
    memmove(*list + at + 1, *list + at, (*count - at) * sizeof **list);
    (*list)[at] = address;
    ++*count;
    return NTR_OK;
}

static void drop(uint64_t *list, size_t *count, uint64_t address) {
    if (!has(list, *count, address)) return;
    size_t at = find(list, *count, address);
    memmove(list + at, list + at + 1, (*count - at - 1) * sizeof *list);
    --*count;
}

ntr_status ntr_gdb_breakpoint_add(ntr_gdb_breakpoints *b, uint64_t address, bool hardware) {
    ntr_status status = insert(b->allocator, &b->addresses, &b->count, &b->capacity, address);
    if (status != NTR_OK || !hardware) return status;
    return insert(b->allocator, &b->hardware, &b->hardware_count, &b->hardware_capacity, address);
}

void ntr_gdb_breakpoint_remove(ntr_gdb_breakpoints *b, uint64_t address, bool hardware) {
    drop(b->addresses, &b->count, address);
    if (hardware) drop(b->hardware, &b->hardware_count, address);
}

bool ntr_gdb_breakpoint_at(const ntr_gdb_breakpoints *b, uint64_t address) {
    return has(b->addresses, b->count, address);
}

bool ntr_gdb_breakpoint_is_hardware(const ntr_gdb_breakpoints *b, uint64_t address) {
    return has(b->hardware, b->hardware_count, address);
}

bool ntr_gdb_breakpoint_is_new(const ntr_gdb_breakpoints *b, uint64_t address) {
    return has(b->addresses, b->count, address) && !has(b->before, b->before_count, address);
}

bool ntr_gdb_breakpoint_was(const ntr_gdb_breakpoints *b, uint64_t address) {
    return has(b->before, b->before_count, address);
}

ntr_status ntr_gdb_breakpoints_resume(ntr_gdb_breakpoints *b) {
    if (ntr_reserve(b->allocator, (void **)&b->before, &b->before_capacity, b->count, sizeof *b->before))
        return NTR_E_MEMORY;
    if (b->count) memcpy(b->before, b->addresses, b->count * sizeof *b->before);
    b->before_count = b->count;
    return NTR_OK;
}

void ntr_gdb_breakpoints_release(ntr_gdb_breakpoints *b) {
    ntr_dealloc(b->allocator, b->addresses);
    ntr_dealloc(b->allocator, b->hardware);
    ntr_dealloc(b->allocator, b->before);
}
