/* The slices of a timeline: frames that are left, traps with their names, and which thread ran. */
#include "analysis/timeline_state.h"
#include "base/allocator.h"

/* ---- slices */

static bool is_removable(const ntr_timeslice *s) {
    return s->kind == NTR_SLICE_FUNCTION || s->kind == NTR_SLICE_TRAP;
}

static bool too_short(const ntr_timeline *t, const ntr_timeslice *s) {
    return is_removable(s) && s->end - s->begin < t->shortest;
}

/* Doubles the minimum length and removes shorter slices until half of the space is free. */
static void coarsen(ntr_timeline *t) {
    while (t->count > t->most / 2 && t->shortest < UINT64_MAX / 2) {
        size_t kept = 0;
        t->shortest = t->shortest ? t->shortest * 2 : 1;
        for (size_t i = 0; i < t->count; i++)
            if (!too_short(t, &t->slices[i])) t->slices[kept++] = t->slices[i];
        t->count = kept;
    }
}

void ntr_timeline_add(ntr_timeline *t, const ntr_timeslice *slice) {
    if (too_short(t, slice)) return;
    if (t->count == t->most) coarsen(t);
    if (t->count < t->most && !too_short(t, slice)) t->slices[t->count++] = *slice;
}

/* ---- frames */

uint32_t ntr_timeline_open_frame(ntr_timeline *t) {
    const uint32_t index = ntr_pool_take(&t->pool, (void **)&t->open, sizeof *t->open, t->allocator);
    t->failed |= index == TIMELINE_NONE;
    return index;
}

static void free_frame(ntr_timeline *t, uint32_t index) {
    ntr_pool_give_back(&t->pool, t->open, sizeof *t->open, index);
}

/* Returns the innermost trap of the stack. */
static uint32_t *trap_of(ntr_timeline *t, uint32_t thread) {
    const size_t need = (size_t)thread + 1;
    if (ntr_reserve(t->allocator, (void **)&t->traps, &t->trap_capacity, need, sizeof *t->traps)) {
        t->failed = true;
        return NULL;
    }
    while (t->trap_count < need) t->traps[t->trap_count++] = TIMELINE_NONE;
    return &t->traps[thread];
}

/* A name that no function has becomes a function, so that all slices have numbers. */
static uint32_t number_of(ntr_timeline *t, const struct open_frame *open) {
    if (!open->name.name) return open->function;
    const uint32_t number = ntr_functions_named(t->functions, open->name.name);
    if (number == UINT32_MAX) t->failed = true;
    return number;
}

void ntr_timeline_finish_trap(ntr_timeline *t) {
    if (t->left.index == TIMELINE_NONE) return;
    const struct open_frame *open = &t->open[t->left.index];
    if (open->thread < t->trap_count && t->traps[open->thread] == t->left.index) t->traps[open->thread] = open->outer;
    t->left.slice.value = number_of(t, open);
    ntr_timeline_add(t, &t->left.slice);
    free_frame(t, t->left.index);
    t->left.index = TIMELINE_NONE;
}

static bool same_task(const ntr_task *a, const ntr_task *b) {
    if (!a || !b) return a == b;
    return a->has_pid == b->has_pid && a->pid == b->pid &&
           (a->has_pid ? a->pid || a->task == b->task : a->task == b->task);
}

void ntr_timeline_end_run(ntr_timeline *t, uint16_t src) {
    struct timeline_hart *hart = &t->harts[src];
    const ntr_timeslice slice = {
        .begin = hart->task_since, .end = hart->now, .src = src, .kind = NTR_SLICE_RUN, .task = hart->task};
    if (hart->task && slice.end > slice.begin) ntr_timeline_add(t, &slice);
    hart->task = NULL;
}

static void note_task(ntr_timeline *t, const ntr_stack_moment *moment) {
    struct timeline_hart *hart = &t->harts[moment->src];
    if (!moment->task || same_task(hart->task, moment->task)) return;
    ntr_timeline_end_run(t, moment->src);
    hart->task = moment->task;
    hart->task_since = hart->now;
}

