#include "program/build_id.h"

#include "base/allocator.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ID_BYTES_MAX = 64 };

static bool note_is_build_id(const Elf_Data *data, size_t name, const GElf_Nhdr *note) {
    return note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
           memcmp((const char *)data->d_buf + name, "GNU", 4) == 0;
}

/* Sets *id if a note of the section is a build id. Notes end where the section ends. */
static ntr_status find_note(const ntr_allocator *allocator, Elf_Scn *section, char **id) {
    GElf_Shdr header = {0};
    if (!gelf_getshdr(section, &header)) return NTR_E_FORMAT;
    if (header.sh_type != SHT_NOTE || !header.sh_size) return NTR_OK;
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Nhdr note = {0};
    size_t at = 0, name, description, next;
    for (; data && (next = gelf_getnote(data, at, &note, &name, &description)); at = next) {
        if (!note_is_build_id(data, name, &note)) continue;
        if (!note.n_descsz || note.n_descsz > ID_BYTES_MAX) return NTR_E_FORMAT;
        *id = ntr_alloc(allocator, 2 * (size_t)note.n_descsz + 1, 1);
        for (size_t i = 0; *id && i < note.n_descsz; i++)
            snprintf(*id + 2 * i, 3, "%02x", ((const uint8_t *)data->d_buf)[description + i]);
        return *id ? NTR_OK : NTR_E_MEMORY;
    }
    return data && at >= data->d_size ? NTR_OK : NTR_E_FORMAT;
}

/* A damaged section does not hide the build id in another one. */
static ntr_status find_build_id(const ntr_allocator *allocator, Elf *elf, char **id) {
    size_t count = 0, seen = 1;
    ntr_status found = elf_getshdrnum(elf, &count) == 0 ? NTR_OK : NTR_E_FORMAT;
    for (Elf_Scn *section = NULL; !*id && (section = elf_nextscn(elf, section)); seen++) {
        const ntr_status status = find_note(allocator, section, id);
        if (status == NTR_E_MEMORY) return status;
        if (status) found = status;
    }
    return *id || (!found && (count == 0 || seen >= count)) ? NTR_OK : NTR_E_FORMAT;
}

static ntr_status is_shared(Elf *elf, bool *shared) {
    GElf_Ehdr head;
    GElf_Phdr segment;
    size_t count = 0;
    *shared = false;
    if (!gelf_getehdr(elf, &head)) return NTR_E_FORMAT;
    if (head.e_type != ET_DYN) return NTR_OK;
    if (elf_getphdrnum(elf, &count) != 0) return NTR_E_FORMAT;
    for (size_t i = 0; i < count; i++) {
        if (!gelf_getphdr(elf, (int)i, &segment)) return NTR_E_FORMAT;
        if (segment.p_type == PT_INTERP) return NTR_OK;
    }
    *shared = true;
    return NTR_OK;
}

/* libelf calls an ELF file of an unknown class or version no ELF file. */
static ntr_status other_kind(int file, bool *wanted) {
    char magic[SELFMAG];
    const ssize_t size = pread(file, magic, sizeof magic, 0);

    *wanted = false;
    if (size < 0) return NTR_E_IO;
    return size == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0 ? NTR_E_FORMAT : NTR_OK;
}

static ntr_status read_id(const ntr_allocator *allocator, const char *path, bool only_shared, char **id) {
    *id = NULL;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return NTR_E_IO;
    Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(file, ELF_C_READ, NULL);
    bool wanted = true;
    ntr_status status = elf ? NTR_OK : NTR_E_IO;
    if (elf && elf_kind(elf) != ELF_K_ELF) status = other_kind(file, &wanted);
    if (elf && !status && wanted && only_shared) status = is_shared(elf, &wanted);
    if (!status && wanted) status = find_build_id(allocator, elf, id);
    elf_end(elf);
    close(file);
    return status;
}

ntr_status ntr_build_id_of(const ntr_allocator *allocator, const char *path, char **id) {
    return read_id(allocator, path, false, id);
}

ntr_status ntr_build_id_of_shared(const ntr_allocator *allocator, const char *path, char **id) {
    return read_id(allocator, path, true, id);
}
