/* The last instructions of an order, where the message itself says how flow went on.
 *
 * N-Trace 1.0 section 14, steps 3 and 4. What the specification leaves open there: branches without history (OQ-9),
 * traps that hide the target of a jump (OQ-15), implicit returns (OQ-18), synchronizing messages on linear code
 * (OQ-24). */
#include "decoder/step.h"
#include "message/sets.h"

/* What to do when the walk ends with an instruction of this flow. */
typedef enum action {
    BAD = 0,      /* the message cannot lead here */
    FALL,         /* nothing jumped */
    OWN,          /* the instruction's own way, then the goal */
    TAKEN,        /* a branch, taken */
    OUTCOME,      /* a branch; without outcome the message's address tells it */
    ADDRESS,      /* to the message's address */
    OWN_UNKNOWN,  /* to its inferred target, else its target is unknown: a trap came first (OQ-15) */
    OWN_ADDRESS,  /* own way when it can be inferred, else to the message's address */
    TRACED_JUMP,  /* own way if jumps are traced like branches, else BAD */
    COUNTED,      /* ECALL or EBREAK never retires, but some encoders count it and send the handler's address */
    CUSTOM,       /* to the message's address if the instruction may be a jump we do not know (section 15.8) */
} action;

static const uint8_t actions[][NTR_GOAL_KINDS] = {
    /*                           HISTORY TAKEN        ADDRESS  TRAP         SYNC     NOTIFY       STOP */
    [NTR_FLOW_LINEAR] =        {BAD, BAD,         CUSTOM,  FALL,        FALL,    FALL,        FALL},
    [NTR_FLOW_BRANCH] =        {BAD, TAKEN,       BAD,     OWN,         OUTCOME, OUTCOME,     OWN},
    [NTR_FLOW_DIRECT_JUMP] =   {BAD, TRACED_JUMP, BAD,     OWN,         OWN,     OWN,         OWN},
    [NTR_FLOW_DIRECT_CALL] =   {BAD, TRACED_JUMP, BAD,     OWN,         OWN,     OWN,         OWN},
    [NTR_FLOW_INDIRECT_JUMP] = {BAD, BAD,         ADDRESS, OWN_UNKNOWN, ADDRESS, ADDRESS,     OWN_UNKNOWN},
    [NTR_FLOW_INDIRECT_CALL] = {BAD, BAD,         ADDRESS, OWN_UNKNOWN, ADDRESS, ADDRESS,     OWN_UNKNOWN},
    [NTR_FLOW_CO_SWAP] =       {BAD, BAD,         ADDRESS, OWN_UNKNOWN, ADDRESS, OWN_ADDRESS, OWN_UNKNOWN},
    [NTR_FLOW_RETURN] =        {BAD, BAD,         ADDRESS, OWN_UNKNOWN, ADDRESS, OWN_ADDRESS, OWN_UNKNOWN},
    [NTR_FLOW_TRAP_RETURN] =   {BAD, BAD,         ADDRESS, OWN_UNKNOWN, ADDRESS, ADDRESS,     OWN_UNKNOWN},
    [NTR_FLOW_TRAP] =          {BAD, BAD,         COUNTED, COUNTED,     COUNTED, BAD,         BAD},
};

/* The instructions since the last span. */
typedef struct stretch {
    uint64_t address, last, next;
    uint32_t instructions, halfwords;
    uint8_t flow; /* what it ended with; NTR_FLOW_LINEAR in the middle of a block */
} stretch;

static stretch untold(const ntr_source *s) {
    return (stretch){.address = s->pc - 2 * (uint64_t)s->run.halfwords,
                     .last = s->run.halfwords ? s->run.last : s->pc,
                     .next = s->pc,
                     .halfwords = s->run.halfwords,
                     .instructions = s->run.instructions};
}

