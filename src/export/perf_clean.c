/* Copies of program files without RISC-V mapping symbols. perf knows `$x` and `$d`, but takes `$xrv64i2p1_...`, which
 * binutils writes since 2.38, for functions. In the copy these symbols have no name; nothing else changes. */
#include "export/perf_record.h"

#include "base/allocator.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Removes the names of mapping symbols in `bytes`. Stores how many there were. Returns false when the file is damaged.
 */
static bool clean(Elf *elf, char *bytes, size_t size, size_t *found) {
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header)) return false;
        if (header.sh_type != SHT_SYMTAB || !header.sh_entsize) continue;
        Elf_Data *data = elf_getdata(section, NULL);
        if (!data) return false;
        for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
            GElf_Sym symbol;
            uint64_t at = header.sh_offset + i * header.sh_entsize;
            const char *name =
                gelf_getsym(data, (int)i, &symbol) ? elf_strptr(elf, header.sh_link, symbol.st_name) : NULL;
            if (!name || strncmp(name, "$x", 2) != 0 || !name[2] || at > size - 4) continue;
            memset(bytes + at, 0, 4); /* st_name is the first member */
            ++*found;
        }
    }
    return true;
}

static bool read_all(int file, char *bytes, size_t size) {
    size_t done = 0;

    while (done < size) {
        ssize_t n = read(file, bytes + done, size - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

static bool write_all(int file, const char *bytes, size_t size) {
    size_t done = 0;

    while (done < size) {
        ssize_t n = write(file, bytes + done, size - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

/* Opens a folder inside of `parent` and makes it first if there is none. A link is not followed. */
static int open_folder(int parent, const char *name) {
    if (mkdirat(parent, name, 0777) != 0 && errno != EEXIST) return -1;
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* A new file that replaces one of that name, also if that is a link to another file. */
static bool write_file(int folder, const char *name, const char *bytes, size_t size) {
    char temporary[64];
    int file = -1;

    for (unsigned i = 0; file < 0 && i < 100; i++) {
        snprintf(temporary, sizeof temporary, ".%ld.%u.tmp", (long)getpid(), i);
        file = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    }
    if (file < 0) return false;
    bool good = write_all(file, bytes, size);
    good = close(file) == 0 && good && renameat(folder, temporary, folder, name) == 0;
    if (!good) unlinkat(folder, temporary, 0);
    return good;
}

/* Writes OUTPUT.images/NUMBER/NAME, and stores this path. On failure, what was made is removed. */
static bool write_copy(const char *output, size_t number, const char *original, const char *bytes, size_t size,
                       char *path, size_t room) {
    char images[4096], part[24];
    const char *slash = strrchr(original, '/'), *name = slash ? slash + 1 : original;
    int length = snprintf(images, sizeof images, "%s.images", output);

    snprintf(part, sizeof part, "%zu", number);
    if (length < 0 || (size_t)length >= sizeof images) return false;
    length = snprintf(path, room, "%s/%s/%s", images, part, name);
    if (length < 0 || (size_t)length >= room) return false;
    int outer = open_folder(AT_FDCWD, images), inner = outer < 0 ? -1 : open_folder(outer, part);
    bool good = inner >= 0 && write_file(inner, name, bytes, size);
    if (!good && outer >= 0) unlinkat(outer, part, AT_REMOVEDIR); /* only if it is empty */
    if (!good) rmdir(images);
    if (inner >= 0) close(inner);
    if (outer >= 0) close(outer);
    return good;
}

ntr_status ntr_perf_clean(const ntr_export *x, size_t number, const char *original, char *path, size_t room) {
    struct stat about;
    int file = x->path ? open(original, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    ntr_status status = NTR_E_IO;

    if (!x->path) return NTR_END;
    if (file < 0) return NTR_E_IO;
    size_t size = fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0 ? (size_t)about.st_size : 0;
    char *bytes = size ? ntr_alloc(x->allocator, size, 1) : NULL;
    if (size && !bytes) status = NTR_E_MEMORY;
    if (bytes && read_all(file, bytes, size)) {
        Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_memory(bytes, size);
        size_t found = 0;
        if (elf && elf_kind(elf) == ELF_K_ELF && clean(elf, bytes, size, &found))
            status = !found                                                           ? NTR_END
                     : write_copy(x->path, number, original, bytes, size, path, room) ? NTR_OK
                                                                                      : NTR_E_IO;
        elf_end(elf);
    }
    ntr_dealloc(x->allocator, bytes);
    close(file);
    return status;
}

void ntr_perf_clean_remove(const ntr_export *x, size_t number, const char *original) {
    char path[4096];
    const char *slash = strrchr(original, '/');
    int length = x->path ? snprintf(path, sizeof path, "%s.images", x->path) : -1;

    if (length < 0 || (size_t)length >= sizeof path) return;
    int outer = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (outer < 0) return;
    char part[24];
    snprintf(part, sizeof part, "%zu", number);
    int inner = openat(outer, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner >= 0) {
        unlinkat(inner, slash ? slash + 1 : original, 0);
        close(inner);
        unlinkat(outer, part, AT_REMOVEDIR);
    }
    close(outer);
    rmdir(path);
}
