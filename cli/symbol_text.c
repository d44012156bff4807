#include "symbol_text.h"
#include "output.h"

#include <string.h>

#define NAME_MAX_SHOWN 256

static char *put(char *at, const char *text, size_t size) {
    memcpy(at, text, size);
    return at + size;
}

char *cli_put_symbol(char *at, const char *before, const char *after, const ntr_program *program,
                     const ntr_context *context, uint64_t address) {
    ntr_symbol symbol;

    if (ntr_program_symbol(program, context, address, &symbol) != NTR_OK) return at;
    at = put(at, before, strlen(before));
    at = put(at, symbol.name, strnlen(symbol.name, NAME_MAX_SHOWN));
    if (address != symbol.address) at = cli_put_hex(put(at, "+0x", 3), address - symbol.address);
    return put(at, after, strlen(after));
}
