/* A relocatable ELF file that is linked in memory: sections, symbols, relocations. */
#ifndef NTR_PROGRAM_MODULE_FILE_H
#define NTR_PROGRAM_MODULE_FILE_H

#include "base/allocator.h"

#include <ntrace/module.h>

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MODULE_MACHINE = 243 }; /* e_machine of RISC-V */

/* A section. `data` is inside of the file; NULL when the section has none there. */
struct module_section {
    Elf64_Shdr header;
    uint8_t *data;
    uint64_t address; /* where it was loaded */
    bool placed;      /* ... is known */
};

struct ntr_module {
    const char *path;
    const ntr_allocator *allocator;
    char error[512];
    uint8_t *bytes, *segments; /* of the linked file; the program headers behind it */
    size_t segments_size;
    size_t size;
    bool wide; /* ELFCLASS64 */
    struct module_section *sections;
    size_t count, names; /* number of sections; index of that with their names */
};

/* A symbol. `name` may be "". */
struct module_symbol {
    const char *name;
    uint64_t value; /* in its section */
    uint16_t section;
    uint8_t type;
};

/* A relocation of the psABI of RISC-V. */
struct module_relocation {
    uint64_t offset;
    int64_t addend;
    uint32_t type, symbol;
};

/* Stores why the module cannot be linked, with its path in front. Returns the status. */
ntr_status ntr_module_fail(ntr_module *module, ntr_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Checks the tables of the file in module->bytes. Errors: those of ntr_module_link. */
ntr_status module_file_check(ntr_module *module);

/* Returns whether a section is in memory. */
bool module_is_loaded(const struct module_section *section);
const char *module_section_name(const ntr_module *module, size_t index);

/* Entries of a table: of a symbol table, and of a table of relocations. */
size_t module_symbol_count(const ntr_module *module, size_t table);
struct module_symbol module_symbol_at(const ntr_module *module, size_t table, size_t index);
size_t module_relocation_count(const ntr_module *module, size_t table);
struct module_relocation module_relocation_at(const ntr_module *module, size_t table, size_t index);

/* Returns the addresses of all symbols of a table; 0: not known. `program` has the symbols that the module does not
 * define. To be freed with ntr_dealloc; NULL: out of memory. */
uint64_t *module_symbol_addresses(const ntr_module *module, size_t table, const ntr_program *program);

/* Applies all relocations (module_relocate.c). Errors: NTR_E_MEMORY. */
ntr_status module_relocate(ntr_module *module, const ntr_program *program);

/* Makes a program of it: addresses of sections and symbols, and a segment for each section that is placed
 * (module_write.c). Errors: NTR_E_MEMORY. */
ntr_status module_write(ntr_module *module);

#endif
