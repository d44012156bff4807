/* The file of a mapping: the path itself, folders of files by build id, folders that the caller names. A file with
 * another build id than the mapping's is not the one that ran, and is not used. */
#include "perf/images.h"

#include "base/allocator.h"
#include "bundle/files.h"
#include "program/build_id.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool is_file(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

static void hex(const uint8_t *bytes, size_t size, char *text) {
    for (size_t i = 0; i < size; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

/* Build ids may be cut to fewer bytes. */
bool ntr_perf_file_fits(struct ntr_perf_search *s, const char *path) {
    char wanted[2 * 20 + 1] = "";

    if (!is_file(path)) return false;
    s->any = true;
    char *found = NULL;
    if (s->id_size)
        ntr_build_id_of(s->data->allocator, path, &found); /* an id that cannot be read is not the wanted one */
    hex(s->id, s->id_size, wanted);
    bool same = !s->id_size || (found && strncmp(found, wanted, strlen(wanted)) == 0);
    /* perf pads short build ids with zeros */
    if (!same && found && strlen(found) < strlen(wanted))
        same = strncmp(found, wanted, strlen(found)) == 0 &&
               strspn(wanted + strlen(found), "0") == strlen(wanted) - strlen(found);
    ntr_dealloc(s->data->allocator, found);
    return same;
}

static bool try_path(struct ntr_perf_search *s, const char *folder, const char *name) {
    int size = snprintf(s->path, sizeof s->path, "%s%s", folder, name);
    return size > 0 && (size_t)size < sizeof s->path && ntr_perf_file_fits(s, s->path);
}

/* FOLDER/xx/yyyy.../elf, as perf keeps files, .../vdso, and FOLDER/xx/yyyy....debug. */
static bool try_build_id(struct ntr_perf_search *s, const char *folder) {
    static const char *const names[] = {"/elf", "/vmlinux", "/vdso", ".debug", ""};
    char id[2 * 20 + 1] = "";

    if (!folder || s->id_size < 2) return false;
    hex(s->id, s->id_size, id);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int size = snprintf(s->path, sizeof s->path, "%s/%.2s/%s%s", folder, id, id + 2, names[i]);
        if (size > 0 && (size_t)size < sizeof s->path && ntr_perf_file_fits(s, s->path)) return true;
    }
    return false;
}

bool ntr_perf_file_of_build_id(struct ntr_perf_search *s) {
    return try_build_id(s, s->config->build_ids);
}

static bool try_folders(struct ntr_perf_search *s, const char *name) {
    const char *base = strrchr(name, '/');
    char slash[4096];

    snprintf(slash, sizeof slash, "/%s", base ? base + 1 : name);
    for (size_t i = 0; i < s->config->folder_count; i++)
        if (try_path(s, s->config->folders[i], slash)) return true;
    return false;
}

bool ntr_perf_file_find(struct ntr_perf_search *s, const char *path) {
    const char *sysroot = s->config->sysroot ? s->config->sysroot : "";

    s->any = false;
    return (*path == '/' && try_path(s, sysroot, path)) || try_build_id(s, s->config->build_ids) ||
           try_folders(s, path);
}

bool ntr_perf_kernel_find(struct ntr_perf_search *s, const char *release) {
    static const char *const places[] = {"/usr/lib/debug/boot/vmlinux-", "/boot/vmlinux-",
                                         "/usr/lib/debug/lib/modules/"};
    static const char *const without_release[] = {"/boot/vmlinux", "/vmlinux", "/usr/lib/debug/boot/vmlinux"};
    const char *sysroot = s->config->sysroot ? s->config->sysroot : "";
    char name[4096];

    s->any = false;
    if (try_build_id(s, s->config->build_ids) || try_folders(s, "vmlinux")) return true;
    for (size_t i = 0; release && i < sizeof places / sizeof *places; i++) {
        snprintf(name, sizeof name, "%s%s%s", places[i], release, i == 2 ? "/vmlinux" : "");
        if (try_path(s, sysroot, name)) return true;
    }
    for (size_t i = 0; s->config->sysroot && i < sizeof without_release / sizeof *without_release; i++)
        if (try_path(s, sysroot, without_release[i])) return true;
    return false;
}
