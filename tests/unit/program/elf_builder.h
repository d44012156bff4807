/* A small RISC-V ELF file, made in memory, which tests can damage. The layout is fixed, so that tests can use offsets.
 */
#ifndef NTR_TEST_ELF_BUILDER_H
#define NTR_TEST_ELF_BUILDER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PHDRS_AT = 0x40,
    PHDRS_MAX = 4,
    CODE_AT = 0x200,
    CODE_MAX = 0x200,
    SYMBOLS_AT = 0x400,
    SYMBOLS_MAX = 16,
    STRINGS_AT = 0x600,
    STRINGS_MAX = 0x200,
    ATTRIBUTES_AT = 0x800,
    SECTIONS_AT = 0x900,
    SECTIONS = 6,
    ELF_SIZE = 0xb00,

    TEXT_ADDRESS = 0x10000, /* sections: 1 .text, 2 .data (not in the file), 3 symbols, 4 strings, 5 attributes */
    DATA_ADDRESS = 0x20000,
};

typedef struct elf_builder {
    uint8_t bytes[ELF_SIZE];
    size_t size;
    bool wide; /* ELFCLASS64 */
    unsigned segments, symbols;
    size_t strings;
    char path[64];
} elf_builder;

static void elf_put(elf_builder *elf, size_t at, unsigned width, uint64_t value) {
    for (unsigned i = 0; i < width; i++) elf->bytes[at + i] = (uint8_t)(value >> (8 * i));
}

/* Offsets of fields: in the 64-bit layout, else in the 32-bit one. */
#define ELF_PICK(elf, wide_at, narrow_at) ((elf)->wide ? (size_t)(wide_at) : (size_t)(narrow_at))

static void elf_section(elf_builder *elf, unsigned index, unsigned type, uint64_t flags, uint64_t address,
                        size_t offset, size_t size, unsigned link, size_t entry) {
    unsigned word = elf->wide ? 8 : 4;
    size_t at = SECTIONS_AT + index * ELF_PICK(elf, 64, 40);
    const uint64_t fields[] = {0, type, flags, address, offset, size, link, index == 3 ? 1 : 0, 1, entry};
    for (unsigned i = 0; i < 10; i++) {
        unsigned width = i < 2 || i == 6 || i == 7 ? 4 : word;
        elf_put(elf, at, width, fields[i]);
        at += width;
    }
}

static void elf_segment(elf_builder *elf, unsigned type, uint64_t offset, uint64_t address, uint64_t in_file,
                        uint64_t in_memory) {
    unsigned word = elf->wide ? 8 : 4;
    size_t at = PHDRS_AT + elf->segments++ * ELF_PICK(elf, 56, 32);
    elf_put(elf, at, 4, type);
    elf_put(elf, ELF_PICK(elf, at + 4, at + 24), 4, 5); /* R X */
    size_t rest = ELF_PICK(elf, at + 8, at + 4);
    const uint64_t fields[] = {offset, address, address, in_file, in_memory};
    for (unsigned i = 0; i < 5; i++) elf_put(elf, rest + i * word, word, fields[i]);
    elf_put(elf, ELF_PICK(elf, 56, 44), 2, elf->segments);
}

static void elf_symbol(elf_builder *elf, const char *name, unsigned bind_type, unsigned section, uint64_t value,
                       uint64_t size) {
    unsigned word = elf->wide ? 8 : 4;
    size_t at = SYMBOLS_AT + ++elf->symbols * ELF_PICK(elf, 24, 16), length = strlen(name) + 1;
    elf_put(elf, at, 4, elf->strings);
    elf_put(elf, at + ELF_PICK(elf, 4, 12), 1, bind_type);
    elf_put(elf, at + ELF_PICK(elf, 6, 14), 2, section);
    elf_put(elf, at + ELF_PICK(elf, 8, 4), word, value);
    elf_put(elf, at + ELF_PICK(elf, 16, 8), word, size);
    memcpy(elf->bytes + STRINGS_AT + elf->strings, name, length);
    elf->strings += length;
    elf_section(elf, 3, 2, 0, 0, SYMBOLS_AT, (elf->symbols + 1) * ELF_PICK(elf, 24, 16), 4, ELF_PICK(elf, 24, 16));
    elf_section(elf, 4, 3, 0, 0, STRINGS_AT, elf->strings, 0, 0);
}

/* 'A', one subsection of vendor "riscv" with one file attribute: the architecture. */
static void elf_arch(elf_builder *elf, const char *arch) {
    uint8_t *at = elf->bytes + ATTRIBUTES_AT;
    uint8_t length = (uint8_t)(strlen(arch) + 1);
    *at++ = 'A';
    *at = (uint8_t)(4 + 6 + 5 + 3 + length);
    memcpy(at + 4, "riscv", 6);
    at += 10;
    *at = 1;
    at[1] = (uint8_t)(5 + 3 + length);
    at[5] = 4; /* stack alignment: an attribute to skip */
    at[6] = 16;
    at[7] = 5;
    memcpy(at + 8, arch, length);
    elf_section(elf, 5, 0x70000003, 0, 0, ATTRIBUTES_AT, 1u + 4 + 6 + 5 + 3 + length, 0, 0);
}

static void elf_begin(elf_builder *elf, bool wide) {
    static const uint8_t ident[] = {0x7f, 'E', 'L', 'F', 0, 1, 1};
    *elf = (elf_builder){.size = ELF_SIZE, .wide = wide, .strings = 1};
    unsigned word = wide ? 8 : 4;
    memcpy(elf->bytes, ident, sizeof ident);
    elf->bytes[4] = wide ? 2 : 1;
    elf_put(elf, 16, 2, 2);   /* ET_EXEC */
    elf_put(elf, 18, 2, 243); /* EM_RISCV */
    elf_put(elf, 20, 4, 1);
    elf_put(elf, 24 + word, word, PHDRS_AT);
    elf_put(elf, 24 + 2 * word, word, SECTIONS_AT);
    size_t at = 24 + 3 * word + 4; /* behind e_flags */
    const size_t fields[] = {ELF_PICK(elf, 64, 52), ELF_PICK(elf, 56, 32), 0, ELF_PICK(elf, 64, 40), SECTIONS, 0};
    for (unsigned i = 0; i < 6; i++) elf_put(elf, at + 2 * i, 2, fields[i]);
    elf_section(elf, 1, 1, 6, TEXT_ADDRESS, CODE_AT, CODE_MAX, 0, 0);
    elf_section(elf, 2, 8, 3, DATA_ADDRESS, 0, 0x100, 0, 0);
}

/* Write the file; its name is elf->path until elf_end. 0 or -1. */
static int elf_write(elf_builder *elf) {
    strcpy(elf->path, "/tmp/ntrace-elf-XXXXXX");
    int file = mkstemp(elf->path);
    if (file < 0) return -1;
    ssize_t written = write(file, elf->bytes, elf->size);
    close(file);
    return written == (ssize_t)elf->size ? 0 : -1;
}

static void elf_end(elf_builder *elf) {
    unlink(elf->path);
}

#endif
