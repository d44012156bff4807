/* What an operating system did: the events of a trace, seen through the functions that they enter and leave.
 *
 * A trap opens an element in its thread, and its return closes it. The functions between give the trap its name: the first
 * one of roles.def that fits. Example: an exception at an ECALL enters handle_exception, do_trap_ecall_u ("environment call
 * from U-mode", until something better comes), and __riscv_sys_openat: the trap is the system call "openat". If the thread
 * sleeps in it, the element stays open while other threads run, because elements belong to threads. */
#include "analysis/machine_state.h"
#include "analysis/roles.h"
#include "analysis/trap_names.h"
#include "base/allocator.h"

#include <ntrace/params.h>
#include <string.h>

static bool is_trap(const ntr_stack_frame *frame) {
    return frame->kind == NTR_FRAME_EXCEPTION || frame->kind == NTR_FRAME_INTERRUPT;
}

static machine_thread *thread_of(ntr_machine *m, uint32_t number) {
    if (number < m->thread_count) return &m->threads[number];
    if (ntr_reserve(m->allocator, (void **)&m->threads, &m->thread_capacity, (size_t)number + 1, sizeof *m->threads)) {
        m->failed = true;
        return NULL;
    }
    for (; m->thread_count <= number; m->thread_count++)
        m->threads[m->thread_count] = (machine_thread){.open = MACHINE_NONE, .row = MACHINE_NONE};
    return &m->threads[number];
}

/* ---- elements */

static uint32_t new_open(ntr_machine *m) {
    const uint32_t index = ntr_pool_take(&m->pool, (void **)&m->opens, sizeof *m->opens, m->allocator);
    m->failed |= index == MACHINE_NONE;
    return index;
}

static uint32_t open_element(ntr_machine *m, const ntr_stack_moment *moment, machine_open like) {
    machine_thread *thread = thread_of(m, moment->thread);
    const machine_source *hart = &m->harts[moment->src];
    uint32_t index = thread ? new_open(m) : MACHINE_NONE;
    if (index == MACHINE_NONE) return index;
    like.outer = thread->open;
    like.instructions = thread->instructions;
    like.time = hart->time;
    like.timed = hart->timed;
    m->opens[index] = like;
    thread->open = index;
    return index;
}

/* A trap that no function of roles.def has named: by the instruction that trapped, otherwise by its handler. */
static uint32_t name_by_handler(ntr_machine *m, const machine_open *o) {
    const ntr_function *f = ntr_functions_get(m->functions, o->function);
    const char *name = o->cause == NTR_CAUSE_NONE ? NULL : ntr_cause_name(false, o->cause);
    if (!name && f && f->linkage) name = f->name;
    if (!name) name = o->kind == NTR_TRAP_INTERRUPT ? "interrupt" : "exception";
    return ntr_machine_trap(m, (ntr_trap_kind)o->kind, name, f ? f->name : NULL);
}

static void count_trap(ntr_machine *m, const machine_open *o, uint64_t instructions, uint64_t now, bool timed, bool lost) {
    uint32_t row = o->row == MACHINE_NONE ? name_by_handler(m, o) : o->row;
    if (row == MACHINE_NONE) return;
    ntr_trap *trap = m->traps[row];
    trap->count++;
    if (lost) {
        trap->unfinished++;
        return;
    }
    ntr_histogram_add(&trap->instructions, instructions);
    if (timed) ntr_histogram_add(&trap->ticks, now - o->time);
    if (o->kind != NTR_TRAP_INTERRUPT || !o->trap || instructions < m->totals.longest_interrupt) return;
    m->totals.longest_interrupt = instructions;
    m->totals.longest_name = trap->name;
}

static void count_initcall(ntr_machine *m, const machine_open *o, uint64_t instructions, uint64_t now, bool timed) {
    if (o->row == MACHINE_NONE) return;
    ntr_initcall *initcall = &m->initcalls[o->row];
    initcall->calls++;
    initcall->instructions += instructions;
    if (timed) initcall->ticks += now - o->time;
}

/* Closes the element whose frame was left. */
static void finish_ended(ntr_machine *m) {
    if (m->ended == MACHINE_NONE) return;
    const machine_open o = m->opens[m->ended];
    machine_thread *thread = &m->threads[m->ended_thread];
    const uint64_t instructions = thread->instructions - o.instructions;
    const bool timed = o.timed && m->totals.timed && m->totals.end >= o.time;
    if (o.initcall)
        count_initcall(m, &o, instructions, m->totals.end, timed);
    else
        count_trap(m, &o, instructions, m->totals.end, timed, m->ended_lost);
    thread->open = o.outer;
    ntr_pool_give_back(&m->pool, m->opens, sizeof *m->opens, m->ended);
    m->ended = MACHINE_NONE;
}

