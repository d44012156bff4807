#include <ntrace/tasks.h>

#include "base/allocator.h"
#include "base/macros.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define TASKS_MAGIC   "ntrace-tasks 1\n"
#define TASKS_COLUMNS "position src context task pid tgid comm\n"

struct ntr_tasks {
    const ntr_allocator *allocator;
    char *text; /* a copy: names are strings inside it */
    ntr_task *items;
    size_t count, capacity;
    ntr_task *contexts; /* lines without a hart, sorted by context */
    size_t context_count, context_capacity;
    const ntr_task **last; /* of each pid, the entry with the highest position; sorted by pid */
    size_t last_count;
};

static int by_place(const void *left, const void *right) {
    const ntr_task *x = left, *y = right;
    NTR_COMPARE_BY(src);
    NTR_COMPARE_BY(position);
    return NTR_COMPARE(x->name, y->name); /* equal positions: the order of the lines */
}

static int by_pid(const void *left, const void *right) {
    const ntr_task *x = *(const ntr_task *const *)left, *y = *(const ntr_task *const *)right;
    NTR_COMPARE_BY(pid);
    NTR_COMPARE_BY(position);
    return NTR_COMPARE(x, y);
}

/* Parses one number and the blank after it. "-" is no number: *known becomes false. */
static bool take_number(char **at, uint64_t most, uint64_t *number, bool *known) {
    char *end = *at + 1;
    *number = 0;
    *known = **at != '-';
    if (*known) {
        if ((unsigned char)(**at - '0') > 9) return false;
        *number = strtoull(*at, &end, 0);
    }
    if (*end != ' ' || *number > most) return false;
    *at = end + 1;
    return true;
}

static int by_context(const void *left, const void *right) {
    const ntr_task *x = left, *y = right;
    NTR_COMPARE_BY(scontext);
    return NTR_COMPARE(x->name, y->name);
}

/* *hart: false for a line that says whose a context is, on whichever hart. */
static bool parse(char *line, ntr_task *task, bool *hart) {
    uint64_t src, pid, tgid;
    bool known, process;
    *task = (ntr_task){0};
    if (!take_number(&line, UINT64_MAX, &task->position, &known) || !known) return false;
    if (!take_number(&line, UINT16_MAX, &src, hart)) return false;
    if (!take_number(&line, UINT64_MAX, &task->scontext, &task->has_scontext)) return false;
    if (!*hart && !task->has_scontext) return false;
    if (!take_number(&line, UINT64_MAX, &task->task, &known) || !known) return false;
    if (!take_number(&line, UINT32_MAX, &pid, &task->has_pid)) return false;
    if (!take_number(&line, UINT32_MAX, &tgid, &process)) return false;
    task->src = (uint16_t)src;
    task->pid = (uint32_t)pid;
    task->tgid = (uint32_t)(process ? tgid : pid);
    task->name = line;
    if (!ntr_name_is_clean(line)) {
        char cleaned[NTR_NAME_CLEANED_MAX + 1];
        memcpy(line, cleaned, ntr_name_clean(line, cleaned) + 1);
    }
    return true;
}

/* Takes the text that a file begins with. Returns the rest, or NULL. */
static char *skip(char *at, const char *text) {
    size_t length = strlen(text);
    return at && strncmp(at, text, length) == 0 ? at + length : NULL;
}

static ntr_status read_lines(ntr_tasks *t, size_t size, size_t *line) {
    char *at = skip(skip(t->text, TASKS_MAGIC), TASKS_COLUMNS), *end = t->text + size, *stop;
    *line = 1;
    if (!at) return NTR_E_FORMAT;
    for (*line = 3; (stop = memchr(at, '\n', (size_t)(end - at))); ++*line, at = stop + 1) {
        ntr_task task;
        bool hart;
        *stop = 0;
        if (strlen(at) != (size_t)(stop - at) || !parse(at, &task, &hart)) return NTR_E_FORMAT;
        if (hart ? ntr_reserve(t->allocator, (void **)&t->items, &t->capacity, t->count + 1, sizeof *t->items)
                 : ntr_reserve(t->allocator, (void **)&t->contexts, &t->context_capacity, t->context_count + 1,
                               sizeof *t->contexts))
            return NTR_E_MEMORY;
        *(hart ? &t->items[t->count++] : &t->contexts[t->context_count++]) = task;
    }
    if (t->context_count) qsort(t->contexts, t->context_count, sizeof *t->contexts, by_context);
    if (t->count) qsort(t->items, t->count, sizeof *t->items, by_place);
    return NTR_OK;
}

