/* Side-band records of tasks: names, mapped files, changes of the kernel's code.
 *
 * A process has the mappings of its own MMAP records and, from its FORK on, copies of its parent's. EXEC ends all of
 * them. A mapping over an older one replaces it. Mappings that are not executable and have no file are left out.
 *
 * Example: FORK 10 -> 11 at time 5, COMM 11 with exec at time 7: process 11 has the mappings of 10 in its generation 0,
 * from 5 to 7, and those of the program in generation 1. The mappings of a process that exits stay until its id is used
 * again. */
#include "perf/state.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <stdlib.h>

enum { PROT_EXECUTE = 4, MAPPINGS_MAX = 1 << 22 };

static ntr_status change_at(struct ntr_perf_data *data, uint64_t time) {
    uint64_t *change = NTR_PERF_ADD(data, changes, change_count, change_capacity);

    if (!change) return NTR_E_MEMORY;
    *change = time;
    return NTR_OK;
}

/* The last start of the process, or NULL. `program`: of a program. */
static const struct ntr_perf_start *last_start(const struct ntr_perf_data *data, uint32_t pid, bool program) {
    for (size_t i = data->starts_of[pid % NTR_PERF_BUCKETS]; i; i = data->starts[i - 1].previous) {
        const struct ntr_perf_start *s = &data->starts[i - 1];
        if (s->pid == pid && (s->program || !program)) return s;
    }
    return NULL;
}

static uint32_t generation_of(const struct ntr_perf_start *start) {
    return start ? start->generation : 0;
}

/* A process that is created begins with generation 0, unless an earlier one with its number has had it. */
static ntr_status begin_generation(struct ntr_perf_data *data, const struct ntr_perf_start *given, bool created) {
    size_t *list = &data->starts_of[given->pid % NTR_PERF_BUCKETS];
    const struct ntr_perf_start *last = last_start(data, given->pid, false);
    uint32_t generation = !last && created ? 0 : generation_of(last) + 1;
    struct ntr_perf_start *s = NTR_PERF_ADD(data, starts, start_count, start_capacity);

    if (!s) return NTR_E_MEMORY;
    *s = *given;
    s->generation = generation;
    s->previous = *list;
    *list = data->start_count;
    return change_at(data, given->time);
}

uint32_t ntr_perf_generation(const struct ntr_perf_data *data, uint32_t pid, uint64_t time) {
    for (size_t i = data->starts_of[pid % NTR_PERF_BUCKETS]; i; i = data->starts[i - 1].previous)
        if (data->starts[i - 1].pid == pid && data->starts[i - 1].time <= time) return data->starts[i - 1].generation;
    return 0;
}

/* The current mappings of a process are in the list of its bucket. */
static size_t *list_of(struct ntr_perf_data *data, uint32_t pid) {
    return &data->current[pid % NTR_PERF_BUCKETS];
}

static struct ntr_perf_mapping *append(struct ntr_perf_data *data, const struct ntr_perf_mapping *given) {
    size_t *list = list_of(data, given->pid);

    struct ntr_perf_mapping *m = NTR_PERF_ADD(data, mappings, mapping_count, mapping_capacity);
    if (!m) return NULL;
    *m = *given;
    m->last = UINT32_MAX;
    m->previous = *list;
    *list = data->mapping_count;
    return m;
}

/* Returns whether the process had mappings. */
static bool end_mappings(struct ntr_perf_data *data, uint32_t pid) {
    bool any = false;

    for (size_t *link = list_of(data, pid); *link;) {
        struct ntr_perf_mapping *m = &data->mappings[*link - 1];
        if (m->pid == pid) {
            m->last = generation_of(last_start(data, pid, false));
            *link = m->previous;
            any = true;
        } else {
            link = &m->previous;
        }
    }
    return any;
}

/* A file, the kernel or its modules; not anonymous memory. */
static bool is_file(const char *path, uint32_t pid) {
    if (pid == NTR_PERF_NOBODY) return true;
    if (strcmp(path, "[vdso]") == 0) return true; /* perf keeps it beside files */
    return *path == '/' && path[1] != '/' && strncmp(path, "/dev/zero", 9) != 0;
}

/* Returns whether `b` puts another file, or another part of it, where `a` is. */
static bool replaces(const struct ntr_perf_mapping *a, const struct ntr_perf_mapping *b) {
    bool overlap = a->address - b->address < b->length || b->address - a->address < a->length;
    bool same = a->address - a->offset == b->address - b->offset && strcmp(a->path, b->path) == 0;
    return overlap && !same;
}

