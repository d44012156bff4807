/* ELF files through libelf. Sizes and offsets are checked here against the file before anything is used. */
#include "base/allocator.h"
#include "program/attributes.h"
#include "program/program.h"

#include <gelf.h>
#include <string.h>

#ifndef EM_RISCV
#define EM_RISCV 243
#endif
#ifndef SHT_RISCV_ATTRIBUTES
#define SHT_RISCV_ATTRIBUTES 0x70000003
#endif

/* More than Linux maps into a process. */
#define SEGMENTS_MAX 65536

/* One file being read into the last image of the program. */
typedef struct elf_file {
    ntr_program *program;
    ntr_image *image;
    const char *path;
    const uint8_t *bytes;
    size_t size;
    Elf *elf;
    GElf_Ehdr header;
} elf_file;

#define FAIL(file, status, ...) ntr_program_fail((file)->program, status, (file)->path, __VA_ARGS__)

static bool inside(const elf_file *file, uint64_t offset, uint64_t size) {
    return offset <= file->size && size <= file->size - offset;
}

static ntr_status check_header(elf_file *file) {
    if (file->size < SELFMAG || memcmp(file->bytes, ELFMAG, SELFMAG) != 0)
        return FAIL(file, NTR_E_FORMAT, "not an ELF file");
    if (elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &file->header))
        return FAIL(file, NTR_E_FORMAT, "damaged ELF header");
    if (file->header.e_ident[EI_DATA] != ELFDATA2LSB) return FAIL(file, NTR_E_FORMAT, "not a little-endian ELF");
    if (file->header.e_machine != EM_RISCV)
        return FAIL(file, NTR_E_FORMAT, "not a RISC-V ELF (machine %u)", file->header.e_machine);

    unsigned xlen = gelf_getclass(file->elf) == ELFCLASS32 ? 32 : 64;
    if (file->program->xlen && file->program->xlen != xlen)
        return FAIL(file, NTR_E_FORMAT, "RV%u code in an RV%u program", xlen, file->program->xlen);
    file->image->isa = xlen == 32 ? NTR_ISA_RV32 : 0;
    file->image->has_isa = true;
    return NTR_OK;
}

static ntr_status count_segments(elf_file *file, size_t *count) {
    const GElf_Ehdr *header = &file->header;
    size_t size = gelf_fsize(file->elf, ELF_T_PHDR, 1, EV_CURRENT);
    if (header->e_phnum && header->e_phentsize != size)
        return FAIL(file, NTR_E_FORMAT, "program headers of %u bytes instead of %zu", header->e_phentsize, size);
    if (!inside(file, header->e_phoff, header->e_phnum == PN_XNUM ? 0 : header->e_phnum * size))
        return FAIL(file, NTR_E_FORMAT, "program headers: %zu bytes at 0x%llx, but the file ends at 0x%zx",
                    header->e_phnum * size, (unsigned long long)header->e_phoff, file->size);
    if (elf_getphdrnum(file->elf, count)) return FAIL(file, NTR_E_FORMAT, "program headers: %s", elf_errmsg(-1));
    if (*count > SEGMENTS_MAX) return FAIL(file, NTR_E_FORMAT, "%zu program headers", *count);
    return NTR_OK;
}

static ntr_status check_segment(elf_file *file, size_t index, const GElf_Phdr *segment) {
    uint64_t top = file->image->isa & NTR_ISA_RV32 ? UINT32_MAX : UINT64_MAX;
    if (!inside(file, segment->p_offset, segment->p_filesz))
        return FAIL(file, NTR_E_FORMAT, "program header %zu: 0x%llx bytes at 0x%llx, but the file ends at 0x%zx", index,
                    (unsigned long long)segment->p_filesz, (unsigned long long)segment->p_offset, file->size);
    if (segment->p_filesz > segment->p_memsz)
        return FAIL(file, NTR_E_FORMAT, "program header %zu: 0x%llx bytes in the file, but 0x%llx in memory", index,
                    (unsigned long long)segment->p_filesz, (unsigned long long)segment->p_memsz);
    if (segment->p_filesz - 1 > top - segment->p_vaddr)
        return FAIL(file, NTR_E_FORMAT, "program header %zu: 0x%llx bytes for address 0x%llx, beyond the last one",
                    index, (unsigned long long)segment->p_filesz, (unsigned long long)segment->p_vaddr);
    return NTR_OK;
}

