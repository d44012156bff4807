#include "text/symbol_text.h"
#include "io/output.h"

#include <string.h>

#define NAME_MAX_SHOWN 256

/* Code without a symbol is named by file and address in the file, as addr2line expects it. */
static char *put_file_address(char *at, const char *before, const char *after, const ntr_program *program,
                              const ntr_context *context, uint64_t address) {
    ntr_code_range range;

    if (ntr_program_code_range(program, context, address, &range) != NTR_OK) return at;
    at = cli_put_text(at, before);
    at = cli_put_bytes(at, range.file_name, strnlen(range.file_name, NAME_MAX_SHOWN));
    at = cli_put_hex(cli_put_text(at, "+0x"), address - range.bias);
    return cli_put_text(at, after);
}

char *cli_put_symbol(char *at, const char *before, const char *after, const ntr_program *program,
                     const ntr_context *context, uint64_t address) {
    ntr_symbol symbol;

    if (ntr_program_symbol(program, context, address, &symbol) != NTR_OK)
        return put_file_address(at, before, after, program, context, address);
    at = cli_put_text(at, before);
    at = cli_put_bytes(at, symbol.name, strnlen(symbol.name, NAME_MAX_SHOWN));
    if (address != symbol.address) at = cli_put_hex(cli_put_text(at, "+0x"), address - symbol.address);
    return cli_put_text(at, after);
}
