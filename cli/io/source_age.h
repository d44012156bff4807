/* Sources that were changed after the program was made from them. */
#ifndef CLI_IO_SOURCE_AGE_H
#define CLI_IO_SOURCE_AGE_H

#include <ntrace/coverage.h>

/* Reports how many sources are newer than the program or library that debug information describes with them, and the
 * first one: their lines may not be those of the program. Only those that `coverage` has lines of; NULL: all. Sources
 * that are not on this machine, and names that are relative, are not compared. */
void cli_source_ages(const ntr_program *program, ntr_debug_info *debug, ntr_coverage *coverage);

#endif
