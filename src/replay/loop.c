/* Loops in windows.
 *
 * Idea: the decoder returns a loop without messages as one pass, with the number of its repetitions. A long loop has
 * windows of its own, of a few passes each. All of them are alike. So those before the wanted position are passed over
 * by addition, and a search that finds nothing in one of them goes on behind the loop.
 *
 * Invariant: where a window begins depends on the part alone. The first window of a loop begins with its first pass;
 * the next ones after equal numbers of passes. What is left, less than a window, begins a window with the code behind
 * it.
 *
 * Example: `j .`, 10^14 times, behind 5 instructions. The first window has the 5, and the next ones 256 passes each.
 * The position 9 * 10^13 is in window 351,562,499,999 behind it, which is filled at once. */
#include "replay/state.h"

#include "base/allocator.h"

ntr_status ntr_window_keep_loop(ntr_replay *r, const ntr_event *e) {
    if (ntr_reserve(r->allocator, (void **)&r->loop, &r->loop_capacity, r->loop_count + 1, sizeof *r->loop))
        return NTR_E_MEMORY;
    r->loop[r->loop_count] = *e;
    r->loop[r->loop_count++].repeats = 0;
    r->loop_repeats = e->repeats;
    r->loop_passes = e->repeats + 1;
    r->loop_first = UINT64_MAX;
    return NTR_OK;
}

bool ntr_window_is_in_loop(const ntr_replay *r, const ntr_event *e) {
    return e->kind == NTR_EVENT_SPAN && e->repeats == r->loop_repeats && e->src == r->loop[0].src &&
           e->message == r->loop[0].message;
}

uint64_t ntr_window_loop_passes(const ntr_replay *r) {
    enum { WINDOW_PASSES_LEAST = 2 };
    if (!r->loop_count) return 0;
    /* spans of several harts are sorted by time, as many of them as possible */
    const uint64_t least = r->config.by_time ? NTR_WINDOW_SPANS : NTR_LOOP_LEAST;
    const uint64_t passes = (NTR_LOOP_SPANS + r->loop_count - 1) / r->loop_count;
    const uint64_t filled = passes > WINDOW_PASSES_LEAST ? passes : WINDOW_PASSES_LEAST;
    return r->loop_repeats > least / r->loop_count && r->loop_repeats / filled > 1 ? filled : 0;
}

void ntr_window_pass_over(ntr_replay *r, ntr_replay_window *w, uint64_t position, uint64_t instructions) {
    const size_t hart = r->hart_number[r->loop[0].src] - 1u;
    const uint64_t filled = ntr_window_loop_passes(r), size = filled * instructions;
    if (!size) return;
    const uint64_t windows = r->loop_passes / filled, first = w->end;
    uint64_t skipped = position > first ? (position - first) / size : 0;
    if (hart >= w->hart_count) return;
    if (skipped > windows) skipped = windows;
    if (first < r->loop_first) r->loop_first = first;
    w->harts[hart].executed += skipped * size;
    w->first = w->end += skipped * size;
    r->loop_passes -= skipped * filled;
    if (skipped == windows) return; /* this window has other code behind the last passes */
    w->loop_first = r->loop_first;
    w->loop_end = first + windows * size;
    w->loop_spans = r->loop_count;
}
