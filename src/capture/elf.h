/* The few facts of an ELF file that capturing needs. */
#ifndef CLI_RUN_ELF_H
#define CLI_RUN_ELF_H

#include <stdbool.h>
#include <stdint.h>

#define RUN_ELF_SEGMENTS 16

struct run_elf {
    unsigned xlen;             /* 32 or 64 */
    bool is_riscv, is_dynamic; /* dynamic: it names an interpreter */
    unsigned count;            /* loadable segments */
    struct {
        uint64_t offset, address;
    } segments[RUN_ELF_SEGMENTS];
};

/* False when it is not a readable little-endian ELF file; errno is then 0 or what went wrong. */
bool run_elf_read(const char *path, struct run_elf *elf);

/* What was added to the file's addresses when its bytes from `offset` on were mapped at `start`. False when no
 * segment begins there. */
bool run_elf_bias(const struct run_elf *elf, uint64_t start, uint64_t offset, uint64_t *bias);

#endif