static int by_task(const void *left, const void *right) {
    const ntr_task *x = *(ntr_task *const *)left, *y = *(ntr_task *const *)right;
    NTR_COMPARE_BY(task);
    NTR_COMPARE_BY(position);
    return NTR_COMPARE(x, y);
}

/* The first entries of a boot have no pid: where a task has it was not known yet. A later entry of the same task has
 * it. */
static ntr_status complete_pids(ntr_tasks *t) {
    ntr_task **sorted = ntr_alloc(t->allocator, t->count, sizeof *sorted);
    if (!sorted) return NTR_E_MEMORY;
    for (size_t i = 0; i < t->count; i++) sorted[i] = &t->items[i];
    qsort(sorted, t->count, sizeof *sorted, by_task);
    for (size_t i = t->count - 1; i-- > 0;) {
        const ntr_task *next = sorted[i + 1];
        if (sorted[i]->has_pid || !next->has_pid || sorted[i]->task != next->task) continue;
        sorted[i]->has_pid = true;
        sorted[i]->pid = next->pid;
        sorted[i]->tgid = next->tgid;
    }
    ntr_dealloc(t->allocator, sorted);
    return NTR_OK;
}

static ntr_status index_by_pid(ntr_tasks *t) {
    if (!t->count) return NTR_OK;
    t->last = ntr_alloc(t->allocator, t->count, sizeof *t->last);
    if (!t->last || complete_pids(t) != NTR_OK) return NTR_E_MEMORY;
    for (size_t i = 0; i < t->count; i++)
        if (t->items[i].has_pid) t->last[t->last_count++] = &t->items[i];
    if (!t->last_count) return NTR_OK;
    qsort(t->last, t->last_count, sizeof *t->last, by_pid);
    size_t kept = 0;
    for (size_t i = 1; i < t->last_count; i++) {
        kept += t->last[i]->pid != t->last[kept]->pid;
        t->last[kept] = t->last[i];
    }
    t->last_count = kept + 1;
    return NTR_OK;
}

ntr_status ntr_tasks_read(ntr_tasks **tasks, ntr_bytes text, const ntr_allocator *allocator, size_t *line) {
    ntr_tasks *t = ntr_alloc(allocator, 1, sizeof *t);
    *tasks = NULL;
    *line = 0;
    if (!t) return NTR_E_MEMORY;
    t->allocator = allocator;
    t->text = ntr_alloc(allocator, text.size + 1, 1);
    if (t->text && text.size) memcpy(t->text, text.data, text.size);
    ntr_status status = t->text ? read_lines(t, text.size, line) : NTR_E_MEMORY;
    if (status == NTR_OK) status = index_by_pid(t);
    if (status == NTR_OK)
        *tasks = t;
    else
        ntr_tasks_free(t);
    return status;
}

void ntr_tasks_free(ntr_tasks *tasks) {
    if (!tasks) return;
    const ntr_allocator *allocator = tasks->allocator;
    ntr_dealloc(allocator, tasks->text);
    ntr_dealloc(allocator, tasks->items);
    ntr_dealloc(allocator, tasks->contexts);
    ntr_dealloc(allocator, tasks->last);
    ntr_dealloc(allocator, tasks);
}

const ntr_task *ntr_tasks_of(const ntr_tasks *tasks, uint16_t src, size_t *count) {
    size_t first = 0, last;
    while (first < tasks->count && tasks->items[first].src < src) first++;
    for (last = first; last < tasks->count && tasks->items[last].src == src; last++) continue;
    *count = last - first;
    return *count ? tasks->items + first : NULL;
}

const ntr_task *ntr_tasks_last(const ntr_tasks *tasks, uint32_t pid) {
    size_t low = 0, high = tasks->last_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (tasks->last[middle]->pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < tasks->last_count && tasks->last[low]->pid == pid ? tasks->last[low] : NULL;
}

const ntr_task *ntr_tasks_context(const ntr_tasks *tasks, uint64_t scontext) {
    size_t low = 0, high = tasks->context_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (tasks->contexts[middle].scontext < scontext)
            low = middle + 1;
        else
            high = middle;
    }
    return low < tasks->context_count && tasks->contexts[low].scontext == scontext ? &tasks->contexts[low] : NULL;
}
