/* Texts of which each is kept once, so that equal ones are one pointer. */
#ifndef NTR_ANALYSIS_TEXTS_H
#define NTR_ANALYSIS_TEXTS_H

#include <ntrace/allocator.h>

#include <stddef.h>

typedef struct ntr_texts {
    const ntr_allocator *allocator;
    char **slots; /* open addressing */
    size_t count, capacity;
} ntr_texts;

/* The table's own copy of `text` (NULL: ""), or NULL when memory is short. */
const char *ntr_texts_keep(ntr_texts *texts, const char *text);
void ntr_texts_release(ntr_texts *texts);

#endif
