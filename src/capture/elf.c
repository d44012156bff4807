#include "capture/elf.h"

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
    if (type != PT_LOAD) return;
    elf->has_more = elf->count == NTR_CAPTURE_ELF_SEGMENTS;
    if (elf->has_more) return;
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

bool ntr_capture_elf_bias(const struct ntr_capture_elf *elf, uint64_t start, uint64_t offset, unsigned nth,
                          uint64_t *bias) {
    for (unsigned i = 0; i < elf->count; i++) {
        if ((elf->segments[i].offset & PAGE_MASK) != offset || nth--) continue;
        *bias = start - (elf->segments[i].address & PAGE_MASK);
        return true;
    }
    return false;
}

bool ntr_capture_elf_header(ntr_bytes file, size_t i, Elf64_Phdr *header) {
    Elf64_Ehdr wide;
    Elf32_Ehdr narrow;

    if (file.size <= EI_NIDENT || memcmp(file.data, ELFMAG, SELFMAG) != 0) return false;
    const bool is_64 = file.data[EI_CLASS] == ELFCLASS64;
    if (file.size < (is_64 ? sizeof wide : sizeof narrow)) return false;
    memcpy(&wide, file.data, is_64 ? sizeof wide : sizeof narrow);
    memcpy(&narrow, file.data, sizeof narrow);
    const uint64_t offset = is_64 ? wide.e_phoff : narrow.e_phoff;
    const size_t count = is_64 ? wide.e_phnum : narrow.e_phnum, size = is_64 ? sizeof *header : sizeof(Elf32_Phdr);
    if ((is_64 ? wide.e_machine : narrow.e_machine) != EM_RISCV || file.data[EI_DATA] != ELFDATA2LSB) return false;
    if (i >= count || offset > file.size || (i + 1) * size > file.size - offset) return false;
    if (is_64) {
        memcpy(header, file.data + offset + i * size, size);
        return true;
    }
    Elf32_Phdr small;
    memcpy(&small, file.data + offset + i * size, size);
    *header = (Elf64_Phdr){.p_type = small.p_type,
                           .p_flags = small.p_flags,
                           .p_offset = small.p_offset,
                           .p_vaddr = small.p_vaddr,
                           .p_filesz = small.p_filesz};
    return true;
}
