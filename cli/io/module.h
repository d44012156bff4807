/* Kernel modules: relocatable ELF files (.ko, .o), linked for the addresses at which their sections were loaded. */
#ifndef CLI_IO_MODULE_H
#define CLI_IO_MODULE_H

#include <ntrace/program.h>

#include <stdbool.h>
#include <stdint.h>

/* Returns whether the file is a relocatable ELF file of RISC-V. One that cannot be read is none. */
bool cli_module_is(const char *path);

/* Where the sections of a module are. */
enum cli_module_where {
    CLI_MODULE_NAMES,  /* where the symbols "NAME [MODULE]" of the program say */
    CLI_MODULE_ORDER,  /* one after the other, as the file has them, from `address` on */
    CLI_MODULE_KERNEL, /* code as Linux loads it from `address` on, at most `length` bytes; data is not known */
};

struct cli_module_place {
    enum cli_module_where where;
    uint64_t address, length;
};

/* Links the module for the addresses of its sections. A section whose address is not known is at a place without code;
 * with code in it, it is reported. Stores the path of the linked file, which exists until the process ends, to be
 * freed. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_module_link(const char *path, const char *module, struct cli_module_place place, const ntr_program *program,
                    char **linked);

/* Returns the file from which the one at `path` was linked, or `path`. */
const char *cli_module_source(const char *path);

/* Returns the name that a kernel gives to the module of a file: virtio-blk.ko is virtio_blk. To be freed; NULL: out of
 * memory. */
char *cli_module_name(const char *path);

#endif
