/* The file `tasks` of a bundle: which thread ran on each hart. */
#ifndef CLI_IO_TASKS_H
#define CLI_IO_TASKS_H

#include <ntrace/perf_data.h>
#include <ntrace/tasks.h>

/* Reads FOLDER/tasks. *tasks is NULL when there is no such file. A file that cannot be read is reported, and the
 * threads have no names then: the execution is decoded all the same. The caller frees *tasks with ntr_tasks_free. */
void cli_tasks_load(const char *folder, ntr_tasks **tasks);

/* The processes of perf's records, by their contexts. */
void cli_tasks_of_perf(const ntr_perf_data *data, const char *path, ntr_tasks **tasks);

#endif
