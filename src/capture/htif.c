#include "capture/htif.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HTIF_SIZE = 8 };

static bool read_at(int file, void *out, size_t size, uint64_t offset) {
    return pread(file, out, size, (off_t)offset) == (ssize_t)size;
}

static bool is_register(int file, uint64_t offset) {
    char name[sizeof "fromhost"] = "";

    return pread(file, name, sizeof name, (off_t)offset) >= (ssize_t)sizeof "tohost" &&
           (strncmp(name, "tohost", sizeof name) == 0 || strncmp(name, "fromhost", sizeof name) == 0);
}

/* Returns whether a symbol has been changed. The headers of both classes have the same members in different widths and
 * order. */
#define SIZE_SYMBOLS(bits)                                                                                             \
    static bool size_table_##bits(int file, const Elf##bits##_Shdr *table, uint64_t names) {                           \
        Elf##bits##_Sym symbol;                                                                                        \
        bool changed = false;                                                                                          \
        for (uint64_t at = 0; table->sh_size - at >= sizeof symbol; at += sizeof symbol) {                             \
            if (!read_at(file, &symbol, sizeof symbol, table->sh_offset + at)) break;                                  \
            if (symbol.st_size || !is_register(file, names + symbol.st_name)) continue;                                \
            symbol.st_size = HTIF_SIZE;                                                                                \
            changed |= pwrite(file, &symbol, sizeof symbol, (off_t)(table->sh_offset + at)) > 0;                       \
        }                                                                                                              \
        return changed;                                                                                                \
    }                                                                                                                  \
    static bool size_symbols_##bits(int file) {                                                                        \
        Elf##bits##_Ehdr header;                                                                                       \
        Elf##bits##_Shdr table, names;                                                                                 \
        bool changed = false;                                                                                          \
        if (!read_at(file, &header, sizeof header, 0) || header.e_shentsize != sizeof table) return false;             \
        for (unsigned i = 0; i < header.e_shnum; i++) {                                                                \
            if (!read_at(file, &table, sizeof table, header.e_shoff + i * sizeof table)) break;                        \
            if (table.sh_type != SHT_SYMTAB || table.sh_link >= header.e_shnum) continue;                              \
            if (!read_at(file, &names, sizeof names, header.e_shoff + table.sh_link * sizeof names)) continue;         \
            changed |= size_table_##bits(file, &table, names.sh_offset);                                               \
        }                                                                                                              \
        return changed;                                                                                                \
    }
SIZE_SYMBOLS(32)
SIZE_SYMBOLS(64)

static bool size_symbols(int file) {
    unsigned char ident[EI_NIDENT];

    if (!read_at(file, ident, sizeof ident, 0) || memcmp(ident, ELFMAG, SELFMAG) != 0) return false;
    return (ident[EI_CLASS] == ELFCLASS32 ? size_symbols_32 : size_symbols_64)(file);
}

static bool copy(int from, int to) {
    struct stat about;

    if (fstat(from, &about) || !S_ISREG(about.st_mode)) return false;
    for (off_t left = about.st_size; left > 0;) {
        ssize_t n = sendfile(to, from, NULL, (size_t)left);
        if (n <= 0) return false;
        left -= n;
    }
    return true;
}

int ntr_capture_htif_copy(const char *path) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int made = file < 0 ? -1 : memfd_create("ntrace-firmware", MFD_CLOEXEC);

    if (made >= 0 && !(copy(file, made) && size_symbols(made))) {
        close(made);
        made = -1;
    }
    if (file >= 0) close(file);
    return made;
}
