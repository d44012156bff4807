/* Runs: in which context each hart was. */
#include "explore/index.h"

#include "base/allocator.h"
#include "base/macros.h"

static ntr_status add(ntr_runs *runs, const ntr_run *run) {
    if (run->end - run->begin < runs->least || run->end == run->begin) return NTR_OK;
    while (runs->count >= NTR_RUNS_MAX) {
        size_t kept = 0;
        runs->least = runs->least ? 2 * runs->least : 2;
        for (size_t i = 0; i < runs->count; i++)
            if (runs->items[i].end - runs->items[i].begin >= runs->least) runs->items[kept++] = runs->items[i];
        runs->count = kept;
    }
    if (run->end - run->begin < runs->least) return NTR_OK;
    if (ntr_reserve(runs->allocator, (void **)&runs->items, &runs->capacity, runs->count + 1, sizeof *runs->items))
        return NTR_E_MEMORY;
    runs->items[runs->count++] = *run;
    return NTR_OK;
}

ntr_status ntr_runs_change(ntr_runs *runs, uint64_t position, uint16_t src, const ntr_context *context) {
    size_t i = 0;
    while (i < runs->open_count && runs->open[i].src != src) i++;
    if (i == runs->open_count) {
        if (ntr_reserve(runs->allocator, (void **)&runs->open, &runs->open_capacity, i + 1, sizeof *runs->open))
            return NTR_E_MEMORY;
        runs->open_count++;
    } else {
        runs->open[i].end = position;
        TRY(add(runs, &runs->open[i]));
    }
    runs->open[i] = (ntr_run){.begin = position, .src = src, .context = *context};
    return NTR_OK;
}

ntr_status ntr_runs_end(ntr_runs *runs, uint64_t position) {
    for (size_t i = 0; i < runs->open_count; i++) {
        runs->open[i].end = position;
        TRY(add(runs, &runs->open[i]));
    }
    runs->open_count = 0;
    return NTR_OK;
}

void ntr_runs_release(ntr_runs *runs) {
    ntr_dealloc(runs->allocator, runs->items);
    ntr_dealloc(runs->allocator, runs->open);
}
