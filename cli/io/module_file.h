/* A relocatable ELF file that is linked in memory: sections, symbols, relocations. */
#ifndef CLI_IO_MODULE_FILE_H
#define CLI_IO_MODULE_FILE_H

#include <ntrace/program.h>

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

struct module_file {
    const char *path;
    uint8_t *bytes;
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

/* Reads the whole file and checks its tables. Returns CLI_OK, or CLI_FAILED after reporting the error; `module` is then
 * empty. */
int module_file_read(struct module_file *module, const char *path);
void module_file_release(struct module_file *module);

/* Returns whether a section is in memory. */
bool module_is_loaded(const struct module_section *section);
const char *module_section_name(const struct module_file *module, size_t index);

/* Entries of a table: of a symbol table, and of a table of relocations. */
size_t module_symbol_count(const struct module_file *module, size_t table);
struct module_symbol module_symbol_at(const struct module_file *module, size_t table, size_t index);
size_t module_relocation_count(const struct module_file *module, size_t table);
struct module_relocation module_relocation_at(const struct module_file *module, size_t table, size_t index);

/* Returns the addresses of all symbols of a table; 0: not known. `program` has the symbols that the module does not
 * define. To be freed; NULL: out of memory. */
uint64_t *module_symbol_addresses(const struct module_file *module, size_t table, const ntr_program *program);

/* Applies all relocations (module_relocate.c). Returns CLI_OK, or CLI_FAILED after reporting the error. */
int module_relocate(struct module_file *module, const ntr_program *program);

/* Makes a program of it: addresses of sections and symbols, and a segment for each section that is placed. `file` is a
 * descriptor to which it is written. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int module_write(struct module_file *module, int file);

#endif