static bool replaces_any(struct ntr_perf_data *data, const struct ntr_perf_mapping *given) {
    enum { OVERLAP_STEPS = 1 << 14 };
    unsigned steps = 0;

    for (size_t at = *list_of(data, given->pid); at && steps < OVERLAP_STEPS; steps++) {
        const struct ntr_perf_mapping *m = &data->mappings[at - 1];
        if (m->pid == given->pid && replaces(m, given)) return true;
        at = m->previous;
    }
    return false;
}

/* A mapping that replaces nothing is valid from the beginning of the program on: there was nothing before. */
static ntr_status add_mapping(struct ntr_perf_data *data, struct ntr_perf_mapping *given, uint64_t time) {
    if (data->mapping_count >= MAPPINGS_MAX) return NTR_E_LIMIT;
    bool replaced = given->pid != NTR_PERF_NOBODY && replaces_any(data, given);
    if (given->pid == NTR_PERF_NOBODY && time) TRY(change_at(data, time)); /* modules may change: lives.c */
    if (replaced) TRY(begin_generation(data, &(struct ntr_perf_start){.pid = given->pid, .time = time}, false));
    given->first = generation_of(last_start(data, given->pid, !replaced));
    return append(data, given) ? NTR_OK : NTR_E_MEMORY;
}

static ntr_status take_thread(struct ntr_perf_data *data, uint32_t pid, uint32_t tid, uint64_t time) {
    struct ntr_perf_thread *t = NTR_PERF_ADD(data, threads, thread_count, thread_capacity);

    if (!t) return NTR_E_MEMORY;
    *t = (struct ntr_perf_thread){tid, pid, time};
    return NTR_OK;
}

/* The kernel has process id -1 in its MMAP records. */
static ntr_status take_mmap(struct ntr_perf_data *data, const struct ntr_perf_record *r) {
    struct ntr_perf_cursor c = ntr_perf_cursor_at(r->body, r->body_size);
    struct ntr_perf_mapping m = {.pid = ntr_perf_u32(&c), .time = r->time, .life = NTR_PERF_ALWAYS};
    bool has_protection = r->type == NTR_PERF_MMAP2, executable = true;

    const uint32_t tid = ntr_perf_u32(&c);
    m.address = ntr_perf_u64(&c);
    m.length = ntr_perf_u64(&c);
    m.offset = ntr_perf_u64(&c);
    if (has_protection) {
        const uint8_t *id = ntr_perf_take(&c, 24);
        if (id && r->misc & NTR_PERF_MISC_BUILD_ID && id[0] <= sizeof m.build_id) {
            m.build_id_size = id[0];
            memcpy(m.build_id, id + 4, id[0]);
        }
        executable = ntr_perf_u32(&c) & PROT_EXECUTE;
        ntr_perf_u32(&c); /* flags */
    }
    m.path = ntr_perf_text(&c);
    if (!c.broken && m.pid != NTR_PERF_NOBODY) TRY(take_thread(data, m.pid, tid, r->time));
    if (c.broken || !executable || !m.length || !is_file(m.path, m.pid)) return NTR_OK;
    return add_mapping(data, &m, r->time);
}

static ntr_status take_comm(struct ntr_perf_data *data, const struct ntr_perf_record *r) {
    struct ntr_perf_cursor c = ntr_perf_cursor_at(r->body, r->body_size);
    uint32_t pid = ntr_perf_u32(&c), tid = ntr_perf_u32(&c);
    const char *name = ntr_perf_text(&c);

    if (c.broken) return NTR_OK;
    TRY(take_thread(data, pid, tid, r->time));
    if (r->misc & NTR_PERF_MISC_EXEC) {
        end_mappings(data, pid);
        TRY(begin_generation(data, &(struct ntr_perf_start){.pid = pid, .time = r->time, .program = true}, false));
    }
    if (pid != tid) return NTR_OK;
    struct ntr_perf_name *n = NTR_PERF_ADD(data, names, name_count, name_capacity);
    if (!n) return NTR_E_MEMORY;
    *n = (struct ntr_perf_name){pid, r->time, name};
    return NTR_OK;
}

static ntr_status inherit_name(struct ntr_perf_data *data, uint32_t parent, uint32_t child, uint64_t time) {
    const char *name = ntr_perf_task_name(data, parent);
    struct ntr_perf_name *n = *name ? NTR_PERF_ADD(data, names, name_count, name_capacity) : NULL;

    if (n) *n = (struct ntr_perf_name){child, time, name};
    return n || !*name ? NTR_OK : NTR_E_MEMORY;
}

