#include "io/elf_functions.h"

#include <fcntl.h>
#include <gelf.h>
#include <stddef.h>
#include <unistd.h>

/* Passes on the functions of a table of symbols. */
static size_t functions_in(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, cli_take_name take, void *user) {
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = 0;
    GElf_Sym symbol;

    if (!data || !header->sh_entsize) return 0;
    for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
        const char *name = GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF
                               ? elf_strptr(elf, header->sh_link, symbol.st_name)
                               : NULL;
        if (!name || !*name) continue;
        take(user, name);
        count++;
    }
    return count;
}

static size_t tables_of(Elf *elf, GElf_Word type, cli_take_name take, void *user) {
    Elf_Scn *section = NULL;
    size_t count = 0;
    GElf_Shdr header;

    while ((section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == type)
            count += functions_in(elf, section, &header, take, user);
    return count;
}

void cli_elf_functions(const char *path, cli_take_name take, void *user) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0) return;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF && !tables_of(elf, SHT_SYMTAB, take, user))
        tables_of(elf, SHT_DYNSYM, take, user); /* the file is stripped */
    elf_end(elf);
    close(fd);
}
