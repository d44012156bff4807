#include "analysis/debug_paths.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

ntr_status ntr_debug_paths_add(ntr_debug_paths *paths, const char *path) {
    if (paths->count && strcmp(paths->items[paths->count - 1], path) == 0) return NTR_OK;
    if (ntr_reserve(paths->allocator, (void **)&paths->items, &paths->capacity, paths->count + 1, sizeof *paths->items))
        return NTR_E_MEMORY;
    const size_t size = strlen(path) + 1;
    char *copy = ntr_alloc(paths->allocator, size, 1);
    if (!copy) return NTR_E_MEMORY;
    memcpy(copy, path, size);
    paths->items[paths->count++] = copy;
    return NTR_OK;
}

/* Adds a file if it exists. A relative name is one in the folder [folder, folder + size). */
static ntr_status add_found(ntr_debug_paths *paths, const char *folder, size_t size, const char *name) {
    char path[PATH_MAX];
    const bool whole = name[0] == '/' || !size;
    if (size >= sizeof path) return NTR_OK;
    const int needed = snprintf(path, sizeof path, "%.*s%s%s", whole ? 0 : (int)size, folder, whole ? "" : "/", name);
    return needed > 0 && (size_t)needed < sizeof path && access(path, R_OK) == 0 ? ntr_debug_paths_add(paths, path)
                                                                                 : NTR_OK;
}

static size_t folder_size(const char *file) {
    const char *slash = strrchr(file, '/');
    return slash ? (size_t)(slash - file) : 0;
}

ntr_status ntr_debug_paths_split(ntr_debug_paths *paths, const char *file, Dwarf_Die *skeleton) {
    Dwarf_Attribute attribute;
    const char *name = dwarf_formstring(dwarf_attr(skeleton, DW_AT_dwo_name, &attribute));
    if (!name) name = dwarf_formstring(dwarf_attr(skeleton, DW_AT_GNU_dwo_name, &attribute));
    if (!name) return NTR_OK;
    TRY(add_found(paths, file, folder_size(file), name));
    const char *folder = dwarf_formstring(dwarf_attr(skeleton, DW_AT_comp_dir, &attribute));
    return folder && name[0] != '/' ? add_found(paths, folder, strlen(folder), name) : NTR_OK;
}

void ntr_debug_paths_release(ntr_debug_paths *paths) {
    for (size_t i = 0; i < paths->count; i++) ntr_dealloc(paths->allocator, paths->items[i]);
    ntr_dealloc(paths->allocator, paths->items);
    *paths = (ntr_debug_paths){.allocator = paths->allocator};
}
