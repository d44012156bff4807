/* Code of the kernel and its modules from a copy of /proc/kcore, with the kallsyms of the same moment: `perf record
 * --kcore` puts both into the recording, `perf buildid-cache --kcore` into perf's folder. It is the code that ran, with
 * what the kernel has changed in it: alternatives, static branches, ftrace.
 *
 * A copy is used only if the kernel's address in its kallsyms is the recorded one. The file may be sparse and as large
 * as the address space: only the ranges of recorded code are read. */
#include "perf/images.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <dirent.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NOTES_MAX = 1 << 16 };
static const uint64_t CODE_MAX = UINT64_C(256) << 20; /* bytes of all ranges */

/* ---- the file */

struct kcore {
    int file;
    Elf *elf;
    size_t segments;
    uint64_t left; /* bytes that may still be read: segments may overlap */
};

static bool open_kcore(const char *path, struct kcore *k) {
    k->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    k->elf = NULL;
    k->left = CODE_MAX;
    if (k->file < 0) return false;
    if (elf_version(EV_CURRENT) != EV_NONE) k->elf = elf_begin(k->file, ELF_C_READ, NULL);
    GElf_Ehdr header;
    if (k->elf && elf_kind(k->elf) == ELF_K_ELF && gelf_getehdr(k->elf, &header) && header.e_type == ET_CORE &&
        header.e_machine == EM_RISCV && elf_getphdrnum(k->elf, &k->segments) == 0)
        return true;
    elf_end(k->elf);
    close(k->file);
    return false;
}

static void close_kcore(struct kcore *k) {
    elf_end(k->elf);
    close(k->file);
}

static bool read_at(int file, uint64_t offset, uint8_t *out, size_t size) {
    for (size_t at = 0; at < size;) {
        const ssize_t got = pread(file, out + at, size - at, (off_t)(offset + at));
        if (got <= 0) return false;
        at += (size_t)got;
    }
    return true;
}

/* The part of [first, last) that is in segment `index`. */
static bool part_of(const struct kcore *k, size_t index, uint64_t *first, uint64_t *last, uint64_t *offset) {
    GElf_Phdr p;

    if (!gelf_getphdr(k->elf, (int)index, &p) || p.p_type != PT_LOAD || !p.p_filesz) return false;
    const uint64_t end = p.p_vaddr + p.p_filesz;
    if (end < p.p_vaddr) return false;
    if (*first < p.p_vaddr) *first = p.p_vaddr;
    if (*last > end) *last = end;
    *offset = p.p_offset + (*first - p.p_vaddr);
    return *first < *last;
}

/* ---- is it the kernel that ran? */

struct copied {
    uint64_t text, first, last, notes, notes_end; /* 0: not known */
};

static uint64_t address_of(const ntr_program *names, const char *name) {
    ntr_symbol symbol;
    return ntr_program_find(names, name, &symbol) == NTR_OK ? symbol.address : 0;
}

/* The mapping's path ends in the name of the symbol whose address it has: "[kernel.kallsyms]_text". */
static bool read_names(const char *kallsyms, const struct ntr_perf_mapping *m, struct copied *at) {
    const char *bracket = strchr(m->path, ']'), *symbol = bracket && bracket[1] ? bracket + 1 : "_text";
    ntr_program *names;
    ntr_program_new(NULL, &names);
    const bool read = names && ntr_program_add_symbols(names, kallsyms, NULL) == NTR_OK;

    *at = (struct copied){0};
    if (read)
        *at = (struct copied){address_of(names, symbol), address_of(names, "_stext"), address_of(names, "_etext"),
                              address_of(names, "__start_notes"), address_of(names, "__stop_notes")};
    ntr_program_free(names);
    return read && at->text && at->text == m->offset && at->first < at->last && at->last - at->first <= CODE_MAX;
}

/* The note of the GNU build id among the notes of the kernel. Memory that the copy does not have says nothing. */
static bool has_build_id(const struct kcore *k, const struct copied *at, const struct ntr_perf_search *s) {
    uint64_t first = at->notes, last = at->notes_end, offset;
    uint8_t bytes[NOTES_MAX];

    if (!s->id_size || !at->notes || at->notes_end <= at->notes || at->notes_end - at->notes > NOTES_MAX) return true;
    for (size_t i = 0; i < k->segments; i++, first = at->notes, last = at->notes_end) {
        if (!part_of(k, i, &first, &last, &offset) || first != at->notes || last != at->notes_end) continue;
        const size_t size = (size_t)(last - first);
        return !read_at(k->file, offset, bytes, size) || memmem(bytes, size, s->id, s->id_size);
    }
    return true;
}

static bool fits(struct ntr_perf_search *s, const struct ntr_perf_mapping *m, const char *folder) {
    char kallsyms[NTR_PERF_PATH];
    struct copied at;
    struct kcore k;

    snprintf(s->path, sizeof s->path, "%.4000s/kcore", folder);
    snprintf(kallsyms, sizeof kallsyms, "%.4000s/kallsyms", folder);
    if (access(kallsyms, R_OK) != 0 || !open_kcore(s->path, &k)) return false;
    const bool same = read_names(kallsyms, m, &at) && has_build_id(&k, &at, s);
    close_kcore(&k);
    s->other_copy |= !same;
    return same;
}

