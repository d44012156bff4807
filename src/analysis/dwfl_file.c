/* The search itself is that of libdwfl, by build ID and .gnu_debuglink. It ignores relative folders in the search by
 * build ID, so that they are made absolute here. */
#include "analysis/dwfl_file.h"

#include "base/allocator.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_FOLDERS ":.debug:/usr/lib/debug" /* that of libdwfl */

/* More folders above a file are not searched. */
enum { PARENTS_MAX = 32 };

/* A colon-separated list of folders. */
typedef struct folder_list {
    const ntr_allocator *allocator;
    char *text;
    size_t size, room;
    bool failed;
} folder_list;

static void append(folder_list *list, const char *text, size_t size) {
    if (list->failed || ntr_reserve(list->allocator, (void **)&list->text, &list->room, list->size + size + 1, 1)) {
        list->failed = true;
        return;
    }
    memcpy(list->text + list->size, text, size);
    list->size += size;
    list->text[list->size] = 0;
}

static void add_folder(folder_list *list, const char *folder, size_t size, const char *below) {
    if (memchr(folder, ':', size)) return; /* cannot be in the list */
    if (list->size) append(list, ":", 1);
    append(list, folder, size);
    append(list, below, strlen(below));
}

/* Adds the folders of the caller. A folder that does not exist is left out. */
static void add_given(folder_list *list, const char *debug_path) {
    char folder[PATH_MAX], absolute[PATH_MAX];
    while (debug_path && *debug_path) {
        size_t size = strcspn(debug_path, ":");
        if (size && size < sizeof folder) {
            memcpy(folder, debug_path, size);
            folder[size] = 0;
            if (realpath(folder, absolute)) add_folder(list, absolute, strlen(absolute), "");
        }
        debug_path += size + (debug_path[size] == ':');
    }
}

/* Adds usr/lib/debug of all folders above the file. */
static void add_roots(folder_list *list, const char *path, size_t size) {
    for (size_t i = 0; size && i < PARENTS_MAX; i++) {
        while (size && path[size] != '/') size--;
        if (size) add_folder(list, path, size--, "/usr/lib/debug");
    }
}

/* Makes the two lists. The folder of the file itself is searched for the name in .gnu_debuglink only: without such a
 * name, libdwfl searches for the name of the file, and would find the stripped file itself. */
static ntr_status make_lists(ntr_dwfl_file *file, const char *name, const char *debug_path) {
    folder_list all = {.allocator = file->allocator}, link = {.allocator = file->allocator};
    const char *slash = name && name[0] == '/' ? strrchr(name, '/') : NULL;
    add_given(&all, debug_path);
    if (slash) add_roots(&all, name, (size_t)(slash - name));
    append(&all, DEFAULT_FOLDERS, strlen(DEFAULT_FOLDERS));
    if (slash) add_folder(&link, name, (size_t)(slash - name), "/");
    if (slash) add_folder(&link, name, (size_t)(slash - name), "/.debug");
    if (slash) append(&link, ":", 1);
    if (all.text) append(&link, all.text, all.size);
    file->folders = all.text;
    file->link_folders = link.text;
    file->searched = all.text;
    return all.failed || link.failed ? NTR_E_MEMORY : NTR_OK;
}

/* Called by libdwfl. */
static int find_debug_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base, const char *path,
                           const char *link, GElf_Word checksum, char **found) {
    ntr_dwfl_file *file = *user;
    file->searched = link ? file->link_folders : file->folders;
    return dwfl_standard_find_debuginfo(module, user, name, base, path, link, checksum, found);
}

static int report(ntr_dwfl_file *file, const char *path) {
    file->dwfl = dwfl_begin(&file->callbacks);
    if (!file->dwfl) return -1;
    Dwfl_Module *module = dwfl_report_elf(file->dwfl, path, path, -1, 0, true);
    if (!module || dwfl_report_end(file->dwfl, NULL, NULL) != 0) return -1;
    void **user;
    dwfl_module_info(module, &user, NULL, NULL, NULL, NULL, NULL, NULL);
    *user = file;
    file->module = module;
    return 0;
}

ntr_status ntr_dwfl_file_open(ntr_dwfl_file *file, const ntr_image_info *image, const char *debug_path,
                              const ntr_allocator *allocator) {
    *file = (ntr_dwfl_file){.allocator = allocator};
    if (make_lists(file, image->name, debug_path) != NTR_OK) {
        ntr_dwfl_file_close(file);
        return NTR_E_MEMORY;
    }
    file->callbacks = (Dwfl_Callbacks){
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = find_debug_file,
        .section_address = dwfl_offline_section_address,
        .debuginfo_path = &file->searched,
    };
    if (image->path) report(file, image->path);
    return NTR_OK;
}

void ntr_dwfl_file_close(ntr_dwfl_file *file) {
    if (file->dwfl) dwfl_end(file->dwfl);
    ntr_dealloc(file->allocator, file->folders);
    ntr_dealloc(file->allocator, file->link_folders);
    *file = (ntr_dwfl_file){0};
}
