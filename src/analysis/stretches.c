#include "analysis/stretches.h"
#include "analysis/code_marks.h"
#include "base/allocator.h"

#include <ntrace/params.h>
#include <string.h>

/* Something that is off on a hart, since so many of its instructions. */
typedef struct open_stretch {
    bool off;
    uint64_t instructions, time, from;
} open_stretch;

typedef struct stretch_hart {
    uint64_t instructions;
    open_stretch open[NTR_STRETCH_KINDS];
    uint64_t traps; /* of M-mode: the states before traps, the newest in the lowest bit */
    uint8_t end, prv; /* of the last span */
    bool ended;     /* there was one */
} stretch_hart;

struct ntr_stretch_state {
    const ntr_allocator *allocator;
    ntr_functions *functions;
    ntr_code_marks *marks;
    stretch_hart *harts;
    ntr_stretches all[NTR_STRETCH_KINDS];
};

/* A span, while its marks are taken. */
typedef struct span_moment {
    ntr_stretch_state *state;
    stretch_hart *hart;
    ntr_stretch_thread *thread;
    const ntr_event *span;
    const ntr_context *context; /* in which its address is executed */
    uint64_t time;
    bool timed;
} span_moment;

/* ---- stretches */

static const char *name_at(ntr_stretch_state *s, ntr_place place) {
    const ntr_function *f = ntr_functions_get(s->functions, ntr_functions_at(s->functions, place));
    return f ? f->name : NULL;
}

/* Keeps the longest ones, sorted. They begin in the mode `prv`, and may end in another one, behind a return from a
 * trap. That mode is not known when the next trap comes before its first instruction. */
static void keep(const span_moment *m, unsigned kind, ntr_long_stretch long_one, uint8_t prv) {
    ntr_stretches *all = &m->state->all[kind];
    size_t at = all->longest_count;
    ntr_context begin = *m->context, end = *m->context;

    if (at == NTR_STRETCHES_LONGEST && all->longest[at - 1].instructions >= long_one.instructions) return;
    begin.prv = prv;
    begin.v = 0;
    long_one.from_function = name_at(m->state, ntr_place_at(&begin, m->span->offset, long_one.from));
    if (!m->span->instructions) end.prv = NTR_PRV_UNKNOWN;
    long_one.to_function = name_at(m->state, ntr_place_at(&end, m->span->offset, long_one.to));
    if (at < NTR_STRETCHES_LONGEST)
        all->longest_count++;
    else
        at--;
    for (; at && all->longest[at - 1].instructions < long_one.instructions; at--)
        all->longest[at] = all->longest[at - 1];
    all->longest[at] = long_one;
}

/* Switches off or on, behind `instructions` of the hart. */
static void turn(const span_moment *m, unsigned kind, bool off, uint64_t instructions, uint64_t address) {
    open_stretch *open = &m->hart->open[kind];
    const uint8_t prv = kind == NTR_STRETCH_M ? 3 : 1;
    if (open->off == off) return;
    open->off = off;
    if (off) {
        open->instructions = instructions;
        open->time = m->time;
        open->from = address;
        return;
    }
    ntr_long_stretch ended = {.instructions = instructions - open->instructions,
                              .begin = open->instructions,
                              .from = open->from,
                              .to = address,
                              .src = m->span->src};
    if (m->timed && m->time >= open->time) ended.ticks = m->time - open->time;
    ntr_histogram_add(&m->state->all[kind].instructions, ended.instructions);
    keep(m, kind, ended, prv);
}

/* ---- traps */

/* An interrupt shows that interrupts of the mode were on: a stretch that has not ended was none. */
static void drop(const span_moment *m, unsigned kind) {
    m->hart->open[kind].off = false;
    if (kind == NTR_STRETCH_S) m->thread->saved_count = 0;
}

/* The interrupts of a mode are on in less privileged modes, off in the handler of a trap, and behind it as they were.
 */
static void take_trap(const span_moment *m, uint8_t from) {
    const uint64_t now = m->hart->instructions, at = m->span->address;
    if (m->hart->end == NTR_SPAN_INTERRUPT && m->span->context.prv == from)
        drop(m, from == 3 ? NTR_STRETCH_M : NTR_STRETCH_S);
    if (m->span->context.prv == 3) {
        m->hart->traps = m->hart->traps << 1 | (from == 3 && m->hart->open[NTR_STRETCH_M].off);
        turn(m, NTR_STRETCH_M, true, now, at);
    } else if (m->span->context.prv == 1) {
        m->thread->traps = m->thread->traps << 1 | (from == 1 && m->hart->open[NTR_STRETCH_S].off);
        turn(m, NTR_STRETCH_S, true, now, at);
    }
}

