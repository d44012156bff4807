/* Spans expanded to a line an instruction.
 *
 * What a span expands to is kept as text by (address, number of instructions, who looks), so that code
 * which runs often costs a copy. Memory is bounded; the cache is emptied where the program changes. */
#ifndef CLI_TEXT_EXPAND_H
#define CLI_TEXT_EXPAND_H

#include "io/output.h"

#include <ntrace/event.h>
#include <ntrace/program.h>

#define CLI_INSN_LINE_MAX 4096 /* the longest line of one instruction */

/* One executed instruction. */
struct cli_insn {
    const ntr_program *program;
    const ntr_context *context;
    uint64_t position; /* byte offset in the trace */
    uint64_t address;
    uint16_t source;
    uint8_t size;
    const uint8_t *bytes;
};

/* Write the instruction's line, line feed included; returns its length, at most CLI_INSN_LINE_MAX. */
typedef size_t (*cli_render)(void *user, const struct cli_insn *insn, char *out);

struct cli_expand;

/* `by_source`: lines differ from source to source. NULL: out of memory. */
struct cli_expand *cli_expand_open(const ntr_program *program, cli_render render, void *user,
                                   bool by_source);
void cli_expand_close(struct cli_expand *expand);

/* Write the lines of a span. False when the program has no bytes for all of it. */
bool cli_expand_span(struct cli_expand *expand, const ntr_event *span, struct cli_output *out);

#endif
