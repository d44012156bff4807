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
} ntr_elf;

#define ELF_FAIL(file, status, ...) ntr_program_fail((file)->program, status, (file)->path, __VA_ARGS__)

/* Returns whether the range is inside the file. */
static inline bool ntr_elf_inside(const ntr_elf *file, uint64_t offset, uint64_t size) {
    return offset <= file->size && size <= file->size - offset;
}

/* Reads symbols (.symtab, otherwise .dynsym) and attributes. A file without sections is not an error. */
ntr_status ntr_elf_read_sections(ntr_elf *file);

#endif