/* ---- names */

/* Returns the innermost trap of the thread, or NULL. */
static machine_open *innermost_trap(ntr_machine *m, uint32_t number) {
    machine_thread *thread = thread_of(m, number);
    uint32_t at = thread ? thread->open : MACHINE_NONE;
    while (at != MACHINE_NONE && !m->opens[at].trap) at = m->opens[at].outer;
    return at == MACHINE_NONE ? NULL : &m->opens[at];
}

static void name_syscall(ntr_machine *m, machine_open *o, const char *name, uint32_t function) {
    if (!o || !ntr_cause_is_ecall(o->cause) || o->kind == NTR_TRAP_SYSCALL) return;
    o->kind = NTR_TRAP_SYSCALL;
    o->row = ntr_machine_trap_of(m, NTR_TRAP_SYSCALL, name, function);
}

/* A system call that fails before it begins keeps the name of the exception. */
static void name_exception(ntr_machine *m, machine_open *o, const ntr_role_info *info, uint32_t function) {
    if (!o || o->row != MACHINE_NONE || o->kind != NTR_TRAP_EXCEPTION) return;
    if (info->cause != NTR_CAUSE_NONE) o->cause = info->cause;
    o->row = ntr_machine_trap_of(m, NTR_TRAP_EXCEPTION, info->shown, function);
}

/* Names the interrupt by its first handler. Further handlers in the same trap are elements of their own. */
static uint32_t name_interrupt(ntr_machine *m, const ntr_stack_moment *moment, const char *name, uint32_t function) {
    machine_open *o = innermost_trap(m, moment->thread);
    uint32_t row = ntr_machine_trap_of(m, NTR_TRAP_INTERRUPT, name, function);
    if (o && o->kind == NTR_TRAP_INTERRUPT && o->row == MACHINE_NONE) {
        o->row = row;
        return MACHINE_NONE;
    }
    return open_element(m, moment, (machine_open){.row = row, .function = function, .kind = NTR_TRAP_INTERRUPT,
                                                  .cause = NTR_CAUSE_NONE});
}

/* Called by a function through a pointer: what the caller is decides what this one is. */
static uint32_t called_by(ntr_machine *m, const ntr_stack_moment *moment, const ntr_stack_frame *frame,
                          const ntr_role_info *info) {
    if (!moment->parent || moment->event->kind != NTR_EVENT_SPAN || moment->event->end != NTR_END_INDIRECT_CALL)
        return MACHINE_NONE;
    const char *handler = ntr_trap_dispatched(m->functions, moment, frame, info);
    if (handler) return name_interrupt(m, moment, handler, frame->function);
    if (ntr_functions_role(m->functions, moment->parent->function).role != NTR_OS_INITCALLS) return MACHINE_NONE;
    return open_element(m, moment, (machine_open){.row = ntr_machine_initcall(m, frame->function), .initcall = true});
}

static uint32_t apply_role(ntr_machine *m, const ntr_stack_moment *moment, const ntr_stack_frame *frame) {
    const ntr_role_info info = ntr_functions_role(m->functions, frame->function);
    switch (info.role) {
    case NTR_OS_SYSCALL: name_syscall(m, innermost_trap(m, moment->thread), info.shown, frame->function); break;
    case NTR_OS_EXCEPTION: name_exception(m, innermost_trap(m, moment->thread), &info, frame->function); break;
    case NTR_OS_INTERRUPT: return name_interrupt(m, moment, info.shown, frame->function);
    case NTR_OS_PHASE: ntr_machine_phase(m, info.shown); break;
    default: break;
    }
    return called_by(m, moment, frame, &info);
}

/* ---- frames */

/* Returns the cause that the instruction at the address of the trap shows, or NTR_CAUSE_NONE. */
static uint8_t cause_at(const ntr_machine *m, const ntr_stack_moment *moment, uint64_t address) {
    enum { EBREAK_32 = 0x100073, EBREAK_16 = 0x9002, ECALL_32 = 0x73, BREAKPOINT = 3, ECALL_U = 8, ECALL_VS = 10 };
    uint8_t bytes[4] = {0};
    const ntr_context *context = moment->context;
    size_t size = m->program ? ntr_program_read(m->program, context, moment->event->offset, address, bytes, 4) : 0;
    const uint32_t word = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    if (size >= 2 && (word & 0xffff) == EBREAK_16) return BREAKPOINT;
    if (size < 4) return NTR_CAUSE_NONE;
    if (word == EBREAK_32) return BREAKPOINT;
    if (word != ECALL_32 || context->prv > 3) return NTR_CAUSE_NONE;
    return context->v && context->prv == 1 ? ECALL_VS : (uint8_t)(ECALL_U + context->prv);
}

