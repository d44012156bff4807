/* State of reading an ELF file into the last image of a program. */
#ifndef NTR_PROGRAM_ELF_FILE_H
#define NTR_PROGRAM_ELF_FILE_H

#include "program/program.h"

#include <gelf.h>

typedef struct ntr_elf {
    ntr_program *program;
    ntr_image *image;
    const char *path;
    const uint8_t *bytes;
    size_t size;
    Elf *elf;
    GElf_Ehdr header;
    unsigned xlen; /* of addresses in the file: its class */
    size_t names_section; /* section with the names of the sections; 0: none */
    bool has_symtab;
    unsigned sections_read; /* set of the rows of the table in elf_sections.c */
    const ntr_spans *spans; /* the visible segment of each address; NULL: no segments overlap */
    bool copies_names; /* the bytes do not stay valid: names are copied */
} ntr_elf;

#define ELF_FAIL(file, status, ...) ntr_program_fail((file)->program, status, (file)->path, __VA_ARGS__)

/* Names are missing because of `what`, which libelf could not read. */
#define ELF_DAMAGE(file, what)                                                                                         \
    ntr_damage_add(&(file)->program->damage, "%s: %s: damaged (%s); names are missing", (file)->path, what,            \
                   elf_errmsg(-1))

/* Returns whether the range is inside the file. */
static inline bool ntr_elf_inside(const ntr_elf *file, uint64_t offset, uint64_t size) {
    return offset <= file->size && size <= file->size - offset;
}

/* Checks that the file is a RISC-V ELF file, and stores the size of its addresses. Code for RV64 may be in files of 32
 * bits. */
ntr_status ntr_elf_check_header(ntr_elf *file);

/* Returns the bytes of a section; none when they are not in the file or compressed. */
ntr_bytes ntr_elf_section_bytes(const ntr_elf *file, const GElf_Shdr *section);

/* Returns the set of NTR_ISA_* of the file's attributes. */
unsigned ntr_elf_isa(ntr_elf *file);

/* Reads names. A file without sections is not an error. */
ntr_status ntr_elf_read_sections(ntr_elf *file);

/* Returns the string at `offset` of section `index`; "" when it is too long, NULL when it is not inside the file. */
const char *ntr_elf_string(const ntr_elf *file, size_t index, uint64_t offset);

/* Adds the symbols of .symtab, otherwise those of .dynsym. */
ntr_status ntr_elf_read_symbols(ntr_elf *file);

/* Adds the address range of a section with code. */
ntr_status ntr_elf_read_code_section(ntr_elf *file, const GElf_Shdr *section);

/* Adds "NAME@plt" for the entries of the procedure linkage table in `section` (elf_plt.c). */
ntr_status ntr_elf_read_plt(ntr_elf *file, const GElf_Shdr *section);

/* Returns whether a name in a string table is empty, although a linker would have referred to offset 0 for it: the
 * table was overwritten with zeros. */
bool ntr_elf_is_blank(const ntr_elf *file, uint64_t offset, const char *text);

/* Says that a table of symbols, of their names or of the names of sections has zeros, or was cut. */
void ntr_elf_report_zeros(const ntr_elf *file, const char *what);

/* Adds the address ranges of the functions that .eh_frame, in `section`, describes (elf_unwind.c). */
ntr_status ntr_elf_read_unwind(ntr_elf *file, const GElf_Shdr *section);

/* Adds the functions of .gopclntab, in `section`, if the file has no .symtab (elf_sections.c). The bytes of the table
 * are kept for its lines. */
ntr_status ntr_elf_read_go(ntr_elf *file, const GElf_Shdr *section);

#endif
