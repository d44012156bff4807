/* Help texts for the terminal, made from the option tables. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "command.h"

#include <stdio.h>

void cli_help_overview(FILE *out);
void cli_help_command(const struct cli_entry *entry, FILE *out);
void cli_help_dialects(FILE *out);

#endif
