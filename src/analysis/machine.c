/* What an operating system did: the events of a trace, seen through the functions that they enter and leave
 * (machine_elements.c) and the threads in which they are executed. */
#include "analysis/machine_state.h"
#include "base/allocator.h"

#include <ntrace/params.h>
#include <string.h>

/* ---- threads */

static ntr_thread describe(const machine_source *hart, const ntr_event *e, const ntr_task *task, bool user) {
    ntr_thread like = {.src = e->src};
    if (task) {
        like.name = task->name;
        like.pid = task->pid;
        like.tgid = task->tgid;
        like.has_pid = task->has_pid;
        return like;
    }
    like.user = user;
    like.has_hcontext = e->context.v && e->context.has_hcontext;
    like.hcontext = like.has_hcontext ? e->context.hcontext : 0;
    like.has_scontext = hart->has_scontext && user;
    like.scontext = like.has_scontext ? hart->scontext : 0;
    return like;
}

/* Is it the hypervisor, or the guest, that the row is for? */
static bool same_guest(const ntr_thread *row, const ntr_context *context) {
    const bool guest = context->v && context->has_hcontext;
    return row->has_hcontext == guest && (!guest || row->hcontext == context->hcontext);
}

/* Without tasks a thread is known by the address space of its U-mode, and by the guest of a hypervisor. */
static void update_row(ntr_machine *m, machine_thread *thread, const ntr_event *e) {
    const ntr_task *task = ntr_callstack_task(m->stacks, e->src, e->offset);
    const bool user = e->context.prv == 0, known = thread->row != MACHINE_NONE;
    const machine_source *hart = &m->harts[e->src];
    if (known && task == thread->task) {
        const ntr_thread *row = &m->rows[thread->row];
        if (task || (same_guest(row, &e->context) && (!user || (row->user && row->scontext == e->context.scontext))))
            return;
    }
    ntr_thread like = describe(hart, e, task, user);
    const ntr_tasks *tasks = ntr_functions_tasks(m->functions);
    const ntr_task *owner = !task && tasks && like.has_scontext ? ntr_tasks_context(tasks, like.scontext) : NULL;
    if (owner) {
        like.name = owner->name;
        like.has_pid = owner->has_pid;
        like.pid = owner->pid;
        like.tgid = owner->tgid;
    }
    thread->row = ntr_machine_thread_row(m, &like);
    thread->task = task;
}

static unsigned mode_of(const ntr_context *context) {
    static const uint8_t modes[2][3] = {{NTR_PRIVILEGE_U, NTR_PRIVILEGE_S, NTR_PRIVILEGE_M},
                                        {NTR_PRIVILEGE_VU, NTR_PRIVILEGE_VS, NTR_PRIVILEGE_VS}};
    return context->prv > 2 ? NTR_PRIVILEGE_M : modes[context->v != 0][context->prv];
}

/* The phases before the first function of the kernel. */
static void note_begin(ntr_machine *m, const ntr_event *e) {
    if (e->context.prv == 1 && !m->supervisor) {
        m->supervisor = true;
        ntr_machine_phase(m, "supervisor: before start_kernel", e->src);
    }
    if (!m->phase_count) m->boot_src = e->src;
    if (m->phase_count == m->boot)
        ntr_machine_phase(m, e->context.prv == 3 ? "boot ROM and firmware" : "begin of the trace", e->src);
}

/* The phases begin anew. All harts are reset at once: the one that began the trace counts. */
static void note_reset(ntr_machine *m, const ntr_event *e) {
    if (!m->phase_count || e->src != m->boot_src) return;
    m->boot = m->phase_count;
    m->supervisor = m->user = false;
}

/* Can times of the hart be compared with that of the begin of the trace? */
static bool is_begins_clock(const ntr_machine *m, uint16_t src) {
    return !m->own_clocks || src == m->begin_src;
}

static void note_user(ntr_machine *m, const ntr_event *e, const ntr_task *task) {
    ntr_machine_totals *t = &m->totals;
    if (e->context.prv != 0 || m->user || (task && task->has_pid && task->pid != 1)) return;
    m->user = true;
    ntr_machine_phase(m, "user mode", e->src);
    if (t->has_user) return;
    t->has_user = true;
    t->user_instructions = t->instructions;
    t->user_time = m->harts[e->src].time;
    t->user_timed = m->harts[e->src].timed && is_begins_clock(m, e->src);
}

static ntr_status count_span(ntr_machine *m, const machine_source *hart, machine_thread *thread, const ntr_event *e) {
    const unsigned mode = mode_of(&e->context);
    const uint64_t executed = ntr_event_executed(e);
    m->rows[thread->row].instructions[mode] += executed;
    m->totals.modes[mode] += executed;
    m->totals.has_modes |= e->context.prv != NTR_PRV_UNKNOWN;
    thread->instructions += executed;
    m->totals.instructions += executed;
    if (!m->stretches || ntr_stretch_state_span(m->stretches, e, &thread->stretch, hart->time, hart->timed))
        return NTR_OK;
    return NTR_E_MEMORY;
}

