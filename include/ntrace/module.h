/* Kernel modules: relocatable ELF files (.ko, .o), linked in memory for the addresses at which their sections were
 * loaded.
 *
 *     ntr_module *module;
 *     status = ntr_module_new(path, NULL, &module);
 *     status = ntr_module_link(module, file, size, "virtio_blk", place, program);   // changes the bytes of the file
 *     ntr_module_parts(module, parts);                                       // the linked file: one after the other
 *
 * A section whose address is not known is at a place without code. Objects are not thread-safe. */
#ifndef NTRACE_MODULE_H
#define NTRACE_MODULE_H

#include <ntrace/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_module ntr_module;

/* Where the sections of a module are. */
typedef enum ntr_module_where {
    NTR_MODULE_NAMES, /* where the symbols "NAME [MODULE]" of the program say */
    NTR_MODULE_ORDER, /* one after the other, as the file has them, from `address` on */
    NTR_MODULE_KERNEL, /* code as Linux loads it from `address` on, at most `length` bytes; data is not known */
} ntr_module_where;

typedef struct ntr_module_place {
    ntr_module_where where;
    uint64_t address, length;
} ntr_module_place;

/* Enough bytes of the beginning of a file for ntr_module_is. */
#define NTR_MODULE_BEGINNING 52

/* Returns whether a file that begins with these bytes is a relocatable ELF file of RISC-V. */
NTR_LAB_API bool ntr_module_is(ntr_bytes beginning);

/* Makes a module without content. `path` is what messages call it; it must outlive the module. Errors: NTR_E_MEMORY. */
NTR_LAB_API ntr_status ntr_module_new(const char *path, const ntr_allocator *allocator, ntr_module **out);
NTR_LAB_API void ntr_module_free(ntr_module *module);

/* Links the file in `bytes`, which must outlive the module and is changed. `name` is that of the module in the kernel;
 * `program` has the symbols that it does not define. To be called once. Errors: NTR_E_FORMAT, NTR_E_MEMORY,
 * NTR_E_NAME (no symbol says where the module is), NTR_E_INVALID (the file is that of another module);
 * ntr_module_error says why. */
NTR_LAB_API ntr_status ntr_module_link(ntr_module *module, uint8_t *bytes, size_t size, const char *name,
                                       ntr_module_place place, const ntr_program *program);

/* Returns a sentence that says why linking failed, or "". */
NTR_LAB_API const char *ntr_module_error(const ntr_module *module);

/* Returns the name of section number `index` of those with code whose address is not known, or NULL past the last. */
NTR_LAB_API const char *ntr_module_unplaced(const ntr_module *module, size_t index);

/* Stores the linked file: its two parts, valid as long as the module. */
NTR_LAB_API void ntr_module_parts(const ntr_module *module, ntr_bytes parts[2]);

#ifdef __cplusplus
}
#endif
#endif
