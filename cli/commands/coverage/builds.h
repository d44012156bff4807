/* Which programs and libraries of several traces are other builds of one file. */
#ifndef CLI_COMMANDS_COVERAGE_BUILDS_H
#define CLI_COMMANDS_COVERAGE_BUILDS_H

#include <ntrace/program.h>

struct cli_builds {
    struct cli_build *items; /* files of the first trace that has one of this name, in the order of the traces */
    size_t count, capacity;
    size_t traces;
};

/* Compares the files of a trace's program with the files of these names in the traces before it. */
int cli_builds_add(struct cli_builds *builds, const ntr_program *program);
/* Reports the files of which there are several builds. */
void cli_builds_report(const struct cli_builds *builds);
void cli_builds_release(struct cli_builds *builds);

#endif