/* The loadable segments. Only bytes of the file count: what lies behind them in memory (.bss) is no code. */
static ntr_status read_segments(elf_file *file, size_t count, ntr_span *laid, size_t *used) {
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(file->elf, (int)i, &segment))
            return FAIL(file, NTR_E_FORMAT, "program header %zu: %s", i, elf_errmsg(-1));
        if (segment.p_type != PT_LOAD || segment.p_filesz == 0) continue;
        ntr_status status = check_segment(file, i, &segment);
        if (status != NTR_OK) return status;
        laid[(*used)++] = (ntr_span){
            .first = segment.p_vaddr, .last = segment.p_vaddr + segment.p_filesz - 1, .value = (uint32_t)i};
    }
    return *used ? NTR_OK : FAIL(file, NTR_E_FORMAT, "no loadable segment");
}

/* Which segment has which address: the later one where they overlap. */
static ntr_status lay_out_segments(elf_file *file, ntr_spans *spans) {
    const ntr_allocator *allocator = file->program->allocator;
    size_t count, used = 0;
    ntr_status status = count_segments(file, &count);
    if (status != NTR_OK) return status;
    ntr_span *laid = ntr_alloc(allocator, count, sizeof *laid);
    if (!laid) return FAIL(file, NTR_E_MEMORY, "out of memory");
    status = read_segments(file, count, laid, &used);
    if (status == NTR_OK && ntr_spans_flatten(spans, allocator, laid, used))
        status = FAIL(file, NTR_E_MEMORY, "out of memory");
    ntr_dealloc(allocator, laid);
    return status;
}

static ntr_status add_segments(elf_file *file, const ntr_spans *spans) {
    const ntr_image_options *options = &file->image->options;
    for (size_t i = 0; i < spans->count; i++) {
        const ntr_span *span = &spans->items[i];
        GElf_Phdr segment;
        gelf_getphdr(file->elf, (int)span->value, &segment);
        const uint8_t *bytes = file->bytes + segment.p_offset + (span->first - segment.p_vaddr);
        ntr_status status = ntr_program_add_segment(file->program, span->first + options->bias, bytes,
                                                    span->last - span->first + 1, options->from, options->until);
        if (status != NTR_OK) return status;
    }
    return NTR_OK;
}

/* The string at `offset` of section `index`, or NULL when it is not wholly inside the file. */
static const char *string_at(const elf_file *file, size_t index, uint64_t offset) {
    GElf_Shdr section;
    Elf_Scn *scn = elf_getscn(file->elf, index);
    if (!scn || !gelf_getshdr(scn, &section) || section.sh_type == SHT_NOBITS) return NULL;
    if (!inside(file, section.sh_offset, section.sh_size) || offset >= section.sh_size) return NULL;
    const char *text = (const char *)file->bytes + section.sh_offset + offset;
    return memchr(text, 0, section.sh_size - offset) ? text : NULL;
}

