/* Allocation through an ntr_allocator. */
#ifndef NTR_BASE_ALLOCATOR_H
#define NTR_BASE_ALLOCATOR_H

#include <ntrace/allocator.h>

#include <stddef.h>
#include <stdint.h>

/* Returns zeroed memory for `count` items, or NULL when out of memory or when the product overflows. `allocator` may be
 * NULL. */
void *ntr_alloc(const ntr_allocator *allocator, size_t count, size_t item);

/* The same as realloc, for `count` items. On failure it returns NULL and the old block remains valid. */
void *ntr_realloc(const ntr_allocator *allocator, void *block, size_t count, size_t item);

void ntr_dealloc(const ntr_allocator *allocator, void *block);

/* Grows *block, of *capacity items, to at least `need` items, by doubling. Returns 0, or -1 when out of memory. */
int ntr_reserve(const ntr_allocator *allocator, void **block, size_t *capacity, size_t need, size_t item);

/* ---- Numbers of the elements of an array that grows; those that were given back are taken again, the last one first.
 * Each element has at least 4 bytes; the first ones of a free element hold the number + 1 of the next free one. */

#define NTR_POOL_NONE UINT32_MAX

/* All zero: no element. */
typedef struct ntr_pool {
    size_t capacity;
    uint32_t used; /* elements that were ever taken */
    uint32_t free; /* number + 1; 0: none */
} ntr_pool;

/* Returns the number of an element that is not in use, with any content, or NTR_POOL_NONE when out of memory. *elements
 * may move; each has `size` bytes. */
uint32_t ntr_pool_take(ntr_pool *pool, void **elements, size_t size, const ntr_allocator *allocator);

void ntr_pool_give_back(ntr_pool *pool, void *elements, size_t size, uint32_t number);

#endif
