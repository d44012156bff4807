/* The replay object: its position, and the state of the harts there. */
#include "replay/state.h"

#include "base/allocator.h"
#include "base/config.h"

static ntr_status start(ntr_replay *r, const ntr_replay_config *config) {
    r->config = *config;
    if (config->allocator) {
        r->allocator_copy = *config->allocator;
        r->allocator = &r->allocator_copy;
    }
    r->decoder_config = *config->decoder;
    r->decoder_config.allocator = r->allocator;
    r->decoder_config.strict = false;
    r->filter.allocator = r->allocator;
    return ntr_replay_pass_begin(r);
}

ntr_status ntr_replay_new(const ntr_replay_config *config, ntr_replay **out) {
    *out = NULL;
    ntr_replay_config own;
    ntr_status result = ntr_config_load(&own, sizeof own, config);
    if (result == NTR_OK && (!own.decoder || !own.decoder->program || !own.functions || !own.open))
        result = NTR_E_INVALID;
    ntr_replay *r = result == NTR_OK ? ntr_alloc(own.allocator, 1, sizeof *r) : NULL;
    if (!r && result == NTR_OK) result = NTR_E_MEMORY;
    if (r) result = start(r, &own);
    if (result == NTR_OK)
        *out = r;
    else
        ntr_replay_free(r);
    return result;
}

void ntr_replay_free(ntr_replay *r) {
    if (!r) return;
    const ntr_allocator copy = r->allocator_copy;
    ntr_replay_windows_release(r);
    ntr_replay_pass_end(r);
    ntr_span_filter_release(&r->filter);
    ntr_dealloc(r->allocator ? &copy : NULL, r);
}

const char *ntr_replay_error(const ntr_replay *r) {
    return r->error;
}

/* ---- positions */

uint64_t ntr_replay_position(const ntr_replay *r) {
    return r->position;
}

uint64_t ntr_replay_known(const ntr_replay *r, bool *complete) {
    *complete = r->complete;
    return r->point_count ? r->points[r->point_count - 1].first : 0;
}

ntr_status ntr_replay_go(ntr_replay *r, uint64_t position) {
    ntr_status status = ntr_replay_pass_to(r, position);
    if (status != NTR_OK) return status;
    bool complete;
    uint64_t known = ntr_replay_known(r, &complete);
    r->position = position < known ? position : known;
    return NTR_OK;
}

ntr_status ntr_replay_total(ntr_replay *r, uint64_t *total) {
    bool complete;
    ntr_status status = ntr_replay_pass_to(r, UINT64_MAX);
    *total = ntr_replay_known(r, &complete);
    return status;
}

/* Returns whether all before the point is before the place. */
static bool is_before(const ntr_replay_point *point, ntr_unit unit, uint64_t place) {
    switch (unit) {
    case NTR_UNIT_MESSAGE: return point->message < place;
    case NTR_UNIT_OFFSET: return point->offset <= place;
    case NTR_UNIT_TIME: return point->time < place;
    }
    return false;
}

/* Stores where the span's message is. Returns false if that is not known. */
static bool place_of(const ntr_span_origin *origin, ntr_unit unit, uint64_t *place) {
    switch (unit) {
    case NTR_UNIT_MESSAGE: *place = origin->message; return true;
    case NTR_UNIT_OFFSET: *place = origin->offset; return true;
    case NTR_UNIT_TIME: *place = origin->time; return origin->timed;
    }
    return false;
}

/* Stores the position of the first span of the first message at or after the place. Spans may be in another order than
 * messages. */
static bool find_place(const ntr_replay_window *w, ntr_unit unit, uint64_t place, uint64_t *position) {
    uint64_t at, least = 0;
    bool found = false;
    for (size_t i = 0; i < w->span_count; i++) {
        if (!place_of(&w->origins[w->spans[i].origin], unit, &at) || at < place || (found && at >= least)) continue;
        found = true;
        least = at;
        *position = w->first + w->spans[i].first;
    }
    return found;
}

ntr_status ntr_replay_place(ntr_replay *r, ntr_unit unit, uint64_t place, uint64_t *position) {
    size_t part = 0;
    ntr_status status = NTR_OK;
    for (;; part++) { /* to the first part that ends at the place or behind it */
        while (status == NTR_OK && part >= ntr_replay_parts(r) && !r->complete) status = ntr_replay_pass(r);
        if (status != NTR_OK) return status;
        if (part >= ntr_replay_parts(r) || !is_before(&r->points[part + 1], unit, place)) break;
    }
    uint64_t at = r->points[part].first;
    for (;;) {
        const ntr_replay_window *w = ntr_replay_window_at(r, at, &status);
        if (!w) break;
        if (find_place(w, unit, place, position)) return NTR_OK;
        at = ntr_window_behind(w, at);
    }
    *position = at;
    return status;
}

static uint64_t executed_before(const ntr_replay_point *point, size_t hart) {
    return hart < point->hart_count ? point->harts[hart].executed : 0;
}

/* Returns where to look for the instruction behind the window: windows of a loop that do not have it are passed over.
 */
