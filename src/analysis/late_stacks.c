/* Stacks that wait for the frames of their thread.
 *
 * A thread that moves leaves one hart before it runs on another one, but the stream may have these switches in the
 * other order: harts are written in pieces. Then the thread has a second stack, on the new hart, that begins empty.
 * Spans that would change frames that it does not have are noted. When the switch on the old hart comes, the noted
 * spans change the frames of the stack that is parked there, and the frames of the second stack are put upon them.
 *
 * Example: hart 1 continues a thread in schedule(), returns from it and from execve; then hart 0 reports that it left
 * the thread in schedule(). Two returns and one trap return are noted; they leave the frames of hart 0. */
#include "analysis/callstack_state.h"

#include "base/allocator.h"

void ntr_callstack_listen_late(ntr_callstack *cs, const ntr_late_listener *listener) {
    cs->late_listener = *listener;
}

bool ntr_callstack_late(const ntr_callstack *cs, uint32_t *number) {
    *number = cs->late_now - (cs->late_now != 0);
    return cs->late_now;
}

static uint64_t task_of(const ntr_callstack *cs, const hart *h) {
    const stack *s = &cs->stacks[h->current];
    const ntr_task *task = ntr_hart_current_task(h);
    if (s->task || s->parked || s->free) return s->task;
    return task ? task->task : 0;
}

bool ntr_late_elsewhere(const change *c, uint64_t task) {
    const ntr_callstack *cs = c->cs;
    for (size_t i = 0; i < cs->hart_count; i++)
        if (&cs->harts[i] != c->hart && task_of(cs, &cs->harts[i]) == task) return true;
    return false;
}

void ntr_late_begin(ntr_callstack *cs, size_t index) {
    cs->stacks[index].waits = true;
    cs->stacks[index].began = cs->switches;
    if (cs->late_listener.began) cs->late_listener.began(cs->late_listener.user, (uint32_t)index);
}

void ntr_late_drop(ntr_callstack *cs, stack *s) {
    while (s->first_late) {
        late_change *l = &cs->late[s->first_late - 1];
        const uint32_t next = l->next;
        l->next = cs->free_late;
        cs->free_late = s->first_late;
        s->first_late = next;
    }
    s->last_late = 0;
    s->waits = false;
}

void ntr_late_reset(ntr_callstack *cs) {
    ntr_dealloc(cs->allocator, cs->late);
    cs->late = NULL;
    cs->free_late = 0;
}

/* ---- changes that are noted */

static bool changes_missing(const change *c) {
    const ntr_event *e = c->event;
    if (c->stack->depth > 1) return false;
    if (e->end == NTR_SPAN_CUT && !(e->flags & NTR_EVENT_RUNS_ON)) return false;
    switch ((ntr_span_end)e->end) {
    case NTR_SPAN_CO_SWAP:
    case NTR_SPAN_RETURN:
    case NTR_SPAN_TRAP_RETURN: return true;
    case NTR_SPAN_JUMP:
    case NTR_SPAN_TAKEN:
    case NTR_SPAN_NOT_TAKEN:
    case NTR_SPAN_CUT:
    case NTR_SPAN_INDIRECT_JUMP:
        return c->stack->depth && ntr_callstack_range_at(c, e->target)->number != c->stack->frames[0].function;
    default: return false;
    }
}

static bool loses_all(const ntr_event *e) {
    if (e->kind != NTR_EVENT_SPAN) return e->kind == NTR_EVENT_GAP;
    return e->flags & NTR_EVENT_TARGET_UNKNOWN && e->end != NTR_SPAN_CUT && e->end != NTR_SPAN_NOT_TAKEN;
}

/* Returns the number of a free one, plus 1, or 0. */
static uint32_t take_change(ntr_callstack *cs) {
    if (!cs->late) {
        cs->late = ntr_alloc(cs->allocator, NTR_LATE_CHANGES, sizeof *cs->late);
        if (!cs->late) return 0;
        for (uint32_t i = 0; i < NTR_LATE_CHANGES; i++) cs->late[i].next = i;
        cs->free_late = NTR_LATE_CHANGES;
    }
    const uint32_t number = cs->free_late;
    if (number) cs->free_late = cs->late[number - 1].next;
    return number;
}

/* With too many changes, the frames are lost. */
static void note(change *c, bool all) {
    enum { OF_ONE_STACK = NTR_LATE_CHANGES / 4 };
    ntr_callstack *cs = c->cs;
    stack *s = c->stack;
    const uint32_t number = s->noted < OF_ONE_STACK ? take_change(cs) : 0;
    s->whole = all || !number;
    s->lost = !number;
    if (!number) return;
    s->noted++;
    cs->late[number - 1] = (late_change){.event = *c->event, .all = all};
    *(s->last_late ? &cs->late[s->last_late - 1].next : &s->first_late) = number;
    s->last_late = number;
    if (cs->late_listener.noted)
        cs->late_listener.noted(cs->late_listener.user, number - 1, c->hart->src, (uint32_t)c->hart->current);
}

void ntr_late_note(change *c) {
    if (c->stack->whole) return;
    if (!(c->event->flags & NTR_EVENT_TARGET_UNKNOWN) && changes_missing(c)) note(c, false);
    if (loses_all(c->event)) note(c, true);
}