/* ---- where it is */

/* FOLDER/../[kernel.kcore]/BUILDID/DATE/kcore */
static bool try_cache(struct ntr_perf_search *s, const struct ntr_perf_mapping *m, char folder[NTR_PERF_PATH]) {
    char cache[NTR_PERF_PATH], id[2 * 20 + 1] = "";
    const struct dirent *entry;
    bool found = false;

    if (!s->config->build_ids || !s->id_size) return false;
    for (size_t i = 0; i < s->id_size; i++) snprintf(id + 2 * i, 3, "%02x", s->id[i]);
    snprintf(cache, sizeof cache, "%.3000s/../[kernel.kcore]/%s", s->config->build_ids, id);
    DIR *dates = opendir(cache);
    while (dates && !found && (entry = readdir(dates))) {
        if (*entry->d_name == '.') continue;
        snprintf(folder, NTR_PERF_PATH, "%.3500s/%.255s", cache, entry->d_name);
        found = fits(s, m, folder);
    }
    if (dates) closedir(dates);
    return found;
}

static bool find_copy(struct ntr_perf_search *s, const struct ntr_perf_mapping *m, char folder[NTR_PERF_PATH]) {
    snprintf(folder, NTR_PERF_PATH, "%.4000s/kcore_dir", s->data->path);
    if (fits(s, m, folder)) return true;
    for (size_t i = 0; i < s->config->folder_count; i++) {
        snprintf(folder, NTR_PERF_PATH, "%.4000s", s->config->folders[i]);
        if (fits(s, m, folder)) return true;
    }
    return try_cache(s, m, folder);
}

/* ---- code */

static ntr_status add_range(const struct ntr_perf_data *data, struct kcore *k, ntr_program *program, const char *name,
                            uint64_t from, uint64_t length, bool *any) {
    for (size_t i = 0; i < k->segments; i++) {
        uint64_t first = from, last = from + length, offset;
        ntr_image_options o;
        if (last < first || !part_of(k, i, &first, &last, &offset) || last - first > k->left) continue;
        k->left -= last - first;
        uint8_t *bytes = ntr_alloc(data->allocator, (size_t)(last - first), 1);
        if (!bytes) return NTR_E_MEMORY;
        ntr_image_options_init(&o);
        o.bias = first;
        o.name = name;
        ntr_perf_bind_kernel(data, &o);
        const bool read = read_at(k->file, offset, bytes, (size_t)(last - first));
        const ntr_status status =
            read ? ntr_program_add_raw(program, (ntr_bytes){bytes, (size_t)(last - first)}, &o) : NTR_OK;
        ntr_dealloc(data->allocator, bytes);
        if (status == NTR_E_MEMORY) return status;
        *any |= read;
    }
    return NTR_OK;
}

static ntr_status add_code(struct ntr_perf_data *data, ntr_program *program, struct kcore *k, const struct copied *at) {
    TRY(add_range(data, k, program, "[kernel]", at->first, at->last - at->first, &data->kernel_copied));
    for (size_t i = 0; i < data->mapping_count; i++) {
        struct ntr_perf_mapping *m = &data->mappings[i];
        const bool always =
            m->life.first == 0 && m->life.last == UINT64_MAX; /* else it may be the code of another one */
        m->copied = false;
        if (!ntr_perf_mapping_is_module(m) || m->ambiguous || !always) continue;
        TRY(add_range(data, k, program, m->path, m->address, m->length, &m->copied));
    }
    return NTR_OK;
}

ntr_status ntr_perf_kcore_load(struct ntr_perf_data *data, struct ntr_perf_search *s, const struct ntr_perf_mapping *m,
                               ntr_program *program) {
    char folder[NTR_PERF_PATH], kallsyms[NTR_PERF_PATH];
    ntr_image_options o;
    struct copied at;
    struct kcore k;

    s->other_copy = false;
    if (!find_copy(s, m, folder))
        return s->other_copy ? ntr_perf_lose(data, "the kernel: a copy of kcore is not of the kernel that ran, or of "
                                                   "another start of it")
                             : NTR_OK;
    snprintf(kallsyms, sizeof kallsyms, "%.4000s/kallsyms", folder);
    if (!open_kcore(s->path, &k)) return NTR_OK;
    ntr_status status = read_names(kallsyms, m, &at) ? add_code(data, program, &k, &at) : NTR_OK;
    close_kcore(&k);
    if (status != NTR_OK || !data->kernel_copied) return status;
    ntr_image_options_init(&o);
    o.name = "[kernel]";
    ntr_perf_bind_kernel(data, &o);
    status = ntr_program_add_symbols(program, kallsyms, &o);
    return status == NTR_E_MEMORY ? status : NTR_OK;
}
