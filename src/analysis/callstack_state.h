/* State of the call stacks, shared by callstack.c (selection of the stack), callstack_change.c (changes of a stack),
 * stack_frames.c, hart_tasks.c, threads.c and coroutines.c. */
#ifndef NTR_ANALYSIS_CALLSTACK_STATE_H
#define NTR_ANALYSIS_CALLSTACK_STATE_H

#include "analysis/functions.h"
#include "analysis/late_listener.h"

enum { RECENT_BITS = 9, RECENT = 1 << RECENT_BITS };
enum { RETURNS_MAX = 24 }; /* return addresses by which a thread is found */

/* A range of a function, valid while the hart's `context_number` is `context`. */
typedef struct recent_range {
    ntr_function_range range;
    uint32_t context;
} recent_range;

/* The stack of one context of one source, or of a thread. */
typedef struct stack {
    uint16_t src;
    bool thread; /* the context does not select it any more */
    bool parked; /* the thread does not run, and continues later */
    bool free; /* the thread has ended */
    bool user; /* it was in U-mode; */
    uint64_t user_context; /* ... in this scontext */
    bool new_program; /* in U-mode it will execute another program */
    bool coroutine; /* it waits until another one jumps to `resume`: coroutines.c */
    bool searched; /* it stands for one of the coroutines that have it as `stands`, above `below` other frames */
    bool reperforms; /* it passes an effect on: fibers.c */
    bool several; /* frames that are not known may be of several fibers */
    uint32_t returned; /* of one that may continue there: so many of its frames have returned since */
    size_t below;
    size_t performed; /* the fiber that its handler at `performed_depth` has left: number, plus 1; 0: not known */
    size_t performed_depth;
    uint32_t stands; /* number of the stack that may be this one, plus 1; 0: none */
    uint32_t times;  /* number of coroutines that wait so */
    uint64_t resume;
    uint64_t task; /* ntr_task.task; 0: not known */
    uint64_t parked_at; /* number of the switch at which it was left */
    bool waits; /* it began while its thread still ran on another hart: late_stacks.c */
    bool gone; /* its thread has ended while it waited */
    bool whole, lost; /* none of the frames that it waits for remains; ... because they are lost */
    uint32_t noted; /* number of changes */
    uint64_t began; /* number of the switch at which it began to wait */
    uint32_t first_late,
        last_late; /* changes of frames that it does not have yet: numbers in `late`, plus 1; 0: none */
    ntr_context context;
    ntr_stack_frame *frames;
    size_t depth, capacity;
} stack;

/* Whether instructions were executed since a stop. */
typedef enum hart_stopped { HART_RUNS = 0, HART_STOPPED, HART_STOP_UNKNOWN } hart_stopped;

/* State of a source: its current stack, and the address at which its execution stopped. `context` is that of its latest
 * event; it selects the stack, until the source runs threads, and the code in `recent`. */
typedef struct hart {
    uint16_t src;
    size_t current; /* index into stacks */
    ntr_context context;
    recent_range *recent; /* cache of function ranges, by a hash of the address */
    uint32_t context_number; /* changes with `context` */
    uint64_t stopped_at;
    uint8_t stopped; /* hart_stopped */
    bool threaded; /* a switch of threads was seen */
    uint64_t run; /* number of switches; */
    bool fresh; /* ... the last one led to a stack without frames */
    bool guessing; /* the current stack stands for one of the parked threads, found by its `returns` */
    uint32_t return_count;
    uint64_t returns[RETURNS_MAX];
    const ntr_task *tasks; /* of this source */
    size_t task_count, task_at; /* the first task_at have begun */
    bool begun; /* it has had an event */
} hart;

/* A change below the frames of a stack that waits. */
typedef struct late_change {
    ntr_event event;
    bool all; /* no frame remains */
    uint32_t next; /* number, plus 1 */
} late_change;

struct ntr_callstack {
    ntr_functions *functions;
    ntr_stack_listener listener;
    const ntr_allocator *allocator;
    stack *stacks;
    size_t stack_count, stack_capacity;
    hart *harts;
    size_t hart_count, hart_capacity, last_hart;
    uint64_t switches;
    bool from_inside; /* its first event is not the first one of the trace */
    bool swapped; /* a coroutine has continued */
    size_t waiting; /* number of coroutines */
    size_t found; /* the stack that stood for a thread that was found by the last event, plus 1; 0: none */
    size_t found_as; /* the stack of that thread */
    ntr_late_listener late_listener;
    late_change *late; /* NTR_LATE_CHANGES elements; NULL: none yet */
    uint32_t free_late; /* the first free one, plus 1; 0: none */
    uint32_t late_now; /* the one that is applied, plus 1; 0: none */
};

