/* The library's side of ntr_allocator. */
#ifndef NTR_BASE_ALLOCATOR_H
#define NTR_BASE_ALLOCATOR_H

#include <ntrace/allocator.h>
#include <stddef.h>

/* Zeroed memory for `count` items, or NULL (also when the product overflows). `allocator` may be NULL. */
void *ntr_alloc(const ntr_allocator *allocator, size_t count, size_t item);

/* As realloc, for `count` items; NULL leaves the old block alone. */
void *ntr_realloc(const ntr_allocator *allocator, void *block, size_t count, size_t item);

void ntr_dealloc(const ntr_allocator *allocator, void *block);

/* Grow `*block` (of `*capacity` items) so that it holds at least `need`; doubles. 0, or -1 when out of memory. */
int ntr_reserve(const ntr_allocator *allocator, void **block, size_t *capacity, size_t need, size_t item);

#endif
