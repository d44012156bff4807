/* String table: keeps one copy of each string, so that equal strings have equal pointers. */
#ifndef NTR_ANALYSIS_TEXTS_H
#define NTR_ANALYSIS_TEXTS_H

#include <ntrace/allocator.h>

#include <stddef.h>

typedef struct ntr_texts {
    const ntr_allocator *allocator;
    char **slots; /* hash table, open addressing */
    size_t count, capacity;
} ntr_texts;

/* Returns the copy of `text` in the table (NULL is treated as ""), or NULL when out of memory. */
const char *ntr_texts_keep(ntr_texts *texts, const char *text);
void ntr_texts_release(ntr_texts *texts);

#endif
