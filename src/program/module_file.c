#include "program/module_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MODULE_SECTIONS_MAX = 0xff00 }; /* more need tables of their own (SHN_XINDEX) */

ntr_status ntr_module_fail(ntr_module *m, ntr_status status, const char *format, ...) {
    const int used = snprintf(m->error, sizeof m->error, "%s: ", m->path);
    va_list arguments;

    va_start(arguments, format);
    if (used >= 0 && (size_t)used < sizeof m->error)
        vsnprintf(m->error + used, sizeof m->error - (size_t)used, format, arguments);
    va_end(arguments);
    return status;
}

static bool is_inside(const ntr_module *m, uint64_t offset, uint64_t size) {
    return offset <= m->size && size <= m->size - offset;
}

static Elf64_Shdr header_at(const ntr_module *m, uint64_t offset) {
    Elf32_Shdr narrow;
    Elf64_Shdr wide;

    if (m->wide) {
        memcpy(&wide, m->bytes + offset, sizeof wide);
        return wide;
    }
    memcpy(&narrow, m->bytes + offset, sizeof narrow);
    return (Elf64_Shdr){narrow.sh_name, narrow.sh_type, narrow.sh_flags, narrow.sh_addr,      narrow.sh_offset,
                        narrow.sh_size, narrow.sh_link, narrow.sh_info,  narrow.sh_addralign, narrow.sh_entsize};
}

/* Fields of the header that both classes have. */
struct module_tables {
    uint64_t sections;
    unsigned entry, count, names;
};

static struct module_tables tables_of(const ntr_module *m) {
    Elf64_Ehdr wide;
    Elf32_Ehdr narrow;

    if (m->wide) {
        memcpy(&wide, m->bytes, sizeof wide);
        return (struct module_tables){wide.e_shoff, wide.e_shentsize, wide.e_shnum, wide.e_shstrndx};
    }
    memcpy(&narrow, m->bytes, sizeof narrow);
    return (struct module_tables){narrow.e_shoff, narrow.e_shentsize, narrow.e_shnum, narrow.e_shstrndx};
}

static ntr_status read_sections(ntr_module *m) {
    const struct module_tables t = tables_of(m);
    const size_t size = m->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);

    if (t.entry != size || !t.count || t.count >= MODULE_SECTIONS_MAX ||
        !is_inside(m, t.sections, (uint64_t)t.count * size))
        return ntr_module_fail(m, NTR_E_FORMAT, "%u section headers at 0x%llx do not fit into the file", t.count,
                               (unsigned long long)t.sections);
    m->sections = ntr_alloc(m->allocator, t.count, sizeof *m->sections);
    if (!m->sections) return NTR_E_MEMORY;
    m->count = t.count;
    m->names = t.names;
    for (size_t i = 0; i < m->count; i++) {
        struct module_section *s = &m->sections[i];
        s->header = header_at(m, t.sections + i * size);
        if (s->header.sh_type == SHT_NOBITS || s->header.sh_type == SHT_NULL) continue;
        if (!is_inside(m, s->header.sh_offset, s->header.sh_size))
            return ntr_module_fail(m, NTR_E_FORMAT, "section %zu does not fit into the file", i);
        if ((s->header.sh_flags & SHF_COMPRESSED) && !(s->header.sh_flags & SHF_ALLOC))
            return ntr_module_fail(
                m, NTR_E_FORMAT,
                "its debug information is compressed; decompress it first: objcopy --decompress-debug-sections");
        s->data = m->bytes + s->header.sh_offset;
    }
    return NTR_OK;
}

ntr_status module_file_check(ntr_module *m) {
    if (m->size < sizeof(Elf64_Ehdr) || memcmp(m->bytes, ELFMAG, SELFMAG) != 0)
        return ntr_module_fail(m, NTR_E_FORMAT, "not an ELF file");
    m->wide = m->bytes[EI_CLASS] == ELFCLASS64;
    return read_sections(m);
}

bool module_is_loaded(const struct module_section *s) {
    return (s->header.sh_flags & SHF_ALLOC) && s->header.sh_size && s->header.sh_type != SHT_NULL;
}

