/* Man pages in roff, generated from the option tables: ntrace(1) and ntrace-COMMAND(1). */
#ifndef CLI_OPTIONS_MAN_H
#define CLI_OPTIONS_MAN_H

#include "options/command.h"

#include <stdio.h>

void cli_man_overview(FILE *out);
void cli_man_command(const struct cli_entry *entry, FILE *out);

#endif
