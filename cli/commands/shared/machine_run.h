/* Common part of the profiles of whole machines (--by syscall, boot-phase, process): decode a trace, and collect
 * what its operating system did. */
#ifndef CLI_COMMANDS_SHARED_MACHINE_RUN_H
#define CLI_COMMANDS_SHARED_MACHINE_RUN_H

#include "commands/shared/analysis.h"
#include "io/output.h"
#include "options/options.h"

#include <ntrace/machine.h>

struct cli_machine_options {
    struct cli_analysis_options analysis;
    struct cli_result result;
    int64_t top;
};

/* What a profile writes about a machine. */
struct cli_machine_writer {
    struct cli_output *out;
    const ntr_machine *machine;
    ntr_machine_totals totals;
    uint64_t ticks_per_second; /* 0: not known */
    enum cli_format format;
    size_t top; /* rows of a table */
};

/* Decodes the trace `path` into a new machine, which the caller frees. `watch`: with the stretches in which interrupts
 * or preemption are off; this takes longer. Returns the exit status so far. */
int cli_machine_decode(struct cli_analysis *a, const char *path, const struct cli_machine_options *options, bool watch,
                       ntr_machine **machine);

/* Writes a profile: decodes, calls `write` and closes the output. `boots`: a program alone is refused. Returns the exit
 * status. */
int cli_machine_run(const struct cli_machine_options *options, const char *path, bool watch, bool boots,
                    void (*write)(const struct cli_machine_writer *w));

/* profile --by syscall (profile/syscalls.c) and --by boot-phase (profile/boot.c). They return the exit status. */
int cli_profile_syscalls(const struct cli_machine_options *options, const char *path);
int cli_profile_boot(const struct cli_machine_options *options, const char *path);

/* Writes a time in ticks, in seconds when their length is known: "12.345 ms". */
void cli_machine_time(const struct cli_machine_writer *w, uint64_t ticks);

/* Returns `part` of `whole` in percent. */
double cli_machine_share(uint64_t part, uint64_t whole);

#endif
