/* The files beside a program from which its debug information was read. */
#ifndef NTR_ANALYSIS_DEBUG_PATHS_H
#define NTR_ANALYSIS_DEBUG_PATHS_H

#include <ntrace/allocator.h>
#include <ntrace/status.h>

#include <elfutils/libdw.h>

typedef struct ntr_debug_paths {
    const ntr_allocator *allocator;
    char **items;
    size_t count, capacity;
} ntr_debug_paths;

/* Adds a path, unless it was the last one. Errors: NTR_E_MEMORY. */
ntr_status ntr_debug_paths_add(ntr_debug_paths *paths, const char *path);

/* Adds the .dwo files of a skeleton unit in `file`, where libdw searches them. Errors: NTR_E_MEMORY. */
ntr_status ntr_debug_paths_split(ntr_debug_paths *paths, const char *file, Dwarf_Die *skeleton);
void ntr_debug_paths_release(ntr_debug_paths *paths);

#endif
