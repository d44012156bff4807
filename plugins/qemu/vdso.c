/* The vDSO of QEMU's user mode as an ELF file with symbols.
 *
 * In memory it has the headers of the file from which QEMU was built, with addresses of this process in some of them;
 * the table of sections, and with it that of the symbols, may be missing (QEMU 8.2). The dynamic section has all that
 * is needed: a table of sections made from it follows the bytes. */
#include "state.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { VDSO_MOST = 1 << 16, VDSO_SYMBOLS = 256 };

struct vdso {
    const uint8_t *bytes;
    size_t size;
    bool wide;
    uint64_t base;                            /* address of the first byte */
    uint64_t symbols, strings, string_size, count; /* offsets and sizes in bytes */
    uint64_t locals;                          /* so many of the symbols are local ones */
};

/* Field at an offset: of `width` bytes. */
static uint64_t field(const struct vdso *v, uint64_t at, unsigned width) {
    uint64_t value = 0;
    if (at < v->size && v->size - at >= width) memcpy(&value, v->bytes + at, width);
    return value;
}

static uint64_t word(const struct vdso *v, uint64_t at) {
    return field(v, at, v->wide ? 8 : 4);
}

/* The field of a structure in the file of this class. */
#define VDSO_FIELD(v, at, type, name)                                                                                  \
    ((v)->wide ? field(v, (at) + offsetof(Elf64_##type, name), sizeof(((Elf64_##type *)0)->name))                      \
               : field(v, (at) + offsetof(Elf32_##type, name), sizeof(((Elf32_##type *)0)->name)))

static uint64_t offset_of(const struct vdso *v, uint64_t address) {
    return address >= v->base ? address - v->base : address;
}

static void read_dynamic(struct vdso *v, uint64_t at, uint64_t size) {
    const uint64_t step = v->wide ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
    for (; size >= step; at += step, size -= step) {
        const uint64_t value = word(v, at + step / 2);
        switch (word(v, at)) {
        case DT_SYMTAB: v->symbols = offset_of(v, value); break;
        case DT_STRTAB: v->strings = offset_of(v, value); break;
        case DT_STRSZ: v->string_size = value; break;
        case DT_HASH: v->count = field(v, offset_of(v, value) + 4, 4); break;
        default: break;
        }
    }
}

static bool read_headers(struct vdso *v) {
    const uint64_t first = VDSO_FIELD(v, 0, Ehdr, e_phoff), step = v->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
    const uint64_t end = first + step * VDSO_FIELD(v, 0, Ehdr, e_phnum);
    bool loaded = false;
    for (uint64_t at = first; at < end; at += step) {
        if (VDSO_FIELD(v, at, Phdr, p_type) != PT_LOAD) continue;
        loaded = true;
        v->base = VDSO_FIELD(v, at, Phdr, p_vaddr);
    }
    for (uint64_t at = first; at < end; at += step)
        if (VDSO_FIELD(v, at, Phdr, p_type) == PT_DYNAMIC)
            read_dynamic(v, VDSO_FIELD(v, at, Phdr, p_offset), VDSO_FIELD(v, at, Phdr, p_filesz));
    return loaded && v->count && v->count <= VDSO_SYMBOLS && v->strings < v->size &&
           v->string_size <= v->size - v->strings;
}

/* ---- the file */

static void put(uint8_t *to, uint64_t value, size_t width) {
    memcpy(to, &value, width);
}

#define VDSO_PUT(v, to, type, name, value)                                                                             \
    ((v)->wide ? put((to) + offsetof(Elf64_##type, name), value, sizeof(((Elf64_##type *)0)->name))                    \
               : put((to) + offsetof(Elf32_##type, name), value, sizeof(((Elf32_##type *)0)->name)))
#define VDSO_SIZE(v, type) ((v)->wide ? sizeof(Elf64_##type) : sizeof(Elf32_##type))

static const char names[] = "\0.text\0.symtab\0.strtab\0.shstrtab";

static bool write_symbols(struct vdso *v, int fd) {
    uint8_t symbol[sizeof(Elf64_Sym)];
    const size_t size = VDSO_SIZE(v, Sym);
    for (uint64_t i = 0, at = v->symbols; i < v->count; i++, at += size) {
        if (at > v->size || v->size - at < size) return false;
        memcpy(symbol, v->bytes + at, size);
        VDSO_PUT(v, symbol, Sym, st_value, v->base + offset_of(v, VDSO_FIELD(v, at, Sym, st_value)));
        VDSO_PUT(v, symbol, Sym, st_shndx, VDSO_FIELD(v, at, Sym, st_shndx) ? 1 : SHN_UNDEF);
        v->locals += ELF64_ST_BIND(VDSO_FIELD(v, at, Sym, st_info)) == STB_LOCAL;
        if (write(fd, symbol, size) != (ssize_t)size) return false;
    }
    return true;
}

static bool write_sections(const struct vdso *v, int fd) {
    enum { VDSO_TEXT = 1, VDSO_SYMTAB, VDSO_STRTAB, VDSO_NAMES, VDSO_SECTIONS };
    const uint64_t behind = v->size + v->count * VDSO_SIZE(v, Sym);
    const struct {
        uint64_t name, type, flags, address, offset, size, link, info, entry;
    } sections[VDSO_SECTIONS] = {
        [VDSO_TEXT] = {1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, v->base, 0, v->size, 0, 0, 0},
        [VDSO_SYMTAB] = {7, SHT_SYMTAB, 0, 0, v->size, behind - v->size, VDSO_STRTAB, v->locals, VDSO_SIZE(v, Sym)},
        [VDSO_STRTAB] = {15, SHT_STRTAB, 0, 0, v->strings, v->string_size, 0, 0, 0},
        [VDSO_NAMES] = {23, SHT_STRTAB, 0, 0, behind, sizeof names, 0, 0, 0},
    };
    uint8_t header[sizeof(Elf64_Ehdr)];
    for (unsigned i = 0; i < VDSO_SECTIONS; i++) {
        uint8_t section[sizeof(Elf64_Shdr)] = {0};
        VDSO_PUT(v, section, Shdr, sh_name, sections[i].name);
        VDSO_PUT(v, section, Shdr, sh_type, sections[i].type);
        VDSO_PUT(v, section, Shdr, sh_flags, sections[i].flags);
        VDSO_PUT(v, section, Shdr, sh_addr, sections[i].address);
        VDSO_PUT(v, section, Shdr, sh_offset, sections[i].offset);
        VDSO_PUT(v, section, Shdr, sh_size, sections[i].size);
        VDSO_PUT(v, section, Shdr, sh_link, sections[i].link);
        VDSO_PUT(v, section, Shdr, sh_info, sections[i].info);
        VDSO_PUT(v, section, Shdr, sh_entsize, sections[i].entry);
        if (write(fd, section, VDSO_SIZE(v, Shdr)) != (ssize_t)VDSO_SIZE(v, Shdr)) return false;
    }
    memcpy(header, v->bytes, sizeof header);
    VDSO_PUT(v, header, Ehdr, e_shoff, behind + sizeof names);
    VDSO_PUT(v, header, Ehdr, e_shentsize, VDSO_SIZE(v, Shdr));
    VDSO_PUT(v, header, Ehdr, e_shnum, VDSO_SECTIONS);
    VDSO_PUT(v, header, Ehdr, e_shstrndx, VDSO_NAMES);
    return pwrite(fd, header, VDSO_SIZE(v, Ehdr), 0) == (ssize_t)VDSO_SIZE(v, Ehdr);
}

int vdso_file(const uint8_t *bytes, uint64_t size) {
    struct vdso v = {.bytes = bytes, .size = size};
    if (size < sizeof(Elf64_Ehdr) || size > VDSO_MOST || memcmp(bytes, ELFMAG, SELFMAG) != 0) return -1;
    v.wide = bytes[EI_CLASS] == ELFCLASS64;
    if (VDSO_FIELD(&v, 0, Ehdr, e_machine) != EM_RISCV || !read_headers(&v)) return -1;
    const int fd = memfd_create("[vdso]", MFD_CLOEXEC);
    if (fd >= 0 && write(fd, bytes, size) == (ssize_t)size && write_symbols(&v, fd) &&
        write(fd, names, sizeof names) == sizeof names && write_sections(&v, fd))
        return fd;
    if (fd >= 0) close(fd);
    return -1;
}
