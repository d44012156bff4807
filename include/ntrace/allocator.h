/* Allocation of memory by the library. */
#ifndef NTRACE_ALLOCATOR_H
#define NTRACE_ALLOCATOR_H

#include <stddef.h>

/* `resize` behaves as realloc: `block` NULL allocates, `size` 0 frees and returns NULL. `user` is its first argument.
 * It must be safe to call from every thread that uses objects created with it. A NULL pointer to ntr_allocator selects
 * malloc and free everywhere in the interface. */
typedef struct ntr_allocator {
    void *(*resize)(void *user, void *block, size_t size);
    void *user;
} ntr_allocator;

#endif
