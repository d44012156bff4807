/* How a stack changes by calls, returns, jumps, traps and synchronizations (callstack.c selects the stack). */
#include "analysis/callstack_state.h"
#include "program/program.h"

#include <string.h>

static uint32_t function_at(const change *c, uint64_t address) {
    return ntr_callstack_range_at(c, address)->number;
}

static ntr_os_role role_of(const change *c, uint32_t function) {
    return (ntr_os_role)ntr_functions_role(c->cs->functions, function).role;
}

static ntr_stack_frame frame_at(const change *c, ntr_frame_kind kind, uint64_t address, uint64_t site,
                                uint64_t return_to) {
    return (ntr_stack_frame){
        .function = function_at(c, address),
        .kind = (uint8_t)kind,
        .site = site,
        .return_to = return_to,
    };
}

/* Execution continues in another function at the same depth. The new frame keeps the return address. */
static ntr_status replace_top(change *c, uint64_t address) {
    const uint32_t function = function_at(c, address);
    if (function == ntr_change_top(c)->function) return NTR_OK;
    ntr_stack_frame frame = *ntr_change_top(c);
    ntr_callstack_pop(c, c->stack->depth - 1, false);
    frame.function = function;
    return ntr_callstack_push(c, frame, true);
}

/* Returns the depth of the innermost frame of `function` at depth `depth` or less, or 0 when there is none. */
static size_t depth_of(const stack *s, size_t depth, uint32_t function) {
    while (depth > 0 && s->frames[depth - 1].function != function) depth--;
    return depth;
}

static size_t depth_of_trap(const stack *s) {
    size_t depth = s->depth;
    while (depth > 0 && !ntr_frame_is_trap(&s->frames[depth - 1])) depth--;
    return depth;
}

/* The unwinder (_Unwind_Resume) continues after the clean-up code of a frame and never returns to that frame. For a
 * recursive function it therefore continues in a frame below. */
static size_t below_resumer(const change *c, size_t depth, uint32_t function) {
    if (depth == 0 || depth == c->stack->depth) return depth;
    const ntr_function *callee = ntr_functions_get(c->cs->functions, c->stack->frames[depth].function);
    if (!callee || !callee->linkage || strcmp(callee->linkage, "_Unwind_Resume") != 0) return depth;
    size_t below = depth_of(c->stack, depth - 1, function);
    return below ? below : depth;
}

/* Returns whether a program made the code at the address while it ran. A kernel without a file is no such code. */
static bool is_generated(const change *c, uint64_t address) {
    uint64_t bias;
    const uint8_t prv = c->hart->context.prv;
    return (prv == NTR_PRV_UNKNOWN || !prv) &&
           !ntr_program_file_bias(ntr_functions_program(c->cs->functions), ntr_event_place(c->event, address), &bias);
}

bool ntr_may_be_awaited(const ntr_program *program, const ntr_event *e) {
    enum { CALLS = 1u << NTR_FLOW_DIRECT_CALL | 1u << NTR_FLOW_INDIRECT_CALL | 1u << NTR_FLOW_CO_SWAP };
    ntr_insn insn;
    for (unsigned length = 2; length <= 4; length += 2)
        if (ntr_program_insn(program, ntr_place_at(&e->context, e->offset, e->target - length), &insn) == NTR_OK &&
            insn.size == length && CALLS >> insn.flow & 1)
            return true;
    return false;
}

/* Returns whether a return goes to an address that no call has set: a program has loaded it into ra, and has jumped to
 * the function that returns. */
static bool is_own_return(const change *c) {
    const ntr_event *e = c->event;
    return e->kind == NTR_EVENT_SPAN && e->end == NTR_SPAN_RETURN &&
           !ntr_may_be_awaited(ntr_functions_program(c->cs->functions), e);
}