/* Returns the string at an offset of a section, or "" when it does not end inside of it, or is too long for a name. */
static const char *string_at(const ntr_module *m, size_t section, uint64_t offset) {
    enum { NAME_BYTES_MAX = 1024 };
    const struct module_section *s = section < m->count ? &m->sections[section] : NULL;

    if (!s || !s->data || offset >= s->header.sh_size) return "";
    const uint64_t rest = s->header.sh_size - offset;
    return memchr(s->data + offset, 0, rest < NAME_BYTES_MAX ? rest : NAME_BYTES_MAX) ? (const char *)s->data + offset
                                                                                      : "";
}

const char *module_section_name(const ntr_module *m, size_t index) {
    return string_at(m, m->names, m->sections[index].header.sh_name);
}

/* ---- entries ----------------------------------------------------------------------------------- */

static size_t entries(const ntr_module *m, size_t table, size_t size) {
    return table < m->count && m->sections[table].data ? m->sections[table].header.sh_size / size : 0;
}

size_t module_symbol_count(const ntr_module *m, size_t table) {
    return table < m->count && m->sections[table].header.sh_type == SHT_SYMTAB
               ? entries(m, table, m->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym))
               : 0;
}

struct module_symbol module_symbol_at(const ntr_module *m, size_t table, size_t index) {
    const struct module_section *s = &m->sections[table];
    Elf64_Sym wide;
    Elf32_Sym narrow;

    if (m->wide) {
        memcpy(&wide, s->data + index * sizeof wide, sizeof wide);
        return (struct module_symbol){string_at(m, s->header.sh_link, wide.st_name), wide.st_value, wide.st_shndx,
                                      ELF64_ST_TYPE(wide.st_info)};
    }
    memcpy(&narrow, s->data + index * sizeof narrow, sizeof narrow);
    return (struct module_symbol){string_at(m, s->header.sh_link, narrow.st_name), narrow.st_value, narrow.st_shndx,
                                  ELF32_ST_TYPE(narrow.st_info)};
}

size_t module_relocation_count(const ntr_module *m, size_t table) {
    return m->sections[table].header.sh_type == SHT_RELA
               ? entries(m, table, m->wide ? sizeof(Elf64_Rela) : sizeof(Elf32_Rela))
               : 0;
}

struct module_relocation module_relocation_at(const ntr_module *m, size_t table, size_t index) {
    const uint8_t *data = m->sections[table].data;
    Elf64_Rela wide;
    Elf32_Rela narrow;

    if (m->wide) {
        memcpy(&wide, data + index * sizeof wide, sizeof wide);
        return (struct module_relocation){wide.r_offset, wide.r_addend, (uint32_t)ELF64_R_TYPE(wide.r_info),
                                          (uint32_t)ELF64_R_SYM(wide.r_info)};
    }
    memcpy(&narrow, data + index * sizeof narrow, sizeof narrow);
    return (struct module_relocation){narrow.r_offset, narrow.r_addend, ELF32_R_TYPE(narrow.r_info),
                                      ELF32_R_SYM(narrow.r_info)};
}

static uint64_t address_of(const ntr_module *m, const struct module_symbol *symbol, const ntr_program *program) {
    ntr_symbol found;

    if (symbol->section == SHN_ABS) return symbol->value;
    if (symbol->section == SHN_UNDEF)
        return *symbol->name && ntr_program_find(program, symbol->name, &found) == NTR_OK ? found.address : 0;
    return symbol->section < m->count ? m->sections[symbol->section].address + symbol->value : 0;
}

uint64_t *module_symbol_addresses(const ntr_module *m, size_t table, const ntr_program *program) {
    const size_t count = module_symbol_count(m, table);
    uint64_t *addresses = ntr_alloc(m->allocator, count + 1, sizeof *addresses);

    for (size_t i = 0; addresses && i < count; i++) {
        const struct module_symbol symbol = module_symbol_at(m, table, i);
        addresses[i] = address_of(m, &symbol, program);
    }
    return addresses;
}
