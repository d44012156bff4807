/* Gaps: what was lost before a place. */
#include "replay/state.h"

const ntr_event *ntr_window_gap_before(const ntr_replay_window *w, size_t span) {
    const ntr_event *gap = NULL;
    for (size_t i = 0; i < w->gap_count && w->gaps[i].span <= span; i++)
        if (w->gaps[i].span == span) gap = &w->gaps[i].event;
    return gap;
}

void ntr_replay_gap_at_end(const ntr_replay *r, ntr_event *gap, bool *found) {
    const ntr_event *last = r->complete && r->point_count ? r->points[r->point_count - 1].gap : NULL;
    *found = last != NULL;
    if (last) *gap = *last;
}

ntr_status ntr_replay_gap(ntr_replay *r, ntr_event *gap, bool *found) {
    ntr_status status = NTR_OK;
    *found = false;
    const ntr_replay_window *w = ntr_replay_window_at(r, r->position, &status);
    if (!w && status == NTR_OK) ntr_replay_gap_at_end(r, gap, found);
    if (!w) return status;
    const size_t span = ntr_window_find(w, r->position);
    const ntr_event *before = r->position == w->first + w->spans[span].first ? ntr_window_gap_before(w, span) : NULL;
    *found = before != NULL;
    if (before) *gap = *before;
    return NTR_OK;
}
