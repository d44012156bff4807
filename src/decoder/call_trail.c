#include "decoder/call_trail.h"

#include "base/allocator.h"

enum { TRAIL_FIRST = 64 };

ntr_call_trail *ntr_trail_new(const ntr_allocator *allocator) {
    ntr_call_trail *trail = ntr_alloc(allocator, 1, sizeof *trail);
    if (!trail) return NULL;
    trail->allocator = allocator;
    trail->broken = true;
    return trail;
}

void ntr_trail_free(ntr_call_trail *trail) {
    if (!trail) return;
    ntr_dealloc(trail->allocator, trail->returns);
    ntr_dealloc(trail->allocator, trail);
}

bool ntr_trail_reserve(ntr_call_trail *trail, size_t count) {
    size_t capacity = trail->capacity ? trail->capacity : TRAIL_FIRST;
    while (capacity < count) capacity *= 2;
    if (count <= trail->capacity) return true;
    uint64_t *grown =
        count > NTR_TRAIL_MOST ? NULL : ntr_realloc(trail->allocator, trail->returns, capacity, sizeof *grown);
    if (!grown) {
        trail->broken = true;
        return false;
    }
    trail->returns = grown;
    trail->capacity = (uint32_t)capacity;
    return true;
}