/* Names for people: no file or section names, no marks of the toolchain ($x, $d, .L..). */
static bool is_name(const GElf_Sym *symbol, const char *name) {
    static const bool wanted[16] = {[STT_NOTYPE] = true, [STT_OBJECT] = true, [STT_FUNC] = true, [STT_GNU_IFUNC] = true};
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

/* Last address of the section the symbol is in, if it is in one that takes room in memory. */
static bool section_limit(const elf_file *file, const GElf_Sym *symbol, size_t section, uint64_t *limit) {
    GElf_Shdr header;
    Elf_Scn *scn = section ? elf_getscn(file->elf, section) : NULL;
    if (!scn || !gelf_getshdr(scn, &header) || !(header.sh_flags & SHF_ALLOC) || header.sh_size == 0)
        return false;
    if (symbol->st_value < header.sh_addr || symbol->st_value - header.sh_addr > header.sh_size) return false;
    *limit = header.sh_addr + header.sh_size - 1;
    return true;
}

static ntr_status add_symbol(elf_file *file, const GElf_Sym *symbol, size_t section, const char *text) {
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
    if (strcmp(text, "__jvt_base$") == 0) ntr_program_set_table(file->program, name.address);
    if (ntr_symbols_add(&file->image->symbols, file->program->allocator, &name))
        return FAIL(file, NTR_E_MEMORY, "out of memory");
    return NTR_OK;
}

/* Section indices from 0xff00 on are kept in a section of their own. */
static Elf_Data *extended_indices(const elf_file *file, size_t table) {
    Elf_Scn *scn = NULL;
    while ((scn = elf_nextscn(file->elf, scn))) {
        GElf_Shdr section;
        if (gelf_getshdr(scn, &section) && section.sh_type == SHT_SYMTAB_SHNDX && section.sh_link == table)
            return elf_getdata(scn, NULL);
    }
    return NULL;
}

static ntr_status add_symbols(elf_file *file, Elf_Scn *scn, const GElf_Shdr *section) {
    if (!inside(file, section->sh_offset, section->sh_size))
        return FAIL(file, NTR_E_FORMAT, "symbol table: 0x%llx bytes at 0x%llx, but the file ends at 0x%zx",
                    (unsigned long long)section->sh_size, (unsigned long long)section->sh_offset, file->size);
    Elf_Data *data = elf_getdata(scn, NULL), *extended = extended_indices(file, elf_ndxscn(scn));
    if (!data) return FAIL(file, NTR_E_FORMAT, "symbol table: %s", elf_errmsg(-1));

    size_t count = data->d_size / gelf_fsize(file->elf, ELF_T_SYM, 1, EV_CURRENT);
    for (size_t i = 1; i < count; i++) {
        GElf_Sym symbol;
        Elf32_Word index = 0;
        if (!gelf_getsymshndx(data, extended, (int)i, &symbol, &index))
            return FAIL(file, NTR_E_FORMAT, "symbol %zu: %s", i, elf_errmsg(-1));
        const char *text = string_at(file, section->sh_link, symbol.st_name);
        if (!text) return FAIL(file, NTR_E_FORMAT, "symbol %zu: its name is outside the string table", i);
        if (!is_name(&symbol, text)) continue;
        size_t in = symbol.st_shndx == SHN_XINDEX ? index : symbol.st_shndx < SHN_LORESERVE ? symbol.st_shndx : 0;
        ntr_status status = add_symbol(file, &symbol, in, text);
        if (status != NTR_OK) return status;
    }
    if (ntr_symbols_settle(&file->image->symbols, file->program->allocator))
        return FAIL(file, NTR_E_MEMORY, "out of memory");
    return NTR_OK;
}

static void read_attributes(elf_file *file, const GElf_Shdr *section) {
    if (!inside(file, section->sh_offset, section->sh_size)) return;
    file->image->isa |= ntr_attributes_isa((ntr_bytes){file->bytes + section->sh_offset, section->sh_size});
}

/* .symtab, else .dynsym; attributes. A file without sections has none of them, and that is no fault. */
static ntr_status read_sections(elf_file *file) {
    Elf_Scn *scn = NULL, *table = NULL;
    GElf_Shdr section, best = {0};
    while ((scn = elf_nextscn(file->elf, scn))) {
        if (!gelf_getshdr(scn, &section)) return FAIL(file, NTR_E_FORMAT, "section header: %s", elf_errmsg(-1));
        if (section.sh_type == SHT_RISCV_ATTRIBUTES) read_attributes(file, &section);
        if (section.sh_type == SHT_SYMTAB || (section.sh_type == SHT_DYNSYM && !table)) {
            table = scn;
            best = section;
        }
    }
    return table ? add_symbols(file, table, &best) : NTR_OK;
}

static ntr_status read_file(elf_file *file) {
    ntr_spans spans = {0};
    unsigned before = file->program->xlen;
    ntr_status status = check_header(file);
    if (status == NTR_OK) status = lay_out_segments(file, &spans);
    if (status == NTR_OK) {
        ntr_program_set_xlen(file->program, file->image->isa & NTR_ISA_RV32 ? 32 : 64);
        status = read_sections(file);
        if (status == NTR_OK)
            status = add_segments(file, &spans);
        else
            ntr_program_set_xlen(file->program, before);
    }
    ntr_spans_release(&spans, file->program->allocator);
    return status;
}

ntr_status ntr_program_add_elf(ntr_program *program, const char *path, const ntr_image_options *options) {
    void *mapping;
    size_t size;
    ntr_status status = ntr_program_map_file(program, path, &mapping, &size);
    if (status != NTR_OK) return status;
    status = ntr_program_add_image(program, path, options);
    if (status != NTR_OK) {
        ntr_program_unmap_file(mapping, size);
        return status;
    }

    elf_file file = {.program = program, .path = path, .bytes = mapping, .size = size};
    file.image = &program->images[program->image_count - 1];
    file.image->mapping = mapping;
    file.image->mapping_size = size;
    elf_version(EV_CURRENT);
    file.elf = elf_memory(mapping, size);
    status = read_file(&file);
    elf_end(file.elf);
    if (status != NTR_OK && !file.image->has_segments) ntr_program_drop_image(program);
    return status;
}
