/* "0x80000020 <main+0x20>": addresses with their symbols. The texts are cached, because execution comes to the same
 * addresses again and again. */
#ifndef CLI_TEXT_SYMBOL_CACHE_H
#define CLI_TEXT_SYMBOL_CACHE_H

#include <ntrace/program.h>

#define CLI_PLACE_MAX (20 + 300) /* characters: the address, and CLI_SYMBOL_MAX */

struct cli_symbol_cache;

/* NULL: out of memory. */
struct cli_symbol_cache *cli_symbol_cache_new(const ntr_program *program);
void cli_symbol_cache_free(struct cli_symbol_cache *places);

/* Write the address with its symbol in `context`. Returns the end, at most CLI_PLACE_MAX characters on. */
char *cli_put_place(char *at, struct cli_symbol_cache *places, const ntr_context *context, uint64_t address);

#endif
