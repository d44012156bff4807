/* Allocation through an ntr_allocator. */
#ifndef NTR_BASE_ALLOCATOR_H
#define NTR_BASE_ALLOCATOR_H

#include <ntrace/allocator.h>
#include <stddef.h>

/* Returns zeroed memory for `count` items, or NULL when out of memory or when the product overflows. `allocator` may be
 * NULL. */
void *ntr_alloc(const ntr_allocator *allocator, size_t count, size_t item);

/* The same as realloc, for `count` items. On failure it returns NULL and the old block remains valid. */
void *ntr_realloc(const ntr_allocator *allocator, void *block, size_t count, size_t item);

void ntr_dealloc(const ntr_allocator *allocator, void *block);

/* Grows *block, of *capacity items, to at least `need` items, by doubling. Returns 0, or -1 when out of memory. */
int ntr_reserve(const ntr_allocator *allocator, void **block, size_t *capacity, size_t need, size_t item);

#endif
