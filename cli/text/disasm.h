/* Opcode bytes to assembler text, through LLVM's C API.
 *
 * LLVM is a library of 100 MB: it is loaded when the first text is asked for and only then. Texts are
 * cached by opcode, in bounded memory. */
#ifndef CLI_TEXT_DISASM_H
#define CLI_TEXT_DISASM_H

#include <stddef.h>
#include <stdint.h>

struct cli_disasm;

/* NULL when there is no LLVM (or this build is without it); *why then says what is missing. */
struct cli_disasm *cli_disasm_open(const char **why);
void cli_disasm_close(struct cli_disasm *disasm);

/* "addi sp, sp, -16"; "" for bytes that are no instruction LLVM knows. `isa` is a set of NTR_ISA_*
 * (ntrace/isa.h). The text lives until the next call. */
const char *cli_disasm_text(struct cli_disasm *disasm, const uint8_t *bytes, size_t size, unsigned isa);

#endif
