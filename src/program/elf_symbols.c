/* Bytes, strings and symbols of the sections of an ELF file. */
#include "program/elf_file.h"

#include <string.h>

ntr_bytes ntr_elf_section_bytes(const ntr_elf *file, const GElf_Shdr *section) {
    if (section->sh_type == SHT_NOBITS || section->sh_flags & SHF_COMPRESSED ||
        !ntr_elf_inside(file, section->sh_offset, section->sh_size))
        return (ntr_bytes){0};
    return (ntr_bytes){file->bytes + section->sh_offset, section->sh_size};
}

const char *ntr_elf_string(const ntr_elf *file, size_t index, uint64_t offset) {
    GElf_Shdr section = {0};
    Elf_Scn *scn = elf_getscn(file->elf, index);
    if (!scn) return NULL;
    if (!gelf_getshdr(scn, &section)) {
        ELF_DAMAGE(file, "header of a string table");
        return NULL;
    }
    if (section.sh_type == SHT_NOBITS) return NULL;
    if (!ntr_elf_inside(file, section.sh_offset, section.sh_size) || offset >= section.sh_size) return NULL;
    const char *text = (const char *)file->bytes + section.sh_offset + offset;
    const size_t room = section.sh_size - offset;
    /* Without a limit, the symbols of a small file could refer to a long string a million times. */
    const uint64_t most = ntr_limits_get(&file->program->limits, NTR_LIMIT_SYMBOL_NAME);
    if (memchr(text, 0, room <= most ? room : most + 1)) return text;
    if (room <= most) return NULL;
    ntr_damage_add(&file->program->damage,
                   "%s: a symbol's name: expected at most %llu bytes (limit symbol-name), found more; it is left out",
                   file->path, (unsigned long long)most);
    return "";
}

/* Selects symbols for output: no file or section symbols, no mapping symbols ($x, $d) or local labels (.L). */
static bool is_name(const GElf_Sym *symbol, const char *name) {
    static const bool wanted[16] = {
        [STT_NOTYPE] = true, [STT_OBJECT] = true, [STT_FUNC] = true, [STT_GNU_IFUNC] = true};
    if (!wanted[GELF_ST_TYPE(symbol->st_info)] || symbol->st_shndx == SHN_UNDEF || !name || !*name) return false;
    bool mapping = name[0] == '$' && (name[1] == 'x' || name[1] == 'd');
    return !mapping && strncmp(name, ".L", 2) != 0;
}

static ntr_binding binding_of(const GElf_Sym *symbol) {
    switch (GELF_ST_BIND(symbol->st_info)) {
    case STB_LOCAL: return NTR_BINDING_LOCAL;
    case STB_WEAK: return NTR_BINDING_WEAK;
    default: return NTR_BINDING_GLOBAL;
    }
}

/* Stores the last address of the symbol's section. Returns false when the section occupies no memory. */
static bool section_limit(const ntr_elf *file, const GElf_Sym *symbol, size_t section, uint64_t *limit) {
    GElf_Shdr header = {0};
    Elf_Scn *scn = section ? elf_getscn(file->elf, section) : NULL;
    if (section && (!scn || !gelf_getshdr(scn, &header))) ELF_DAMAGE(file, "section of a symbol");
    if (!(header.sh_flags & SHF_ALLOC) || header.sh_size == 0) return false;
    if (symbol->st_value < header.sh_addr || symbol->st_value - header.sh_addr > header.sh_size) return false;
    *limit = header.sh_addr + header.sh_size - 1;
    return true;
}

/* Is the symbol in a segment that another one hides (overlays)? */
static bool is_hidden(const ntr_elf *file, const GElf_Sym *symbol, size_t section) {
    GElf_Shdr header = {0};
    GElf_Phdr segment = {0};
    const ntr_span *span = file->spans ? ntr_spans_find(file->spans, symbol->st_value) : NULL;
    Elf_Scn *scn = span && section ? elf_getscn(file->elf, section) : NULL;
    if (scn && (!gelf_getshdr(scn, &header) || !gelf_getphdr(file->elf, (int)span->value, &segment)))
        ELF_DAMAGE(file, "section of a symbol");
    if (!(header.sh_flags & SHF_ALLOC)) return false;
    return symbol->st_value - header.sh_addr + header.sh_offset !=
           symbol->st_value - segment.p_vaddr + segment.p_offset;
}