/* Execution is at `address`, which is not the return address of any frame: a longjmp, a landing pad, or the end of a
 * signal handler, or a switch to the stack of another coroutine (goroutines). In order of preference: pop to the
 * innermost frame of the function at `address`; if the function was made at run time, replace the top frame, which a
 * compiler continues in other code (on-stack replacement), and if no call can return there, which returns to an address
 * that the program has loaded; treat the jump as one inside the trap handler; treat it as a
 * jump in the root frame, which is no call unless it goes to the entry of a function. The function "[unknown]" stands
 * for all code without a name. A frame of it below a trap is therefore no evidence that the trap handler was left. */
static ntr_status reposition(change *c, uint64_t address) {
    uint32_t function = function_at(c, address);
    const ntr_function *landed = ntr_functions_get(c->cs->functions, function);
    size_t trap = depth_of_trap(c->stack);
    size_t depth = below_resumer(c, depth_of(c->stack, c->stack->depth, function), function);
    const size_t below = ntr_stack_below(c->stack);
    if (c->stack->depth == 0) return NTR_OK;
    if (below && depth <= below && !ntr_change_by_t0(c)) depth = 0; /* only exceptions end a fiber that is not known */
    if (depth && (depth >= trap || (landed && landed->linkage))) {
        ntr_callstack_pop(c, depth, false);
        return NTR_OK;
    }
    if (c->event->kind == NTR_EVENT_SPAN && landed && landed->linkage && (is_generated(c, address) || is_own_return(c)))
        return replace_top(c, address);
    ntr_callstack_pop(c, trap > below ? trap : below + 1, false);
    c->resumed = !ntr_callstack_is_entry(c, address);
    return replace_top(c, address);
}

static bool is_jump_by_t0(uint64_t bits) {
    enum { JALR_T0 = 0x28067, C_JR_T0 = 0x8282, C_JALR_T0 = 0x9282 };
    const bool whole = (bits & 3) == 3;
    return whole ? (bits & 0xff07f) == JALR_T0 : (bits & 0xffff) == C_JR_T0 || (bits & 0xffff) == C_JALR_T0;
}

bool ntr_change_by_t0(const change *c) {
    const ntr_program *program = ntr_functions_program(c->cs->functions);
    return is_jump_by_t0(ntr_program_bits(program, ntr_event_place(c->event, c->event->last), 4));
}

/* A jump by a link register goes to the entry of a function, or by t0 into generated code, and no frame waits there.
 * (Go continues a function by t0, too, where a panic was recovered.) The register is then a pointer like any other:
 * `jalr ra, 0(t0)` is a call (Go, OpenJDK, assembly), and `jr t0` or `jr ra` a tail call, or the start of a coroutine.
 * OpenJDK's compiled code has entries behind the beginning of a function. */
static ntr_status enter(change *c, uint64_t address) {
    const ntr_event *e = c->event;
    const bool links = role_of(c, ntr_change_top(c)->function) == NTR_OS_LINKS && is_generated(c, e->last);
    if (e->end != NTR_SPAN_CO_SWAP && !(links && function_at(c, address) != ntr_change_top(c)->function))
        return replace_top(c, address);
    return ntr_callstack_push(c, frame_at(c, NTR_FRAME_CALL, address, e->last, e->address + 2 * (uint64_t)e->halfwords),
                              false);
}

ntr_status ntr_callstack_unwind(change *c, uint64_t address) {
    stack *s = c->stack;
    for (size_t depth = s->depth; depth > 1; depth--)
        if (s->frames[depth - 1].kind == NTR_FRAME_CALL && s->frames[depth - 1].return_to == address) {
            ntr_callstack_pop(c, depth - 1, false);
            return NTR_OK;
        }
    const bool enters = ntr_callstack_is_entry(c, address) || (ntr_change_by_t0(c) && is_generated(c, address));
    return enters ? enter(c, address) : reposition(c, address);
}

/* Returns whether one of the innermost frames will return to `address`. */
static bool is_awaited(const stack *s, uint64_t address) {
    enum { SEARCHED = 256 };
    for (size_t i = 0; i < s->depth && i < SEARCHED; i++) {
        const ntr_stack_frame *frame = &s->frames[s->depth - 1 - i];
        if (frame->kind == NTR_FRAME_CALL && frame->return_to == address) return true;
    }
    return false;
}

