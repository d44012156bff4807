/* Searches: in the sets of blocks first, then in the windows of the parts that may have a hit. */
#include "replay/state.h"

typedef struct search_result {
    uint64_t reached; /* all before it was searched (forward) */
    uint64_t position;
    uint16_t src;
    bool hit, gap;
    ntr_event event; /* gap */
} search_result;

/* ---- one span */

/* Returns whether the span has an instruction at one of the addresses, at a position in [from, to); stores the first,
 * or backward the last. */
static bool find_in_span(ntr_replay *r, const ntr_replay_search *s, const ntr_replay_window *w,
                         const ntr_window_span *span, uint64_t from, uint64_t to, uint64_t *position) {
    size_t at = ntr_first_address(s->addresses, s->count, span->address);
    if (at == s->count || s->addresses[at] - span->address >= 2 * (uint64_t)span->halfwords) return false;
    ntr_instruction instruction;
    bool hit = false;
    ntr_window_expand(r, w, span);
    for (uint64_t p = w->first + span->first;
         p < to && at < s->count && ntr_instructions_next(r->instructions, &instruction) == NTR_OK; p++) {
        while (at < s->count && s->addresses[at] < instruction.address) at++;
        if (at == s->count || s->addresses[at] != instruction.address || p < from) continue;
        if (s->skip && p == s->skipped) continue;
        if (!ntr_replay_is_named(r, &w->origins[span->origin], instruction.address)) continue;
        *position = p;
        hit = true;
        if (!s->backward) break;
    }
    return hit;
}

static bool counts(const ntr_replay_search *s, const ntr_window_span *span) {
    return !s->one_hart || span->src == s->src;
}

/* ---- one window: positions in [from, to) */

static void take_hit(search_result *f, const ntr_replay_window *w, size_t i, uint64_t position) {
    f->hit = true;
    f->position = position;
    f->src = w->spans[i].src;
    const ntr_event *gap = position == w->first + w->spans[i].first ? ntr_window_gap_before(w, i) : NULL;
    f->gap = gap != NULL;
    if (gap) f->event = *gap;
}

static bool take_gap(search_result *f, const ntr_replay_search *s, const ntr_replay_window *w, size_t i) {
    const ntr_event *gap = s->gaps && w->gap_count ? ntr_window_gap_before(w, i) : NULL;
    if (!gap) return false;
    *f = (search_result){
        .position = w->first + w->spans[i].first, .gap = true, .src = gap->src, .event = *gap, .reached = f->reached};
    return true;
}

static bool scan_forward(ntr_replay *r, const ntr_replay_search *s, const ntr_replay_window *w, uint64_t from,
                         uint64_t to, search_result *f) {
    for (size_t i = ntr_window_find(w, from); i < w->span_count; i++) {
        const ntr_window_span *span = &w->spans[i];
        uint64_t first = w->first + span->first, position;
        if (first >= to) return false;
        bool hit = counts(s, span) && find_in_span(r, s, w, span, from, to, &position);
        if (hit && position == first)
            take_hit(f, w, i, position);
        else if (first > r->position && take_gap(f, s, w, i))
            return true;
        else if (hit)
            take_hit(f, w, i, position);
        if (hit) return true;
    }
    return false;
}

static bool scan_backward(ntr_replay *r, const ntr_replay_search *s, const ntr_replay_window *w, uint64_t from,
                          uint64_t to, search_result *f) {
    size_t i = ntr_window_find(w, to - 1);
    if (i == w->span_count) return false;
    for (i++; i > 0; i--) {
        const ntr_window_span *span = &w->spans[i - 1];
        uint64_t first = w->first + span->first, position;
        if (first + span->instructions <= from) return false;
        if (counts(s, span) && find_in_span(r, s, w, span, from, to, &position)) {
            take_hit(f, w, i - 1, position);
            return true;
        }
        if (first >= from && first < r->position && take_gap(f, s, w, i - 1)) return true;
    }
    return false;
}

/* ---- parts */

static bool may_have(const ntr_replay *r, const ntr_replay_search *s, size_t part) {
    const ntr_replay_point *point = &r->points[part];
    if (s->gaps && point->gaps) return true;
    return s->count && ntr_span_filter_matches(&r->filter, &point->blocks);
}

