#include "perf/images.h"
#include "base/allocator.h"
#include "base/config.h"
#include "base/macros.h"
#include "program/program.h"

#include <unistd.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- where the segments of a mapped file are */

static bool find_segment(Elf *elf, uint64_t address, uint64_t offset, uint64_t length, uint64_t *bias) {
    size_t count = 0;

    if (elf_getphdrnum(elf, &count)) return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr p;
        if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD || !(p.p_flags & PF_X)) continue;
        bool covers = p.p_offset - offset < length || offset - p.p_offset < p.p_filesz;
        if (!covers) continue;
        *bias = address - offset + p.p_offset - p.p_vaddr;
        return true;
    }
    return false;
}

bool ntr_perf_bias(const char *path, uint64_t address, uint64_t offset, uint64_t length, uint64_t *bias) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (file < 0 || elf_version(EV_CURRENT) == EV_NONE) return false;
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    bool found = elf && elf_kind(elf) == ELF_K_ELF && find_segment(elf, address, offset, length, bias);
    elf_end(elf);
    close(file);
    return found;
}

/* ---- build ids of the feature, for mappings without one */

static bool find_build_id(struct ntr_perf_search *s, const char *path, bool kernel) {
    enum { ID_BYTES = 20, AFTER_ID = 4 };
    ntr_bytes all = s->data->file.features[NTR_PERF_FEATURE_BUILD_ID];
    size_t at = 0;

    while (all.data && all.size - at >= 8) {
        struct ntr_perf_cursor c = ntr_perf_cursor_at(all.data + at, all.size - at);
        ntr_perf_u32(&c);
        uint16_t misc = ntr_perf_u16(&c), size = ntr_perf_u16(&c);
        if (size < 8 || size > all.size - at) return false;
        c.end = all.data + at + size;
        at += size;
        ntr_perf_u32(&c);
        const uint8_t *id = ntr_perf_take(&c, ID_BYTES), *after = ntr_perf_take(&c, AFTER_ID);
        const char *name = ntr_perf_text(&c);
        bool of_kernel = (misc & NTR_PERF_MISC_MODE) == NTR_PERF_MISC_KERNEL;
        bool any_name = kernel && strncmp(path, "[kernel", 7) == 0; /* the symbol behind it may be another one */
        if (!name || of_kernel != kernel || (any_name ? strncmp(name, "[kernel", 7) : strcmp(name, path)) != 0)
            continue;
        s->id = id;
        s->id_size = misc & NTR_PERF_MISC_ID_SIZE && after[0] <= ID_BYTES ? after[0] : ID_BYTES;
        return true;
    }
    return false;
}

static struct ntr_perf_search begin_search(const struct ntr_perf_data *data, const ntr_perf_config *config,
                                           const struct ntr_perf_mapping *m) {
    struct ntr_perf_search s = {.data = data, .config = config, .id = m->build_id, .id_size = m->build_id_size};

    if (!s.id_size) find_build_id(&s, m->path, m->pid == NTR_PERF_NOBODY);
    return s;
}

static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Returns whether a file of this name may be the one that is mapped. */
static bool has_name(const struct ntr_perf_mapping *m, const char *name) {
    const bool kernel = m->pid == NTR_PERF_NOBODY && strncmp(m->path, "[kernel", 7) == 0;
    return kernel ? strncmp(name, "vmlinux", 7) == 0 : strcmp(name_of(m->path), name) == 0;
}

bool ntr_perf_data_knows(const ntr_perf_data *data, const char *path, bool *same) {
    bool known = false;

    *same = false;
    for (size_t i = 0; i < data->mapping_count && !*same; i++) {
        if (!has_name(&data->mappings[i], name_of(path))) continue;
        struct ntr_perf_search s = begin_search(data, NULL, &data->mappings[i]);
        known |= s.id_size != 0;
        *same = s.id_size && ntr_perf_file_fits(&s, path);
    }
    return known;
}

/* ---- contexts */

/* "/usr/bin/work [work 1234]" */
static void name_image(const struct ntr_perf_mapping *m, const ntr_perf_process *process, char *name, size_t size) {
    snprintf(name, size, "%s [%s%s%" PRIu32 "]", m->path, process->name, *process->name ? " " : "", process->pid);
}

static ntr_status add_file(struct ntr_perf_data *data, ntr_program *program, const char *path,
                           const ntr_image_options *options) {
    ntr_status status = ntr_program_add_elf(program, path, options);

    if (status == NTR_OK || status == NTR_E_MEMORY) return status;
    return ntr_perf_lose(data, "%s", ntr_program_error(program));
}

/* ---- programs and libraries */

static ntr_status lose_file(struct ntr_perf_data *data, const struct ntr_perf_search *s, const char *path) {
    if (s->any) return ntr_perf_lose(data, "%s: the file has another build id than the one that ran", path);
    return ntr_perf_lose(data, "%s: the file is not there", path);
}

/* Without a stream: `process` is NULL. */
static ntr_status add_mapping(struct ntr_perf_data *data, const ntr_perf_config *config, ntr_program *program,
                              const struct ntr_perf_mapping *m, const ntr_perf_process *process) {
    struct ntr_perf_search s = begin_search(data, config, m);
    ntr_image_options o;
    char name[4096 + 64];

    ntr_image_options_init(&o);
    if (!ntr_perf_file_find(&s, m->path)) /* [vdso]: where its code was executed, there is a gap */
        return *m->path == '[' ? NTR_OK : lose_file(data, &s, m->path);
    if (!ntr_perf_bias(s.path, m->address, m->offset, m->length, &o.bias))
        return ntr_perf_lose(data, "%s: no code at file offset 0x%" PRIx64, s.path, m->offset);
    o.name = m->path;
    if (data->bind && process) {
        o.has_scontext = true;
        o.scontext = process->context;
        name_image(m, process, name, sizeof name);
        o.name = name;
    }
    return add_file(data, program, s.path, &o);
}

