/* Symbol of an address as text: "main+0x12". */
#ifndef CLI_TEXT_SYMBOL_TEXT_H
#define CLI_TEXT_SYMBOL_TEXT_H

#include <ntrace/program.h>

#define CLI_SYMBOL_MAX 300

/* Writes the symbol that covers the address, between `before` and `after`; for code of an ELF file without a symbol
 * "FILE+0xADDRESS", with the address in the file; for other code nothing. Long names are truncated. Returns the end, at
 * most CLI_SYMBOL_MAX characters after `at`. */
char *cli_put_symbol(char *at, const char *before, const char *after, const ntr_program *program,
                     const ntr_context *context, uint64_t address);

#endif