static ntr_status add_symbol(ntr_elf *file, const GElf_Sym *symbol, size_t section, const char *text) {
    uint64_t bias = file->image->options.bias, limit = 0;
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    ntr_name name = {
        .name = text,
        .address = ntr_program_cut(file->program, symbol->st_value + bias),
        .size = symbol->st_size,
        .binding = (uint8_t)binding_of(symbol),
        .function = type == STT_FUNC || type == STT_GNU_IFUNC,
        .code = section_limit(file, symbol, section, &limit),
    };
    name.limit = ntr_program_cut(file->program, limit + bias);
    if (is_hidden(file, symbol, section)) return NTR_OK;
    if (strcmp(text, "__jvt_base$") == 0) ntr_program_set_table(file->program, name.address);
    if (strcmp(text, "_ITB_BASE_") == 0) ntr_program_set_exec_table(file->program, name.address);
    ntr_symbols *symbols = &file->image->symbols;
    if (file->copies_names ? ntr_symbols_add_copy(symbols, file->program->allocator, &name, "")
                           : ntr_symbols_add(symbols, file->program->allocator, &name))
        return ELF_FAIL(file, NTR_E_MEMORY, "out of memory");
    return NTR_OK;
}

/* Section indices from 0xff00 are in a section of their own. */
static Elf_Data *extended_indices(const ntr_elf *file, size_t table) {
    Elf_Scn *scn = NULL;
    while ((scn = elf_nextscn(file->elf, scn))) {
        GElf_Shdr section = {0};
        if (!gelf_getshdr(scn, &section)) ELF_DAMAGE(file, "header of a section");
        if (section.sh_type != SHT_SYMTAB_SHNDX || section.sh_link != table) continue;
        Elf_Data *data = elf_getdata(scn, NULL);
        if (!data) ELF_DAMAGE(file, "sections of the symbols");
        return data;
    }
    return NULL;
}

bool ntr_elf_is_blank(const ntr_elf *file, uint64_t offset, const char *text) {
    return offset && !*text && (uintptr_t)text - (uintptr_t)file->bytes < file->size;
}

void ntr_elf_report_zeros(const ntr_elf *file, const char *what) {
    ntr_damage_add(&file->program->damage, "%s: %s: damaged (empty); names are missing", file->path, what);
}

static bool is_zero(const GElf_Sym *symbol) {
    static const GElf_Sym zero;
    return memcmp(symbol, &zero, sizeof zero) == 0;
}

static ntr_status add_symbols(ntr_elf *file, Elf_Scn *scn, const GElf_Shdr *section) {
    if (!ntr_elf_inside(file, section->sh_offset, section->sh_size))
        return ELF_FAIL(file, NTR_E_FORMAT, "symbol table: 0x%llx bytes at 0x%llx, but the file ends at 0x%zx",
                        (unsigned long long)section->sh_size, (unsigned long long)section->sh_offset, file->size);
    Elf_Data *data = elf_getdata(scn, NULL), *extended = extended_indices(file, elf_ndxscn(scn));
    if (!data) return ELF_FAIL(file, NTR_E_FORMAT, "symbol table: %s", elf_errmsg(-1));

    size_t count = data->d_size / gelf_fsize(file->elf, ELF_T_SYM, 1, EV_CURRENT);
    if (section->sh_info > count) ntr_elf_report_zeros(file, "end of the symbol table"); /* the first global symbol */
    for (size_t i = 1; i < count; i++) {
        GElf_Sym symbol = {0};
        Elf32_Word index = 0;
        if (!gelf_getsymshndx(data, extended, (int)i, &symbol, &index))
            return ELF_FAIL(file, NTR_E_FORMAT, "symbol %zu: %s", i, elf_errmsg(-1));
        const char *text = ntr_elf_string(file, section->sh_link, symbol.st_name);
        if (!text) return ELF_FAIL(file, NTR_E_FORMAT, "symbol %zu: its name is outside the string table", i);
        if (is_zero(&symbol)) ntr_elf_report_zeros(file, "symbols");
        if (ntr_elf_is_blank(file, symbol.st_name, text)) ntr_elf_report_zeros(file, "names of symbols");
        if (!is_name(&symbol, text)) continue;
        size_t in = symbol.st_shndx == SHN_XINDEX ? index : symbol.st_shndx < SHN_LORESERVE ? symbol.st_shndx : 0;
        ntr_status status = add_symbol(file, &symbol, in, text);
        if (status != NTR_OK) return status;
    }
    return NTR_OK;
}

ntr_status ntr_elf_read_symbols(ntr_elf *file) {
    Elf_Scn *scn = NULL, *table = NULL;
    GElf_Shdr section = {0}, best = {0};
    while ((scn = elf_nextscn(file->elf, scn))) {
        if (!gelf_getshdr(scn, &section)) return ELF_FAIL(file, NTR_E_FORMAT, "section header: %s", elf_errmsg(-1));
        if (section.sh_type != SHT_SYMTAB && (section.sh_type != SHT_DYNSYM || table)) continue;
        table = scn;
        best = section;
        file->has_symtab = section.sh_type == SHT_SYMTAB;
    }
    return table ? add_symbols(file, table, &best) : NTR_OK;
}
