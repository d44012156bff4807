/* State of ntr_machine, shared by machine.c (events), machine_elements.c (traps and calls under way) and machine_rows.c
 * (rows). */
#ifndef NTR_ANALYSIS_MACHINE_STATE_H
#define NTR_ANALYSIS_MACHINE_STATE_H

#include "analysis/callstack.h"
#include "analysis/late_listener.h"
#include "analysis/stretches.h"
#include "base/allocator.h"

#include <ntrace/machine.h>

#define MACHINE_NONE NTR_POOL_NONE

/* A trap, a handler of an interrupt or an initcall that is not over. `outer`: the one around it in the same thread. */
typedef struct machine_open {
    uint32_t outer, row; /* number in traps or initcalls; MACHINE_NONE: the name is not known yet */
    uint32_t function; /* to which the trap went */
    uint8_t kind; /* ntr_trap_kind */
    uint16_t src; /* the hart where it began */
    uint8_t cause; /* that the trapped instruction shows, or NTR_CAUSE_NONE */
    bool initcall, trap, timed;
    uint64_t instructions, time;
} machine_open;

/* State of a thread: a stack of ntr_callstack. */
typedef struct machine_thread {
    uint64_t instructions, since; /* all; those before it began to run */
    uint64_t before; /* ... and before it began to wait for its frames */
    uint32_t open; /* innermost element of `opens`; MACHINE_NONE: none */
    uint32_t row; /* number in threads; MACHINE_NONE: not known yet */
    const ntr_task *task; /* for which `row` was found */
    ntr_stretch_thread stretch;
    bool used;
} machine_thread;

/* When a frame was left that a stack did not have yet (ntr_late_listener): on stack `thread`, by this hart. */
typedef struct machine_late {
    uint64_t instructions, time;
    uint32_t thread;
    uint16_t src;
    bool timed;
} machine_late;

typedef struct machine_source {
    uint64_t time, scontext;
    uint64_t run; /* ntr_callstack_run.number, */
    uint32_t thread; /* ... and .thread, of the last span */
    bool timed, has_scontext;
    bool executes; /* it has executed an instruction */
    bool stays; /* the stack does not change while execution stays in `code` */
    ntr_function_range code; /* of the function that runs */
} machine_source;

struct ntr_machine {
    const ntr_allocator *allocator;
    const ntr_program *program;
    ntr_functions *functions;
    ntr_callstack *stacks;
    ntr_stretch_state *stretches; /* NULL: not wanted */
    machine_source *harts;
    machine_thread *threads;
    size_t thread_count, thread_capacity;
    machine_open *opens;
    ntr_pool pool; /* of `opens` */
    uint32_t ended; /* element whose frame was left; a tail call may continue it; MACHINE_NONE: none */
    uint32_t ended_thread;
    uint16_t ended_src; /* the hart where the frame was left */
    bool own_clocks; /* ntr_machine_set_clocks */
    bool ended_lost;
    machine_late ended_at; /* `thread` MACHINE_NONE: now */
    machine_late late[NTR_LATE_CHANGES];

    ntr_trap **traps;
    size_t trap_count, trap_capacity;
    uint32_t *trap_of; /* by number of the function: number in traps, plus 1 */
    size_t trap_of_count, trap_of_capacity;
    ntr_thread *rows;
    size_t row_count, row_capacity;
    ntr_initcall *initcalls;
    size_t initcall_count, initcall_capacity;
    uint32_t *initcall_functions; /* number of the function of each initcall */
    size_t initcall_function_capacity;
    ntr_phase *phases;
    size_t phase_count, phase_capacity;
    size_t boot; /* the first phase since the machine was reset */
    uint16_t boot_src; /* source that began the trace */
    uint64_t phase_begin, phase_time;
    uint16_t phase_src; /* the hart that began the phase */
    uint16_t begin_src; /* the hart of totals.begin */
    ntr_machine_totals totals;
    ntr_event last;
    bool supervisor, user; /* reached since the machine was reset */
    bool failed;
};

/* The thread of this number, of ntr_callstack. Returns NULL when out of memory (`failed` is set). */
machine_thread *ntr_machine_thread(ntr_machine *m, uint32_t number);

/* The listener of the call stacks: a function or a handler is entered or left. */
uint32_t ntr_machine_enter(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool tail);
void ntr_machine_leave(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool lost);

/* Closes the element whose frame was left last, if it is still open. */
void ntr_machine_finish_ended(ntr_machine *m);

/* Return the number of the row, or MACHINE_NONE when out of memory (`failed` is set). */
uint32_t ntr_machine_trap(ntr_machine *m, ntr_trap_kind kind, const char *name, const char *function);
uint32_t ntr_machine_trap_of(ntr_machine *m, ntr_trap_kind kind, const char *name, uint32_t function);
uint32_t ntr_machine_initcall(ntr_machine *m, uint32_t function);
uint32_t ntr_machine_thread_row(ntr_machine *m, const ntr_thread *like);

/* Begins a phase, with what a hart does. `name` has static storage. */
void ntr_machine_phase(ntr_machine *m, const char *name, uint16_t src);

/* Sorts the rows and ends the last phase. */
void ntr_machine_sort(ntr_machine *m);

#endif
