/* Where the library's few allocations come from. */
#ifndef NTRACE_ALLOCATOR_H
#define NTRACE_ALLOCATOR_H

#include <stddef.h>

/* `resize` behaves as realloc (block NULL: allocate; size 0: free, returns NULL); `user` is passed on.
 * It must be safe to call from every thread that uses the objects made with it. A NULL ntr_allocator
 * pointer anywhere in the API means malloc and free. */
typedef struct ntr_allocator {
    void *(*resize)(void *user, void *block, size_t size);
    void *user;
} ntr_allocator;

#endif
