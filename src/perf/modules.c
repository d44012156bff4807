/* Modules of the kernel. perf records where the code of each begins, and the length of the whole module; the name is
 * that of its file, or "[autofs4]". The files are relocatable and often compressed: they are found and unpacked here,
 * and linked by the caller. */
#include "perf/images.h"

#include "base/allocator.h"
#include "base/macros.h"
#include "bundle/decompress.h"
#include "bundle/files.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const suffixes[] = {"", ".xz", ".zst", ".gz"};
enum { SUFFIXES = sizeof suffixes / sizeof *suffixes };

/* Returns whether the path ends in the name of the file of a module: NAME.ko, perhaps compressed; '-' and '_' are one.
 */
static bool is_file_of(const char *path, size_t size, const char *name) {
    char found[NTR_PERF_MODULE_NAME], copy[NTR_PERF_PATH];

    if (size >= sizeof copy) return false;
    snprintf(copy, sizeof copy, "%.*s", (int)size, path);
    if (!strstr(copy, ".ko")) return false;
    ntr_perf_module_name(copy, found);
    return strcmp(found, name) == 0;
}

/* ---- compressed files */

/* Stores a path of the unpacked file, which is in memory. */
static bool unpack(struct ntr_perf_data *data, struct ntr_perf_search *s, const char *path) {
#ifdef __EMSCRIPTEN__
    (void)data, (void)s, (void)path;
    return false;
#else
    char why[NTR_DECOMPRESS_REASON];
    ntr_bytes packed;

    if (ntr_map_file(path, &packed) != NTR_OK) return false;
    int *file = NTR_PERF_ADD(data, unpacked, unpacked_count, unpacked_capacity);
    if (!file || (*file = memfd_create("ntrace-module", MFD_CLOEXEC)) < 0) {
        data->unpacked_count -= file != NULL;
        ntr_unmap_file(packed);
        return false;
    }
    const uint64_t most = ntr_limits_get(&data->file.limits, NTR_LIMIT_KERNEL_MODULE);
    const ntr_status status = ntr_decompress(packed, *file, most, why);
    ntr_unmap_file(packed);
    snprintf(s->path, sizeof s->path, "/proc/self/fd/%d", *file);
    if (status == NTR_OK && ntr_perf_file_fits(s, s->path)) return true;
    if (status == NTR_E_UNSUPPORTED)
        s->packed = true;
    else if (status == NTR_E_LIMIT)
        snprintf(s->unread, sizeof s->unread,
                 "%s has more than %llu bytes when it is decompressed: limit kernel-module", path,
                 (unsigned long long)most);
    else if (status)
        snprintf(s->unread, sizeof s->unread, "%s cannot be read: %s", path,
                 status == NTR_E_DECOMPRESS ? why : ntr_status_text(status));
    close(*file);
    data->unpacked_count--;
    return false;
#endif
}

static bool try_file(struct ntr_perf_data *data, struct ntr_perf_search *s, const char *path) {
    const char *end = strstr(path, ".ko");

    if (access(path, R_OK) != 0) return false;
    if (end && strlen(end) > strlen(".ko")) return unpack(data, s, path);
    snprintf(s->path, sizeof s->path, "%s", path);
    return ntr_perf_file_fits(s, path);
}

/* ---- places */

/* In the folders that the caller names, by the recorded name of the file or that of the module. */
static bool try_folders(struct ntr_perf_data *data, struct ntr_perf_search *s, const char *recorded, const char *name) {
    const char *slash = *recorded == '/' ? strrchr(recorded, '/') : NULL;
    char path[NTR_PERF_PATH], dashed[NTR_PERF_MODULE_NAME];

    snprintf(dashed, sizeof dashed, "%s", name);
    for (char *at = dashed; *at; at++)
        if (*at == '_') *at = '-';
    for (size_t i = 0; i < s->config->folder_count; i++) {
        const char *folder = s->config->folders[i];
        snprintf(path, sizeof path, "%.2000s/%.2000s", folder, slash ? slash + 1 : "");
        if (slash && try_file(data, s, path)) return true;
        for (unsigned k = 0; k < 2 * SUFFIXES; k++) {
            snprintf(path, sizeof path, "%.2000s/%s.ko%s", folder, k % 2 ? dashed : name, suffixes[k / 2]);
            if (try_file(data, s, path)) return true;
        }
    }
    return false;
}

/* modules.dep has a line "PATH: PATHS" for each module, relative to its folder. */
static bool try_list(struct ntr_perf_data *data, struct ntr_perf_search *s, const char *folder, const char *name) {
    char path[NTR_PERF_PATH];
    ntr_bytes list;

    snprintf(path, sizeof path, "%.4000s/modules.dep", folder);
    if (ntr_map_file(path, &list) != NTR_OK) return false;
    bool found = false;
    for (size_t at = 0; at < list.size && !found;) {
        const char *line = (const char *)list.data + at;
        const char *end = memchr(line, '\n', list.size - at), *colon = memchr(line, ':', list.size - at);
        const size_t length = end ? (size_t)(end - line) : list.size - at;
        if (colon && (size_t)(colon - line) < length && is_file_of(line, (size_t)(colon - line), name)) {
            snprintf(path, sizeof path, "%.2000s/%.*s", folder, (int)(colon - line), line);
            found = try_file(data, s, path);
        }
        at += length + 1;
    }
    ntr_unmap_file(list);
    return found;
}

