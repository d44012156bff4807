/* Spans written as one line per instruction.
 *
 * The text of a span is cached, so that code that runs often costs a copy. The key is what ntr_instructions_view says the
 * span's context sees, with the address, the number of instructions and, where lines differ by source, the source. Memory
 * is bounded: a span replaces another one with the same hash. */
#ifndef CLI_TEXT_EXPAND_H
#define CLI_TEXT_EXPAND_H

#include "io/output.h"

#include <ntrace/instructions.h>

#define CLI_INSN_LINE_MAX 4096 /* the longest line of one instruction */

/* One executed instruction, of a span with source, context and position. */
struct cli_insn {
    const ntr_program *program;
    const ntr_event *span;
    ntr_instruction retired;
};

/* Write the instruction's line, line feed included; returns its length, at most CLI_INSN_LINE_MAX. */
typedef size_t (*cli_render)(void *user, const struct cli_insn *insn, char *out);

struct cli_expand;

/* `by_source`: lines differ from source to source. NULL: out of memory. */
struct cli_expand *cli_expand_open(const ntr_program *program, cli_render render, void *user, bool by_source);
void cli_expand_close(struct cli_expand *expand);

/* Write the lines of a span. False when the program has no bytes for all of it. */
bool cli_expand_span(struct cli_expand *expand, const ntr_event *span, struct cli_output *out);

#endif
