/* Which process runs on a CPU at a time: from the context switches.
 *
 * SWITCH is of the task in the id block, which begins or ends to run. SWITCH_CPU_WIDE also names the other one. A task
 * that ends to run without a named successor is followed by nobody known, so the CPU keeps it until the next record. */
#include "perf/state.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <stdlib.h>

static ntr_status add(struct ntr_perf_data *data, uint32_t cpu, uint32_t pid, uint64_t time) {
    struct ntr_perf_switch *s = NTR_PERF_ADD(data, switches, switch_count, switch_capacity);

    if (!s) return NTR_E_MEMORY;
    *s = (struct ntr_perf_switch){.cpu = cpu, .pid = pid, .time = time};
    return NTR_OK;
}

static ntr_status take(struct ntr_perf_data *data, const struct ntr_perf_record *r) {
    struct ntr_perf_cursor c = ntr_perf_cursor_at(r->body, r->body_size);
    bool out = r->misc & NTR_PERF_MISC_OUT;
    uint32_t pid;

    switch (r->type) {
    case NTR_PERF_SWITCH_CPU_WIDE:
        data->switch_seen = true;
        pid = ntr_perf_u32(&c);
        if (c.broken) return NTR_OK;
        return add(data, r->cpu, out ? pid : r->pid, r->time);
    case NTR_PERF_SWITCH: data->switch_seen = true; return out ? NTR_OK : add(data, r->cpu, r->pid, r->time);
    case NTR_PERF_ITRACE_START: pid = ntr_perf_u32(&c); return c.broken ? NTR_OK : add(data, r->cpu, pid, r->time);
    default: return NTR_OK;
    }
}

static int by_cpu(const void *a, const void *b) {
    const struct ntr_perf_switch *x = a, *y = b;

    if (x->cpu != y->cpu) return x->cpu < y->cpu ? -1 : 1;
    return x->time < y->time ? -1 : x->time > y->time;
}

/* Two records of one switch, and a task that goes on after its own time slice, are no change. */
static void merge_equal(struct ntr_perf_data *data) {
    size_t kept = 0;

    for (size_t i = 0; i < data->switch_count; i++) {
        const struct ntr_perf_switch *last = kept ? &data->switches[kept - 1] : NULL;
        if (last && last->cpu == data->switches[i].cpu && last->pid == data->switches[i].pid) continue;
        data->switches[kept++] = data->switches[i];
    }
    data->switch_count = kept;
}

ntr_status ntr_perf_running_read(struct ntr_perf_data *data) {
    for (size_t i = 0; i < data->file.record_count; i++) TRY(take(data, &data->file.records[i]));
    if (data->switch_count) qsort(data->switches, data->switch_count, sizeof *data->switches, by_cpu);
    merge_equal(data);
    return NTR_OK;
}

uint32_t ntr_perf_running_at(const struct ntr_perf_data *data, uint32_t cpu, uint64_t time, uint64_t *next) {
    size_t low = 0, high = data->switch_count; /* the first switch behind `time` */

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct ntr_perf_switch *s = &data->switches[middle];
        if (s->cpu < cpu || (s->cpu == cpu && s->time <= time))
            low = middle + 1;
        else
            high = middle;
    }
    *next = low < data->switch_count && data->switches[low].cpu == cpu ? data->switches[low].time : UINT64_MAX;
    return low && data->switches[low - 1].cpu == cpu ? data->switches[low - 1].pid : NTR_PERF_NOBODY;
}
