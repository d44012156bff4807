/* The entries of ntr_tasks of a hart: which thread it runs at a place of the stream. */
#include "analysis/callstack.h"
#include "analysis/callstack_state.h"

const ntr_task *ntr_hart_current_task(const hart *h) {
    return h->task_at ? &h->tasks[h->task_at - 1] : NULL;
}

/* Takes the entries up to `offset` that are not about another thread: it has a new name. */
static void update_task(hart *h, uint64_t offset) {
    while (h->task_at && h->task_at < h->task_count && h->tasks[h->task_at].position <= offset &&
           h->tasks[h->task_at].task == h->tasks[h->task_at - 1].task)
        h->task_at++;
}

void ntr_hart_begin(hart *h, uint64_t offset) {
    h->begun = true;
    while (h->task_at < h->task_count && h->tasks[h->task_at].position <= offset) h->task_at++;
}

const ntr_task *ntr_hart_task(hart *h, uint64_t offset) {
    if (!h->task_at) return NULL;
    update_task(h, offset);
    return ntr_hart_current_task(h);
}

const ntr_task *ntr_hart_next_task(hart *h, uint64_t offset) {
    update_task(h, offset);
    if (h->task_at == h->task_count || h->tasks[h->task_at].position > offset) return NULL;
    return &h->tasks[h->task_at++];
}

const ntr_task *ntr_callstack_task(ntr_callstack *cs, uint16_t src, uint64_t offset) {
    for (size_t i = 0; i < cs->hart_count; i++)
        if (cs->harts[i].src == src) return ntr_hart_task(&cs->harts[i], offset);
    return NULL;
}