void ntr_late_note_all(change *c) {
    if (!c->stack->whole) note(c, true);
}

/* ---- joining */

/* Returns whether the returns that the stack waits with, up to the first other change, are those of the frames. */
static bool fits(const ntr_callstack *cs, const stack *waiting, const stack *parked) {
    size_t depth = parked->depth;
    for (uint32_t at = waiting->first_late; at; at = cs->late[at - 1].next) {
        const ntr_event *e = &cs->late[at - 1].event;
        if (e->kind != NTR_EVENT_SPAN || e->end != NTR_SPAN_RETURN) return true;
        if (!depth || parked->frames[depth - 1].kind != NTR_FRAME_CALL) return true;
        if (parked->frames[--depth].return_to != e->target) return false;
    }
    return true;
}

/* Returns the number of the stack that began first of those that fit, otherwise of all; SIZE_MAX: none waits. */
static size_t waiting_for(const ntr_callstack *cs, const stack *parked) {
    size_t found = SIZE_MAX;
    bool fit = false;
    for (size_t i = 0; i < cs->stack_count; i++) {
        const stack *s = &cs->stacks[i];
        if (!s->waits || s->task != parked->task || s == parked) continue;
        const bool fits_too = fits(cs, s, parked);
        if (found != SIZE_MAX && (fit > fits_too || (fit == fits_too && cs->stacks[found].began <= s->began))) continue;
        found = i;
        fit = fits_too;
    }
    return found;
}

static hart *hart_with(ntr_callstack *cs, uint16_t src) {
    size_t at = 0;
    while (at + 1 < cs->hart_count && cs->harts[at].src != src) at++;
    return &cs->harts[at];
}

/* Applies a noted event to the stack of `c`, in the context that its hart had. */
static ntr_status apply(const change *c, const late_change *noted) {
    hart *h = hart_with(c->cs, noted->event.src), then = *h;
    then.context = noted->event.context;
    then.context_number = ++h->context_number;
    then.current = c->hart->current;
    then.guessing = false;
    change late = *c;
    late.hart = &then;
    late.event = &noted->event;
    if (noted->all) ntr_callstack_pop(&late, 0, loses_all(&noted->event));
    ntr_status status = noted->all || late.stack->depth ? NTR_OK : ntr_callstack_root(&late, noted->event.address);
    if (!status && !noted->all) status = ntr_callstack_end_span(&late);
    h->context_number++;
    return status;
}

static ntr_status apply_all(change *c, stack *waiting) {
    ntr_callstack *cs = c->cs;
    ntr_status status = NTR_OK;
    for (uint32_t at = waiting->first_late; at && !status; at = cs->late[at - 1].next) {
        cs->late_now = at;
        const late_change noted = cs->late[at - 1];
        status = apply(c, &noted);
    }
    cs->late_now = 0;
    if (waiting->lost) ntr_callstack_pop(c, 0, true);
    return status;
}

/* Puts the frames of `from` upon those of the stack of `c`. The outermost one continues the one below it. */
static ntr_status put_upon(change *c, stack *from) {
    stack *to = c->stack;
    const size_t below = to->depth && from->depth, moved = from->depth - below;
    if (ntr_reserve(c->cs->allocator, (void **)&to->frames, &to->capacity, to->depth + moved, sizeof *to->frames))
        return NTR_E_MEMORY;
    change other = *c;
    other.stack = from;
    from->depth = below;
    ntr_callstack_pop(&other, 0, false);
    for (size_t i = 0; i < moved; i++) to->frames[to->depth++] = from->frames[below + i];
    return NTR_OK;
}

static void take_state(ntr_callstack *cs, size_t from, size_t to) {
    stack *f = &cs->stacks[from], *t = &cs->stacks[to];
    t->src = f->src;
    t->parked = f->parked;
    t->parked_at = f->parked_at;
    t->free = f->gone;
    t->user = f->user || t->user;
    if (f->user) t->user_context = f->user_context;
    t->new_program = f->new_program;
    ntr_late_drop(cs, f);
    f->parked = f->gone = f->whole = f->lost = false;
    f->free = true;
    for (size_t i = 0; i < cs->hart_count; i++) {
        if (cs->harts[i].current != from) continue;
        cs->harts[i].current = to;
        cs->harts[i].fresh = false;
    }
}

static ntr_status join(change *c, size_t from) {
    ntr_callstack *cs = c->cs;
    const size_t to = (size_t)(c->stack - cs->stacks);
    if (apply_all(c, &cs->stacks[from]) || put_upon(c, &cs->stacks[from])) return NTR_E_MEMORY;
    take_state(cs, from, to);
    if (c->stack->free) ntr_callstack_pop(c, 0, true);
    if (cs->late_listener.joined) cs->late_listener.joined(cs->late_listener.user, (uint32_t)from, (uint32_t)to);
    return NTR_OK;
}

ntr_status ntr_late_join(change *c) {
    ntr_status status = NTR_OK;
    size_t from;
    while (!status && !c->stack->waits && (c->stack->parked || c->stack->free) &&
           (from = waiting_for(c->cs, c->stack)) != SIZE_MAX) {
        if (!c->stack->free)
            status = join(c, from);
        else
            ntr_late_drop(c->cs, &c->cs->stacks[from]); /* of another thread, at the same address */
    }
    return status;
}
