/* The search itself is that of libdwfl, by build ID and .gnu_debuglink. It ignores relative folders in the search by
 * build ID, so that they are made absolute here. */
#include "analysis/dwfl_file.h"
#include "analysis/xz_size.h"

#include "base/allocator.h"
#include "base/file.h"
#include "base/text.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* ---- sections of debug information, before libdw expands them all */

/* What a name begins with: as section, and in the form of GNU before ELF had compressed sections. */
static bool is_debug_section(const char *name) {
    return strncmp(name, ".debug_", 7) == 0 || strncmp(name, ".zdebug_", 8) == 0;
}

/* Stores the size of a section when it is expanded. Returns false when its header is damaged. */
static bool expanded_size(Elf_Scn *scn, const GElf_Shdr *header, const char *name, const char *bytes, uint64_t *size) {
    GElf_Chdr compression;
    *size = header->sh_size;
    if (header->sh_flags & SHF_COMPRESSED) {
        if (!gelf_getchdr(scn, &compression)) return false;
        *size = compression.ch_size;
    } else if (name[1] == 'z') { /* "ZLIB" and the size, most significant byte first */
        if (header->sh_size < 12 || memcmp(bytes + header->sh_offset, "ZLIB", 4) != 0) return false;
        *size = 0;
        for (unsigned i = 0; i < 8; i++) *size = *size << 8 | (uint8_t)bytes[header->sh_offset + 4 + i];
    }
    return true;
}

bool ntr_dwfl_is_section(const char *name, const char *wanted) {
    return strcmp(name, wanted) == 0 || (strncmp(name, ".z", 2) == 0 && strcmp(name + 2, wanted + 1) == 0);
}

static void damaged(const ntr_dwfl_file *file, const char *section, const char *problem) {
    char name[NTR_NAME_CLEANED_MAX + 1];
    ntr_name_clean(section, name);
    if (file->damage)
        ntr_damage_add(file->damage, "%.120s: section %.60s: %s; names and lines are missing",
                       file->name ? file->name : "", name, problem);
}

/* Adds a section to the sizes, or reports what is wrong with it. */
static bool check_section(const ntr_dwfl_file *file, Elf *elf, Elf_Scn *scn, size_t names, uint64_t *packed,
                          uint64_t *expanded) {
    GElf_Shdr header;
    uint64_t size;
    size_t all = 0;
    const char *bytes = elf_rawfile(elf, &all);
    const char *name = gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
    if (!name || !bytes) return damaged(file, ".shstrtab", "damaged"), false;
    const bool debug_symbols = strcmp(name, ".gnu_debugdata") == 0;
    if (header.sh_type == SHT_NOBITS || !(is_debug_section(name) || debug_symbols)) return true;
    if (header.sh_offset > all || header.sh_size > all - header.sh_offset)
        return damaged(file, name, "not inside the file"), false;
    if (!expanded_size(scn, &header, name, bytes, &size)) return damaged(file, name, "damaged"), false;
    *packed += header.sh_size;
    const uint64_t most = file->expanded_free + NTR_EXPANDED_TIMES * *packed;
    if (debug_symbols) size = ntr_xz_size((const uint8_t *)bytes + header.sh_offset, header.sh_size, most);
    if (size > UINT64_MAX - *expanded || *expanded + size > most) {
        char problem[120];
        snprintf(problem, sizeof problem,
                 "more than %" PRIu64 " bytes (limit debug-output) and 32 times its size when expanded; not read",
                 file->expanded_free);
        return damaged(file, name, problem), false;
    }
    *expanded += size;
    return true;
}

static bool check_sections(const ntr_dwfl_file *file, Elf *elf) {
    size_t names;
    uint64_t packed = 0, expanded = 0;
    if (elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names)) return true; /* without sections */
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));)
        if (!check_section(file, elf, scn, names, &packed, &expanded)) return false;
    return true;
}

static bool has_debug_section(Elf *elf) {
    size_t names;
    GElf_Shdr header;
    if (!elf || elf_getshdrstrndx(elf, &names)) return false;
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
        const char *name = gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && is_debug_section(name) && header.sh_type != SHT_NOBITS && header.sh_size) return true;
    }
    return false;
}

/* Called by libdwfl. */
static int find_debug_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base, const char *path,
                           const char *link, GElf_Word checksum, char **found) {
    ntr_dwfl_file *file = *user;
    file->searched = link ? file->link_folders : file->folders;
    int fd = dwfl_standard_find_debuginfo(module, user, name, base, path, link, checksum, found);
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    if (elf && !check_sections(file, elf)) {
        close(fd);
        fd = -1;
    }
    elf_end(elf);
    if (fd >= 0 && *found) (void)ntr_debug_paths_add(&file->paths, *found); /* out of memory: it is not listed */
    return fd;
}

/* Other images are lists of symbols. */
static bool is_elf(const char *path) {
    char magic[SELFMAG];
    uint64_t size;
    int file = ntr_open_regular(path, UINT64_MAX, &size);
    const bool found = file >= 0 && read(file, magic, SELFMAG) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0;
    if (file >= 0) close(file);
    return found;
}

static int report(ntr_dwfl_file *file, const char *path) {
    file->dwfl = dwfl_begin(&file->callbacks);
    if (!file->dwfl) return -1;
    Dwfl_Module *module = dwfl_report_elf(file->dwfl, path, path, -1, 0, true);
    if (!module || dwfl_report_end(file->dwfl, NULL, NULL) != 0) return -1;
    void **user;
    if (!dwfl_module_info(module, &user, NULL, NULL, NULL, NULL, NULL, NULL)) return -1;
    *user = file;
    Dwarf_Addr bias;
    Elf *elf = dwfl_module_getelf(module, &bias);
    if (elf && check_sections(file, elf)) file->module = module;
    return elf ? 0 : -1;
}

Dwarf *ntr_dwfl_file_dwarf(ntr_dwfl_file *file, Dwarf_Addr *bias) {
    Dwarf *dwarf = dwfl_module_getdwarf(file->module, bias);
    const char *reason = dwfl_errmsg(0);
    Dwarf_Addr unused;
    if (!dwarf && has_debug_section(dwfl_module_getelf(file->module, &unused)))
        damaged(file, ".debug_info", reason ? reason : "damaged");
    return dwarf;
}

ntr_status ntr_dwfl_file_open(ntr_dwfl_file *file, const ntr_image_info *image, const char *debug_path,
                              ntr_damage *damage, const ntr_limits *limits, const ntr_allocator *allocator) {
    *file = (ntr_dwfl_file){.allocator = allocator,
                            .damage = damage,
                            .expanded_free = ntr_limits_get(limits, NTR_LIMIT_DEBUG_OUTPUT),
                            .name = image->name,
                            .paths = {.allocator = allocator}};
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
    if (image->path && report(file, image->path) != 0 && is_elf(image->path)) {
        const char *reason = dwfl_errmsg(-1);
        damaged(file, "headers", reason ? reason : "damaged");
    }
    return NTR_OK;
}

void ntr_dwfl_file_close(ntr_dwfl_file *file) {
    if (file->dwfl) dwfl_end(file->dwfl);
    ntr_dealloc(file->allocator, file->folders);
    ntr_dealloc(file->allocator, file->link_folders);
    ntr_debug_paths_release(&file->paths);
    *file = (ntr_dwfl_file){0};
}
