/* Which thread's stack a hart executes on, behind a switch of threads.
 *
 * With ntr_tasks: a switch belongs to the next entry of its hart. An entry has the number of bytes that the stream had
 * when the thread began to run; the message that reports the switch was written later, so an entry with a position
 * behind that message belongs to a later switch.
 *
 * Without: all threads continue at the same address, behind the switch. But each has its own callers, which the
 * addresses of the following returns show. Until only one thread fits, the hart has a stack that begins empty. Example:
 * of three threads that were left in schedule(), the one called by worker_thread() is found when schedule() returns
 * there. */
#include "analysis/callstack.h"
#include "analysis/callstack_state.h"

#include "base/allocator.h"

enum { ECALL_SIZE = 4 };
enum { KEPT_THREADS_MAX = 1 << 16 };      /* further threads take the stack of the one that was left first */
enum { CANDIDATES_MAX = 1 << 10 };   /* stacks that are compared for one return */

static ntr_os_role role_of(const change *c, const ntr_stack_frame *frame) {
    return (ntr_os_role)ntr_functions_role(c->cs->functions, frame->function).role;
}

/* Other programs have a function of that name, too. Who has called the first frame is not known. */
bool ntr_threads_leaves(const change *c) {
    const stack *s = c->stack;
    if (!s->depth || role_of(c, &s->frames[s->depth - 1]) != NTR_OS_SWITCH) return false;
    if (s->depth == 1) return true;
    const ntr_function *caller = ntr_functions_get(c->cs->functions, s->frames[s->depth - 2].function);
    return caller && ntr_role_calls_switch(caller->linkage);
}

/* ---- stacks of threads */

static void select_stack(change *c, size_t index) {
    c->hart->current = index;
    c->stack = &c->cs->stacks[index];
    c->stack->thread = true;
    c->stack->parked = c->stack->free = false;
    c->stack->src = c->hart->src;
}

size_t ntr_threads_empty_stack(change *c) {
    ntr_callstack *cs = c->cs;
    size_t oldest = 0;
    for (size_t i = 0; i < cs->stack_count; i++) {
        if (cs->stacks[i].free) {
            ntr_stack_frame *frames = cs->stacks[i].frames;
            cs->stacks[i] = (stack){.frames = frames, .capacity = cs->stacks[i].capacity, .context = c->hart->context};
            return i;
        }
        if (cs->stacks[i].parked &&
            (!cs->stacks[oldest].parked || cs->stacks[i].parked_at < cs->stacks[oldest].parked_at))
            oldest = i;
    }
    if (cs->stack_count >= KEPT_THREADS_MAX && cs->stacks[oldest].parked) {
        change drop = *c;
        drop.stack = &cs->stacks[oldest];
        ntr_callstack_pop(&drop, 0, true);
        ntr_late_drop(cs, drop.stack);
        drop.stack->user = false;
        return oldest;
    }
    if (ntr_reserve(cs->allocator, (void **)&cs->stacks, &cs->stack_capacity, cs->stack_count + 1, sizeof *cs->stacks))
        return SIZE_MAX;
    cs->stacks[cs->stack_count] = (stack){.context = c->hart->context};
    return cs->stack_count++;
}

/* Returns whether one of the innermost frames is of a function with this role. */
static bool has_inner(const change *c, ntr_os_role role) {
    enum { INNERMOST = 12 };
    const stack *s = c->stack;
    for (size_t i = 0; i < INNERMOST && i < s->depth; i++)
        if (role_of(c, &s->frames[s->depth - 1 - i]) == role) return true;
    return false;
}

/* A thread that called its end never continues. */
static ntr_status park(change *c) {
    stack *s = c->stack;
    s->thread = true;
    if (!s->task && ntr_hart_current_task(c->hart))
        s->task = ntr_hart_current_task(c->hart)->task; /* the first one of the hart */
    const bool ended = has_inner(c, NTR_OS_EXIT);
    s->gone = ended && s->waits;
    s->free = ended && !s->waits;
    s->parked = !ended;
    s->parked_at = ++c->cs->switches;
    if (ended) ntr_callstack_pop(c, 0, true);
    return s->task ? ntr_late_join(c) : NTR_OK;
}

static size_t stack_of_task(change *c, uint64_t task) {
    for (size_t i = 0; i < c->cs->stack_count; i++)
        if (c->cs->stacks[i].task == task && c->cs->stacks[i].parked) return i;
    const bool elsewhere = ntr_late_elsewhere(c, task);
    const size_t index = ntr_threads_empty_stack(c);
    if (index == SIZE_MAX || !elsewhere) return index;
    ntr_late_begin(c->cs, index);
    return index;
}

/* ---- finding a thread by its callers */

static const ntr_stack_frame *frame_below(const stack *s, size_t below) {
    return below < s->depth ? &s->frames[s->depth - 1 - below] : NULL;
}

/* A thread that was in U-mode runs in its own address space, also in the kernel. Kernel threads run in any. */
static bool returns_fit(const hart *h, const stack *s) {
    if (s->user && h->context.has_scontext && s->user_context != h->context.scontext) return false;
    for (size_t i = 0; i < h->return_count; i++) {
        const ntr_stack_frame *frame = frame_below(s, i);
        if (!frame || frame->kind != NTR_FRAME_CALL || frame->return_to != h->returns[i]) return false;
    }
    return true;
}

/* Returns whether the thread continues behind its trap with `target`. */
static bool trap_fits(const hart *h, const stack *s, uint64_t target) {
    const ntr_stack_frame *frame = frame_below(s, h->return_count);
    if (!frame || (frame->kind != NTR_FRAME_EXCEPTION && frame->kind != NTR_FRAME_INTERRUPT)) return false;
    return frame->return_to == target || frame->return_to + ECALL_SIZE == target;
}

