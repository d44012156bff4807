/* A source can make libclang end the process, or work without end: statements that are nested more deeply than its
 * stack allows, macros that stand for more text than there is memory. A child process therefore parses each source
 * first. */
#ifndef CLI_COMMANDS_COVERAGE_SOURCE_GUARD_H
#define CLI_COMMANDS_COVERAGE_SOURCE_GUARD_H

#include <stdbool.h>

/* For ntr_source_options.guard: calls `parse(unit)` in a child process with limits of time and memory, and waits for
 * it; a request to stop ends the child. Returns why the source cannot be parsed, or NULL. */
const char *cli_source_guard(bool (*parse)(const void *unit), const void *unit);

#endif