/* Handles a jump by a register. A tail call goes to the entry of a function. A jump into the middle of another function
 * continues a call that was left there: setcontext, or a longjmp that does not use the return register. Afterwards the
 * top frame is of the function at `address`, on which joined spans rely (walk_joined.c). A jump to where a trap came
 * from ends the trap. */
static ntr_status jump(change *c, uint64_t address) {
    const ntr_function_range *range = ntr_callstack_range_at(c, address);
    bool to_base;
    const size_t trap =
        range->number == ntr_change_top(c)->function ? 0 : ntr_stack_left_trap(c->stack, address, &to_base);
    if (trap) ntr_callstack_pop(c, trap - 1, false);
    if (trap || ntr_function_range_begins(range, address) || range->number == ntr_change_top(c)->function ||
        !is_awaited(c->stack, address))
        return replace_top(c, address);
    ntr_status status = ntr_callstack_unwind(c, address);
    return status ? status : replace_top(c, address);
}

/* Returns whether the code at the address is that of the top frame, in the present mode or in one that is reported
 * later. */
static bool continues_top(const change *c, uint64_t address) {
    ntr_context any_mode = c->hart->context;
    const uint32_t function = ntr_change_top(c)->function;
    any_mode.prv = NTR_PRV_UNKNOWN;
    return function == function_at(c, address) ||
           function == ntr_functions_at(c->cs->functions, ntr_place_at(&any_mode, c->event->offset, address));
}

/* The trap returns to where it came from, or behind an ECALL there; to another place of that function, for example
 * behind an instruction that was emulated; or elsewhere, for example to a signal handler. */
static ntr_status trap_return(change *c, uint64_t address) {
    enum { ECALL_BYTES = 4 };
    const size_t depth = depth_of_trap(c->stack);
    const uint64_t from = depth ? c->stack->frames[depth - 1].return_to : 0;
    if (depth) ntr_callstack_pop(c, depth - 1, false);
    if (c->stack->depth == 0 || (depth && (address == from || address == from + ECALL_BYTES))) return NTR_OK;
    return continues_top(c, address) ? NTR_OK : reposition(c, address);
}

/* Returns whether other code is at the place where tracing stopped, from this event on: the program was replaced
 * (execve), and nothing returns to the frames of the one before. */
static bool is_replaced(const change *c) {
    const ntr_place place = ntr_event_place(c->event, c->hart->stopped_at);
    return c->event->offset && ntr_functions_validity(c->cs->functions, place).from == c->event->offset;
}

/* Tracing stopped at a system call (or at code that is not traced) and continues at another address than the
 * instruction after it. Either a signal handler begins or ends, or the new position is unrelated and the stack is
 * lost. */
static ntr_status resume_elsewhere(change *c, uint64_t address) {
    enum { ECALL_BYTES = 4 };
    stack *s = c->stack;
    if (is_replaced(c)) {
        ntr_callstack_pop(c, 0, true);
        return NTR_OK;
    }
    uint64_t back = c->hart->stopped_at + ECALL_BYTES;
    for (size_t depth = s->depth; depth > 0; depth--) {
        const ntr_stack_frame *frame = &s->frames[depth - 1];
        if (!ntr_frame_is_trap(frame) || (frame->return_to != address && frame->return_to != address + ECALL_BYTES))
            continue;
        ntr_callstack_pop(c, depth - 1, false);
        return NTR_OK;
    }
    uint32_t function = function_at(c, address);
    const ntr_function *entered = ntr_functions_get(c->cs->functions, function);
    if (entered && entered->linkage && ntr_callstack_is_entry(c, address))
        return ntr_callstack_push(c, frame_at(c, NTR_FRAME_INTERRUPT, address, back, back), false);
    if (depth_of(s, s->depth, function)) return reposition(c, address);
    ntr_callstack_pop(c, 0, true);
    return NTR_OK;
}

/* Returns whether the code of the top frame runs into the function at the address. No function is looked up: the order
 * of look-ups is that of execution. */
static bool runs_on(const change *c, uint64_t address) {
    const ntr_function *top = ntr_functions_get(c->cs->functions, ntr_change_top(c)->function);
    return top && top->high == address && ntr_callstack_is_entry(c, address);
}

