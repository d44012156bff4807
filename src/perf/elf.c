/* Where the segments of a mapped file are. */
#include "perf/images.h"

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

static bool find_segment(Elf *elf, uint64_t address, uint64_t offset, uint64_t length, uint64_t *bias) {
    size_t count = 0;

    if (elf_getphdrnum(elf, &count)) return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr p;
        if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD || !(p.p_flags & PF_X)) continue;
        bool covers = p.p_offset - offset < length || offset - p.p_offset < p.p_filesz;
        if (!covers) continue;
        *bias = address - offset + p.p_offset - p.p_vaddr;
        return true;
    }
    return false;
}

bool ntr_perf_bias(const char *path, uint64_t address, uint64_t offset, uint64_t length, uint64_t *bias) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (file < 0 || elf_version(EV_CURRENT) == EV_NONE) return false;
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    bool found = elf && elf_kind(elf) == ELF_K_ELF && find_segment(elf, address, offset, length, bias);
    elf_end(elf);
    close(file);
    return found;
}