/* Add the first `halfwords` (> 0) of the source's block, which end where an instruction ends. */
static void extend(stretch *r, const ntr_block *b, unsigned halfwords) {
    bool whole = halfwords == b->halfwords;
    r->flow = whole ? b->flow : NTR_FLOW_LINEAR;
    r->next = whole ? b->next : b->start + 2 * halfwords;
    r->last = b->start + 2 * ntr_block_before(b, halfwords);
    r->halfwords += halfwords;
    r->instructions += ntr_block_count(b, halfwords);
}

/* Outcomes that a walk has to leave for an instruction of this flow. */
static bool history_fits(const ntr_decoder *d, const ntr_walk_request *o, unsigned flow) {
    if (ntr_history_empty(&o->history)) return true;
    bool takes = flow == NTR_FLOW_BRANCH || ((flow == NTR_FLOW_DIRECT_JUMP || flow == NTR_FLOW_DIRECT_CALL) &&
                                             ntr_jumps_have_outcomes(d, o->source));
    return takes && o->history.left + o->history.again * o->history.length == 1;
}

static void emit_span(ntr_decoder *d, ntr_source *s, const stretch *r, unsigned end, uint64_t target, unsigned flags) {
    s->run = (ntr_open_span){0};
    if (d->counts && !d->count_callback) {
        ntr_span_count(d, end, r->instructions, r->halfwords);
        return;
    }
    ntr_event e = ntr_event_make(d, s, NTR_EVENT_SPAN);
    e.end = (uint8_t)end;
    e.flags |= (uint8_t)flags;
    e.address = r->address;
    e.last = r->last;
    e.target = target;
    e.instructions = r->instructions;
    e.halfwords = r->halfwords;
    ntr_event_emit(d, &e);
}

unsigned ntr_trap_end(unsigned btype) {
    static const uint8_t ends[] = {NTR_END_CUT, NTR_END_TRAP, NTR_END_EXCEPTION, NTR_END_INTERRUPT};
    return ends[btype & 3];
}

/* The trap that follows when the last instruction already ended its span. */
static void emit_trap(ntr_decoder *d, ntr_source *s, const ntr_walk_request *o) {
    stretch none = {.address = s->pc, .last = s->pc};
    emit_span(d, s, &none, ntr_trap_end(o->btype), o->address, s->pc_known ? 0 : NTR_EVENT_ADDRESS_UNKNOWN);
    ntr_source_goto(s, o->address);
}

static void fall(ntr_decoder *d, ntr_source *s, const ntr_walk_request *o, const stretch *r) {
    bool trap = o->goal == NTR_GOAL_TRAP;
    if (trap)
        emit_span(d, s, r, ntr_trap_end(o->btype), o->address, 0);
    else if (r->instructions)
        emit_span(d, s, r, NTR_END_CUT, r->next, 0);
    ntr_source_goto(s, trap ? o->address : r->next);
}

static ntr_status go_own_way(ntr_decoder *d, ntr_source *s, ntr_walk_request *o, const stretch *r) {
    ntr_step step;
    ntr_status status = ntr_step_own(d, o, &o->history, s->block, &step);
    if (status != NTR_OK) return status;
    emit_span(d, s, r, step.end, step.target, step.flags);
    ntr_source_goto(s, step.target);
    if (o->goal == NTR_GOAL_TRAP) emit_trap(d, s, o);
    return NTR_OK;
}

static void go_branch(ntr_decoder *d, ntr_source *s, const stretch *r, bool taken) {
    uint64_t target = taken ? s->block->target : r->next;
    emit_span(d, s, r, taken ? NTR_END_TAKEN : NTR_END_NOT_TAKEN, target, 0);
    ntr_source_goto(s, target);
}

/* A branch without history bit: the address of the synchronizing message says whether it was taken (OQ-24). Older
 * silicon leaves that bit out as a rule: docs/dialects.md section 1. */
static void go_by_address(ntr_decoder *d, ntr_source *s, ntr_walk_request *o, const stretch *r) {
    bool branch_message = ntr_tcode_in(ntr_tcodes_with(NTR_IS_DIRECT), d->message.tcode);
    bool taken = o->address == s->block->target && (branch_message || o->address != r->next);
    o->no_outcome |= !d->params.dialect->sync_branch_from_faddr;
    go_branch(d, s, r, taken);
}