/* After a stop, execution may continue anywhere. Without a stop, a synchronizing message agrees with the flow. */
ntr_status ntr_callstack_sync(change *c, uint64_t address) {
    enum { ECALL_BYTES = 4 };
    function_at(c, address); /* in a part of a trace it is not known whether there are frames (open_log.c, look_up) */
    if (c->stack->depth == 0) return NTR_OK;
    bool elsewhere = c->hart->stopped == HART_STOPPED && address != c->hart->stopped_at &&
                     address != c->hart->stopped_at + ECALL_BYTES;
    if (elsewhere) return resume_elsewhere(c, address);
    if (continues_top(c, address)) return NTR_OK;
    return runs_on(c, address) ? replace_top(c, address) : reposition(c, address);
}

/* Returns whether a function calls code of its own that only finds another function and jumps there by t0: OpenJDK's
 * compilers put such stubs behind the code of a function, for calls that are far away or interpreted. */
static bool calls_stub(const change *c, uint64_t address) {
    enum { STUB_MOST = 12 };
    const ntr_program *program = ntr_functions_program(c->cs->functions);
    if (function_at(c, address) != ntr_change_top(c)->function || ntr_callstack_is_entry(c, address) ||
        !is_generated(c, address))
        return false;
    ntr_insn insn;
    for (unsigned i = 0; i < STUB_MOST; i++, address += insn.size) {
        const ntr_place place = ntr_event_place(c->event, address);
        if (ntr_program_insn(program, place, &insn) != NTR_OK) return false;
        if (insn.flow != NTR_FLOW_LINEAR) return is_jump_by_t0(ntr_program_bits(program, place, 4));
    }
    return false;
}

/* The frame of a stub is no call of the function that has it: its jump calls the other one. */
static ntr_status call(change *c, uint64_t next) {
    const ntr_event *e = c->event;
    c->resumed = calls_stub(c, e->target);
    const ntr_status status = ntr_callstack_push(c, frame_at(c, NTR_FRAME_CALL, e->target, e->last, next), false);
    c->resumed = false;
    return status;
}

ntr_status ntr_callstack_end_span(change *c) {
    const ntr_event *e = c->event;
    if (e->flags & NTR_EVENT_TARGET_UNKNOWN) {
        if (e->end != NTR_SPAN_CUT && e->end != NTR_SPAN_NOT_TAKEN) ntr_callstack_pop(c, 0, true);
        return NTR_OK;
    }
    uint64_t next = e->address + 2 * (uint64_t)e->halfwords;
    switch ((ntr_span_end)e->end) {
    case NTR_SPAN_CALL:
    case NTR_SPAN_INDIRECT_CALL: return call(c, next);
    case NTR_SPAN_CO_SWAP:
    case NTR_SPAN_RETURN: return ntr_callstack_unwind(c, e->target);
    case NTR_SPAN_TRAP_RETURN: return trap_return(c, e->target);
    case NTR_SPAN_EXCEPTION:
    case NTR_SPAN_TRAP: return ntr_callstack_push(c, frame_at(c, NTR_FRAME_EXCEPTION, e->target, next, next), false);
    case NTR_SPAN_INTERRUPT:
        return ntr_callstack_push(c, frame_at(c, NTR_FRAME_INTERRUPT, e->target, next, next), false);
    case NTR_SPAN_INDIRECT_JUMP: return jump(c, e->target);
    case NTR_SPAN_JUMP:
    case NTR_SPAN_TAKEN:
    case NTR_SPAN_NOT_TAKEN: return replace_top(c, e->target);
    case NTR_SPAN_CUT: return e->flags & NTR_EVENT_RUNS_ON ? replace_top(c, e->target) : NTR_OK;
    case NTR_SPAN_KINDS: break;
    }
    return NTR_OK;
}

ntr_status ntr_callstack_root(change *c, uint64_t address) {
    return ntr_callstack_push(c, frame_at(c, NTR_FRAME_ROOT, address, 0, 0), false);
}
