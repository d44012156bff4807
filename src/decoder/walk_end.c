/* The walk end: the last instructions of a walk request, after which the message itself determines the next address.
 *
 * Idea: the flow class of the last instruction and the goal of the message select one action from a table. The
 * combination also checks the message against the code: an IndirectBranch that ends on linear code is an error.
 *
 * Invariant: when ntr_walk_end returns NTR_OK, every halfword of the request is in a span, in `run` or in a NO_CODE
 * event, and `pc` is the next instruction (or pc_known is false).
 *
 * Example: ProgTraceSync (goal NOTIFY) whose I-CNT ends after a conditional branch, with an empty history: the action
 * is OUTCOME, F-ADDR equals the branch target, and so the branch was taken.
 *
 * N-Trace 1.0 section 14, steps 3 and 4. Open questions of the specification: branches without history (OQ-9), traps
 * that hide the target of a jump (OQ-15), implicit returns (OQ-18), synchronizing messages on linear code (OQ-24). */
#include "decoder/step.h"
#include "message/sets.h"

/* What to do when the walk ends with an instruction of a given flow. */
typedef enum walk_action {
    BAD = 0,       /* the message does not fit this instruction */
    FALL,          /* continue with the next instruction */
    INFER,         /* follow the instruction without a message, then apply the goal */
    TAKE_BRANCH,   /* a taken branch */
    OUTCOME,       /* a branch; without an outcome the message's address decides */
    ADDRESS,       /* continue at the message's address */
    INFER_UNKNOWN, /* to the inferred target, else the target is unknown: a trap came first (OQ-15) */
    INFER_ADDRESS, /* to the inferred target, else to the message's address */
    TRACED_JUMP,   /* INFER if jumps are traced like branches, else BAD */
    COUNTED,       /* ECALL or EBREAK never retires, but some encoders count it and send the address of the handler */
    SELF,          /* a branch; without an outcome it is taken if it leads to itself */
    CUSTOM,        /* to the message's address if the instruction may be an unknown custom jump (section 15.8) */
} walk_action;

static const uint8_t actions[][NTR_GOAL_KINDS] = {
    /*                          HISTORY TAKEN    ADDRESS  TRAP           SYNC     NOTIFY         STOP           SELF */
    [NTR_FLOW_LINEAR] = {BAD, BAD, CUSTOM, FALL, FALL, FALL, FALL, FALL},
    [NTR_FLOW_BRANCH] = {BAD, TAKE_BRANCH, CUSTOM, INFER, OUTCOME, OUTCOME, INFER, SELF},
    [NTR_FLOW_DIRECT_JUMP] = {BAD, TRACED_JUMP, BAD, INFER, INFER, INFER, INFER, INFER},
    [NTR_FLOW_DIRECT_CALL] = {BAD, TRACED_JUMP, BAD, INFER, INFER, INFER, INFER, INFER},
    [NTR_FLOW_INDIRECT_JUMP] = {BAD, BAD, ADDRESS, INFER_UNKNOWN, ADDRESS, ADDRESS, INFER_UNKNOWN, INFER_UNKNOWN},
    [NTR_FLOW_INDIRECT_CALL] = {BAD, BAD, ADDRESS, INFER_UNKNOWN, ADDRESS, ADDRESS, INFER_UNKNOWN, INFER_UNKNOWN},
    [NTR_FLOW_CO_SWAP] = {BAD, BAD, ADDRESS, INFER_UNKNOWN, ADDRESS, INFER_ADDRESS, INFER_UNKNOWN, INFER_UNKNOWN},
    [NTR_FLOW_RETURN] = {BAD, BAD, ADDRESS, INFER_UNKNOWN, ADDRESS, INFER_ADDRESS, INFER_UNKNOWN, INFER_UNKNOWN},
    [NTR_FLOW_TRAP_RETURN] = {BAD, BAD, ADDRESS, INFER_UNKNOWN, ADDRESS, ADDRESS, INFER_UNKNOWN, INFER_UNKNOWN},
    [NTR_FLOW_TRAP] = {BAD, BAD, COUNTED, COUNTED, COUNTED, BAD, BAD, BAD},
};

