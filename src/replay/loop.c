/* Loops in windows.
 *
 * Idea: the decoder returns a loop without messages as one pass, with the number of its repetitions. A window gets the
 * pass as often as it has room for. All windows inside of a loop are alike. So those before the wanted position are
 * passed over by addition, and a search that finds nothing in one of them goes on behind the loop.
 *
 * Invariant: where a window begins depends on the part alone. The first window of a loop begins where the window with
 * the code before it is full, at the beginning of a pass; the next ones after equal numbers of passes.
 *
 * Example: `j .`, 10^14 times, behind 5 instructions. The first window has the 5 and 131,067 passes. The position
 * 9 * 10^13 is in window 686,645,507 behind it, which is filled at once. */
#include "replay/state.h"

#include "base/allocator.h"

ntr_status ntr_window_keep_loop(ntr_replay *r, const ntr_event *e) {
    if (ntr_reserve(r->allocator, (void **)&r->loop, &r->loop_capacity, r->loop_count + 1, sizeof *r->loop))
        return NTR_E_MEMORY;
    r->loop[r->loop_count] = *e;
    r->loop[r->loop_count++].repeats = 0;
    r->loop_repeats = e->repeats;
    return NTR_OK;
}

bool ntr_window_is_in_loop(const ntr_replay *r, const ntr_event *e) {
    return e->kind == NTR_EVENT_SPAN && e->repeats == r->loop_repeats && e->src == r->loop[0].src &&
           e->message == r->loop[0].message;
}

static uint64_t rounded_up(uint64_t value, uint64_t by) {
    return (value + by - 1) / by;
}

/* Returns the number of passes that fill an empty window. */
static uint64_t passes_of_window(const ntr_replay *r, uint64_t instructions) {
    const uint64_t by_spans = rounded_up(NTR_WINDOW_SPANS, r->loop_count);
    const uint64_t by_instructions = rounded_up((uint64_t)UINT32_MAX / 2 + 1, instructions);
    return by_spans < by_instructions ? by_spans : by_instructions;
}

void ntr_window_pass_over(ntr_replay *r, ntr_replay_window *w, uint64_t position, uint64_t instructions,
                          uint64_t *passes) {
    const size_t hart = r->hart_number[r->loop[0].src] - 1u;
    const uint64_t filled = passes_of_window(r, instructions), size = filled * instructions;
    const uint64_t windows = *passes / filled, first = w->end;
    uint64_t skipped = position > first ? (position - first) / size : 0;
    if (hart >= w->hart_count || !windows) return;
    if (skipped > windows) skipped = windows;
    w->harts[hart].executed += skipped * size;
    w->first = w->end += skipped * size;
    *passes -= skipped * filled;
    if (skipped == windows) return; /* this window has other code behind the last passes */
    w->loop_first = first;
    w->loop_end = first + windows * size;
}
