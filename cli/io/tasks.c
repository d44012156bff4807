#include "io/tasks.h"
#include "io/input.h"
#include "io/memory.h"
#include "options/diagnostics.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TASKS_MAX (UINT64_C(1) << 30) /* bytes */

void cli_tasks_load(const char *folder, ntr_tasks **tasks) {
    char path[PATH_MAX];
    size_t size, line;

    *tasks = NULL;
    if ((size_t)snprintf(path, sizeof path, "%s/tasks", folder) >= sizeof path || access(path, F_OK)) return;
    char *text = cli_input_whole(path, TASKS_MAX, &size);
    if (!text) return;
    ntr_status status = ntr_tasks_read(tasks, (ntr_bytes){(const uint8_t *)text, size}, &cli_memory, &line);
    if (status == NTR_E_FORMAT)
        cli_note("%s: line %zu is damaged: threads have no names", path, line);
    else if (status)
        cli_note("%s: %s: threads have no names", path, ntr_status_text(status));
    free(text);
}
