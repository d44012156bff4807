/* Program headers of an ELF file in memory. */
#ifndef NTR_CAPTURE_ELF_HEADER_H
#define NTR_CAPTURE_ELF_HEADER_H

#include <elf.h>
#include <ntrace/bytes.h>
#include <stdbool.h>
#include <stddef.h>

/* Number `i` of a RISC-V ELF file; that of a 32-bit file is widened. Returns false when there is none. */
bool ntr_capture_elf_header(ntr_bytes file, size_t i, Elf64_Phdr *header);

#endif
