/* Help texts, generated from the option tables and wrapped for a terminal. */
#ifndef CLI_OPTIONS_HELP_H
#define CLI_OPTIONS_HELP_H

#include "options/command.h"

#include <stdio.h>

void cli_help_overview(FILE *out);
void cli_help_command(const struct cli_entry *entry, FILE *out);
void cli_help_dialects(FILE *out);

#endif
