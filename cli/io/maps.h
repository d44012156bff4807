/* --map and --threads: the programs of processes, where no perf.data says them. On Linux, scontext is the number of the
 * thread that runs: the images of a process are bound to the numbers of all its threads. */
#ifndef CLI_IO_MAPS_H
#define CLI_IO_MAPS_H

#include "options/options.h"

#include <ntrace/program.h>
#include <ntrace/tasks.h>

struct cli_maps {
    struct cli_list list; /* --map */
    const char *threads; /* --threads, or NULL */
};

/* Adds the images of all --map options; mapped files are below `sysroot`, which may be NULL. Returns CLI_OK, or
 * CLI_FAILED after reporting the error. */
int cli_maps_load(const struct cli_maps *maps, const char *sysroot, ntr_program *program);

/* The names of threads and processes: *tasks is NULL without --threads. Returns CLI_OK, or CLI_FAILED after reporting
 * the error. */
int cli_maps_tasks(const struct cli_maps *maps, ntr_tasks **tasks);

#endif
