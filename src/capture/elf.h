/* What a capture needs to know about an ELF file: its class, its machine, and where its segments are loaded. */
#ifndef NTR_CAPTURE_ELF_H
#define NTR_CAPTURE_ELF_H

#include <ntrace/bytes.h>

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Program headers of an ELF file in memory. */

/* Number `i` of a RISC-V ELF file; that of a 32-bit file is widened. Returns false when there is none. */
bool ntr_capture_elf_header(ntr_bytes file, size_t i, Elf64_Phdr *header);

#define NTR_CAPTURE_ELF_SEGMENTS 256

struct ntr_capture_elf {
    unsigned xlen;             /* 32 or 64 */
    bool is_riscv, is_dynamic; /* is_dynamic: the file names an interpreter (PT_INTERP) */
    unsigned count;            /* loadable segments */
    bool has_more;             /* segments after the limit were ignored */
    struct {
        uint64_t offset, address;
    } segments[NTR_CAPTURE_ELF_SEGMENTS];
};

/* Returns false when `path` is not a readable little-endian ELF file. errno is then the error of the system call, or 0
 * when the file has another format. Files of other machines have is_riscv false and no segments. */
bool ntr_capture_elf_read(const char *path, struct ntr_capture_elf *elf);

/* The load bias of a file whose bytes from `offset` on are mapped at `start`: the difference between the addresses in
 * memory and those in the file. Several segments can begin in one page of a file: `nth` is 0 for the first one. Returns
 * false when there are not so many segments at `offset`. */
bool ntr_capture_elf_bias(const struct ntr_capture_elf *elf, uint64_t start, uint64_t offset, unsigned nth,
                          uint64_t *bias);

#endif