/* Searches the part inside [from, to). */
static ntr_status search_part(ntr_replay *r, const ntr_replay_search *s, size_t part, uint64_t from, uint64_t to,
                              search_result *f) {
    ntr_status status = NTR_OK;
    if (from < r->points[part].first) from = r->points[part].first;
    if (to > r->points[part + 1].first) to = r->points[part + 1].first;
    while (from < to && !f->hit && !f->gap) {
        const ntr_replay_window *w = ntr_replay_window_at(r, s->backward ? to - 1 : from, &status);
        if (!w) return status;
        if (s->backward) {
            if (!scan_backward(r, s, w, from > w->first ? from : w->first, to, f)) to = ntr_window_before(w, to);
        } else if (!scan_forward(r, s, w, from, to, f))
            from = ntr_window_behind(w, from);
    }
    return NTR_OK;
}

static ntr_status search_forward(ntr_replay *r, const ntr_replay_search *s, search_result *f) {
    const uint64_t to = s->has_until ? s->until : UINT64_MAX;
    ntr_status status = NTR_OK;
    size_t part = ntr_replay_part_of(r, r->position);
    for (; status == NTR_OK && !f->hit && !f->gap; part++) {
        while (status == NTR_OK && part >= ntr_replay_parts(r) && !r->complete) status = ntr_replay_pass(r);
        f->reached = r->points[part < r->point_count ? part : r->point_count - 1].first;
        if (status != NTR_OK || part >= ntr_replay_parts(r) || r->points[part].first >= to) break;
        status = ntr_span_filter_update(&r->filter, &r->blocks);
        if (status == NTR_OK && may_have(r, s, part)) status = search_part(r, s, part, r->position, to, f);
    }
    return status;
}

static ntr_status search_backward(ntr_replay *r, const ntr_replay_search *s, search_result *f) {
    const uint64_t from = s->has_until ? s->until : 0;
    size_t part = ntr_replay_part_of(r, r->position);
    ntr_status status = ntr_span_filter_update(&r->filter, &r->blocks);
    if (part < ntr_replay_parts(r)) part++;
    for (; part > 0 && status == NTR_OK && !f->hit && !f->gap; part--) {
        if (r->points[part].first <= from && r->points[part].first < r->position) break;
        if (!ntr_replay_proceed(r, &r->stream)) return NTR_END;
        if (may_have(r, s, part - 1)) status = search_part(r, s, part - 1, from, r->position, f);
    }
    return status;
}

/* ---- public */

static void stop_without_hit(ntr_replay *r, const ntr_replay_search *s, ntr_status status, uint64_t reached,
                             ntr_replay_stop *stop) {
    bool complete;
    uint64_t known = ntr_replay_known(r, &complete);
    uint64_t end = s->backward ? 0 : known;
    stop->reason = s->backward ? NTR_REPLAY_BEGIN : NTR_REPLAY_AT_END;
    if (s->has_until && (s->backward ? s->until > 0 : s->until <= known)) {
        stop->reason = NTR_REPLAY_LIMIT;
        end = s->until;
    }
    if (status == NTR_END) {
        stop->reason = NTR_REPLAY_INTERRUPTED;
        end = s->backward ? r->position : reached;
        if (known && end == known && end > r->position) end = known - 1; /* there is an instruction */
    }
    if (s->backward ? end < r->position : end > r->position) r->position = end;
}

ntr_status ntr_replay_find(ntr_replay *r, const ntr_replay_search *search, ntr_replay_stop *stop) {
    search_result f = {0};
    *stop = (ntr_replay_stop){0};
    ntr_status status = ntr_span_filter_set(&r->filter, search->addresses, search->count);
    if (status == NTR_OK) status = search->backward ? search_backward(r, search, &f) : search_forward(r, search, &f);
    if (status < 0) return status;
    if (f.hit || f.gap) {
        r->position = f.position;
        stop->reason = f.hit ? NTR_REPLAY_HIT : NTR_REPLAY_GAP;
        stop->src = f.src;
        stop->has_gap = f.gap;
        if (f.gap) stop->gap = f.event;
        return NTR_OK;
    }
    stop_without_hit(r, search, status, f.reached, stop);
    if (stop->reason == NTR_REPLAY_AT_END && search->gaps) ntr_replay_gap_at_end(r, &stop->gap, &stop->has_gap);
    stop->src = ntr_replay_current(r);
    return NTR_OK;
}

/* ---- neighbours */

