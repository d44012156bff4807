/* Disassembler: converts instruction bytes to text with the C API of LLVM.
 *
 * libLLVM is large (100 MB), so cli_disasm_open loads it at run time instead of linking it. Texts are cached by opcode,
 * in bounded memory. Not thread-safe. */
#ifndef CLI_TEXT_DISASM_H
#define CLI_TEXT_DISASM_H

#include <stddef.h>
#include <stdint.h>

struct cli_disasm;

/* Loads libLLVM. Returns NULL when it is not available, not supported by this build, or out of memory; *why is then the
 * reason as text. */
struct cli_disasm *cli_disasm_open(const char **why);
void cli_disasm_close(struct cli_disasm *disasm);

/* Returns the text of the instruction, for example "addi sp, sp, -16", or "" if LLVM does not know it. `isa` is a set
 * of NTR_ISA_* (ntrace/isa.h). The text is valid until the next call. */
const char *cli_disasm_text(struct cli_disasm *disasm, const uint8_t *bytes, size_t size, unsigned isa);

#endif
