#include "base/allocator.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *resize(const ntr_allocator *allocator, void *block, size_t size) {
    if (allocator) return allocator->resize(allocator->user, block, size);
    if (size) return realloc(block, size);
    free(block);
    return NULL;
}

void *ntr_realloc(const ntr_allocator *allocator, void *block, size_t count, size_t item) {
    if (item && count > SIZE_MAX / item) return NULL;
    return resize(allocator, block, count && item ? count * item : 1);
}

enum { HUGE_PAGE = 2 << 20, HUGE_PAGES_LEAST = 2 };

/* Large tables are read at random: in pages of 4 KiB, most reads would miss the TLB. The whole pages of a block become
 * huge pages, where the system has them. */
static void use_huge_pages(void *block, size_t size) {
#ifdef MADV_HUGEPAGE
    if (size < HUGE_PAGES_LEAST * HUGE_PAGE) return;
    const size_t ahead = -(uintptr_t)block % HUGE_PAGE;
    madvise((char *)block + ahead, (size - ahead) / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
#else
    (void)block, (void)size;
#endif
}

/* Large blocks are zero when they come from the system: calloc does not write them. */
void *ntr_alloc(const ntr_allocator *allocator, size_t count, size_t item) {
    if (item && count > SIZE_MAX / item) return NULL;
    const size_t size = count && item ? count * item : 1;
    if (!allocator) {
        void *block = calloc(size, 1);
        if (block) use_huge_pages(block, size);
        return block;
    }
    void *block = resize(allocator, NULL, size);
    if (block) memset(block, 0, size);
    return block;
}

void ntr_dealloc(const ntr_allocator *allocator, void *block) {
    if (block) resize(allocator, block, 0);
}

int ntr_reserve(const ntr_allocator *allocator, void **block, size_t *capacity, size_t need, size_t item) {
    if (need <= *capacity) return 0;
    size_t grown = *capacity ? *capacity : 16;
    while (grown < need) {
        if (grown > SIZE_MAX / 2) return -1;
        grown *= 2;
    }
    void *larger = ntr_realloc(allocator, *block, grown, item);
    if (!larger) return -1;
    *block = larger;
    *capacity = grown;
    return 0;
}

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