static bool next_in(const ntr_replay_window *w, uint16_t src, uint64_t from, uint64_t *position) {
    for (size_t i = ntr_window_find(w, from); i < w->span_count; i++) {
        if (w->spans[i].src != src) continue;
        uint64_t first = w->first + w->spans[i].first;
        *position = first > from ? first : from;
        return true;
    }
    return false;
}

static bool last_in(const ntr_replay_window *w, uint16_t src, uint64_t to, uint64_t *position) {
    size_t i = ntr_window_find(w, to - 1);
    for (i = i < w->span_count ? i + 1 : w->span_count; i > 0; i--) {
        const ntr_window_span *span = &w->spans[i - 1];
        if (span->src != src) continue;
        uint64_t last = w->first + span->first + span->instructions - 1;
        *position = last < to ? last : to - 1;
        return true;
    }
    return false;
}

/* Returns the end of the parts from `part` on in which the hart executes nothing; backward, the beginning. */
static uint64_t pass_idle_parts(const ntr_replay *r, size_t hart, uint64_t at, bool backward) {
    size_t part = ntr_replay_part_of(r, backward ? at - 1 : at);
    while (part < ntr_replay_parts(r)) {
        const ntr_replay_point *a = &r->points[part], *b = &r->points[part + 1];
        uint64_t before = hart < a->hart_count ? a->harts[hart].executed : 0;
        uint64_t after = hart < b->hart_count ? b->harts[hart].executed : 0;
        if (before != after) break;
        at = backward ? a->first : b->first;
        if (backward && part == 0) break;
        part = backward ? part - 1 : part + 1;
    }
    return at;
}

ntr_status ntr_replay_neighbour(ntr_replay *r, uint16_t src, bool backward, uint64_t *position, bool *found) {
    ntr_status status = NTR_OK;
    uint64_t at = r->position;
    *found = false;
    if (src >= NTR_SOURCES_MAX) return NTR_OK;
    while (!backward && !r->hart_number[src] && !r->complete && status == NTR_OK) status = ntr_replay_pass(r);
    if (status != NTR_OK || !r->hart_number[src]) return status;
    while (!*found && (!backward || at > 0)) {
        const ntr_replay_window *w = ntr_replay_window_at(r, backward ? at - 1 : at, &status);
        if (!w) return status;
        *found = backward ? last_in(w, src, at, position) : next_in(w, src, at, position);
        if (*found) break;
        at = backward ? ntr_window_before(w, at) : ntr_window_behind(w, at);
        if (backward && at == 0) break;
        if (backward || at < r->points[r->point_count - 1].first)
            at = pass_idle_parts(r, r->hart_number[src] - 1u, at, backward);
    }
    return NTR_OK;
}

/* ---- counting */

/* Returns the position behind what was counted: the window, or with it all alike windows of a loop. */
static uint64_t count_window(ntr_replay *r, const ntr_replay_search *s, const ntr_replay_window *w, uint64_t from,
                             ntr_replay_hits *hits) {
    const uint64_t before = hits->times, behind = ntr_window_behind(w, from);
    for (size_t i = ntr_window_find(w, from); i < w->span_count; i++) {
        uint64_t position;
        if (!find_in_span(r, s, w, &w->spans[i], w->first, w->end, &position)) continue;
        if (!hits->times++) hits->first = position;
        hits->last = position;
    }
    if (hits->times == before || behind == w->end) return behind;
    hits->times += (hits->times - before) * ((behind - w->end) / (w->end - w->first));
    hits->last += behind - w->end;
    return behind;
}

ntr_status ntr_replay_count(ntr_replay *r, uint64_t address, ntr_replay_hits *hits) {
    const ntr_replay_search s = {.addresses = &address, .count = 1};
    uint64_t total;
    *hits = (ntr_replay_hits){0};
    ntr_status status = ntr_replay_total(r, &total);
    if (status == NTR_OK) status = ntr_span_filter_set(&r->filter, &address, 1);
    if (status == NTR_OK) status = ntr_span_filter_update(&r->filter, &r->blocks);
    for (size_t part = 0; status == NTR_OK && part < ntr_replay_parts(r); part++) {
        if (!may_have(r, &s, part)) continue;
        for (uint64_t at = r->points[part].first; at < r->points[part + 1].first && status == NTR_OK;) {
            const ntr_replay_window *w = ntr_replay_window_at(r, at, &status);
            if (!w) break;
            at = count_window(r, &s, w, at, hits);
        }
    }
    return status;
}
