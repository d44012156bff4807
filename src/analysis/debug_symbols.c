/* Symbols for stripped images, from separate debug files and from .gnu_debugdata. libdwfl finds and reads them:
 * dwfl_module_getsymtab merges the symbol tables of up to three ELF files, of which all but that of the image are added
 * to the program. */
#include <ntrace/debug_info.h>
#include <ntrace/program_files.h>

#include "analysis/dwfl_file.h"
#include "program/program.h"

#include <string.h>

/* ELF files that have symbols of one image. */
enum { FILES_MAX = 4 };

typedef struct elf_set {
    Elf *items[FILES_MAX];
    size_t count;
} elf_set;

static void add_elf(elf_set *set, Elf *elf) {
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i] == elf) return;
    if (elf && set->count < FILES_MAX) set->items[set->count++] = elf;
}

static elf_set files_with_symbols(Dwfl_Module *module) {
    elf_set set = {0};
    const int count = dwfl_module_getsymtab(module);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        Elf *elf = NULL;
        if (dwfl_module_getsym_info(module, i, &symbol, &address, NULL, &elf, NULL)) add_elf(&set, elf);
    }
    return set;
}

/* Returns whether the file has functions of its own in .symtab, or in the table of a Go program. */
static bool has_symbol_table(Elf *elf) {
    Elf_Scn *scn = NULL;
    GElf_Shdr header;
    size_t names;
    if (elf_getshdrstrndx(elf, &names)) return false;
    while ((scn = elf_nextscn(elf, scn))) {
        if (!gelf_getshdr(scn, &header)) return false;
        const char *name = elf_strptr(elf, names, header.sh_name);
        const char *go = name ? strstr(name, ".gopclntab") : NULL;
        if (header.sh_type == SHT_SYMTAB || (go && strcmp(go, ".gopclntab") == 0)) return true;
    }
    return false;
}

static ntr_status add_symbols(ntr_program *program, size_t index, Dwfl_Module *module, bool *found) {
    GElf_Addr bias;
    Elf *main = dwfl_module_getelf(module, &bias);
    *found = main && has_symbol_table(main);
    if (*found || !main) return NTR_OK;
    const elf_set set = files_with_symbols(module);
    for (size_t i = 0; i < set.count; i++) {
        size_t size = 0;
        const char *bytes = set.items[i] == main ? NULL : elf_rawfile(set.items[i], &size);
        if (!bytes) continue;
        ntr_status status = ntr_program_add_debug_symbols(program, index, (ntr_bytes){(const uint8_t *)bytes, size});
        if (status == NTR_E_MEMORY) return status;
        *found |= status == NTR_OK;
    }
    return NTR_OK;
}

ntr_status ntr_debug_symbols_add(ntr_program *program, size_t index, const char *debug_path,
                                 const ntr_allocator *allocator, bool *found) {
    ntr_image_info image;
    ntr_dwfl_file file;
    *found = false;
    if (ntr_program_image(program, index, &image) != NTR_OK) return NTR_END;
    if (!image.path) return NTR_OK;
    ntr_status status = ntr_dwfl_file_open(&file, &image, debug_path, NULL, &program->limits, allocator);
    if (status != NTR_OK) return status;
    if (file.module) status = add_symbols(program, index, file.module, found);
    ntr_dwfl_file_close(&file);
    return status;
}
