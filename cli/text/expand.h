/* Spans written as one line per instruction.
 *
 * The text of a span is cached, so that a repeated span costs only a copy. The key consists of the address, the number
 * of instructions, the view of the context (ntr_instructions_view) and, if lines depend on them, source and context.
 * Memory is bounded: a span replaces another one with the same hash. */
#ifndef CLI_TEXT_EXPAND_H
#define CLI_TEXT_EXPAND_H

#include "io/output.h"

#include <ntrace/instructions.h>

#define CLI_INSN_LINE_MAX 4096 /* largest size of the line of one instruction, in bytes */

/* One executed instruction. `span` has its source, context and position. */
struct cli_insn {
    const ntr_program *program;
    const ntr_event *span;
    ntr_instruction retired;
};

/* Writes the line of an instruction, with line feed. Returns its length, at most CLI_INSN_LINE_MAX. */
typedef size_t (*cli_render)(void *user, const struct cli_insn *insn, char *out);

struct cli_expand;

/* `by_source`, `by_context`: the lines depend on the source, on the context. Returns NULL when out of memory. */
struct cli_expand *cli_expand_open(const ntr_program *program, cli_render render, void *user, bool by_source,
                                   bool by_context);
void cli_expand_close(struct cli_expand *expand);

/* Writes the lines of spans. Returns the number of spans of which the program does not have all bytes. */
size_t cli_expand_spans(struct cli_expand *expand, const ntr_event *spans, size_t count, struct cli_output *out);

#endif
