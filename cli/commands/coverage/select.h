/* Which lines of `ntrace coverage` count, and the lines of a patch that were not executed. */
#ifndef CLI_COMMANDS_COVERAGE_SELECT_H
#define CLI_COMMANDS_COVERAGE_SELECT_H

#include "commands/coverage/run.h"
#include "io/output.h"

/* Removes lines that comments exclude, and with --since those that are not of the patch. Reports what comments hide.
 * Returns the exit status: CLI_DEFECTS when no source of the program is in the repository, otherwise `status`. */
int cli_coverage_select(struct coverage_run *run, int status);

/* Writes the lines of the patch that were not executed: FORMAT_TEXT, FORMAT_GITHUB (workflow commands) or FORMAT_GITLAB
 * (a code quality report). Returns the exit status. */
int cli_coverage_annotate(struct coverage_run *run, const char *path, int format, int status);

#endif
