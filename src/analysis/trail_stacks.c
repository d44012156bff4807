#include "analysis/trail_stacks.h"

#include "analysis/callstack.h"
#include "analysis/callstack_state.h"
#include "base/allocator.h"

static hart *known_hart(const ntr_callstack *cs, uint16_t src) {
    for (size_t i = 0; i < cs->hart_count; i++)
        if (cs->harts[i].src == src) return &cs->harts[i];
    return NULL;
}

static uint64_t entry_of(const ntr_stack_frame *frame) {
    if (frame->kind != NTR_FRAME_CALL) return NTR_TRAIL_NO_RETURN;
    return frame->return_to | (frame->return_to - frame->site == 4);
}

void ntr_trail_from_stack(const ntr_callstack *cs, uint16_t src, ntr_call_trail *trail, ntr_trail_place *place) {
    const hart *h = known_hart(cs, src);
    const stack *s = h ? &cs->stacks[h->current] : NULL;
    if (h) place->stopped = h->stopped;
    if (h) place->stopped_at = h->stopped_at;
    trail->depth = trail->least = 0;
    trail->broken = !s || !s->depth;
    if (trail->broken || !ntr_trail_reserve(trail, s->depth)) return;
    for (size_t i = 1; i < s->depth; i++) trail->returns[trail->depth++] = entry_of(&s->frames[i]);
    trail->least = trail->depth;
}

/* ---- what is regular */

/* A program's signal handler may end by a jump (ntr_stack_left_trap). The stack is the one at the beginning of the
 * part; a trap inside of the part is not regular. */
static bool may_end_trap(const ntr_callstack *cs, const hart *h) {
    const stack *s = &cs->stacks[h->current];
    if (h->context.prv != NTR_PRV_UNKNOWN && h->context.prv != 0) return false;
    for (size_t i = 0; i < s->depth; i++)
        if (ntr_frame_is_trap(&s->frames[i])) return true;
    return false;
}

static bool is_regular_jump(ntr_callstack *cs, const ntr_program *program, const hart *h, const ntr_event *e) {
    const ntr_function_range from = ntr_callstack_range(cs, e, e->last);
    const ntr_function_range to = ntr_callstack_range(cs, e, e->target);
    if (to.number == from.number) return true;
    return (ntr_function_range_begins(&to, e->target) || !ntr_may_be_awaited(program, e)) && !may_end_trap(cs, h);
}

bool ntr_trail_regular(ntr_callstack *cs, const ntr_program *program, const ntr_event *e) {
    const hart *h = known_hart(cs, e->src);
    const bool unknown = e->flags & NTR_EVENT_TARGET_UNKNOWN;
    if (!h || !ntr_context_equal(&h->context, &e->context)) return false;
    switch ((ntr_span_end)e->end) {
    case NTR_SPAN_NOT_TAKEN:
    case NTR_SPAN_CUT: return true;
    case NTR_SPAN_JUMP:
    case NTR_SPAN_TAKEN:
    case NTR_SPAN_CALL:
    case NTR_SPAN_INDIRECT_CALL:
    case NTR_SPAN_RETURN: return !unknown;
    case NTR_SPAN_INDIRECT_JUMP: return !unknown && is_regular_jump(cs, program, h, e);
    default: return false;
    }
}

/* ---- from the trail */

static uint64_t return_of(uint64_t entry) {
    return entry & ~UINT64_C(1);
}

static uint64_t site_of(uint64_t entry) {
    return return_of(entry) - (entry & 1 ? 4 : 2);
}

/* The function is another one after a tail call: then the frame is a new one. */
static void set_function(ntr_stack_frame *frame, uint32_t function) {
    if (frame->function != function) frame->handle = 0;
    frame->function = function;
}

ntr_status ntr_trail_to_stack(ntr_callstack *cs, uint16_t src, ntr_call_trail *trail, const ntr_trail_place *place) {
    hart *h = known_hart(cs, src);
    stack *s = h ? &cs->stacks[h->current] : NULL;
    const ntr_event at = {.src = src, .offset = place->offset, .context = h ? h->context : (ntr_context){0}};
    if (!s || trail->least + (size_t)1 > s->depth) return NTR_E_STATE;
    if (ntr_reserve(cs->allocator, (void **)&s->frames, &s->capacity, (size_t)trail->depth + 1, sizeof *s->frames))
        return NTR_E_MEMORY;
    for (uint32_t i = trail->least; i <= trail->depth; i++) {
        const bool is_top = i == trail->depth;
        if (i > trail->least) {
            const uint64_t entry = trail->returns[i - 1];
            s->frames[i] =
                (ntr_stack_frame){.kind = NTR_FRAME_CALL, .site = site_of(entry), .return_to = return_of(entry)};
        }
        if (is_top && !place->address_known) break;
        const uint64_t inside = is_top ? place->address : site_of(trail->returns[i]);
        const uint32_t function = ntr_callstack_range(cs, &at, inside).number;
        if (function == UINT32_MAX) return NTR_E_MEMORY;
        set_function(&s->frames[i], function);
    }
    s->depth = (size_t)trail->depth + 1;
    h->stopped = place->stopped;
    h->stopped_at = place->stopped_at;
    trail->least = trail->depth;
    return NTR_OK;
}