static ntr_status take_span(ntr_machine *m, const ntr_event *e) {
    machine_source *hart = &m->harts[e->src];
    m->totals.harts += !hart->executes;
    hart->executes = true;
    note_begin(m, e);
    if (!ntr_callstack_frame(m->stacks, e)) return NTR_E_MEMORY;
    const ntr_callstack_run run = ntr_callstack_running(m->stacks, e->src);
    machine_thread *thread = ntr_machine_thread(m, run.thread);
    if (!thread) return NTR_E_MEMORY;
    const bool begins = hart->thread != run.thread || hart->run != run.number || !thread->used;
    if (begins && run.fresh) {
        thread->row = MACHINE_NONE;
        thread->stretch = (ntr_stretch_thread){0};
    }
    update_row(m, thread, e);
    if (thread->row == MACHINE_NONE) return NTR_E_MEMORY;
    ntr_thread *row = &m->rows[thread->row];
    note_user(m, e, thread->task);
    if (begins) {
        row->runs++;
        thread->since = thread->instructions;
    }
    hart->thread = run.thread;
    hart->run = run.number;
    thread->used = true;
    row->user = row->user || e->context.prv == 0;
    return count_span(m, hart, thread, e);
}

static bool may_stay(const ntr_event *e) {
    return e->kind == NTR_EVENT_SPAN && (e->end <= NTR_SPAN_JUMP || e->end == NTR_SPAN_INDIRECT_JUMP);
}

/* Most spans stay in the function of the span before. */
static bool stays(const machine_source *hart, const ntr_event *e) {
    if (!hart->stays || e->kind != NTR_EVENT_SPAN || e->flags & (NTR_EVENT_TARGET_UNKNOWN | NTR_EVENT_TIME))
        return false;
    return may_stay(e) && ntr_function_range_holds(&hart->code, e->target, e->offset);
}

/* What ran on the stack of an unknown thread was executed by this one, in the kernel. */
static void take_found(ntr_machine *m, uint16_t src) {
    uint32_t from, to;
    if (!ntr_callstack_found(m->stacks, &from, &to) || !ntr_machine_thread(m, to) || !ntr_machine_thread(m, from))
        return;
    const uint64_t moved = m->threads[from].instructions - m->threads[from].since;
    const uint32_t source = m->threads[from].row, target = m->threads[to].row;
    m->threads[to].since = m->threads[to].instructions;
    m->threads[to].instructions += moved;
    m->threads[from].since = m->threads[from].instructions;
    m->harts[src].thread = to;
    if (source == MACHINE_NONE || target == MACHINE_NONE || m->rows[source].instructions[NTR_PRIVILEGE_S] < moved)
        return;
    m->rows[source].instructions[NTR_PRIVILEGE_S] -= moved;
    m->rows[target].instructions[NTR_PRIVILEGE_S] += moved;
    if (m->rows[source].runs) m->rows[source].runs--;
    m->rows[target].runs++;
}

/* ---- threads that moved */

static void begin_late(void *user, uint32_t thread) {
    machine_thread *t = ntr_machine_thread(user, thread);
    if (!t) return;
    t->before = t->since = t->instructions;
    t->row = MACHINE_NONE;
    t->task = NULL;
    t->stretch = (ntr_stretch_thread){0};
    t->used = false;
}

static void note_late(void *user, uint32_t number, uint16_t src, uint32_t thread) {
    ntr_machine *m = user;
    const machine_source *hart = &m->harts[src];
    const machine_thread *t = ntr_machine_thread(m, thread);
    m->late[number] = (machine_late){t ? t->instructions : 0, hart->time, thread, src, hart->timed};
}

/* What thread `from` did, `to` did behind what it had done. */
static void join_late(void *user, uint32_t from, uint32_t to) {
    ntr_machine *m = user;
    ntr_machine_finish_ended(m);
    if (!ntr_machine_thread(m, from) || !ntr_machine_thread(m, to)) return;
    machine_thread *f = &m->threads[from], *t = &m->threads[to];
    const uint64_t until = t->instructions, done = f->instructions - f->before;
    for (uint32_t at = f->open, outer; at != MACHINE_NONE; at = outer) {
        machine_open *open = &m->opens[at];
        outer = open->outer;
        open->instructions = until + open->instructions - f->before;
        if (outer == MACHINE_NONE) open->outer = t->open;
    }
    if (f->open != MACHINE_NONE) t->open = f->open;
    t->instructions = until + done;
    if (f->used) {
        t->since = until + f->since - f->before;
        t->row = f->row;
        t->task = f->task;
        t->stretch = f->stretch;
    }
    f->open = MACHINE_NONE;
    f->before = f->since = f->instructions;
    for (unsigned i = 0; i < NTR_SOURCES_MAX; i++)
        if (m->harts[i].thread == from) m->harts[i].thread = to;
}

/* ---- events */