/* The instructions since the last span. */
typedef struct code_range {
    uint64_t address, last, next;
    uint32_t instructions, halfwords;
    uint8_t flow; /* of the last instruction; NTR_FLOW_LINEAR inside a block */
} code_range;

static code_range open_range(const ntr_source *s) {
    return (code_range){.address = s->pc - 2 * (uint64_t)s->run.halfwords,
                        .last = s->run.halfwords ? s->run.last : s->pc,
                        .next = s->pc,
                        .halfwords = s->run.halfwords,
                        .instructions = s->run.instructions};
}

/* Add the first `halfwords` (> 0) of block `b`. They must end at an instruction boundary. */
static void extend_range(code_range *range, const ntr_block *b, unsigned halfwords) {
    bool complete = halfwords == b->halfwords;
    range->flow = complete ? b->flow : NTR_FLOW_LINEAR;
    range->next = complete ? b->next : b->start + 2 * halfwords;
    range->last = b->start + 2 * ntr_block_before(b, halfwords);
    range->halfwords += halfwords;
    range->instructions += ntr_block_count(b, halfwords);
}

/* Returns whether the remaining history is what the last instruction, of class `flow`, consumes. */
static bool history_fits(const ntr_decoder *d, const ntr_walk_request *request, unsigned flow) {
    if (ntr_history_empty(&request->history)) return true;
    bool takes = flow == NTR_FLOW_BRANCH || ((flow == NTR_FLOW_DIRECT_JUMP || flow == NTR_FLOW_DIRECT_CALL) &&
                                             ntr_jumps_have_outcomes(d, request->source));
    return takes && request->history.left + request->history.repeats * request->history.length == 1;
}

static void emit_span(ntr_decoder *d, ntr_source *s, const code_range *range, unsigned end, uint64_t target,
                      unsigned flags) {
    s->run = (ntr_open_span){0};
    if (d->counts && !d->count_callback) {
        ntr_span_count(d, end, range->instructions, range->halfwords);
        return;
    }
    ntr_event e = ntr_event_make(d, s, NTR_EVENT_SPAN);
    e.end = (uint8_t)end;
    e.flags |= (uint8_t)flags;
    e.address = range->address;
    e.last = range->last;
    e.target = target;
    e.instructions = range->instructions;
    e.halfwords = range->halfwords;
    ntr_event_emit(d, &e);
}

unsigned ntr_trap_end(unsigned btype) {
    static const uint8_t ends[] = {NTR_SPAN_CUT, NTR_SPAN_TRAP, NTR_SPAN_EXCEPTION, NTR_SPAN_INTERRUPT};
    return ends[btype & 3];
}

/* Emit the trap that follows when the last instruction has already ended its span. */
static void emit_trap(ntr_decoder *d, ntr_source *s, const ntr_walk_request *request) {
    code_range none = {.address = s->pc, .last = s->pc};
    emit_span(d, s, &none, ntr_trap_end(request->btype), request->address, s->pc_known ? 0 : NTR_EVENT_ADDRESS_UNKNOWN);
    ntr_source_goto(s, request->address);
}

static void fall_through(ntr_decoder *d, ntr_source *s, const ntr_walk_request *request, const code_range *range) {
    bool trap = request->goal == NTR_GOAL_TRAP;
    if (trap)
        emit_span(d, s, range, ntr_trap_end(request->btype), request->address, 0);
    else if (range->instructions)
        emit_span(d, s, range, NTR_SPAN_CUT, range->next, 0);
    ntr_source_goto(s, trap ? request->address : range->next);
}

static ntr_status go_inferred(ntr_decoder *d, ntr_source *s, ntr_walk_request *request, const code_range *range) {
    ntr_step step;
    ntr_status status = ntr_step_infer(d, request, &request->history, s->block, &step);
    if (status != NTR_OK) return status;
    emit_span(d, s, range, step.end, step.target, step.flags);
    ntr_source_goto(s, step.target);
    if (request->goal == NTR_GOAL_TRAP) emit_trap(d, s, request);
    return NTR_OK;
}

