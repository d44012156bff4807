/* Symbol of an address as text: "main+0x12". */
#ifndef CLI_TEXT_SYMBOL_TEXT_H
#define CLI_TEXT_SYMBOL_TEXT_H

#include <ntrace/program.h>

#define CLI_SYMBOL_MAX 300

/* Writes the symbol that covers the place, between `before` and `after`; for code of an ELF file without a symbol
 * "FILE+0xADDRESS", with the address in the file; for other code nothing. Long names are truncated. Returns the end, at
 * most CLI_SYMBOL_MAX characters after `at`. */
char *cli_put_symbol(char *at, const char *before, const char *after, const ntr_program *program, ntr_place place);

/* ---- Writes addresses with their symbols, "0x80000020 <main+0x20>". The texts are cached, because executed addresses
 * repeat. */

#define CLI_PLACE_MAX (20 + 300) /* characters: address and CLI_SYMBOL_MAX */

struct cli_symbol_cache;

/* Returns NULL when out of memory. `program` must outlive the cache. */
struct cli_symbol_cache *cli_symbol_cache_new(const ntr_program *program);
void cli_symbol_cache_free(struct cli_symbol_cache *cache);

/* Returns a number for what the address of the place is called there, from 1 on. A number that is no longer valid is
 * not used again. With one view, all places have the number 1. */
uint64_t cli_symbol_view(struct cli_symbol_cache *cache, ntr_place place);
bool cli_symbol_one_view(const struct cli_symbol_cache *cache);

/* Writes the address of a place with its symbol, at most CLI_PLACE_MAX characters. Returns the end. */
char *cli_put_place(char *at, struct cli_symbol_cache *cache, ntr_place place);

#endif
