/* Help texts, generated from the option tables and wrapped for a terminal. */
#ifndef CLI_OPTIONS_HELP_H
#define CLI_OPTIONS_HELP_H

#include "options/options.h"

#include <stdio.h>

void cli_help_overview(FILE *out);
void cli_help_command(const struct cli_entry *entry, FILE *out);
void cli_help_dialects(FILE *out);

/* Writes all options and replaced names, one on each line, with tabs between the columns. */
void cli_help_options(FILE *out);

/* ---- Man pages in roff, generated from the option tables: ntrace(1) and ntrace-COMMAND(1). */

void cli_man_overview(FILE *out);
void cli_man_command(const struct cli_entry *entry, FILE *out);

/* ---- Bash completion, generated from the option tables. */

/* Writes the completion script for all commands. */
void cli_bash_completion(FILE *out);

#endif
