/* Sections of an ELF file: ISA attributes, and the sources of names. */
#include "program/attributes.h"
#include "program/elf_file.h"

#include <string.h>

#ifndef SHT_RISCV_ATTRIBUTES
#define SHT_RISCV_ATTRIBUTES 0x70000003
#endif

ntr_bytes ntr_elf_section_bytes(const ntr_elf *file, const GElf_Shdr *section) {
    if (section->sh_type == SHT_NOBITS || section->sh_flags & SHF_COMPRESSED ||
        !ntr_elf_inside(file, section->sh_offset, section->sh_size))
        return (ntr_bytes){0};
    return (ntr_bytes){file->bytes + section->sh_offset, section->sh_size};
}

static ntr_status read_attributes(ntr_elf *file, const GElf_Shdr *section) {
    if (section->sh_type == SHT_RISCV_ATTRIBUTES)
        file->image->isa |= ntr_attributes_isa(ntr_elf_section_bytes(file, section));
    return NTR_OK;
}

ntr_status ntr_elf_read_code_section(ntr_elf *file, const GElf_Shdr *section) {
    const uint64_t flags = SHF_ALLOC | SHF_EXECINSTR, first = section->sh_addr + file->image->options.bias;
    if ((section->sh_flags & flags) != flags || section->sh_size == 0) return NTR_OK;
    const uint64_t low = ntr_program_cut(file->program, first);
    const uint64_t high = ntr_program_cut(file->program, first + (section->sh_size - 1));
    if (high < low) return NTR_OK;
    if (ntr_symbols_add_range(&file->image->symbols, file->program->allocator, NTR_RANGES_SECTION, low, high))
        return ELF_FAIL(file, NTR_E_MEMORY, "out of memory");
    return NTR_OK;
}

/* Each is used for one section of that name. */
static const struct {
    const char *name;
    ntr_status (*read)(ntr_elf *file, const GElf_Shdr *section);
} readers[] = {
    {".plt", ntr_elf_read_plt},
    {".plt.sec", ntr_elf_read_plt},
    {".plt.got", ntr_elf_read_plt},
    {".iplt", ntr_elf_read_plt},
    {".eh_frame", ntr_elf_read_unwind},
    {".gopclntab", ntr_elf_read_go},
    {".data.rel.ro.gopclntab", ntr_elf_read_go}, /* in position-independent programs */
};

static ntr_status read_names(ntr_elf *file, const GElf_Shdr *section) {
    const char *name = ntr_elf_string(file, file->names_section, section->sh_name);
    ntr_status status = ntr_elf_read_code_section(file, section);
    for (size_t i = 0; name && i < sizeof readers / sizeof readers[0] && status == NTR_OK; i++) {
        if (file->sections_read >> i & 1 || strcmp(name, readers[i].name) != 0) continue;
        file->sections_read |= 1u << i;
        status = readers[i].read(file, section);
    }
    return status;
}

static ntr_status each_section(ntr_elf *file, ntr_status (*read)(ntr_elf *file, const GElf_Shdr *section)) {
    Elf_Scn *scn = NULL;
    GElf_Shdr section = {0};
    ntr_status status = NTR_OK;
    while (status == NTR_OK && (scn = elf_nextscn(file->elf, scn))) {
        if (!gelf_getshdr(scn, &section)) return ELF_FAIL(file, NTR_E_FORMAT, "section header: %s", elf_errmsg(-1));
        status = read(file, &section);
    }
    return status;
}

ntr_status ntr_elf_read_sections(ntr_elf *file) {
    if (elf_getshdrstrndx(file->elf, &file->names_section)) file->names_section = 0;
    ntr_status status = each_section(file, read_attributes);
    /* the table of CM.JT is found by its symbol */
    if (status != NTR_OK || (file->program->no_names && !(file->image->isa & NTR_ISA_ZCMT))) return status;
    status = ntr_elf_read_symbols(file);
    if (status == NTR_OK) status = each_section(file, read_names);
    if (status == NTR_OK && ntr_symbols_sort(&file->image->symbols, file->program->allocator))
        return ELF_FAIL(file, NTR_E_MEMORY, "out of memory");
    return status;
}