static uint32_t enter_trap(ntr_machine *m, const ntr_stack_moment *moment, const ntr_stack_frame *frame) {
    const bool interrupt = frame->kind == NTR_FRAME_INTERRUPT;
    return open_element(m, moment, (machine_open){
        .row = MACHINE_NONE,
        .function = frame->function,
        .kind = interrupt ? NTR_TRAP_INTERRUPT : NTR_TRAP_EXCEPTION,
        .cause = interrupt ? NTR_CAUSE_NONE : cause_at(m, moment, frame->site),
        .trap = true,
    });
}

static uint32_t enter(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool tail) {
    ntr_machine *m = user;
    uint32_t handle = MACHINE_NONE;
    if (tail && m->ended_thread == moment->thread) {
        handle = m->ended;
        m->ended = MACHINE_NONE;
    }
    finish_ended(m);
    if (!tail && is_trap(frame)) handle = enter_trap(m, moment, frame);
    uint32_t other = moment->resumed ? MACHINE_NONE : apply_role(m, moment, frame);
    if (other == MACHINE_NONE) return handle;
    if (handle == MACHINE_NONE) return other;
    m->ended = other; /* a handler that is also the frame of the trap: the frame has one element only */
    m->ended_thread = moment->thread;
    m->ended_lost = false;
    finish_ended(m);
    return handle;
}

static void leave(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool lost) {
    ntr_machine *m = user;
    finish_ended(m);
    if (frame->handle == MACHINE_NONE) return;
    m->ended = frame->handle;
    m->ended_thread = moment->thread;
    m->ended_lost = lost;
}

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
    like.has_scontext = hart->has_scontext && user;
    like.scontext = like.has_scontext ? hart->scontext : 0;
    return like;
}

/* Without tasks a thread is known by the address space of its U-mode. */
static void update_row(ntr_machine *m, machine_thread *thread, const ntr_event *e) {
    const ntr_task *task = ntr_callstack_task(m->stacks, e->src, e->offset);
    const bool user = e->context.prv == 0, known = thread->row != MACHINE_NONE;
    const machine_source *hart = &m->harts[e->src];
    if (known && task == thread->task) {
        const ntr_thread *row = &m->rows[thread->row];
        if (task || !user || (row->user && row->scontext == e->context.scontext)) return;
    }
    const ntr_thread like = describe(hart, e, task, user);
    thread->row = ntr_machine_thread_row(m, &like);
    thread->task = task;
}

static unsigned mode_of(const ntr_context *context) {
    enum { VIRTUAL = 3 };
    if (context->prv == 3 || context->prv > 3) return 2;
    return context->v ? VIRTUAL + (unsigned)(context->prv != 0) : context->prv;
}

/* The phases before the first function of the kernel. */
static void note_begin(ntr_machine *m, const ntr_event *e) {
    if (e->context.prv == 1 && !m->supervisor) {
        m->supervisor = true;
        ntr_machine_phase(m, "supervisor: before start_kernel");
    }
    if (!m->phase_count) ntr_machine_phase(m, e->context.prv == 3 ? "boot ROM and firmware" : "begin of the trace");
}

static void note_user(ntr_machine *m, const ntr_event *e, const ntr_task *task) {
    ntr_machine_totals *t = &m->totals;
    if (e->context.prv != 0 || t->has_user || (task && task->has_pid && task->pid != 1)) return;
    t->has_user = true;
    t->user_instructions = t->instructions;
    t->user_time = t->end;
    ntr_machine_phase(m, "user mode");
}

static ntr_status count_span(ntr_machine *m, const machine_source *hart, machine_thread *thread, const ntr_event *e) {
    const unsigned mode = mode_of(&e->context);
    m->rows[thread->row].instructions[mode] += e->instructions;
    m->totals.modes[mode] += e->instructions;
    thread->instructions += e->instructions;
    m->totals.instructions += e->instructions;
    if (!m->stretches || ntr_stretch_state_span(m->stretches, e, &thread->stretch, hart->time, hart->timed)) return NTR_OK;
    return NTR_E_MEMORY;
}

