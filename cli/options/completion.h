/* Bash completion, generated from the option tables. */
#ifndef CLI_OPTIONS_COMPLETION_H
#define CLI_OPTIONS_COMPLETION_H

#include <stdio.h>

/* Writes the completion script for all commands. */
void cli_bash_completion(FILE *out);

#endif
