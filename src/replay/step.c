/* Steps of one hart: an instruction, or all instructions up to the first one outside of a range of addresses. */
#include "replay/state.h"

/* The next instruction of the hart. */
typedef struct step_place {
    const ntr_replay_window *window;
    const ntr_window_span *span;
    uint64_t position, address;
} step_place;

static ntr_status next_place(ntr_replay *r, uint16_t src, step_place *p, bool *found) {
    ntr_status status = ntr_replay_neighbour(r, src, false, &p->position, found);
    if (status != NTR_OK || !*found) return status;
    p->window = ntr_replay_window_at(r, p->position, &status);
    if (!p->window) return status == NTR_OK ? NTR_E_STATE : status; /* it has the instruction that was found */
    p->span = &p->window->spans[ntr_window_find(p->window, p->position)];
    p->address = ntr_window_address(r, p->window, p->span, (uint32_t)(p->position - p->window->first - p->span->first));
    return NTR_OK;
}

static bool has_address(const ntr_replay_step *s, uint64_t low, uint64_t high) {
    size_t at = ntr_first_address(s->addresses, s->count, low);
    return at < s->count && s->addresses[at] < high;
}

/* Executes other harts up to `until`. Returns whether one of them stops at an address. */
static ntr_status run_others(ntr_replay *r, const ntr_replay_step *s, uint64_t until, ntr_replay_stop *stop) {
    const uint64_t before = r->position;
    stop->reason = NTR_REPLAY_LIMIT;
    if (until == before || !s->count || s->alone) return NTR_OK;
    const ntr_replay_search search = {.addresses = s->addresses, .count = s->count, .has_until = true, .until = until};
    return ntr_replay_find(r, &search, stop);
}

static const ntr_event *gap_at(const step_place *p) {
    const ntr_replay_window *w = p->window;
    return p->position == w->first + p->span->first ? ntr_window_gap_before(w, (size_t)(p->span - w->spans)) : NULL;
}

/* Describes the stop at the next instruction of the hart. Returns false if the step goes on there. */
static bool stops_at(const ntr_replay_step *s, const step_place *p, ntr_replay_stop *stop) {
    const ntr_event *gap = gap_at(p);
    stop->src = s->src;
    stop->has_gap = gap != NULL;
    if (gap) stop->gap = *gap;
    stop->reason = has_address(s, p->address, p->address + 1) ? NTR_REPLAY_HIT
                   : gap && s->gaps                           ? NTR_REPLAY_GAP
                                                              : NTR_REPLAY_LIMIT;
    return stop->reason != NTR_REPLAY_LIMIT || p->address < s->low || p->address >= s->high;
}

/* Returns how many instructions from the place on can be executed at once: those of a span inside of the range. */
static uint64_t run_length(const ntr_replay_step *s, const step_place *p) {
    const ntr_window_span *span = p->span;
    uint64_t end = span->address + 2 * (uint64_t)span->halfwords;
    if (span->address < s->low || end > s->high || has_address(s, span->address, end)) return 1;
    return p->window->first + span->first + span->instructions - p->position;
}

ntr_status ntr_replay_go_step(ntr_replay *r, const ntr_replay_step *s, ntr_replay_stop *stop) {
    uint64_t polled = r->position, seen = r->position, window_end = 0;
    for (bool first = true;; first = false) {
        step_place p;
        bool found;
        *stop = (ntr_replay_stop){.src = s->src};
        ntr_status status = next_place(r, s->src, &p, &found);
        if (status == NTR_END || (r->position - polled > NTR_PART_INSTRUCTIONS && !ntr_replay_proceed(r, &r->stream))) {
            stop->reason = NTR_REPLAY_INTERRUPTED;
            return NTR_OK;
        }
        if (status != NTR_OK) return status;
        if (!found) {
            stop->reason = first ? NTR_REPLAY_AT_END : NTR_REPLAY_LIMIT;
            status = first ? ntr_replay_go(r, UINT64_MAX) : NTR_OK;
            if (status == NTR_END) stop->reason = NTR_REPLAY_INTERRUPTED;
            return status < 0 ? status : NTR_OK;
        }
        if (!first && stops_at(s, &p, stop)) return NTR_OK;
        if (p.window->end != window_end) seen = p.position;
        window_end = p.window->end;
        const uint64_t behind = ntr_window_behind(p.window, seen), length = first ? 1 : run_length(s, &p);
        status = run_others(r, s, p.position, stop);
        if (status != NTR_OK || stop->reason != NTR_REPLAY_LIMIT) return status;
        r->position = p.position + length;
        if (r->position == window_end) r->position = behind; /* a whole window of a loop had no stop */
        if (r->position - polled > NTR_PART_INSTRUCTIONS) polled = r->position;
    }
}

ntr_status ntr_replay_successor(ntr_replay *r, uint16_t src, uint64_t *address) {
    const uint64_t position = r->position;
    ntr_replay_hart hart;
    step_place p;
    bool found;
    ntr_status status = next_place(r, src, &p, &found);
    if (status != NTR_OK || !found) return status < 0 ? status : NTR_END;
    status = ntr_replay_go(r, p.position + 1);
    if (status == NTR_OK) status = ntr_replay_hart_at(r, src, &hart);
    r->position = position;
    if (status != NTR_OK) return status;
    *address = hart.address;
    return hart.address_known ? NTR_OK : NTR_END;
}