static uint64_t behind_in_hart(const ntr_replay_window *w, uint64_t at, uint16_t src, uint64_t number,
                               uint64_t *executed) {
    const uint64_t behind = ntr_window_behind(w, at), size = w->end - w->first;
    if (behind == w->end || w->spans[0].src != src) return behind;
    uint64_t windows = (behind - w->end) / size;
    if ((number - *executed) / size < windows) windows = (number - *executed) / size;
    *executed += windows * size;
    return w->end + windows * size;
}

ntr_status ntr_replay_place_in_hart(ntr_replay *r, uint16_t src, uint64_t number, uint64_t *position) {
    size_t part = 0;
    ntr_status status = NTR_OK;
    for (;; part++) { /* to the part in which the hart executes the instruction */
        while (status == NTR_OK && part >= ntr_replay_parts(r) && !r->complete) status = ntr_replay_pass(r);
        if (status != NTR_OK) return status;
        *position = r->points[r->point_count - 1].first;
        if (part >= ntr_replay_parts(r)) return NTR_OK;
        if (src < NTR_SOURCES_MAX && r->hart_number[src] &&
            executed_before(&r->points[part + 1], r->hart_number[src] - 1u) > number)
            break;
    }
    uint64_t executed = executed_before(&r->points[part], r->hart_number[src] - 1u);
    for (uint64_t at = r->points[part].first;;) {
        const ntr_replay_window *w = ntr_replay_window_at(r, at, &status);
        if (!w) return status;
        for (size_t i = ntr_window_find(w, at); i < w->span_count; i++) {
            const ntr_window_span *span = &w->spans[i];
            if (span->src != src) continue;
            *position = w->first + span->first + (number - executed);
            if (number - executed < span->instructions) return NTR_OK;
            executed += span->instructions;
        }
        at = behind_in_hart(w, at, src, number, &executed);
    }
}

/* ---- harts */

const uint16_t *ntr_replay_harts(const ntr_replay *r, size_t *count) {
    *count = r->hart_count;
    return r->harts;
}

uint64_t ntr_replay_executed(const ntr_replay *r, uint16_t src) {
    return src < NTR_SOURCES_MAX && r->hart_number[src] ? r->hart_executed[r->hart_number[src] - 1] : 0;
}

/* Returns the window of the position; at the end of the trace, the last one. */
static ntr_replay_window *current_window(ntr_replay *r, ntr_status *status) {
    ntr_replay_window *w = ntr_replay_window_at(r, r->position, status);
    if (w || *status != NTR_OK || r->position == 0) return w;
    return ntr_replay_window_at(r, r->position - 1, status);
}

static void fill_origin(ntr_replay_hart *hart, const ntr_span_origin *origin) {
    hart->message = origin->message;
    hart->offset = origin->offset;
    hart->time = origin->time;
    hart->timed = origin->timed;
    hart->context = origin->context;
}

/* Fills the state from the next span of the hart, or from its end in the window. */
static void fill_hart(ntr_replay *r, const ntr_replay_window *w, size_t number, ntr_replay_hart *hart) {
    const uint16_t src = r->harts[number];
    size_t i = ntr_window_find(w, r->position);
    for (; i < w->span_count && w->spans[i].src != src; i++) {
    }
    for (size_t k = 0; k < i; k++)
        if (w->spans[k].src == src) hart->number += w->spans[k].instructions;
    if (i == w->span_count) {
        const ntr_window_hart *end = &w->harts[number];
        hart->address = end->address;
        hart->address_known = end->address_known;
        hart->frame = end->frame;
        hart->ended = true;
        if (end->has_origin) fill_origin(hart, &w->origins[end->origin]);
        return;
    }
    const ntr_window_span *span = &w->spans[i];
    uint64_t first = w->first + span->first;
    uint32_t index = r->position > first ? (uint32_t)(r->position - first) : 0;
    hart->number += index;
    hart->address = ntr_window_address(r, w, span, index);
    hart->address_known = true;
    hart->frame = span->frame;
    fill_origin(hart, &w->origins[span->origin]);
}

ntr_status ntr_replay_hart_at(ntr_replay *r, uint16_t src, ntr_replay_hart *hart) {
    ntr_status status = NTR_OK;
    *hart = (ntr_replay_hart){.context = NTR_CONTEXT_UNKNOWN};
    const ntr_replay_window *w = current_window(r, &status);
    if (!w) return status < 0 ? status : NTR_E_INVALID;
    if (src >= NTR_SOURCES_MAX || !r->hart_number[src]) return NTR_E_INVALID;
    size_t number = r->hart_number[src] - 1u;
    if (number >= w->hart_count) { /* it has not begun in this window */
        const ntr_replay_point *end = &r->points[ntr_replay_part_of(r, w->first) + 1];
        if (number < end->hart_count) hart->address = end->harts[number].address;
        return NTR_OK;
    }
    hart->number = w->harts[number].executed;
    fill_hart(r, w, number, hart);
    return NTR_OK;
}

uint16_t ntr_replay_current(ntr_replay *r) {
    ntr_status status = NTR_OK;
    const ntr_replay_window *w = current_window(r, &status);
    if (!w || !w->span_count) return r->hart_count ? r->harts[0] : 0;
    size_t i = ntr_window_find(w, r->position);
    return w->spans[i < w->span_count ? i : w->span_count - 1].src;
}