static void go_branch(ntr_decoder *d, ntr_source *s, const code_range *range, bool taken) {
    if (d->predicts && s->mode != NTR_MODE_BTM) ntr_flow_learn(&s->tables, range->last, taken);
    uint64_t target = taken ? s->block->target : range->next;
    emit_span(d, s, range, taken ? NTR_SPAN_TAKEN : NTR_SPAN_NOT_TAKEN, target, 0);
    ntr_source_goto(s, target);
}

/* Returns whether the branch was taken, when that cannot be seen from the address: it leads to the next instruction. */
static bool goes_as_predicted(const ntr_decoder *d, const ntr_source *s, const code_range *range) {
    return d->predicts && s->mode != NTR_MODE_BTM && s->tables.known && ntr_flow_predict(&s->tables, range->last);
}

/* A branch without history bit: the address of the synchronizing message shows whether it was taken (OQ-24). Older
 * silicon always omits that bit: docs/dialects.md section 1. */
static void go_by_address(ntr_decoder *d, ntr_source *s, ntr_walk_request *request, const code_range *range) {
    bool branch_message = ntr_tcode_in(ntr_tcodes_with(NTR_FLAG_DIRECT), d->message.tcode);
    bool taken = request->address == s->block->target &&
                 (branch_message || request->address != range->next || goes_as_predicted(d, s, range));
    request->no_outcome |= !d->params.dialect->sync_branch_from_faddr && !d->predicts && !request->self_loop;
    go_branch(d, s, range, taken);
}

static ntr_status go_to_address(ntr_decoder *d, ntr_source *s, const ntr_walk_request *request,
                                const code_range *range) {
    ntr_return popped;
    ntr_status status = ntr_step_stack(d, s, s->block, &popped);
    ntr_step_trail(d, s, s->block, &popped, request->address);
    emit_span(d, s, range, ntr_flow_ends[range->flow], request->address, 0);
    ntr_source_goto(s, request->address);
    return status;
}

static ntr_status go_unknown(ntr_decoder *d, ntr_source *s, const ntr_walk_request *request, const code_range *range) {
    ntr_return popped;
    ntr_status status = ntr_step_stack(d, s, s->block, &popped);
    ntr_step_trail(d, s, s->block, &popped, NTR_TRAIL_NO_RETURN);
    emit_span(d, s, range, ntr_flow_ends[range->flow], 0, NTR_EVENT_TARGET_UNKNOWN);
    s->pc = 0;
    s->pc_known = false;
    s->block = NULL;
    if (request->goal == NTR_GOAL_TRAP) emit_trap(d, s, request);
    return status;
}

/* Returns whether the last instruction of the range has a custom or reserved encoding and so may be a jump. */
static bool ends_custom(const ntr_decoder *d, const ntr_source *s, const code_range *range) {
    const ntr_place place = ntr_place_at(&s->context, d->message.offset, range->last);
    uint8_t first;
    if (range->instructions == 0 || ntr_program_read(d->config.program, place, &first, 1) == 0) return false;
    ntr_code_window window;
    const bool has_window = ntr_program_window(d->config.program, place, &window);
    return !ntr_program_is_known(d->config.program, place, has_window ? &window : NULL);
}

static ntr_status go_custom(ntr_decoder *d, ntr_source *s, const ntr_walk_request *request, const code_range *range) {
    if (!ends_custom(d, s, range)) return NTR_E_NO_LANDING;
    emit_span(d, s, range, NTR_SPAN_INDIRECT_JUMP, request->address, 0);
    ntr_source_goto(s, request->address);
    return NTR_OK;
}

