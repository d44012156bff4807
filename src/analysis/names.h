/* Table of demangled names: maps a linkage name to the demangled name. */
#ifndef NTR_ANALYSIS_NAMES_H
#define NTR_ANALYSIS_NAMES_H

#include <ntrace/allocator.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ntr_demangled_name {
    const char *linkage; /* not owned */
    char *text;          /* allocated by the demangler; NULL: the linkage name is not mangled */
} ntr_demangled_name;

typedef struct ntr_names {
    const ntr_allocator *allocator;
    ntr_demangled_name *slots; /* hash table by the text of `linkage`, open addressing */
    size_t count, capacity;
    uint64_t most; /* characters and parts of a demangled name */
    bool large; /* a name has more */
} ntr_names;

/* Returns the demangled name of `linkage`, or `linkage` itself. `linkage` must outlive the table. */
const char *ntr_names_get(ntr_names *names, const char *linkage);
void ntr_names_release(ntr_names *names);

/* Stores the part of a name that tells that it is of a lambda ("{lambda(int)#1}", "{lambda at 9:21}", or "$_0" of
 * clang), and returns its size; 0: it is of another function, which may have a lambda among its types. */
size_t ntr_name_lambda(const char *name, const char **part);

/* Returns whether a linkage name is that of a lambda's operator(): "Ul" with the types of its parameters, or "$_0" of
 * clang, before "cl". For names that cannot be demangled. */
bool ntr_linkage_is_lambda(const char *linkage);

enum { NTR_NAME_PLAIN_MAX = 256 };
/* Writes a demangled name without its arguments, those of its templates, and the type of its result:
 * "std::vector<int> list<int>::get<char>(char) const" is "list::get". A longer name is cut. */
void ntr_name_plain(const char *name, char plain[NTR_NAME_PLAIN_MAX]);

#endif