/* A change of a stack by an event. */
typedef struct change {
    ntr_callstack *cs;
    hart *hart;
    stack *stack;
    const ntr_event *event;
    bool resumed, waits; /* see ntr_stack_moment */
} change;

/* Returns the top frame, NULL when there is none. */
static inline ntr_stack_frame *ntr_change_top(const change *c) {
    return c->stack->depth ? &c->stack->frames[c->stack->depth - 1] : NULL;
}

static inline bool ntr_frame_is_trap(const ntr_stack_frame *frame) {
    return frame->kind >= NTR_FRAME_EXCEPTION;
}

/* Returns the depth of the trap that a jump by a register to another function ends, or 0 when it ends none: one of the
 * innermost frames, with traps alone above it, returns to the address. Example: Go preempts a goroutine by a signal,
 * whose handler returns to runtime.asyncPreempt; that function jumps to where the signal came. *to_base: the frames are
 * traps down to the first one. */
static inline size_t ntr_stack_left_trap(const stack *s, uint64_t address, bool *to_base) {
    size_t depth = s->depth;
    for (; depth > 1 && ntr_frame_is_trap(&s->frames[depth - 1]); depth--)
        if (s->frames[depth - 1].return_to == address) return depth;
    *to_base = depth <= 1;
    return 0;
}

/* Returns the number of frames below the innermost one whose caller is not known: 0, but for fibers (fibers.c). */
static inline size_t ntr_stack_below(const stack *s) {
    size_t depth = s->depth;
    while (depth > 0 && s->frames[depth - 1].kind != NTR_FRAME_ROOT) depth--;
    return depth ? depth - 1 : 0;
}

/* Returns the range of the function at the address, valid until the next call. */
static inline const ntr_function_range *ntr_callstack_range_at(const change *c, uint64_t address) {
    recent_range *recent = &c->hart->recent[address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - RECENT_BITS)];
    if (recent->context != c->hart->context_number ||
        !ntr_function_range_holds(&recent->range, address, c->event->offset)) {
        recent->range =
            ntr_functions_range(c->cs->functions, ntr_place_at(&c->hart->context, c->event->offset, address));
        recent->context = c->hart->context_number;
    }
    return &recent->range;
}

static inline bool ntr_callstack_is_entry(const change *c, uint64_t address) {
    return ntr_function_range_begins(ntr_callstack_range_at(c, address), address);
}

/* ---- hart_tasks.c */

/* The hart has its first event: the thread that is the last one up to this stream offset runs on it. */
void ntr_hart_begin(hart *h, uint64_t offset);

/* Returns the thread of the latest entry that has begun, or NULL. */
const ntr_task *ntr_hart_current_task(const hart *h);

/* Returns the thread that runs on the hart at a stream offset, or NULL: not known. */
const ntr_task *ntr_hart_task(hart *h, uint64_t offset);

/* Returns the thread that a switch up to this stream offset leads to, or NULL, and begins its entry. */
const ntr_task *ntr_hart_next_task(hart *h, uint64_t offset);

/* ---- stack_frames.c */

/* Enters a frame; `tail`: it replaces the one that was left last. A stack that is too deep loses its oldest frames.
 * Errors: NTR_E_MEMORY. */
ntr_status ntr_callstack_push(change *c, ntr_stack_frame frame, bool tail);

/* Leaves frames until the depth is `depth`. */
void ntr_callstack_pop(change *c, size_t depth, bool lost);

/* ---- callstack_change.c */

/* Enters the first frame of an empty stack. Errors, here and below: NTR_E_MEMORY. */
ntr_status ntr_callstack_root(change *c, uint64_t address);

/* A synchronizing message reports the address. */
ntr_status ntr_callstack_sync(change *c, uint64_t address);

/* A return to `address`: leaves the innermost call with this return address; if there is none, execution continues in
 * the frame that fits. */
ntr_status ntr_callstack_unwind(change *c, uint64_t address);

/* Returns whether there may be a call that returns to the event's target: an instruction in front of it. */
bool ntr_may_be_awaited(const ntr_program *program, const ntr_event *event);

/* Returns whether the span ends with a jump to the address in t0. Only millicode returns by it, to a call that waits.
 */
bool ntr_change_by_t0(const change *c);

/* The event is a span: the stack of its thread changes as it ends. */
ntr_status ntr_callstack_end_span(change *c);

/* ---- threads.c */