static void go_to_handler(ntr_decoder *d, ntr_source *s, const ntr_walk_request *request, const code_range *range) {
    unsigned end = request->btype ? ntr_trap_end(request->btype) : NTR_SPAN_EXCEPTION;
    emit_span(d, s, range, end, request->address, 0);
    ntr_source_goto(s, request->address);
    /* such an instruction never retires (OQ-32) */
    if (!d->params.dialect->trap_counts) ntr_event_note(d, s, NTR_E_NO_LANDING);
}

static walk_action choose(const ntr_decoder *d, const ntr_walk_request *request, const code_range *range) {
    const ntr_source *s = request->source;
    walk_action a = actions[range->flow][request->goal];
    switch (a) {
    case TRACED_JUMP: return d->params.all_jumps || d->params.dialect->branch_on_jump ? INFER : BAD;
    case OUTCOME: return ntr_history_empty(&request->history) ? OUTCOME : INFER;
    case SELF: return ntr_history_empty(&request->history) && s->block->target == range->last ? TAKE_BRANCH : INFER;
    case INFER_ADDRESS: return ntr_step_is_inferable(d, s, s->block) ? INFER : ADDRESS;
    case FALL: /* a custom jump may also end with a synchronizing message */
        return request->goal == NTR_GOAL_SYNC && request->address != range->next && ends_custom(d, s, range) ? CUSTOM
                                                                                                             : FALL;
    default: return a;
    }
}

ntr_status ntr_walk_end(ntr_decoder *d) {
    ntr_walk_request *request = &d->request;
    ntr_source *s = request->source;
    if (request->goal == NTR_GOAL_HISTORY || request->goal == NTR_GOAL_COUNT) return NTR_OK;

    code_range range = open_range(s);
    if (request->left) {
        if (!ntr_block_boundary(s->block, (unsigned)request->left)) return NTR_E_ICNT_SPLITS;
        extend_range(&range, s->block, (unsigned)request->left);
    }
    ntr_status status;
    if (!history_fits(d, request, range.flow)) return NTR_E_HIST_LEFT;

    walk_action a = choose(d, request, &range);
    switch (a) {
    case FALL: fall_through(d, s, request, &range); return NTR_OK;
    case INFER: return go_inferred(d, s, request, &range);
    case TAKE_BRANCH: go_branch(d, s, &range, true); return NTR_OK;
    case OUTCOME: go_by_address(d, s, request, &range); return NTR_OK;
    case ADDRESS: return go_to_address(d, s, request, &range);
    case CUSTOM: return go_custom(d, s, request, &range);
    case COUNTED: go_to_handler(d, s, request, &range); return NTR_OK;
    case INFER_UNKNOWN:
        status = go_inferred(d, s, request, &range);
        if (status != NTR_E_UNEXPECTED_INDIRECT && status != NTR_E_RETURN_STACK) return status;
        return go_unknown(d, s, request, &range);
    default: return NTR_E_NO_LANDING;
    }
}

/* Returns the number of halfwords of linear code at the start of the block, at most `most`. */
static unsigned straight_part(const ntr_block *b, uint64_t most) {
    unsigned straight = b->flow == NTR_FLOW_LINEAR ? b->halfwords : b->halfwords - b->last_halfwords;
    if (most >= straight) return straight;
    return ntr_block_boundary(b, (unsigned)most) ? (unsigned)most : ntr_block_before(b, (unsigned)most);
}

uint64_t ntr_walk_end_flush(ntr_decoder *d, ntr_source *s, uint64_t sure) {
    if (s->state != NTR_SOURCE_FOLLOWING || !s->pc_known) return 0;
    ntr_source_update_view(d, s);
    code_range range = open_range(s);
    unsigned part = 0;
    if (sure) {
        if (!s->block) s->block = ntr_blocks_get(d->blocks, s->view, s->pc);
        part = straight_part(s->block, sure);
        if (part) extend_range(&range, s->block, part);
    }
    if (range.halfwords) emit_span(d, s, &range, NTR_SPAN_CUT, range.next, 0);
    if (part) ntr_source_goto(s, range.next);
    return part;
}