static bool is_trap(const ntr_stack_frame *frame) {
    return frame->kind == NTR_FRAME_EXCEPTION || frame->kind == NTR_FRAME_INTERRUPT;
}

/* The frame of a trap; or a call of it, whose function may name it. */
static void enter_trap(ntr_timeline *t, uint32_t index, const ntr_stack_moment *moment, const ntr_stack_frame *frame) {
    uint32_t *innermost = trap_of(t, moment->thread);
    if (!innermost) return;
    if (is_trap(frame) && *innermost != index) {
        t->open[index].thread = moment->thread;
        t->open[index].outer = *innermost;
        t->open[index].name.kind = frame->kind;
        *innermost = index;
    }
    if (*innermost != TIMELINE_NONE) ntr_trap_naming_enter(&t->open[*innermost].name, t->functions, moment, frame);
}

uint32_t ntr_timeline_enter(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool tail) {
    ntr_timeline *t = user;
    uint32_t index = t->left.index;

    note_task(t, moment);
    if (tail && is_trap(frame) && index != TIMELINE_NONE && t->open[index].thread == moment->thread) {
        t->left.index = TIMELINE_NONE;
        if (!t->open[index].tailed) t->open[index].function = frame->function;
        t->open[index].tailed = true;
    } else {
        ntr_timeline_finish_trap(t);
        index = ntr_timeline_open_frame(t);
        if (index == TIMELINE_NONE) return index;
        t->open[index] = (struct open_frame){.begin = t->harts[moment->src].now,
                                             .order = t->entered++,
                                             .task = moment->task,
                                             .function = frame->function,
                                             .outer = TIMELINE_NONE};
    }
    enter_trap(t, index, moment, frame);
    return index;
}

void ntr_timeline_leave(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool lost) {
    ntr_timeline *t = user;
    uint32_t index = frame->handle, change;

    (void)lost;
    ntr_timeline_finish_trap(t);
    note_task(t, moment);
    if (index >= t->pool.used) return;
    ntr_timeslice slice = {
        .begin = t->open[index].begin,
        .end = ntr_callstack_late(t->stack, &change) ? t->late[change] : t->harts[moment->src].now,
        .value = frame->function,
        .context = moment->context && moment->context->has_scontext ? moment->context->scontext : 0,
        .order = t->open[index].order,
        .src = moment->src,
        .kind = is_trap(frame) ? NTR_SLICE_TRAP : NTR_SLICE_FUNCTION,
        .frame = frame->kind,
        .task = t->open[index].task,
    };
    if (slice.end < slice.begin) slice.end = slice.begin;
    if (is_trap(frame)) {
        t->left = (struct left_trap){index, slice};
        return;
    }
    free_frame(t, index);
    ntr_timeline_add(t, &slice);
}

/* ---- threads that moved */

void ntr_timeline_note_late(void *user, uint32_t number, uint16_t src, uint32_t thread) {
    ntr_timeline *t = user;

    (void)thread;
    t->late[number] = t->harts[src].now;
}

/* The traps of the first stack are inside those of the second one. */
void ntr_timeline_join_late(void *user, uint32_t from, uint32_t to) {
    ntr_timeline *t = user;

    ntr_timeline_finish_trap(t);
    if (!trap_of(t, from) || !trap_of(t, to)) return;
    const uint32_t outer = t->traps[to];
    for (uint32_t at = t->traps[from]; at != TIMELINE_NONE;) {
        struct open_frame *open = &t->open[at];
        at = open->outer;
        open->thread = to;
        if (at == TIMELINE_NONE) open->outer = outer;
    }
    if (t->traps[from] != TIMELINE_NONE) t->traps[to] = t->traps[from];
    t->traps[from] = TIMELINE_NONE;
}