/* Returns whether the current function switches threads: its return is one to another stack. */
bool ntr_threads_leaves(const change *c);

/* The hart returned from the switch to `target`. Selects the stack of the thread that continues there. Errors:
 * NTR_E_MEMORY. */
ntr_status ntr_threads_switch(change *c, uint64_t target);

/* While the thread is not known: the hart returned to `target`, from a trap or from a call, where the stack has no
 * frame for it. Returns true if that selected the stack of a thread; a call that returned is then gone from it. */
bool ntr_threads_find(change *c, uint64_t target, bool trap);

/* The context has changed. A thread may have got another address space; when it is in U-mode, the frames of the program
 * that it executed before are gone. */
void ntr_threads_context(change *c);

/* A part of the trace is missing up to stream offset `until`. */
void ntr_threads_gap(change *c, uint64_t until);

/* Returns the number of an empty stack, or SIZE_MAX when out of memory. */
size_t ntr_threads_empty_stack(change *c);

/* ---- coroutines.c */

/* Returns whether the span, a return or a jump by register, leaves a function that continues other coroutines. */
bool ntr_coroutine_leaves(const change *c);

/* Returns whether it may leave one: the frame below the first one decides. */
bool ntr_coroutine_may_leave(const change *c);

/* It went to `target`: the stack gets the frames of the coroutine that continues there. Errors: NTR_E_MEMORY. */
ntr_status ntr_coroutine_switch(change *c, uint64_t target);

/* While it is not known which coroutine runs: returns true if the return to `target` shows it, and the stack has its
 * frames. Errors: NTR_E_MEMORY. */
bool ntr_coroutine_find(change *c, uint64_t target, ntr_status *status);

/* The only frame of the stack returns to `target`. Returns true if a coroutine waits there, whose frames the stack has
 * from then on: ontop_fcontext calls a function like that. Errors: NTR_E_MEMORY. */
bool ntr_coroutine_return(change *c, uint64_t target, ntr_status *status);

/* Keeps frames that wait until a jump to `resume`. Stores the number of those that wait so, plus 1; 0: there are too
 * many. The frames are not of a stack that is empty. Errors: NTR_E_MEMORY. */
ntr_status ntr_coroutine_keep(change *c, const ntr_stack_frame *frames, size_t depth, uint64_t resume, size_t *number);

/* One that waits so continues. */
void ntr_coroutine_continues(ntr_callstack *cs, stack *s);

/* The waiting coroutines that continue at `target` are those that this stack may be. Returns whether there are any. */
bool ntr_coroutine_choose(const change *c, uint64_t target);

/* Enters the frames that the coroutines have in common that the stack may be, but for those that have returned: all of
 * one of them, if no other differs. The stack keeps `below` frames; the innermost of these is replaced by the outermost
 * one that is entered, if that is known. The top frame is of `function`. Returns false if there are none. */
bool ntr_coroutine_settle(change *c, size_t below, uint32_t function, ntr_status *status);

/* Returns whether it is not known which coroutine the stack is, and it has not returned to the frames below. */
bool ntr_coroutine_is_searched(stack *s);

/* Any coroutine may have continued elsewhere: a part of the trace is missing, or the program was replaced. */
void ntr_coroutine_forget(ntr_callstack *cs);

/* ---- fibers.c */

/* Returns whether the span leaves a fiber of OCaml for another one. */
bool ntr_fiber_leaves(const change *c);

/* It did: the stack changes. Errors: NTR_E_MEMORY. */
ntr_status ntr_fiber_switch(change *c);

/* While it is not known which fiber runs, an exception continues in a handler at `target`. As ntr_coroutine_find. */
bool ntr_fiber_raise(change *c, uint64_t target, ntr_status *status);

/* ---- late_stacks.c */

/* The stack waits. The event, which is not applied yet and does not switch threads, changes frames that it does not
 * have; or none of them remains, which after a gap are lost. */
void ntr_late_note(change *c);
void ntr_late_note_all(change *c);

/* The stack of this number, an empty one, begins to wait. */
void ntr_late_begin(ntr_callstack *cs, size_t index);

/* The stack was parked: it gets the frames of those that wait for it. Errors: NTR_E_MEMORY. */
ntr_status ntr_late_join(change *c);

/* Returns whether the thread runs on another hart, as far as the stream is known. */
bool ntr_late_elsewhere(const change *c, uint64_t task);

/* The stack does not wait any more; no stack does. */
void ntr_late_drop(ntr_callstack *cs, stack *s);
void ntr_late_reset(ntr_callstack *cs);

#endif
