/* Completion for bash, made from the option tables. */
#ifndef CLI_OPTIONS_COMPLETION_H
#define CLI_OPTIONS_COMPLETION_H

#include <stdio.h>

void cli_bash_completion(FILE *out);

#endif
