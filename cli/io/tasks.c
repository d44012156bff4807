#include "io/tasks.h"
#include "io/input.h"
#include "io/memory.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void cli_tasks_load(const char *folder, ntr_tasks **tasks) {
    char path[PATH_MAX];
    struct stat about;
    size_t size, line;

    *tasks = NULL;
    if ((size_t)snprintf(path, sizeof path, "%s/tasks", folder) >= sizeof path || lstat(path, &about) != 0) return;
    if (!S_ISREG(about.st_mode)) { /* a link may lead out of the bundle, a FIFO never ends */
        cli_doubt("%s: not a regular file: threads have no names", path);
        return;
    }
    char *text = cli_input_limited(path, CLI_LIMIT_TASKS, &size);
    if (!text) {
        cli_doubt("%s: cannot be read: threads have no names", path);
        return;
    }
    ntr_status status = ntr_tasks_read(tasks, (ntr_bytes){(const uint8_t *)text, size}, &cli_memory, &line);
    if (status == NTR_E_FORMAT)
        cli_doubt("%s: line %zu is damaged: threads have no names", path, line);
    else if (status)
        cli_doubt("%s: %s: threads have no names", path, ntr_status_text(status));
    free(text);
}

void cli_tasks_of_perf(const ntr_perf_data *data, const char *path, ntr_tasks **tasks) {
    const ntr_perf_process *process;
    char *text = NULL;
    size_t size = 0, line;
    FILE *file = open_memstream(&text, &size);

    *tasks = NULL;
    if (file) fputs("ntrace-tasks 1\nposition src context task pid tgid comm\n", file);
    for (size_t i = 0; file && (process = ntr_perf_data_process(data, i)); i++)
        fprintf(file, "0 - %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu32 " %.*s\n", process->context, process->context,
                process->pid, process->pid, (int)strcspn(process->name, "\n"), process->name);
    ntr_status status = file && fclose(file) == 0 ? NTR_OK : NTR_E_MEMORY;
    if (status == NTR_OK) status = ntr_tasks_read(tasks, (ntr_bytes){(const uint8_t *)text, size}, &cli_memory, &line);
    if (status) cli_note("%s: %s: processes have no names", path, ntr_status_text(status));
    free(text);
}