static ntr_status take_span(ntr_machine *m, const ntr_event *e) {
    machine_source *hart = &m->harts[e->src];
    note_begin(m, e);
    if (!ntr_callstack_frame(m->stacks, e)) return NTR_E_MEMORY;
    const ntr_callstack_run run = ntr_callstack_running(m->stacks, e->src);
    machine_thread *thread = thread_of(m, run.thread);
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
    return e->kind == NTR_EVENT_SPAN && (e->end <= NTR_END_JUMP || e->end == NTR_END_INDIRECT_JUMP);
}

/* Most spans stay in the function of the span before. */
static bool stays(const machine_source *hart, const ntr_event *e) {
    if (!hart->stays || e->kind != NTR_EVENT_SPAN || e->flags & (NTR_EVENT_TARGET_UNKNOWN | NTR_EVENT_TIME)) return false;
    if (e->end == NTR_END_CUT || e->end == NTR_END_NOT_TAKEN) return true;
    return may_stay(e) && e->target - hart->code.low < hart->code.high - hart->code.low;
}

/* What ran on the stack of an unknown thread was executed by this one, in the kernel. */
static void take_found(ntr_machine *m, uint16_t src) {
    uint32_t from, to;
    if (!ntr_callstack_found(m->stacks, &from, &to) || !thread_of(m, to) || !thread_of(m, from)) return;
    const uint64_t moved = m->threads[from].instructions - m->threads[from].since;
    const uint32_t source = m->threads[from].row, target = m->threads[to].row;
    m->threads[to].since = m->threads[to].instructions;
    m->threads[to].instructions += moved;
    m->threads[from].since = m->threads[from].instructions;
    m->harts[src].thread = to;
    if (source == MACHINE_NONE || target == MACHINE_NONE || m->rows[source].instructions[1] < moved) return;
    m->rows[source].instructions[1] -= moved;
    m->rows[target].instructions[1] += moved;
    if (m->rows[source].runs) m->rows[source].runs--;
    m->rows[target].runs++;
}

/* ---- events */

static void take_time(ntr_machine *m, const ntr_event *e) {
    machine_source *hart = &m->harts[e->src];
    if (!(e->flags & NTR_EVENT_TIME)) return;
    if (hart->timed && e->time > hart->time && hart->thread < m->thread_count) {
        const uint32_t row = m->threads[hart->thread].row;
        if (row != MACHINE_NONE) m->rows[row].ticks += e->time - hart->time;
    }
    if (!m->totals.timed) m->totals.begin = m->totals.end = m->phase_time = e->time;
    m->totals.timed = hart->timed = true;
    hart->time = e->time;
    if (e->time > m->totals.end) m->totals.end = e->time;
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
    if (m->stretches && e->kind == NTR_EVENT_GAP) ntr_stretch_state_lose(m->stretches, e->src);
    ntr_status status = e->kind == NTR_EVENT_SPAN ? take_span(m, e) : NTR_OK;
    if (!status) status = ntr_callstack_feed(m->stacks, e);
    take_found(m, e->src);
    finish_ended(m);
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
    finish_ended(m);
    ntr_callstack_finish(m->stacks, &m->last);
    finish_ended(m);
    m->totals.switches = ntr_callstack_switches(m->stacks);
    ntr_machine_sort(m);
    return m->failed ? NTR_E_MEMORY : NTR_OK;
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

ntr_machine *ntr_machine_new(const ntr_program *program, ntr_functions *functions, const ntr_allocator *allocator) {
    ntr_machine *m = ntr_alloc(allocator, 1, sizeof *m);
    if (!m) return NULL;
    m->allocator = allocator;
    m->program = program;
    m->functions = functions;
    m->ended = MACHINE_NONE;
    const ntr_stack_listener listener = {enter, leave, m};
    m->stacks = ntr_callstack_new(functions, &listener, allocator);
    m->harts = ntr_alloc(allocator, NTR_SOURCES_MAX, sizeof *m->harts);
    if (m->stacks && m->harts) return m;
    ntr_machine_free(m);
    return NULL;
}

void ntr_machine_free(ntr_machine *m) {
    if (!m) return;
    ntr_callstack_free(m->stacks);
    ntr_stretch_state_free(m->stretches);
    for (size_t i = 0; i < m->trap_count; i++) ntr_dealloc(m->allocator, m->traps[i]);
    void *const blocks[] = {m->harts, m->threads, m->opens, m->traps, m->trap_of, m->rows, m->initcalls,
                            m->initcall_functions, m->phases};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) ntr_dealloc(m->allocator, blocks[i]);
    ntr_dealloc(m->allocator, m);
}
