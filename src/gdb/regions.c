#include "gdb/regions.h"

#include "base/allocator.h"

ntr_status ntr_gdb_region_add(ntr_gdb_regions *regions, uint64_t low, uint64_t high, uint64_t gap) {
    ntr_gdb_region *last = regions->count ? &regions->items[regions->count - 1] : NULL;
    if (last && (low <= last->high || low - last->high <= gap)) {
        if (high > last->high) last->high = high;
        return NTR_OK;
    }
    if (regions->count >= NTR_GDB_REGIONS_MAX) return NTR_OK;
    if (ntr_reserve(regions->allocator, (void **)&regions->items, &regions->capacity, regions->count + 1,
                    sizeof *regions->items))
        return NTR_E_MEMORY;
    regions->items[regions->count++] = (ntr_gdb_region){.low = low, .high = high};
    return NTR_OK;
}

bool ntr_gdb_regions_contain(const ntr_gdb_regions *regions, uint64_t address) {
    for (size_t i = 0; i < regions->count; i++)
        if (address >= regions->items[i].low && address < regions->items[i].high) return true;
    return false;
}