static ntr_status go_to_address(ntr_decoder *d, ntr_source *s, const ntr_walk_request *o, const stretch *r) {
    ntr_return popped;
    ntr_status status = ntr_step_stack(d, s, s->block, &popped);
    emit_span(d, s, r, ntr_flow_ends[r->flow], o->address, 0);
    ntr_source_goto(s, o->address);
    return status;
}

static ntr_status go_unknown(ntr_decoder *d, ntr_source *s, const ntr_walk_request *o, const stretch *r) {
    ntr_return popped;
    ntr_status status = ntr_step_stack(d, s, s->block, &popped);
    emit_span(d, s, r, ntr_flow_ends[r->flow], 0, NTR_EVENT_TARGET_UNKNOWN);
    s->pc = 0;
    s->pc_known = false;
    s->block = NULL;
    if (o->goal == NTR_GOAL_TRAP) emit_trap(d, s, o);
    return status;
}

/* Whether the run's last instruction is one that the standard leaves to others and that may jump. */
static bool ends_custom(const ntr_decoder *d, const ntr_source *s, const stretch *r) {
    uint8_t code[2];
    if (r->instructions == 0) return false;
    if (ntr_program_read(d->config.program, &s->context, d->message.offset, r->last, code, 2) != 2) return false;
    enum { CUSTOM_0 = 0x0b, CUSTOM_1 = 0x2b, CUSTOM_2 = 0x5b, CUSTOM_3 = 0x7b };
    unsigned opcode = code[0] & 0x7f;
    return opcode == CUSTOM_0 || opcode == CUSTOM_1 || opcode == CUSTOM_2 || opcode == CUSTOM_3 ||
           ntr_insn_length((uint16_t)(code[0] | code[1] << 8)) > 4;
}

static ntr_status go_custom(ntr_decoder *d, ntr_source *s, const ntr_walk_request *o, const stretch *r) {
    if (!ends_custom(d, s, r)) return NTR_E_NO_LANDING;
    emit_span(d, s, r, NTR_END_INDIRECT_JUMP, o->address, 0);
    ntr_source_goto(s, o->address);
    return NTR_OK;
}

static void go_to_handler(ntr_decoder *d, ntr_source *s, const ntr_walk_request *o, const stretch *r) {
    unsigned end = o->btype ? ntr_trap_end(o->btype) : NTR_END_EXCEPTION;
    emit_span(d, s, r, end, o->address, 0);
    ntr_source_goto(s, o->address);
    if (!d->params.dialect->trap_counts) ntr_event_note(d, s, NTR_E_NO_LANDING); /* it never retires (OQ-32) */
}

static action choose(const ntr_decoder *d, const ntr_walk_request *o, const stretch *r) {
    const ntr_source *s = o->source;
    action a = actions[r->flow][o->goal];
    switch (a) {
    case TRACED_JUMP: return d->params.all_jumps || d->params.dialect->branch_on_jump ? OWN : BAD;
    case OUTCOME: return ntr_history_empty(&o->history) ? OUTCOME : OWN;
    case OWN_ADDRESS: return ntr_step_is_inferable(d, s, s->block) ? OWN : ADDRESS;
    case FALL: /* a custom jump may also end in a synchronizing message */
        return o->goal == NTR_GOAL_SYNC && o->address != r->next && ends_custom(d, s, r) ? CUSTOM : FALL;
    default: return a;
    }
}

