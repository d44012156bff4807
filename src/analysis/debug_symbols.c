/* Symbols for stripped images, from separate debug files and from .gnu_debugdata. libdwfl finds and reads them:
 * dwfl_module_getsymtab merges the symbol tables of up to three ELF files, of which all but that of the image are added
 * to the program. */
#include <ntrace/debug_info.h>
#include <ntrace/program_files.h>

#include "analysis/dwfl_file.h"
#include "base/text.h"
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

/* Where damage is added. */
typedef struct image_symbols {
    ntr_program *program;
    size_t index; /* of the image */
    const char *name;
    bool is_packed; /* the file has .gnu_debugdata */
} image_symbols;

static void damaged(const image_symbols *r, const char *what) {
    char name[NTR_NAME_CLEANED_MAX + 1];
    ntr_name_clean(r->name ? r->name : "", name);
    ntr_damage_add(&r->program->damage, "%.120s: debug information: %s: damaged; names are missing", name, what);
}

static elf_set files_with_symbols(const image_symbols *r, Dwfl_Module *module) {
    elf_set set = {0};
    const int count = dwfl_module_getsymtab(module);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        Elf *elf = NULL;
        if (dwfl_module_getsym_info(module, i, &symbol, &address, NULL, &elf, NULL))
            add_elf(&set, elf);
        else
            damaged(r, "symbols");
    }
    return set;
}

/* Returns whether the file has functions of its own in .symtab, or in the table of a Go program. */
static bool has_symbol_table(image_symbols *r, Elf *elf) {
    Elf_Scn *scn = NULL;
    GElf_Shdr header;
    size_t names;
    if (elf_getshdrstrndx(elf, &names)) return damaged(r, "table of sections"), false;
    while ((scn = elf_nextscn(elf, scn))) {
        const char *name = gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!name) {
            damaged(r, "header of a section");
            continue;
        }
        const char *go = strstr(name, ".gopclntab");
        if (header.sh_type == SHT_SYMTAB || (go && strcmp(go, ".gopclntab") == 0)) return true;
        r->is_packed |= strcmp(name, ".gnu_debugdata") == 0;
    }
    return false;
}

static ntr_status add_symbols(image_symbols *r, Dwfl_Module *module, bool *found) {
    GElf_Addr bias;
    Elf *main = dwfl_module_getelf(module, &bias);
    if (!main) return damaged(r, "headers"), NTR_OK;
    *found = has_symbol_table(r, main);
    if (*found) return NTR_OK;
    const elf_set set = files_with_symbols(r, module);
    for (size_t i = 0; i < set.count; i++) {
        if (set.items[i] == main) continue;
        size_t size = 0;
        const char *bytes = elf_rawfile(set.items[i], &size);
        const ntr_bytes file = {(const uint8_t *)bytes, size};
        ntr_status status = bytes ? ntr_program_add_debug_symbols(r->program, r->index, file) : NTR_E_FORMAT;
        if (status == NTR_E_MEMORY) return status;
        *found |= status == NTR_OK;
        if (status) damaged(r, "symbols");
    }
    if (r->is_packed && !*found) damaged(r, "section .gnu_debugdata");
    return NTR_OK;
}

ntr_status ntr_debug_symbols_add(ntr_program *program, size_t index, const char *debug_path,
                                 const ntr_allocator *allocator, bool *found) {
    ntr_image_info image;
    ntr_dwfl_file file;
    *found = false;
    if (ntr_program_image(program, index, &image) != NTR_OK) return NTR_END;
    if (!image.path) return NTR_OK;
    image_symbols r = {.program = program, .index = index, .name = image.name};
    ntr_status status = ntr_dwfl_file_open(&file, &image, debug_path, &program->damage, &program->limits, allocator);
    if (status != NTR_OK) return status;
    if (file.module) status = add_symbols(&r, file.module, found);
    ntr_dwfl_file_close(&file);
    return status;
}