static void adopt(change *c, size_t index) {
    const size_t gone = c->hart->return_count;
    ntr_callstack_pop(c, 0, false);
    c->stack->free = true;
    c->hart->guessing = false;
    c->cs->found = c->hart->current + 1;
    c->cs->found_as = index;
    select_stack(c, index);
    ntr_callstack_pop(c, c->stack->depth - gone, false);
}

/* Counts the threads that fit. *found is the one of them that was left last: only their callers tell them apart. */
static size_t count_fits(const change *c, uint64_t target, bool trap, size_t *found) {
    const hart *h = c->hart;
    size_t fits = 0, compared = 0;
    *found = SIZE_MAX;
    for (size_t i = c->cs->stack_count; i-- > 0 && compared < CANDIDATES_MAX;) {
        const stack *s = &c->cs->stacks[i];
        if (!s->parked) continue;
        compared++;
        if (!returns_fit(h, s) || (trap && !trap_fits(h, s, target))) continue;
        fits++;
        if (*found == SIZE_MAX || s->parked_at > c->cs->stacks[*found].parked_at) *found = i;
    }
    return fits;
}

bool ntr_threads_find(change *c, uint64_t target, bool trap) {
    hart *h = c->hart;
    size_t found;
    if (!trap) h->returns[h->return_count++] = target;
    const size_t fits = count_fits(c, target, trap, &found);
    if (!fits) h->guessing = false; /* a new thread */
    if (!fits || (fits > 1 && !trap && h->return_count < RETURNS_MAX)) return false;
    adopt(c, found);
    return true;
}

/* The hart leaves a thread that it has not found yet. Its frames, but for the outermost, which continues the one of the
 * thread, move to one of those that fit. */
static ntr_status find_late(change *c) {
    size_t found;
    if (!c->hart->guessing || !count_fits(c, 0, false, &found)) return NTR_OK;
    stack *from = c->stack, *to = &c->cs->stacks[found];
    const size_t moved = from->depth ? from->depth - 1 : 0, gone = c->hart->return_count;
    if (to->depth < gone) return NTR_OK;
    if (ntr_reserve(c->cs->allocator, (void **)&to->frames, &to->capacity, to->depth + moved, sizeof *to->frames))
        return NTR_E_MEMORY;
    from->depth -= moved;
    adopt(c, found);
    for (size_t i = 0; i < moved; i++) to->frames[to->depth++] = from->frames[1 + i];
    return NTR_OK;
}

static bool any_left_in(const change *c, uint32_t function) {
    for (size_t i = 0; i < c->cs->stack_count; i++) {
        const stack *s = &c->cs->stacks[i];
        if (s->parked && s->depth && s->frames[s->depth - 1].function == function) return true;
    }
    return false;
}

/* ---- events */

ntr_status ntr_threads_switch(change *c, uint64_t target) {
    hart *h = c->hart;
    ntr_callstack_pop(c, c->stack->depth - 1, false);
    const uint32_t function = ntr_functions_at(c->cs->functions, ntr_place_at(&h->context, c->event->offset, target));
    if (find_late(c) != NTR_OK || park(c) != NTR_OK) return NTR_E_MEMORY;
    const ntr_task *task = ntr_hart_next_task(h, c->event->offset);
    h->threaded = true;
    h->return_count = 0;
    h->guessing = !task && any_left_in(c, function);
    size_t next = task ? stack_of_task(c, task->task) : ntr_threads_empty_stack(c);
    if (next == SIZE_MAX) return NTR_E_MEMORY;
    select_stack(c, next);
    if (task) c->stack->task = task->task;
    h->run++;
    h->fresh = !c->stack->depth;
    if (c->stack->depth && c->stack->frames[c->stack->depth - 1].function != function) ntr_callstack_pop(c, 0, true);
    return NTR_OK;
}

/* The scheduler writes satp for the next thread while the stack is still that of the previous one; an exec writes it
 * for its own thread. */
static void note_space(change *c) {
    stack *s = c->stack;
    const ntr_context *context = &c->hart->context;
    if (!context->has_scontext || (!s->waits && (!s->user || s->user_context == context->scontext)) ||
        !has_inner(c, NTR_OS_EXEC))
        return;
    s->user_context = context->scontext;
    s->new_program = true;
}

void ntr_threads_context(change *c) {
    stack *s = c->stack;
    const ntr_context *context = &c->hart->context;
    if (context->prv != 0) {
        if (context->prv == 1) note_space(c);
        return;
    }
    c->hart->guessing = false;
    const bool moved = s->user && context->has_scontext && s->user_context != context->scontext;
    if (s->waits && s->new_program) ntr_late_note_all(c);
    if (moved || s->new_program) ntr_callstack_pop(c, 0, false);
    s->new_program = false;
    s->user = context->has_scontext;
    s->user_context = context->scontext;
}

void ntr_threads_gap(change *c, uint64_t until) {
    hart *h = c->hart;
    bool other = false;
    h->guessing = false;
    for (; h->task_at < h->task_count && h->tasks[h->task_at].position < until; h->task_at++)
        other = !h->task_at || h->tasks[h->task_at].task != h->tasks[h->task_at - 1].task || other;
    if (!other || !h->threaded) return;
    if (park(c) != NTR_OK) return;
    size_t next = stack_of_task(c, ntr_hart_current_task(h)->task);
    if (next == SIZE_MAX) return;
    select_stack(c, next);
    c->stack->task = ntr_hart_current_task(h)->task;
    ntr_callstack_pop(c, 0, true);
}