/* Once for each space in which it is valid. */
static ntr_status add_for_spaces(struct ntr_perf_data *data, const ntr_perf_config *config, ntr_program *program,
                                 const struct ntr_perf_mapping *m) {
    if (!data->piece_count) return add_mapping(data, config, program, m, NULL);
    for (size_t i = 0; i < data->process_count; i++)
        if (ntr_perf_mapping_is_in(m, data->processes[i].context))
            TRY(add_mapping(data, config, program, m, &data->processes[i]));
    return NTR_OK;
}

/* ---- the kernel */

/* The file's own address of the symbol whose address was recorded: "[kernel.kallsyms]_stext". */
static uint64_t text_of(const char *path, const struct ntr_perf_mapping *m) {
    const char *bracket = strchr(m->path, ']'), *name = bracket && bracket[1] ? bracket + 1 : "_text";
    ntr_program *alone;
    ntr_program_new(NULL, &alone);
    ntr_symbol symbol = {0};

    if (alone && ntr_program_add_elf(alone, path, NULL) == NTR_OK && ntr_program_find(alone, name, &symbol) != NTR_OK)
        symbol.address = 0;
    ntr_program_free(alone);
    return symbol.address;
}

static ntr_status add_kernel(struct ntr_perf_data *data, const ntr_perf_config *config, ntr_program *program,
                             const struct ntr_perf_mapping *m) {
    struct ntr_perf_search s = begin_search(data, config, m);
    ntr_image_options o;

    if (ntr_perf_mapping_is_module(m)) return ntr_perf_module_find(data, &s, m, m->copied);
    if (strncmp(m->path, "[kernel.kallsyms]", 17) != 0) return NTR_OK;
    TRY(ntr_perf_kcore_load(data, &s, m, program));
    if (!ntr_perf_kernel_find(&s, ntr_perf_kernel_release(data))) {
        if (data->kernel_copied) return NTR_OK;
        return ntr_perf_lose(data, s.any ? "the kernel: vmlinux has another build id than the one that ran"
                                         : "the kernel: vmlinux is not there");
    }
    ntr_image_options_init(&o);
    uint64_t text = text_of(s.path, m);
    o.bias = text && m->offset ? m->offset - text : 0;
    o.name = "[kernel]";
    ntr_perf_bind_kernel(data, &o);
    if (!data->kernel_copied) return add_file(data, program, s.path, &o);
    ntr_status status = ntr_program_add_symbols(program, s.path, &o);
    return status == NTR_E_MEMORY ? status : NTR_OK;
}

static ntr_status add_patch(ntr_program *program, ntr_bytes bytes, const ntr_image_options *options) {
    TRY(ntr_program_add_raw(program, bytes, options));
    ntr_program_patches(program);
    return NTR_OK;
}

/* Bytes before and after each change. What was before the second change of a place is what the first one wrote. */
static ntr_status add_poke(const struct ntr_perf_data *data, ntr_program *program, const struct ntr_perf_poke *p) {
    ntr_image_options o;

    ntr_image_options_init(&o);
    o.bias = p->address;
    o.name = "[kernel]";
    ntr_perf_bind_kernel(data, &o);
    uint64_t position = ntr_perf_stream_position(data, p->time);
    o.until = position;
    bool first = true;
    for (const struct ntr_perf_poke *q = data->pokes; q < p && first; q++) first = q->address != p->address;
    if (first && position && p->before.size) TRY(add_patch(program, p->before, &o));
    o.from = position;
    o.until = 0;
    return p->after.size && position < data->stream_size ? add_patch(program, p->after, &o) : NTR_OK;
}

static ntr_status add_pokes(const struct ntr_perf_data *data, ntr_program *program) {
    enum { POKES_MAX = 1 << 14 };

    for (size_t i = 0; data->piece_count && i < data->poke_count && i < POKES_MAX; i++) {
        ntr_status status = add_poke(data, program, &data->pokes[i]);
        if (status == NTR_E_MEMORY) return status;
    }
    return NTR_OK;
}

ntr_status ntr_perf_data_load(ntr_perf_data *data, const ntr_perf_config *given, ntr_program *program) {
    ntr_perf_config config = {.size = sizeof config};

    if (given) TRY(ntr_config_load(&config, sizeof config, given));
    ntr_perf_modules_release(data);
    data->kernel_copied = false;
    TRY(ntr_perf_lives_find(data));
    for (unsigned modules = 0; modules < 2; modules++) /* the kernel's copy says which modules have code */
        for (size_t i = 0; i < data->mapping_count; i++) {
            const struct ntr_perf_mapping *m = &data->mappings[i];
            if (ntr_perf_mapping_is_module(m) != (modules != 0)) continue;
            TRY((m->pid == NTR_PERF_NOBODY ? add_kernel : add_for_spaces)(data, &config, program, m));
        }
    TRY(ntr_perf_modules_end(data));
    if (!config.bpf_later) TRY(ntr_perf_data_load_bpf(data, program));
    return add_pokes(data, program);
}
