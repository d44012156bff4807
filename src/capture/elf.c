#include "capture/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PAGE_MASK (~(uint64_t)0xfff)

static bool read_at(int file, void *out, size_t size, uint64_t offset) {
    errno = 0;
    return pread(file, out, size, (off_t)offset) == (ssize_t)size;
}

static void add_segment(struct ntr_capture_elf *elf, uint32_t type, uint64_t offset, uint64_t address) {
    if (type == PT_INTERP) elf->is_dynamic = true;
    if (type != PT_LOAD || elf->count == NTR_CAPTURE_ELF_SEGMENTS) return;
    elf->segments[elf->count].offset = offset;
    elf->segments[elf->count].address = address;
    elf->count++;
}

/* The program headers of both classes have the same members in different widths and order. */
#define READ_SEGMENTS(bits)                                                                                            \
    static bool read_segments_##bits(int file, struct ntr_capture_elf *elf) {                                          \
        Elf##bits##_Ehdr header;                                                                                       \
        Elf##bits##_Phdr segment;                                                                                      \
        if (!read_at(file, &header, sizeof header, 0) || header.e_phentsize != sizeof segment) return false;           \
        elf->is_riscv = header.e_machine == EM_RISCV;                                                                  \
        if (!elf->is_riscv) return true;                                                                               \
        for (unsigned i = 0; i < header.e_phnum; i++) {                                                                \
            if (!read_at(file, &segment, sizeof segment, header.e_phoff + i * sizeof segment)) return false;           \
            add_segment(elf, segment.p_type, segment.p_offset, segment.p_vaddr);                                       \
        }                                                                                                              \
        return true;                                                                                                   \
    }
READ_SEGMENTS(32)
READ_SEGMENTS(64)

static bool read_elf(int file, struct ntr_capture_elf *elf) {
    unsigned char ident[EI_NIDENT];

    if (!read_at(file, ident, sizeof ident, 0) || memcmp(ident, ELFMAG, SELFMAG) != 0) return false;
    if (ident[EI_DATA] != ELFDATA2LSB) return false;
    elf->xlen = ident[EI_CLASS] == ELFCLASS32 ? 32 : 64;
    return (elf->xlen == 32 ? read_segments_32 : read_segments_64)(file, elf);
}

bool ntr_capture_elf_read(const char *path, struct ntr_capture_elf *elf) {
    *elf = (struct ntr_capture_elf){0};
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return false;
    bool good = read_elf(file, elf);
    int kept = errno;
    close(file);
    errno = kept;
    return good;
}

bool ntr_capture_elf_bias(const struct ntr_capture_elf *elf, uint64_t start, uint64_t offset, uint64_t *bias) {
    for (unsigned i = 0; i < elf->count; i++) {
        if ((elf->segments[i].offset & PAGE_MASK) != offset) continue;
        *bias = start - (elf->segments[i].address & PAGE_MASK);
        return true;
    }
    return false;
}
