/* Lines for one executed instruction (cli_render): its program counter, optionally with opcode, disassembly, symbol,
 * file and line. */
#ifndef CLI_TEXT_INSN_LINE_H
#define CLI_TEXT_INSN_LINE_H

#include "text/disasm.h"
#include "text/expand.h"
#include "options/options.h"

#include <ntrace/debug_info.h>

/* Program counter: 0x80000000, or {"src":0,"address":"0x80000000"}, or 0,0x80000000. `user` is not used. */
size_t cli_pc_line(void *user, const struct cli_insn *insn, char *out);
size_t cli_pc_json(void *user, const struct cli_insn *insn, char *out);
size_t cli_pc_csv(void *user, const struct cli_insn *insn, char *out);

#define CLI_INSN_BYTES 32 /* largest size of an instruction, in bytes */

/* The bytes of an instruction: input of cli_insn_words. */
struct cli_insn_bytes {
    uint64_t address;
    uint8_t bytes[CLI_INSN_BYTES];
    uint8_t size;
    unsigned isa; /* NTR_ISA_* */
    const ntr_insn *decoded; /* of these bytes; NULL: they are no instruction */
};

/* An instruction as text: "00a7d463" and "bge a5, a0, 0x10672". */
struct cli_insn_words {
    char opcode[2 * CLI_INSN_BYTES + 1]; /* most significant byte first */
    char text[136];                      /* "" without disassembler */
};
void cli_insn_words(struct cli_disasm *disasm, const struct cli_insn_bytes *insn, struct cli_insn_words *words);

struct cli_insn_lines {
    struct cli_disasm *disasm; /* NULL: no disassembly */
    ntr_debug_info *source;        /* NULL: no file and line */
    bool by_source;
};

/* Full description of the instruction. `user` is a struct cli_insn_lines. */
size_t cli_insn_text(void *user, const struct cli_insn *insn, char *out);
size_t cli_insn_json(void *user, const struct cli_insn *insn, char *out);
size_t cli_insn_csv(void *user, const struct cli_insn *insn, char *out);

/* CSV column names of cli_insn_csv, with line feed. */
extern const char cli_insn_csv_heading[];

#endif
