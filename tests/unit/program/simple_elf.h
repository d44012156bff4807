/* A small ELF file, and adding one that was built to the program of the fixture. */
#ifndef NTR_TEST_PROGRAM_SIMPLE_ELF_H
#define NTR_TEST_PROGRAM_SIMPLE_ELF_H

#include "elf_builder.h"
#include "fixture.h"

/* 16 bytes of c.nop and c.jr ra from CODE_AT, at TEXT_ADDRESS, 32 in memory. */
static void simple(elf_builder *elf, bool wide) {
    elf_begin(elf, wide);
    for (unsigned i = 0; i < 8; i++) elf_put(elf, CODE_AT + 2 * i, 2, i == 7 ? 0x8082 : 0x0001);
    elf_segment(elf, 1, CODE_AT, TEXT_ADDRESS, 16, 32);
}

static ntr_status add(elf_builder *elf, const ntr_image_options *options) {
    assert_int_equal(elf_write(elf), 0);
    ntr_status status = ntr_program_add_elf(program, elf->path, options);
    elf_end(elf); /* what is mapped stays */
    return status;
}

#endif
