/* The line of the next step: what people do next, after a command that they use interactively. */
#ifndef CLI_OPTIONS_NEXT_H
#define CLI_OPTIONS_NEXT_H

#include "options/options.h"

/* Writes "next: ntrace COMMAND BUNDLE" to standard error, or with a stream and its options. It does so if the command
 * has a next step, its first operand is a bundle, or its only one a stream with its program, its output is text
 * (--format, --to), and standard output and standard error are a terminal. */
void cli_next_step(const struct cli_command *command, const void *options, char **operands);

#endif
