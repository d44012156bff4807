/* Frames of the call stacks at the position, and where they were entered. */
#include "replay/state.h"

bool ntr_replay_frame(const ntr_replay *r, uint32_t number, ntr_stack_frame *frame, uint32_t *caller) {
    const ntr_frame_store *store = &r->store;
    if (number & NTR_WINDOW_FRAME) {
        store = NULL; /* numbers of a window are valid for the latest one */
        for (size_t i = 0; i < NTR_WINDOWS; i++)
            if (r->windows[i].valid && r->windows[i].used == r->clock) store = &r->windows[i].frames;
        number &= ~NTR_WINDOW_FRAME;
    }
    if (!store || number == 0 || number >= store->count) return false;
    *frame = store->items[number].frame;
    *caller = store->items[number].below;
    return true;
}

static size_t depth_of(const ntr_replay *r, uint32_t number) {
    ntr_stack_frame frame;
    size_t depth = 0;
    while (ntr_replay_frame(r, number, &frame, &number)) depth++;
    return depth;
}

/* Finds the first instruction from `at` on that the hart executes in a stack of at most `depth` frames. */
static bool first_outside(const ntr_replay *r, const ntr_replay_window *w, uint16_t src, uint64_t at, size_t depth,
                          uint64_t *position) {
    uint32_t inside = 0; /* the latest frame that was looked at: it is too deep */
    for (size_t i = ntr_window_find(w, at); i < w->span_count; i++) {
        const ntr_window_span *span = &w->spans[i];
        if (span->src != src || (inside && span->frame == inside)) continue;
        inside = span->frame;
        if (depth_of(r, span->frame) > depth) continue;
        const uint64_t first = w->first + span->first;
        *position = first > at ? first : at;
        return true;
    }
    return false;
}

ntr_status ntr_replay_left(ntr_replay *r, uint16_t src, size_t frames, uint64_t *position, bool *found) {
    ntr_status status = NTR_OK;
    *found = false;
    for (uint64_t at = r->position; !*found;) {
        if (!ntr_replay_proceed(r, &r->stream)) return NTR_END;
        const ntr_replay_window *w = ntr_replay_window_at(r, at, &status);
        if (!w) return status;
        *found = first_outside(r, w, src, at, frames, position);
        at = ntr_window_behind(w, at);
    }
    return NTR_OK;
}

/* Finds the last instruction before `at` that the hart executed in a stack of less than `depth` frames. */
static bool last_above(const ntr_replay *r, const ntr_replay_window *w, uint16_t src, uint64_t at, size_t depth,
                       uint64_t *position) {
    uint32_t inside = 0; /* the latest frame that was looked at: it is deep enough */
    for (size_t i = ntr_window_find(w, at - 1) + 1; i > 0; i--) {
        const ntr_window_span *span = &w->spans[i - 1];
        if (span->src != src || (inside && span->frame == inside)) continue;
        inside = span->frame;
        if (depth_of(r, span->frame) >= depth) continue;
        const uint64_t last = w->first + span->first + span->instructions - 1;
        *position = last < at ? last : at - 1;
        return true;
    }
    return false;
}

ntr_status ntr_replay_entered(ntr_replay *r, uint16_t src, uint64_t *position, bool *found) {
    ntr_replay_hart hart;
    ntr_status status = ntr_replay_hart_at(r, src, &hart);
    *found = false;
    if (status != NTR_OK) return status;
    const size_t depth = depth_of(r, hart.frame);
    if (depth < 2) return NTR_OK;
    for (uint64_t at = r->position; at > 0 && !*found;) {
        if (!ntr_replay_proceed(r, &r->stream)) return NTR_END;
        const ntr_replay_window *w = ntr_replay_window_at(r, at - 1, &status);
        if (!w) return status;
        *found = last_above(r, w, src, at, depth, position);
        at = ntr_window_before(w, at);
    }
    return NTR_OK;
}
