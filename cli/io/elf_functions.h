/* Names of the functions that an ELF file defines, without loading it as a program. */
#ifndef CLI_IO_ELF_FUNCTIONS_H
#define CLI_IO_ELF_FUNCTIONS_H

/* Takes a name; it is valid during the call. */
typedef void (*cli_take_name)(void *user, const char *name);

/* Passes on the names of the functions in the file's symbols, or else in its dynamic symbols. Does nothing if the file
 * is no ELF file. */
void cli_elf_functions(const char *path, cli_take_name take, void *user);

#endif