static void take_return(const span_moment *m, uint8_t from) {
    const uint64_t now = m->hart->instructions, at = m->span->address;
    if (from == 3) {
        turn(m, NTR_STRETCH_M, m->span->context.prv == 3 && m->hart->traps & 1, now, at);
        m->hart->traps >>= 1;
    } else if (from == 1) {
        turn(m, NTR_STRETCH_S, m->span->context.prv == 1 && m->thread->traps & 1, now, at);
        m->thread->traps >>= 1;
    }
    if (m->span->context.prv != 0) return;
    m->thread->traps = 0;
    m->thread->saved_count = 0;
}

static void follow(const span_moment *m) {
    const stretch_hart *hart = m->hart;
    if (!hart->ended) return;
    if (hart->end == NTR_SPAN_EXCEPTION || hart->end == NTR_SPAN_INTERRUPT || hart->end == NTR_SPAN_TRAP)
        take_trap(m, hart->prv);
    else if (hart->end == NTR_SPAN_TRAP_RETURN)
        take_return(m, hart->prv);
    turn(m, NTR_STRETCH_PREEMPTION, m->span->context.prv == 1 && m->thread->count > 0, hart->instructions,
         m->span->address);
}

/* ---- marks */

static void take_mark(void *user, const ntr_code_mark *mark) {
    const span_moment *m = user;
    const unsigned kind = m->span->context.prv == 3 ? NTR_STRETCH_M : NTR_STRETCH_S;
    const uint64_t now = m->hart->instructions + mark->instructions;
    ntr_stretch_thread *thread = m->thread;
    bool was_off = false;

    switch ((ntr_code_action)mark->action) {
    case NTR_CODE_COUNT:
        thread->count += mark->value;
        if (thread->count < 0) thread->count = 0;
        turn(m, NTR_STRETCH_PREEMPTION, thread->count > 0, now, mark->address);
        return;
    case NTR_CODE_SAVE:
        thread->saved = thread->saved << 1 | m->hart->open[kind].off;
        if (thread->saved_count < 64) thread->saved_count++;
        turn(m, kind, true, now, mark->address);
        return;
    case NTR_CODE_RESTORE:
        if (!thread->saved_count) return;
        was_off = thread->saved & 1;
        thread->saved >>= 1;
        thread->saved_count--;
        turn(m, kind, was_off, now, mark->address);
        return;
    case NTR_CODE_OFF: turn(m, kind, true, now, mark->address); return;
    case NTR_CODE_ON:
        thread->saved_count = 0;
        turn(m, kind, false, now, mark->address);
        return;
    }
}

/* ---- */

bool ntr_stretch_state_span(ntr_stretch_state *s, const ntr_event *executed, ntr_stretch_thread *thread, uint64_t time,
                            bool timed) {
    stretch_hart *hart = &s->harts[executed->src];
    ntr_event of_guest;
    const ntr_event *span = executed;

    if (executed->context
            .v) { /* of guests nothing is known; to the hypervisor, they are less privileged, as user mode is */
        of_guest = *executed;
        of_guest.context.prv = of_guest.context.v = 0;
        span = &of_guest;
    }
    span_moment moment = {s, hart, thread, span, &executed->context, time, timed};
    const uint8_t prv = span->context.prv;

    follow(&moment);
    if ((prv == 1 || prv == 3) && !ntr_code_marks_span(s->marks, span, take_mark, &moment)) return false;
    hart->instructions += ntr_event_executed(span);
    hart->end = span->end;
    hart->prv = prv;
    hart->ended = true;
    return true;
}

void ntr_stretch_state_lose(ntr_stretch_state *s, uint16_t src) {
    const uint64_t instructions = s->harts[src].instructions;
    s->harts[src] = (stretch_hart){.instructions = instructions};
}

const ntr_stretches *ntr_stretch_state_all(const ntr_stretch_state *s) {
    return s->all;
}

ntr_stretch_state *ntr_stretch_state_new(const ntr_program *program, ntr_functions *functions,
                                         const ntr_allocator *allocator) {
    static const char *const names[NTR_STRETCH_KINDS] = {"interrupts of S-mode", "interrupts of M-mode", "preemption"};
    ntr_stretch_state *s = ntr_alloc(allocator, 1, sizeof *s);
    if (!s) return NULL;
    s->allocator = allocator;
    s->functions = functions;
    for (unsigned i = 0; i < NTR_STRETCH_KINDS; i++) s->all[i].name = names[i];
    s->harts = ntr_alloc(allocator, NTR_SOURCES_MAX, sizeof *s->harts);
    s->marks = ntr_code_marks_new(program, allocator);
    if (s->harts && s->marks) return s;
    ntr_stretch_state_free(s);
    return NULL;
}

void ntr_stretch_state_free(ntr_stretch_state *s) {
    if (!s) return;
    ntr_code_marks_free(s->marks);
    ntr_dealloc(s->allocator, s->harts);
    ntr_dealloc(s->allocator, s);
}