static bool try_release(struct ntr_perf_data *data, struct ntr_perf_search *s, const char *name) {
    static const char *const places[] = {"/usr/lib/modules/", "/lib/modules/"};
    const char *sysroot = s->config->sysroot ? s->config->sysroot : "", *release = ntr_perf_kernel_release(data);
    char folder[NTR_PERF_PATH];

    for (size_t i = 0; release && i < sizeof places / sizeof *places; i++) {
        snprintf(folder, sizeof folder, "%.2000s%s%.1000s", sysroot, places[i], release);
        if (try_list(data, s, folder, name)) return true;
    }
    return false;
}

static bool find_file(struct ntr_perf_data *data, struct ntr_perf_search *s, const char *recorded, const char *name) {
    const char *sysroot = s->config->sysroot ? s->config->sysroot : "";
    char path[NTR_PERF_PATH];

    if (*recorded == '/') {
        snprintf(path, sizeof path, "%.2000s%.2000s", sysroot, recorded);
        if (try_file(data, s, path)) return true;
    }
    return ntr_perf_file_of_build_id(s) || try_folders(data, s, recorded, name) || try_release(data, s, name);
}

/* ---- */

static ntr_status add_module(struct ntr_perf_data *data, const ntr_perf_module *given, const char *name) {
    ntr_perf_module *module = NTR_PERF_ADD(data, modules, module_count, module_capacity);
    char *copy = ntr_perf_copy_text(data->allocator, name), *path = ntr_perf_copy_text(data->allocator, given->path);

    if (!module || !copy || !path) {
        data->module_count -= module != NULL;
        ntr_dealloc(data->allocator, copy);
        ntr_dealloc(data->allocator, path);
        return NTR_E_MEMORY;
    }
    *module = *given;
    module->name = copy;
    module->path = path;
    return NTR_OK;
}

ntr_status ntr_perf_module_find(struct ntr_perf_data *data, struct ntr_perf_search *s, const struct ntr_perf_mapping *m,
                                bool has_code) {
    char name[NTR_PERF_MODULE_NAME];
    ntr_image_options valid;

    ntr_image_options_init(&valid);
    ntr_perf_module_name(m->path, name);
    if (!*name || m->repeated || !ntr_perf_life_place(data, m->life, &valid)) return NTR_OK;
    s->any = s->packed = false;
    *s->unread = 0;
    if (find_file(data, s, m->path, name))
        return add_module(data,
                          &(ntr_perf_module){.path = s->path,
                                             .address = m->address,
                                             .length = m->length,
                                             .has_code = has_code,
                                             .ambiguous = m->ambiguous,
                                             .from = valid.from,
                                             .until = valid.until},
                          name);
    if (has_code) return NTR_OK; /* its names are those of kallsyms */
    if (s->packed) return ntr_perf_lose(data, "module %s: the file is compressed, and there is no libarchive", name);
    if (*s->unread) return ntr_perf_lose(data, "module %s: %s", name, s->unread);
    if (s->any) return ntr_perf_lose(data, "module %s: the file has another build id than the one that ran", name);
    if (!data->missing_modules++) snprintf(data->missing_module, sizeof data->missing_module, "%s", name);
    return NTR_OK;
}

/* Most of the modules of a system have no part in a trace: one sentence stands for all of them. */
ntr_status ntr_perf_modules_end(struct ntr_perf_data *data) {
    for (size_t i = 0; i < data->module_count; i++)
        if (data->modules[i].ambiguous)
            TRY(ntr_perf_lose(data,
                              "module %s: another one was at the same addresses, and the recording does not say when; "
                              "the code of neither is used",
                              data->modules[i].name));
    if (!data->missing_modules) return NTR_OK;
    if (data->missing_modules == 1)
        return ntr_perf_lose(data, "module %s: the file is not there", data->missing_module);
    return ntr_perf_lose(data, "module %s and %zu more: their files are not there", data->missing_module,
                         data->missing_modules - 1);
}

void ntr_perf_modules_release(struct ntr_perf_data *data) {
    for (size_t i = 0; i < data->module_count; i++) {
        ntr_dealloc(data->allocator, (void *)(uintptr_t)data->modules[i].name);
        ntr_dealloc(data->allocator, (void *)(uintptr_t)data->modules[i].path);
    }
    for (size_t i = 0; i < data->unpacked_count; i++) close(data->unpacked[i]);
    data->module_count = data->unpacked_count = data->missing_modules = 0;
}

const ntr_perf_module *ntr_perf_data_module(const ntr_perf_data *data, size_t index) {
    return index < data->module_count ? &data->modules[index] : NULL;
}
