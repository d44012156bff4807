#include "program/build_id.h"

#include "base/allocator.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool note_is_build_id(const Elf_Data *data, size_t name, const GElf_Nhdr *note) {
    return note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && note->n_descsz > 0 && note->n_descsz <= 64 &&
           memcmp((const char *)data->d_buf + name, "GNU", 4) == 0;
}

static char *find_build_id(const ntr_allocator *allocator, Elf *elf) {
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header = {0};
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE) continue;
        Elf_Data *data = elf_getdata(section, NULL);
        GElf_Nhdr note = {0};
        size_t name, description, next;
        for (size_t at = 0; data && (next = gelf_getnote(data, at, &note, &name, &description)); at = next) {
            if (!note_is_build_id(data, name, &note)) continue;
            char *text = ntr_alloc(allocator, 2 * (size_t)note.n_descsz + 1, 1);
            for (size_t i = 0; text && i < note.n_descsz; i++)
                snprintf(text + 2 * i, 3, "%02x", ((const uint8_t *)data->d_buf)[description + i]);
            return text;
        }
    }
    return NULL;
}

static bool is_shared(Elf *elf) {
    GElf_Ehdr head;
    GElf_Phdr segment;
    size_t count = 0;
    if (!gelf_getehdr(elf, &head) || head.e_type != ET_DYN || elf_getphdrnum(elf, &count) != 0) return false;
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_INTERP) return false;
    return true;
}

static char *read_id(const ntr_allocator *allocator, const char *path, bool shared) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return NULL;
    Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(file, ELF_C_READ, NULL);
    const bool usable = elf && elf_kind(elf) == ELF_K_ELF && (!shared || is_shared(elf));
    char *text = usable ? find_build_id(allocator, elf) : NULL;
    elf_end(elf);
    close(file);
    return text;
}

char *ntr_build_id_of(const ntr_allocator *allocator, const char *path) {
    return read_id(allocator, path, false);
}

char *ntr_build_id_of_shared(const ntr_allocator *allocator, const char *path) {
    return read_id(allocator, path, true);
}
