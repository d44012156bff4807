/* "main+0x12" */
#ifndef CLI_TEXT_SYMBOL_TEXT_H
#define CLI_TEXT_SYMBOL_TEXT_H

#include <ntrace/program.h>

#define CLI_SYMBOL_MAX 300

/* Write the symbol that covers the address, between `before` and `after`; nothing when none does. Returns the end,
 * at most CLI_SYMBOL_MAX characters on; long names are cut. */
char *cli_put_symbol(char *at, const char *before, const char *after, const ntr_program *program,
                     const ntr_context *context, uint64_t address);

#endif
