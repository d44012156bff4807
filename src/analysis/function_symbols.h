/* Functions of the symbol tables of one ELF file, by address: names that DWARF does not have. */
#ifndef NTR_ANALYSIS_FUNCTION_SYMBOLS_H
#define NTR_ANALYSIS_FUNCTION_SYMBOLS_H

#include <ntrace/allocator.h>
#include <ntrace/status.h>

#include <elfutils/libdwfl.h>

typedef struct ntr_function_symbol {
    uint64_t address, size;
    const char *name; /* valid as long as the module */
} ntr_function_symbol;

typedef struct ntr_function_symbols {
    const ntr_allocator *allocator;
    ntr_function_symbol *items; /* sorted by address */
    size_t count, capacity;
    bool damaged; /* symbols that could not be read were left out */
} ntr_function_symbols;

/* Reads the symbols of the file and of its debug file; addresses are those of the module. Errors: NTR_E_MEMORY. */
ntr_status ntr_function_symbols_read(ntr_function_symbols *symbols, Dwfl_Module *module);
void ntr_function_symbols_release(ntr_function_symbols *symbols);

/* Returns the linkage name of the C++ function at `address` whose name in the source is `name`, or NULL. Several
 * functions may be there (aliases); one whose linkage name contains `name` is preferred. */
const char *ntr_function_symbols_linkage(const ntr_function_symbols *symbols, uint64_t address, const char *name);

/* Returns whether the code at `address` is a part of a function that compilers give a name of its own: gcc splits rare
 * code off (F.part.0), clang the sections of a coroutine (F.resume, F.destroy, F.cleanup). */
bool ntr_function_symbols_is_part(const ntr_function_symbols *symbols, uint64_t address);

/* Returns the size of the function at `address`, or 0. */
uint64_t ntr_function_symbols_size(const ntr_function_symbols *symbols, uint64_t address);

#endif
