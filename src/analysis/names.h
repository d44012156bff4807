/* Names kept once: linkage name to the name for people. */
#ifndef NTR_ANALYSIS_NAMES_H
#define NTR_ANALYSIS_NAMES_H

#include <ntrace/allocator.h>
#include <stddef.h>

typedef struct ntr_name {
    const char *linkage; /* not owned */
    char *text;          /* malloc'ed by the demangler; NULL: the linkage name is for people already */
} ntr_name;

typedef struct ntr_names {
    const ntr_allocator *allocator;
    ntr_name *slots; /* open addressing by the linkage pointer's text */
    size_t count, capacity;
} ntr_names;

/* The name for people of `linkage`, which must outlive the table. Falls back to `linkage` itself. */
const char *ntr_names_get(ntr_names *names, const char *linkage);
void ntr_names_release(ntr_names *names);

#endif
