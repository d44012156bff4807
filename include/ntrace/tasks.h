/* Tasks: which thread of an operating system ran on each hart, from the file `tasks` of a bundle (docs/bundle.md).
 *
 * A trace has no field for threads: `ntrace run --machine` writes what it saw in the guest's memory beside the stream.
 */
#ifndef NTRACE_TASKS_H
#define NTRACE_TASKS_H

#include <ntrace/allocator.h>
#include <ntrace/bytes.h>
#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From stream offset `position` on, `task` runs on the hart with SRC `src`. */
typedef struct ntr_task {
    uint64_t position;
    uint64_t task;      /* identifies the thread: the address of its task_struct */
    uint64_t scontext;  /* address space that is in use, if `has_scontext` */
    uint32_t pid, tgid; /* thread and process, if `has_pid` */
    uint16_t src;
    bool has_pid, has_scontext;
    const char *name;   /* owned by the list; control characters are '?' */
} ntr_task;

typedef struct ntr_tasks ntr_tasks;

/* Reads the text of the file. Returns NTR_OK; NTR_E_FORMAT, with the number of the line in *line; NTR_E_MEMORY. An
 * incomplete last line is ignored. The caller frees the list with ntr_tasks_free. */
NTR_API ntr_status ntr_tasks_read(ntr_tasks **tasks, ntr_bytes text, const ntr_allocator *allocator, size_t *line);
NTR_API void ntr_tasks_free(ntr_tasks *tasks);

/* Returns the entries of the hart with SRC `src`, sorted by position, and stores their number in *count. */
NTR_API const ntr_task *ntr_tasks_of(const ntr_tasks *tasks, uint16_t src, size_t *count);

/* Returns the last entry of the thread `pid`, with the name that it has in the end (the main thread of a process has
 * the pid of the process), or NULL. */
NTR_API const ntr_task *ntr_tasks_last(const ntr_tasks *tasks, uint32_t pid);

/* Returns whose this context is (scontext), whichever hart has it, or NULL. perf.data says that, and a user who knows
 * it. */
NTR_API const ntr_task *ntr_tasks_context(const ntr_tasks *tasks, uint64_t scontext);

#ifdef __cplusplus
}
#endif
#endif
