/* Writes a module as a program: the file itself, with the addresses of its sections and symbols, and program headers
 * behind it. */
#include "program/module_file.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static void write_section(ntr_module *m, uint64_t offset, const struct module_section *s) {
    const uint32_t narrow = (uint32_t)s->address;

    if (m->wide)
        memcpy(m->bytes + offset + offsetof(Elf64_Shdr, sh_addr), &s->address, sizeof s->address);
    else
        memcpy(m->bytes + offset + offsetof(Elf32_Shdr, sh_addr), &narrow, sizeof narrow);
}

/* Values of symbols become addresses. */
static void write_symbols(ntr_module *m, size_t table) {
    for (size_t i = 0; i < module_symbol_count(m, table); i++) {
        const struct module_symbol symbol = module_symbol_at(m, table, i);
        if (symbol.section == SHN_UNDEF || symbol.section >= m->count ||
            !module_is_loaded(&m->sections[symbol.section]))
            continue;
        const uint64_t address = m->sections[symbol.section].address + symbol.value;
        const uint32_t narrow = (uint32_t)address;
        uint8_t *entry = m->sections[table].data + i * (m->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
        if (m->wide)
            memcpy(entry + offsetof(Elf64_Sym, st_value), &address, sizeof address);
        else
            memcpy(entry + offsetof(Elf32_Sym, st_value), &narrow, sizeof narrow);
    }
}

static void write_segment(const ntr_module *m, uint8_t *at, const struct module_section *s) {
    const uint32_t flags =
        PF_R | (s->header.sh_flags & SHF_EXECINSTR ? PF_X : 0) | (s->header.sh_flags & SHF_WRITE ? PF_W : 0);
    const uint64_t in_file = s->data ? s->header.sh_size : 0;
    const Elf64_Phdr wide = {PT_LOAD,    flags,   s->header.sh_offset, s->address,
                             s->address, in_file, s->header.sh_size,   1};
    const Elf32_Phdr narrow = {PT_LOAD,
                               (uint32_t)wide.p_offset,
                               (uint32_t)wide.p_vaddr,
                               (uint32_t)wide.p_paddr,
                               (uint32_t)in_file,
                               (uint32_t)wide.p_memsz,
                               flags,
                               1};

    if (m->wide)
        memcpy(at, &wide, sizeof wide);
    else
        memcpy(at, &narrow, sizeof narrow);
}

static int compare_addresses(const void *a, const void *b) {
    const struct module_section *x = *(struct module_section *const *)a, *y = *(struct module_section *const *)b;

    return (x->address > y->address) - (x->address < y->address);
}

/* Stores the program headers, sorted by address. */
static ntr_status make_segments(const ntr_module *m, uint8_t **segments, size_t *count) {
    const size_t size = m->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
    struct module_section **sorted = ntr_alloc(m->allocator, m->count, sizeof *sorted);

    *count = 0;
    *segments = ntr_alloc(m->allocator, m->count, size);
    if (!sorted || !*segments) {
        ntr_dealloc(m->allocator, sorted);
        return NTR_E_MEMORY;
    }
    for (size_t i = 0; i < m->count; i++)
        if (module_is_loaded(&m->sections[i]) && m->sections[i].placed) sorted[(*count)++] = &m->sections[i];
    qsort(sorted, *count, sizeof *sorted, compare_addresses);
    for (size_t i = 0; i < *count; i++) write_segment(m, *segments + i * size, sorted[i]);
    ntr_dealloc(m->allocator, sorted);
    return NTR_OK;
}

/* Returns the offset of the section headers. */
static uint64_t write_header(ntr_module *m, size_t segments) {
    Elf64_Ehdr wide;
    Elf32_Ehdr narrow;

    if (m->wide) {
        memcpy(&wide, m->bytes, sizeof wide);
        wide.e_type = ET_EXEC;
        wide.e_phoff = m->size;
        wide.e_phentsize = sizeof(Elf64_Phdr);
        wide.e_phnum = (uint16_t)segments;
        memcpy(m->bytes, &wide, sizeof wide);
        return wide.e_shoff;
    }
    memcpy(&narrow, m->bytes, sizeof narrow);
    narrow.e_type = ET_EXEC;
    narrow.e_phoff = (uint32_t)m->size;
    narrow.e_phentsize = sizeof(Elf32_Phdr);
    narrow.e_phnum = (uint16_t)segments;
    memcpy(m->bytes, &narrow, sizeof narrow);
    return narrow.e_shoff;
}

ntr_status module_write(ntr_module *m) {
    const size_t section = m->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr),
                 segment = m->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
    size_t count;
    const ntr_status status = make_segments(m, &m->segments, &count);

    if (status != NTR_OK) return status;
    m->segments_size = count * segment;
    for (size_t i = 0; i < m->count; i++) write_symbols(m, i);
    const uint64_t headers = write_header(m, count);
    for (size_t i = 0; i < m->count; i++)
        if (module_is_loaded(&m->sections[i])) write_section(m, headers + i * section, &m->sections[i]);
    return NTR_OK;
}
