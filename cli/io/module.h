/* Files of kernel modules, linked for where they were loaded (ntrace/module.h), as files for ntr_program_add_elf. */
#ifndef CLI_IO_MODULE_H
#define CLI_IO_MODULE_H

#include <ntrace/module.h>

#include <stdbool.h>
#include <stdint.h>

/* Returns whether the file is a relocatable ELF file of RISC-V. One that cannot be read is none. */
bool cli_module_is(const char *path);

/* Links the module for the addresses of its sections. A section whose address is not known is at a place without code;
 * with code in it, it is reported. Stores the path of the linked file, which exists until the process ends, to be
 * freed. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_module_link(const char *path, const char *module, ntr_module_place place, const ntr_program *program,
                    char **linked);

/* Returns the file from which the one at `path` was linked, or `path`. */
const char *cli_module_source(const char *path);

/* Returns the name that a kernel gives to the module of a file: virtio-blk.ko is virtio_blk. To be freed; NULL: out of
 * memory. */
char *cli_module_name(const char *path);

#endif
