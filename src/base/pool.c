#include "base/pool.h"

#include "base/allocator.h"

#include <string.h>

static void *element(void *elements, size_t size, uint32_t number) {
    return (char *)elements + (size_t)number * size;
}

uint32_t ntr_pool_take(ntr_pool *pool, void **elements, size_t size, const ntr_allocator *allocator) {
    if (pool->free) {
        const uint32_t number = pool->free - 1;
        memcpy(&pool->free, element(*elements, size, number), sizeof pool->free);
        return number;
    }
    if (pool->used == NTR_POOL_NONE - 1 ||
        ntr_reserve(allocator, elements, &pool->capacity, (size_t)pool->used + 1, size))
        return NTR_POOL_NONE;
    return pool->used++;
}

void ntr_pool_give_back(ntr_pool *pool, void *elements, size_t size, uint32_t number) {
    memcpy(element(elements, size, number), &pool->free, sizeof pool->free);
    pool->free = number + 1;
}
