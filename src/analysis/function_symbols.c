#include "analysis/function_symbols.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b) {
    const ntr_function_symbol *x = a, *y = b;
    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    return strcmp(x->name, y->name);
}

static bool has_table(Dwfl_Module *module) {
    GElf_Addr bias;
    GElf_Shdr header;
    Elf_Scn *scn = NULL;
    Elf *elf = dwfl_module_getelf(module, &bias);
    while (elf && (scn = elf_nextscn(elf, scn)))
        if (gelf_getshdr(scn, &header) && header.sh_type == SHT_SYMTAB) return true;
    return false;
}

ntr_status ntr_function_symbols_read(ntr_function_symbols *symbols, Dwfl_Module *module) {
    const int count = dwfl_module_getsymtab(module);
    symbols->damaged = count < 0 && has_table(module);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *name = dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);
        if (!name) symbols->damaged = true;
        if (!name || !*name || GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
        if (ntr_reserve(symbols->allocator, (void **)&symbols->items, &symbols->capacity, symbols->count + 1,
                        sizeof *symbols->items))
            return NTR_E_MEMORY;
        symbols->items[symbols->count++] = (ntr_function_symbol){address, symbol.st_size, name};
    }
    if (symbols->count) qsort(symbols->items, symbols->count, sizeof *symbols->items, compare);
    return NTR_OK;
}

void ntr_function_symbols_release(ntr_function_symbols *symbols) {
    ntr_dealloc(symbols->allocator, symbols->items);
    *symbols = (ntr_function_symbols){.allocator = symbols->allocator};
}

/* Returns the index of the first symbol at or after `address`. */
static size_t first_at(const ntr_function_symbols *symbols, uint64_t address) {
    size_t low = 0, high = symbols->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (symbols->items[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const char *ntr_function_symbols_linkage(const ntr_function_symbols *symbols, uint64_t address, const char *name) {
    const char *found = NULL;
    for (size_t i = first_at(symbols, address); i < symbols->count && symbols->items[i].address == address; i++) {
        const char *linkage = symbols->items[i].name;
        if (linkage[0] != '_' || linkage[1] != 'Z') continue;
        if (name && strstr(linkage, name)) return linkage;
        if (!found) found = linkage;
    }
    return found;
}

static bool names_part(const char *name) {
    static const char *const parts[] = {".part.", ".resume", ".destroy", ".cleanup", ".cold"};
    for (size_t i = 0; i < NTR_COUNT(parts); i++) {
        const char *found = strstr(name, parts[i]), *after = found ? found + strlen(parts[i]) : NULL;
        if (found > name && (after[-1] == '.' || *after == '.' || *after == '\0')) return true;
    }
    return false;
}

bool ntr_function_symbols_is_part(const ntr_function_symbols *symbols, uint64_t address) {
    bool part = false;
    for (size_t i = first_at(symbols, address); i < symbols->count && symbols->items[i].address == address; i++) {
        if (!names_part(symbols->items[i].name)) return false;
        part = true;
    }
    return part;
}

uint64_t ntr_function_symbols_size(const ntr_function_symbols *symbols, uint64_t address) {
    uint64_t size = 0;
    for (size_t i = first_at(symbols, address); i < symbols->count && symbols->items[i].address == address; i++)
        if (symbols->items[i].size > size) size = symbols->items[i].size;
    return size;
}
