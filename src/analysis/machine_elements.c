/* What is under way in each thread: traps, handlers of interrupts, initcalls.
 *
 * A trap opens an element in its thread, and its return closes it. The functions between give the trap its name: the
 * first one of roles.def that fits. Example: an exception at an ECALL enters handle_exception, do_trap_ecall_u
 * ("environment call from U-mode", until something better comes), and __riscv_sys_openat: the trap is the system call
 * "openat". If the thread sleeps in it, the element stays open while other threads run, because elements belong to
 * threads. */
#include "base/bytes.h"
#include "analysis/machine_state.h"
#include "analysis/roles.h"
#include "analysis/trap_names.h"
#include "base/allocator.h"

static bool is_trap(const ntr_stack_frame *frame) {
    return frame->kind == NTR_FRAME_EXCEPTION || frame->kind == NTR_FRAME_INTERRUPT;
}

machine_thread *ntr_machine_thread(ntr_machine *m, uint32_t number) {
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

/* Returns the instructions of the thread. If a stack changes that did not have its frames earlier, also the time and
 * the hart of that; otherwise `thread` is MACHINE_NONE. */
static machine_late now_of(ntr_machine *m, uint32_t number) {
    const machine_thread *thread = &m->threads[number];
    uint32_t change;
    if (!ntr_callstack_late(m->stacks, &change))
        return (machine_late){.instructions = thread->instructions, .thread = MACHINE_NONE};
    machine_late late = m->late[change];
    late.instructions = thread->instructions + late.instructions - m->threads[late.thread].before;
    return late;
}

static uint32_t new_open(ntr_machine *m) {
    const uint32_t index = ntr_pool_take(&m->pool, (void **)&m->opens, sizeof *m->opens, m->allocator);
    m->failed |= index == MACHINE_NONE;
    return index;
}

static uint32_t open_element(ntr_machine *m, const ntr_stack_moment *moment, machine_open like) {
    machine_thread *thread = ntr_machine_thread(m, moment->thread);
    const machine_source *hart = &m->harts[moment->src];
    uint32_t index = thread ? new_open(m) : MACHINE_NONE;
    if (index == MACHINE_NONE) return index;
    const machine_late now = now_of(m, moment->thread);
    like.outer = thread->open;
    like.instructions = now.instructions;
    like.src = moment->src;
    like.time = now.thread == MACHINE_NONE ? hart->time : now.time;
    like.timed = now.thread == MACHINE_NONE ? hart->timed : now.timed;
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

static void count_trap(ntr_machine *m, const machine_open *o, uint64_t instructions, uint64_t now, bool timed,
                       bool lost) {
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

void ntr_machine_finish_ended(ntr_machine *m) {
    if (m->ended == MACHINE_NONE) return;
    const machine_open o = m->opens[m->ended];
    machine_thread *thread = &m->threads[m->ended_thread];
    const bool late = m->ended_at.thread != MACHINE_NONE;
    const uint64_t instructions = (late ? m->ended_at.instructions : thread->instructions) - o.instructions;
    const machine_source *hart = &m->harts[m->ended_src];
    const uint64_t time = late ? m->ended_at.time : hart->time;
    const bool comparable = o.src == m->ended_src || !m->own_clocks;
    const bool timed = o.timed && (late ? m->ended_at.timed : hart->timed) && comparable && time >= o.time;
    if (o.initcall)
        count_initcall(m, &o, instructions, time, timed);
    else
        count_trap(m, &o, instructions, time, timed, m->ended_lost);
    thread->open = o.outer;
    ntr_pool_give_back(&m->pool, m->opens, sizeof *m->opens, m->ended);
    m->ended = MACHINE_NONE;
}

/* ---- names */

/* Returns the innermost trap of the thread, or NULL. */
static machine_open *innermost_trap(ntr_machine *m, uint32_t number) {
    machine_thread *thread = ntr_machine_thread(m, number);
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
    return open_element(
        m, moment,
        (machine_open){.row = row, .function = function, .kind = NTR_TRAP_INTERRUPT, .cause = NTR_CAUSE_NONE});
}

/* Called by a function through a pointer: what the caller is decides what this one is. */
static uint32_t called_by(ntr_machine *m, const ntr_stack_moment *moment, const ntr_stack_frame *frame,
                          const ntr_role_info *info) {
    if (!moment->parent || moment->event->kind != NTR_EVENT_SPAN || moment->event->end != NTR_SPAN_INDIRECT_CALL)
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
    case NTR_OS_PHASE: ntr_machine_phase(m, info.shown, moment->src); break;
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
    size_t size =
        m->program ? ntr_program_read(m->program, ntr_place_at(context, moment->event->offset, address), bytes, 4) : 0;
    const uint32_t word = ntr_little_32(bytes);
    if (size >= 2 && (word & 0xffff) == EBREAK_16) return BREAKPOINT;
    if (size < 4) return NTR_CAUSE_NONE;
    if (word == EBREAK_32) return BREAKPOINT;
    if (word != ECALL_32 || context->prv > 3) return NTR_CAUSE_NONE;
    return context->v && context->prv == 1 ? ECALL_VS : (uint8_t)(ECALL_U + context->prv);
}

static uint32_t enter_trap(ntr_machine *m, const ntr_stack_moment *moment, const ntr_stack_frame *frame) {
    const bool interrupt = frame->kind == NTR_FRAME_INTERRUPT;
    return open_element(m, moment,
                        (machine_open){
                            .row = MACHINE_NONE,
                            .function = frame->function,
                            .kind = interrupt ? NTR_TRAP_INTERRUPT : NTR_TRAP_EXCEPTION,
                            .cause = interrupt ? NTR_CAUSE_NONE : cause_at(m, moment, frame->site),
                            .trap = true,
                        });
}

uint32_t ntr_machine_enter(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool tail) {
    ntr_machine *m = user;
    uint32_t handle = MACHINE_NONE;
    if (tail && m->ended_thread == moment->thread) {
        handle = m->ended;
        m->ended = MACHINE_NONE;
    }
    ntr_machine_finish_ended(m);
    if (!tail && is_trap(frame)) handle = enter_trap(m, moment, frame);
    uint32_t other = moment->resumed ? MACHINE_NONE : apply_role(m, moment, frame);
    if (other == MACHINE_NONE) return handle;
    if (handle == MACHINE_NONE) return other;
    m->ended = other; /* a handler that is also the frame of the trap: the frame has one element only */
    m->ended_thread = moment->thread;
    m->ended_src = moment->src;
    m->ended_lost = false;
    m->ended_at = now_of(m, moment->thread);
    ntr_machine_finish_ended(m);
    return handle;
}

void ntr_machine_leave(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool lost) {
    ntr_machine *m = user;
    ntr_machine_finish_ended(m);
    if (frame->handle == MACHINE_NONE) return;
    m->ended = frame->handle;
    m->ended_thread = moment->thread;
    m->ended_src = moment->src;
    m->ended_lost = lost;
    m->ended_at = now_of(m, moment->thread);
}
