/* Copies of program files without RISC-V mapping symbols. perf knows `$x` and `$d`, but takes `$xrv64i2p1_...`, which
 * binutils writes since 2.38, for functions. In the copy these symbols have no name; nothing else changes. */
#include "export/perf_record.h"

#include "base/allocator.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Remove the names of mapping symbols in `bytes`. Returns how many there were. */
static size_t clean(Elf *elf, char *bytes, size_t size) {
    size_t found = 0;

    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB || !header.sh_entsize) continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (size_t i = 0; data && i < header.sh_size / header.sh_entsize; i++) {
            GElf_Sym symbol;
            uint64_t at = header.sh_offset + i * header.sh_entsize;
            const char *name =
                gelf_getsym(data, (int)i, &symbol) ? elf_strptr(elf, header.sh_link, symbol.st_name) : NULL;
            if (!name || strncmp(name, "$x", 2) != 0 || !name[2] || at > size - 4) continue;
            memset(bytes + at, 0, 4); /* st_name is the first member */
            found++;
        }
    }
    return found;
}

static bool write_file(const char *path, const char *bytes, size_t size) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    size_t done = 0;

    if (file < 0) return false;
    while (done < size) {
        ssize_t n = write(file, bytes + done, size - done);
        if (n <= 0) break;
        done += (size_t)n;
    }
    return close(file) == 0 && done == size;
}

/* OUTPUT.images/NUMBER/NAME */
static bool make_place(const char *output, size_t number, const char *original, char *path, size_t room) {
    const char *slash = strrchr(original, '/');
    int size = snprintf(path, room, "%s.images", output);

    if (size < 0 || (size_t)size >= room) return false;
    mkdir(path, 0777);
    size += snprintf(path + size, room - (size_t)size, "/%zu", number);
    if ((size_t)size >= room) return false;
    mkdir(path, 0777);
    size += snprintf(path + size, room - (size_t)size, "/%s", slash ? slash + 1 : original);
    return (size_t)size < room;
}

static bool copy_clean(const char *output, size_t number, const char *original, char *bytes, size_t size, char *path,
                       size_t room) {
    Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_memory(bytes, size);
    size_t found = elf && elf_kind(elf) == ELF_K_ELF ? clean(elf, bytes, size) : 0;

    elf_end(elf);
    return found && make_place(output, number, original, path, room) && write_file(path, bytes, size);
}

bool ntr_perf_clean(const ntr_export *x, size_t number, const char *original, char *path, size_t room) {
    struct stat about;
    int file = x->path ? open(original, O_RDONLY | O_CLOEXEC) : -1;
    bool copied = false;

    if (file < 0) return false;
    size_t size = fstat(file, &about) == 0 && about.st_size > 0 ? (size_t)about.st_size : 0;
    char *bytes = size ? ntr_alloc(x->allocator, size, 1) : NULL;
    if (bytes && read(file, bytes, size) == (ssize_t)size)
        copied = copy_clean(x->path, number, original, bytes, size, path, room);
    ntr_dealloc(x->allocator, bytes);
    close(file);
    return copied;
}
