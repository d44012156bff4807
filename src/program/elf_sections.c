/* Sections of an ELF file: ISA attributes, and the sources of names. */
#include "base/bytes.h"
#include "program/elf_file.h"
#include "program/go_table.h"

#include <ntrace/bytes.h>
#include <ntrace/isa.h>

#include <string.h>

/* ---- Layout of .riscv.attributes: 'A', then subsections {u32 length, vendor (NUL-terminated), sub-subsections {tag,
 * u32 length, attributes}}. An attribute is a ULEB128 tag, followed by a NUL-terminated string for odd tags and by a
 * ULEB128 for even tags. The length of a subsection counts from its own start, that of a sub-subsection from its
 * tag. */

enum { TAG_FILE = 1, TAG_RISCV_ARCH = 5 };

static const uint8_t *take(ntr_bytes *from, size_t size) {
    if (size > from->size) return NULL;
    const uint8_t *taken = from->data;
    from->data += size;
    from->size -= size;
    return taken;
}

static uint32_t take_u32(ntr_bytes *from) {
    const uint8_t *b = take(from, 4);
    return b ? ntr_little_32(b) : 0;
}

static const char *take_string(ntr_bytes *from) {
    const uint8_t *end = memchr(from->data, 0, from->size);
    return end ? (const char *)take(from, (size_t)(end - from->data) + 1) : NULL;
}

static uint64_t take_uleb(ntr_bytes *from) {
    uint64_t value = 0;
    const uint8_t *byte;
    for (unsigned shift = 0; (byte = take(from, 1)); shift += 7) {
        if (shift < 64) value |= (uint64_t)(*byte & 0x7f) << shift;
        if (!(*byte & 0x80)) break;
    }
    return value;
}

/* Returns the rest of a part of `length` bytes, of which `used` bytes have been read. Empty when it is damaged. */
static ntr_bytes take_part(ntr_bytes *from, size_t length, size_t used) {
    if (length < used || length - used > from->size) return (ntr_bytes){0};
    ntr_bytes part = {from->data, length - used};
    take(from, part.size);
    return part;
}

/* These functions return false when there is no Tag_RISCV_arch, or one that is damaged. */
static bool file_isa(ntr_bytes attributes, unsigned *isa) {
    while (attributes.size) {
        uint64_t tag = take_uleb(&attributes);
        if (tag % 2 == 0) {
            take_uleb(&attributes);
            continue;
        }
        const char *text = take_string(&attributes);
        if (!text) break;
        if (tag == TAG_RISCV_ARCH) return ntr_isa_parse(text, isa) == NTR_OK;
    }
    return false;
}

static bool vendor_isa(ntr_bytes subsection, unsigned *isa) {
    const char *vendor = subsection.size ? take_string(&subsection) : NULL;
    if (!vendor || strcmp(vendor, "riscv") != 0) return false;
    while (subsection.size) {
        const uint8_t *tag = take(&subsection, 1);
        ntr_bytes part = take_part(&subsection, take_u32(&subsection), 5);
        if (part.size && *tag == TAG_FILE) return file_isa(part, isa);
        if (!part.size) break;
    }
    return false;
}

static bool ntr_attributes_isa(ntr_bytes section, unsigned *isa) {
    const uint8_t *version = take(&section, 1);
    if (!version || *version != 'A') return false;
    while (section.size) {
        ntr_bytes part = take_part(&section, take_u32(&section), 4);
        if (!part.size) break;
        if (vendor_isa(part, isa)) return true;
    }
    return false;
}

/* ---- Functions of a Go program from .gopclntab. */

static ntr_status add_function(ntr_elf *file, const ntr_go_table *table, const ntr_go_function *go, const char *name) {
    const ntr_name function = {
        .name = name,
        .address = ntr_program_cut(file->program, table->code + go->start + file->image->options.bias),
        .size = go->end - go->start,
        .binding = NTR_BINDING_LOCAL,
        .function = true,
        .code = true,
    };
    if (ntr_symbols_add(&file->image->symbols, file->program->allocator, &function))
        return ELF_FAIL(file, NTR_E_MEMORY, "out of memory");
    return NTR_OK;
}