static void take_time(ntr_machine *m, const ntr_event *e) {
    machine_source *hart = &m->harts[e->src];
    if (!(e->flags & NTR_EVENT_TIME)) return;
    if (hart->timed && e->time > hart->time && hart->thread < m->thread_count) {
        const uint32_t row = m->threads[hart->thread].row;
        if (row != MACHINE_NONE) m->rows[row].ticks += e->time - hart->time;
    }
    if (!m->totals.timed) m->totals.begin = m->totals.end = m->phase_time = e->time, m->begin_src = e->src;
    m->totals.timed = hart->timed = true;
    hart->time = e->time;
    if (!is_begins_clock(m, e->src)) return;
    if (e->time > m->totals.end) m->totals.end = e->time;
    if (e->time < m->totals.begin) m->totals.begin = e->time;
}

static void take_context(ntr_machine *m, const ntr_event *e) {
    machine_source *hart = &m->harts[e->src];
    if (hart->has_scontext && e->context.has_scontext && hart->scontext != e->context.scontext) m->totals.spaces++;
    hart->has_scontext = e->context.has_scontext;
    hart->scontext = e->context.scontext;
}

static ntr_status take(ntr_machine *m, const ntr_event *e) {
    if (e->src >= NTR_SOURCES_MAX) return NTR_OK;
    machine_source *hart = &m->harts[e->src];
    if (stays(hart, e)) return count_span(m, hart, &m->threads[hart->thread], e);
    take_time(m, e);
    take_context(m, e);
    if (e->kind == NTR_EVENT_GAP) m->totals.gaps++;
    if (e->kind == NTR_EVENT_SYNC && e->code == NTR_SYNC_RESET) note_reset(m, e);
    if (m->stretches && e->kind == NTR_EVENT_GAP) ntr_stretch_state_lose(m->stretches, e->src);
    ntr_status status = e->kind == NTR_EVENT_SPAN ? take_span(m, e) : NTR_OK;
    if (!status) status = ntr_callstack_feed(m->stacks, e);
    take_found(m, e->src);
    ntr_machine_finish_ended(m);
    uint32_t handle;
    hart->stays = !status && may_stay(e) && ntr_callstack_stays(m->stacks, e, &hart->code, &handle);
    return status;
}

ntr_status ntr_machine_feed(ntr_machine *m, const ntr_event *events, size_t count) {
    ntr_status status = NTR_OK;
    for (size_t i = 0; i < count && !status; i++) status = take(m, &events[i]);
    if (count) m->last = events[count - 1];
    return m->failed ? NTR_E_MEMORY : status;
}

ntr_status ntr_machine_finish(ntr_machine *m) {
    ntr_machine_finish_ended(m);
    ntr_callstack_finish(m->stacks, &m->last);
    ntr_machine_finish_ended(m);
    m->totals.switches = ntr_callstack_switches(m->stacks);
    ntr_machine_sort(m);
    return m->failed ? NTR_E_MEMORY : NTR_OK;
}

void ntr_machine_set_clocks(ntr_machine *m, bool own) {
    m->own_clocks = own;
}

ntr_status ntr_machine_totals_get(const ntr_machine *m, ntr_machine_totals *totals) {
    const size_t size = totals->size < sizeof *totals ? totals->size : sizeof *totals;
    if (size < sizeof totals->size) return NTR_E_INVALID;
    const size_t own = totals->size;
    memcpy(totals, &m->totals, size);
    totals->size = own;
    return NTR_OK;
}

ntr_status ntr_machine_watch(ntr_machine *m) {
    if (!m->program || m->stretches) return NTR_OK;
    m->stretches = ntr_stretch_state_new(m->program, m->functions, m->allocator);
    return m->stretches ? NTR_OK : NTR_E_MEMORY;
}

const ntr_stretches *ntr_machine_stretches(const ntr_machine *m) {
    return m->stretches ? ntr_stretch_state_all(m->stretches) : NULL;
}

ntr_status ntr_machine_new(const ntr_program *program, ntr_functions *functions, const ntr_allocator *allocator,
                           ntr_machine **out) {
    *out = NULL;
    ntr_machine *m = ntr_alloc(allocator, 1, sizeof *m);
    if (!m) return NTR_E_MEMORY;
    m->allocator = allocator;
    m->program = program;
    m->functions = functions;
    m->ended = MACHINE_NONE;
    const ntr_stack_listener listener = {ntr_machine_enter, ntr_machine_leave, m};
    ntr_callstack_new(functions, &listener, allocator, &m->stacks);
    m->harts = ntr_alloc(allocator, NTR_SOURCES_MAX, sizeof *m->harts);
    if (m->stacks && m->harts) {
        const ntr_late_listener late = {begin_late, note_late, join_late, m};
        ntr_callstack_listen_late(m->stacks, &late);
        *out = m;
        return NTR_OK;
    }
    ntr_machine_free(m);
    return NTR_E_MEMORY;
}

void ntr_machine_free(ntr_machine *m) {
    if (!m) return;
    ntr_callstack_free(m->stacks);
    ntr_stretch_state_free(m->stretches);
    for (size_t i = 0; i < m->trap_count; i++) ntr_dealloc(m->allocator, m->traps[i]);
    void *const blocks[] = {
        m->harts, m->threads, m->opens, m->traps, m->trap_of, m->rows, m->initcalls, m->initcall_functions, m->phases};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) ntr_dealloc(m->allocator, blocks[i]);
    ntr_dealloc(m->allocator, m);
}