ntr_status ntr_walk_end(ntr_decoder *d) {
    ntr_walk_request *o = &d->request;
    ntr_source *s = o->source;
    if (o->goal == NTR_GOAL_HISTORY || o->goal == NTR_GOAL_COUNT) return NTR_OK;

    stretch r = untold(s);
    if (o->left) {
        if (!ntr_block_boundary(s->block, (unsigned)o->left)) return NTR_E_ICNT_SPLITS;
        extend(&r, s->block, (unsigned)o->left);
    }
    ntr_status status;
    if (!history_fits(d, o, r.flow)) return NTR_E_HIST_LEFT;

    action a = choose(d, o, &r);
    switch (a) {
    case FALL: fall(d, s, o, &r); return NTR_OK;
    case OWN: return go_own_way(d, s, o, &r);
    case TAKEN: go_branch(d, s, &r, true); return NTR_OK;
    case OUTCOME: go_by_address(d, s, o, &r); return NTR_OK;
    case ADDRESS: return go_to_address(d, s, o, &r);
    case CUSTOM: return go_custom(d, s, o, &r);
    case COUNTED: go_to_handler(d, s, o, &r); return NTR_OK;
    case OWN_UNKNOWN:
        status = go_own_way(d, s, o, &r);
        return status == NTR_E_UNEXPECTED_INDIRECT || status == NTR_E_RETURN_STACK ? go_unknown(d, s, o, &r) : status;
    default: return NTR_E_NO_LANDING;
    }
}

/* Halfwords of straight code at the start of the block, `most` at most. */
static unsigned straight_part(const ntr_block *b, uint64_t most) {
    unsigned straight = b->flow == NTR_FLOW_LINEAR ? b->halfwords : b->halfwords - b->last_halfwords;
    if (most >= straight) return straight;
    return ntr_block_boundary(b, (unsigned)most) ? (unsigned)most : ntr_block_before(b, (unsigned)most);
}

uint64_t ntr_walk_end_flush(ntr_decoder *d, ntr_source *s, uint64_t sure) {
    if (s->state != NTR_SOURCE_FOLLOWING || !s->pc_known) return 0;
    ntr_source_look(d, s);
    stretch r = untold(s);
    unsigned part = 0;
    if (sure) {
        if (!s->block) s->block = ntr_blocks_get(d->blocks, s->view, s->pc);
        part = straight_part(s->block, sure);
        if (part) extend(&r, s->block, part);
    }
    if (r.halfwords) emit_span(d, s, &r, NTR_END_CUT, r.next, 0);
    if (part) ntr_source_goto(s, r.next);
    return part;
}

/* ---- without code */

/* How the run ended, as far as the message alone tells. */
static unsigned blind_end(const ntr_walk_request *o) {
    switch (o->goal) {
    case NTR_GOAL_TAKEN: return NTR_END_TAKEN;
    case NTR_GOAL_ADDRESS: return NTR_END_INDIRECT_JUMP;
    case NTR_GOAL_TRAP: return ntr_trap_end(o->btype);
    default: return NTR_END_CUT;
    }
}

void ntr_walk_end_no_code(ntr_decoder *d) {
    ntr_walk_request *o = &d->request;
    ntr_source *s = o->source;
    bool to_known = o->goal != NTR_GOAL_TAKEN && o->goal != NTR_GOAL_STOP;
    ntr_event e = ntr_event_make(d, s, NTR_EVENT_NO_CODE);
    e.end = (uint8_t)blind_end(o);
    e.address = s->pc;
    e.target = to_known ? o->address : 0;
    e.flags |= (uint8_t)((s->pc_known ? 0 : NTR_EVENT_ADDRESS_UNKNOWN) | (to_known ? 0 : NTR_EVENT_TARGET_UNKNOWN));
    e.halfwords = o->left > UINT32_MAX ? UINT32_MAX : (uint32_t)o->left;
    if (e.halfwords || e.end != NTR_END_CUT) ntr_event_emit(d, &e);

    ntr_source_goto(s, o->address);
    s->pc_known = to_known;
    if (!to_known) return;
    s->block = ntr_blocks_get(d->blocks, s->view, s->pc);
    if (s->block->halfwords == 0) {
        s->block = NULL;
        return;
    }
    ntr_gap_close(d, s, &s->pc);
    s->state = NTR_SOURCE_FOLLOWING;
}