ntr_status ntr_elf_read_go(ntr_elf *file, const GElf_Shdr *section) {
    ntr_go_table table;
    ntr_go_function function;
    uint32_t at;
    if (!ntr_go_table_read(&table, ntr_elf_section_bytes(file, section), file->xlen)) return NTR_OK;
    if (!file->copies_names) file->image->go_table = table.bytes;
    for (uint64_t i = 0; i < table.count && !file->has_symtab; i++) {
        if (!ntr_go_table_function(&table, i, &function)) continue;
        if (!ntr_go_table_number(&table, function.record + 4 * NTR_GO_NAME, &at)) continue;
        const char *name = ntr_go_table_text(&table, table.names + at);
        ntr_status status = name ? add_function(file, &table, &function, name) : NTR_OK;
        if (status != NTR_OK) return status;
    }
    return NTR_OK;
}

#ifndef SHT_RISCV_ATTRIBUTES
#define SHT_RISCV_ATTRIBUTES 0x70000003
#endif

#ifndef PT_RISCV_ATTRIBUTES
#define PT_RISCV_ATTRIBUTES 0x70000003
#endif

/* The ISA of the attributes: of a section, or of a segment where the section headers were removed; else by the class.
 */
unsigned ntr_elf_isa(ntr_elf *file) {
    unsigned isa = file->xlen == 32 ? NTR_ISA_RV32 : 0;
    Elf_Scn *scn = NULL;
    GElf_Shdr section = {0};
    GElf_Phdr segment = {0};
    size_t count = 0;
    while ((scn = elf_nextscn(file->elf, scn)))
        if (gelf_getshdr(scn, &section) && section.sh_type == SHT_RISCV_ATTRIBUTES &&
            ntr_attributes_isa(ntr_elf_section_bytes(file, &section), &isa))
            return isa;
    if (elf_getphdrnum(file->elf, &count)) return isa;
    for (size_t i = 0; i < count && gelf_getphdr(file->elf, (int)i, &segment); i++)
        if (segment.p_type == PT_RISCV_ATTRIBUTES && ntr_elf_inside(file, segment.p_offset, segment.p_filesz) &&
            ntr_attributes_isa((ntr_bytes){file->bytes + segment.p_offset, (size_t)segment.p_filesz}, &isa))
            return isa;
    return isa;
}

/* psABI specification, "Table Jump": the section of the table, which its symbol names too. */
static ntr_status find_table(ntr_elf *file, const GElf_Shdr *section) {
    const char *name = ntr_elf_string(file, file->names_section, section->sh_name);
    const uint64_t address = section->sh_addr + file->image->options.bias;
    if (file->image->has_jvt || !name) return NTR_OK;
    if (file->image->isa & NTR_ISA_ZCMT && strcmp(name, ".riscv.jvt") == 0)
        ntr_program_set_table(file->program, address);
    if (strcmp(name, ".exec.itable") == 0) ntr_program_set_exec_table(file->program, address);
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
    if (!name && file->names_section) ELF_DAMAGE(file, "name of a section");
    if (name && section->sh_type == SHT_NOBITS && strcmp(name, ".symtab") == 0)
        ntr_elf_report_zeros(file, "the symbol table");
    if (name && ntr_elf_is_blank(file, section->sh_name, name)) ntr_elf_report_zeros(file, "names of sections");
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

/* libelf treats a table of sections that is not in the file as one without sections. */
static void check_table(ntr_elf *file) {
    const GElf_Ehdr *header = &file->header;
    size_t count = 0;
    const uint64_t size = gelf_fsize(file->elf, ELF_T_SHDR, 1, EV_CURRENT);
    if (!header->e_shoff) return;
    if (header->e_shentsize != size || elf_getshdrnum(file->elf, &count) || (!count && header->e_shnum) ||
        !ntr_elf_inside(file, header->e_shoff, size * (count ? count : 1)))
        ntr_damage_add(
            &file->program->damage,
            "%s: section headers: expected %u of %u bytes at 0x%llx, but the file ends at 0x%zx; names are missing",
            file->path, header->e_shnum, header->e_shentsize, (unsigned long long)header->e_shoff, file->size);
}

ntr_status ntr_elf_read_sections(ntr_elf *file) {
    check_table(file);
    if (elf_getshdrstrndx(file->elf, &file->names_section)) {
        file->names_section = 0;
        if (file->header.e_shoff && file->header.e_shnum) ELF_DAMAGE(file, "names of the sections");
    }
    ntr_status status = each_section(file, find_table);
    /* the table of CM.JT is found by its symbol, too */
    if (status != NTR_OK || (file->program->no_names && !(file->image->isa & NTR_ISA_ZCMT))) return status;
    status = ntr_elf_read_symbols(file);
    if (status == NTR_OK) status = each_section(file, read_names);
    if (status == NTR_OK && ntr_symbols_sort(&file->image->symbols, file->program->allocator))
        return ELF_FAIL(file, NTR_E_MEMORY, "out of memory");
    return status;
}