static ntr_status take_fork(struct ntr_perf_data *data, const struct ntr_perf_record *r) {
    struct ntr_perf_cursor c = ntr_perf_cursor_at(r->body, r->body_size);
    uint32_t pid = ntr_perf_u32(&c), parent = ntr_perf_u32(&c), tid = ntr_perf_u32(&c);

    if (!c.broken && pid != NTR_PERF_NOBODY) TRY(take_thread(data, pid, tid, r->time));
    if (c.broken || pid == parent || pid == NTR_PERF_NOBODY) return NTR_OK; /* a new thread */
    bool used = end_mappings(data, pid); /* by an earlier process */
    TRY(begin_generation(data, &(struct ntr_perf_start){.pid = pid, .time = r->time, .program = true}, !used));
    for (size_t at = *list_of(data, parent); at; at = data->mappings[at - 1].previous) {
        struct ntr_perf_mapping copy = data->mappings[at - 1];
        if (copy.pid != parent) continue;
        copy.pid = pid;
        copy.first = generation_of(last_start(data, pid, false));
        if (data->mapping_count >= MAPPINGS_MAX) return NTR_E_LIMIT;
        if (!append(data, &copy)) return NTR_E_MEMORY;
    }
    return inherit_name(data, parent, pid, r->time);
}

static ntr_status take_poke(struct ntr_perf_data *data, const struct ntr_perf_record *r) {
    struct ntr_perf_cursor c = ntr_perf_cursor_at(r->body, r->body_size);
    struct ntr_perf_poke p = {.time = r->time, .address = ntr_perf_u64(&c)};

    p.before.size = ntr_perf_u16(&c);
    p.after.size = ntr_perf_u16(&c);
    p.before.data = ntr_perf_take(&c, p.before.size);
    p.after.data = ntr_perf_take(&c, p.after.size);
    struct ntr_perf_poke *poke = c.broken ? NULL : NTR_PERF_ADD(data, pokes, poke_count, poke_capacity);
    if (c.broken) return NTR_OK;
    if (!poke) return NTR_E_MEMORY;
    *poke = p;
    return change_at(data, r->time);
}

static ntr_status take(struct ntr_perf_data *data, const struct ntr_perf_record *r) {
    switch (r->type) {
    case NTR_PERF_MMAP:
    case NTR_PERF_MMAP2: return take_mmap(data, r);
    case NTR_PERF_COMM: return take_comm(data, r);
    case NTR_PERF_FORK: return take_fork(data, r);
    case NTR_PERF_TEXT_POKE: return take_poke(data, r);
    case NTR_PERF_KSYMBOL: return r->time ? change_at(data, r->time) : NTR_OK; /* bpf.c */
    default: return NTR_OK;
    }
}

static int compare_times(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int compare_threads(const void *a, const void *b) {
    const struct ntr_perf_thread *x = a, *y = b;

    if (x->tid != y->tid) return x->tid < y->tid ? -1 : 1;
    return x->time < y->time ? -1 : x->time > y->time;
}

/* At times before its first record, a thread is that of this record: records of what was there before have no time. */
uint32_t ntr_perf_process_of(const struct ntr_perf_data *data, uint64_t tid, uint64_t time) {
    size_t low = 0, high = data->thread_count; /* the first thread behind (tid, time) */

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct ntr_perf_thread *t = &data->threads[middle];
        if (t->tid < tid || (t->tid == tid && t->time <= time))
            low = middle + 1;
        else
            high = middle;
    }
    if (low && data->threads[low - 1].tid == tid) return data->threads[low - 1].pid;
    return low < data->thread_count && data->threads[low].tid == tid ? data->threads[low].pid : NTR_PERF_NOBODY;
}

ntr_status ntr_perf_tasks_read(struct ntr_perf_data *data) {
    for (size_t i = 0; i < data->file.record_count; i++) TRY(take(data, &data->file.records[i]));
    if (data->thread_count) qsort(data->threads, data->thread_count, sizeof *data->threads, compare_threads);
    if (data->change_count) qsort(data->changes, data->change_count, sizeof *data->changes, compare_times);
    return NTR_OK;
}

const char *ntr_perf_task_name(const struct ntr_perf_data *data, uint32_t pid) {
    for (size_t i = data->name_count; i-- > 0;)
        if (data->names[i].pid == pid) return data->names[i].name;
    return "";
}

ntr_status ntr_perf_count_process(struct ntr_perf_data *data, uint64_t space, uint64_t bytes) {
    size_t i = 0;

    while (i < data->process_count && data->processes[i].context != space) i++;
    if (i == data->process_count) {
        ntr_perf_process *process = NTR_PERF_ADD(data, processes, process_count, process_capacity);
        if (!process) return NTR_E_MEMORY;
        process->pid = (uint32_t)space;
        process->context = space;
        process->name = ntr_perf_task_name(data, process->pid);
    }
    data->processes[i].bytes += bytes;
    return NTR_OK;
}
