/* Help texts, generated from the option tables and wrapped for a terminal. */
#ifndef CLI_OPTIONS_HELP_H
#define CLI_OPTIONS_HELP_H

#include "options/options.h"

#include <stdio.h>

/* The commands, grouped by task. */
void cli_help_overview(FILE *out);

/* -h: usage, examples, and the command's own options with the first clause of their help. */
void cli_help_screen(const struct cli_entry *entry, FILE *out);

/* `ntrace help COMMAND` and --help: also the description, and the whole help of the options. */
void cli_help_command(const struct cli_entry *entry, FILE *out);

/* The options of a block that many commands share, which is called as its groups are. Returns false if there is no such
 * block. */
bool cli_help_topic(const char *name, FILE *out);

/* Returns the name of block `i`, or NULL at the end. */
const char *cli_help_topic_name(size_t i);

void cli_help_dialects(FILE *out);

/* Writes all options and replaced names, one on each line, with tabs between the columns. */
void cli_help_options(FILE *out);

/* ---- Man pages in roff, generated from the option tables: ntrace(1) and ntrace-COMMAND(1). */

void cli_man_overview(FILE *out);
void cli_man_command(const struct cli_entry *entry, FILE *out);

/* ---- Completion scripts of shells. They ask the command for the candidates. */

void cli_bash_completion(FILE *out);
void cli_zsh_completion(FILE *out);
void cli_fish_completion(FILE *out);

#endif
