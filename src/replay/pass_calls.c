/* Call stacks of the points of parts that are read by counting.
 *
 * Idea: a counting decode reads several times faster than one with events, but has no events from which call stacks
 * follow. It has call trails (decoder/call_trail.h). If all that happened in a part were calls and their returns, the
 * stacks at its end follow from those at its beginning and from the trails (analysis/trail_stacks.h). Otherwise the
 * part is irregular, for example because of a signal, a longjmp or a gap: its bytes are read again with events.
 * Where irregular parts follow one after the other, the next ones are read with events at once; so are parts of
 * which counting would have to decode most messages in full.
 *
 * Invariant: at a point, the trails are those of the call stacks. */
#include "replay/state.h"

#include "base/allocator.h"

#include <string.h>

enum { FAILURES_MOST = 4 }; /* the longest pause is 2 to the power of this, in parts */

void ntr_pass_follow_calls(ntr_replay *r) {
    ntr_symbol symbol;
    /* a kernel that switches threads: returns go to other stacks; fibers of OCaml: so do direct jumps */
    const bool switches = ntr_program_find(r->decoder_config.program, "__switch_to", &symbol) == NTR_OK ||
                          ntr_program_find(r->decoder_config.program, "caml_perform", &symbol) == NTR_OK;
    if (switches)
        r->part.pause = UINT32_MAX;
    else
        ntr_decoder_follow_calls(r->pass_decoder);
}

ntr_pass_mode ntr_pass_choose(const ntr_replay *r) {
    const bool first = r->point_count < 2; /* the roots of the stacks are not known yet */
    return first || r->part.pause ? NTR_PASS_EVENTS : NTR_PASS_COUNTS;
}

ntr_status ntr_pass_keep(ntr_replay *r, ntr_bytes bytes, bool last) {
    ntr_pass_part *part = &r->part;
    part->last = last;
    if (ntr_reserve(r->allocator, (void **)&part->bytes, &part->capacity, part->size + bytes.size, 1))
        return NTR_E_MEMORY;
    if (bytes.size) memcpy(part->bytes + part->size, bytes.data, bytes.size);
    part->size += bytes.size;
    return NTR_OK;
}

/* ---- events */

/* Returns whether a source that was stopped continues where it stopped, or behind an ECALL there. */
static bool continues(const ntr_trail_place *place, uint64_t address) {
    const uint64_t behind_ecall = place->stopped_at + 4;
    return !place->stopped || address == place->stopped_at || address == behind_ecall;
}

void ntr_pass_check(ntr_replay *r, const ntr_event *e) {
    ntr_trail_place none = {0}, *place = &none;
    if (r->part.mode != NTR_PASS_COUNTS || r->part.irregular) return;
    if (e->src < NTR_SOURCES_MAX && r->hart_number[e->src]) place = &r->hart_places[r->hart_number[e->src] - 1];
    switch ((ntr_event_kind)e->kind) {
    case NTR_EVENT_SPAN: r->part.irregular = !ntr_trail_regular(r->pass_stacks, r->decoder_config.program, e); break;
    case NTR_EVENT_STOP:
        place->stopped = !(e->flags & NTR_EVENT_ADDRESS_UNKNOWN);
        place->stopped_at = e->address;
        break;
    case NTR_EVENT_SYNC:
        r->part.irregular = !continues(place, e->address);
        place->stopped = false;
        break;
    case NTR_EVENT_GAP: r->part.irregular = true; break;
    default: break;
    }
}

/* ---- the end of a part */

static bool has_executed(const ntr_replay *r, size_t hart) {
    const ntr_replay_point *begin = &r->points[r->point_count - 1];
    return r->hart_executed[hart] != (hart < begin->hart_count ? begin->harts[hart].executed : 0);
}

static bool is_regular(ntr_replay *r) {
    for (size_t i = 0; i < r->hart_count && !r->part.irregular; i++) {
        const ntr_call_trail *trail = ntr_decoder_call_trail(r->pass_decoder, r->harts[i]);
        if (has_executed(r, i)) r->part.irregular = !trail || trail->broken;
    }
    return !r->part.irregular;
}

static ntr_status to_stacks(ntr_replay *r, const ntr_snapshot *snapshot) {
    ntr_status status = NTR_OK;
    uint64_t address;
    bool known;
    uint16_t src;
    for (size_t i = 0; status == NTR_OK && ntr_snapshot_source(snapshot, i, &src, &address, &known); i++) {
        const size_t hart = src < NTR_SOURCES_MAX ? r->hart_number[src] : 0;
        if (!hart || !has_executed(r, hart - 1)) continue;
        ntr_trail_place *place = &r->hart_places[hart - 1];
        place->address = address;
        place->offset = r->pass_stream.offset ? r->pass_stream.offset - 1 : 0;
        place->address_known = known;
        status = ntr_trail_to_stack(r->pass_stacks, src, ntr_decoder_call_trail(r->pass_decoder, src), place);
    }
    return status;
}

/* Returns whether counting had memos for so few messages that reading with events is faster. */
static bool has_few_memos(const ntr_pass_part *part) {
    return part->without_memo > part->messages / 2;
}

/* Reads the next parts with events. */
static void pause(ntr_pass_part *part) {
    if (part->failures < FAILURES_MOST) part->failures++;
    part->pause = 1u << part->failures;
}

static ntr_status read_again(ntr_replay *r) {
    pause(&r->part);
    ntr_status status = ntr_snapshot_restore(r->pass_decoder, r->points[r->point_count - 1].snapshot);
    if (status == NTR_OK) status = ntr_decoder_feed(r->pass_decoder, r->part.bytes, r->part.size, r->part.last);
    return status == NTR_OK ? NTR_END : status;
}

ntr_status ntr_pass_end_counts(ntr_replay *r) {
    if (!is_regular(r)) return read_again(r);
    ntr_snapshot *snapshot = ntr_snapshot_take(r->pass_decoder);
    ntr_status status = snapshot ? to_stacks(r, snapshot) : NTR_E_MEMORY;
    ntr_snapshot_free(snapshot, r->allocator);
    if (has_few_memos(&r->part))
        pause(&r->part);
    else
        r->part.failures = 0;
    return status;
}

void ntr_pass_end_events(ntr_replay *r) {
    for (size_t i = 0; i < r->hart_count; i++) {
        ntr_call_trail *trail = ntr_decoder_call_trail(r->pass_decoder, r->harts[i]);
        if (trail) ntr_trail_from_stack(r->pass_stacks, r->harts[i], trail, &r->hart_places[i]);
    }
}
