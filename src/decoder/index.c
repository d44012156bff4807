/* Index points: the places in a stream where a decoder can begin, found from the messages alone.
 *
 * Idea: the index follows what a decoder would know of each source before its walk (clock, context, trace mode), and
 * stores it at the messages after which nothing older matters: the first message, a synchronizing message, a stop.
 *
 * Invariant: a decoder that begins at a point reports the source as if it had decoded everything before, except for a
 * gap that is open across the point. A point is left out only if the next one is less than `spacing` bytes behind the
 * last point in the index; `spacing` is doubled when there are many points.
 *
 * Example: spacing 65536 and a synchronizing message every 4096 bytes: every 15th of them becomes a point. To decode
 * the window from time T on, each source begins at its last point before T. */
#include "decoder/index_state.h"

#include "base/allocator.h"
#include "dialect/rules.h"
#include "message/reader.h"
#include "message/table.h"
#include "message/values.h"
#include "trace/flow_tables.h"
#include "trace/mode.h"
#include "trace/flow_messages.h"
#include "trace/ownership.h"
#include "decoder/message_source.h"

#include <ntrace/index_build.h>

enum { MADE_MAX = 1 << 17 }; /* points that are made; when there are so many, `spacing` is doubled */

ntr_status ntr_index_new(const ntr_params *params, uint64_t spacing, const ntr_allocator *allocator, ntr_index **out) {
    *out = NULL;
    ntr_index *index = ntr_alloc(allocator, 1, sizeof *index);

    if (!index) return NTR_E_MEMORY;
    index->allocator = allocator;
    index->params = *params;
    index->spacing = spacing;
    index->sources = ntr_alloc(allocator, (size_t)1 << params->src_bits, sizeof *index->sources);
    index->irrelevant = ntr_alloc(allocator, (size_t)1 << params->src_bits, sizeof *index->irrelevant);
    index->found = ntr_alloc(allocator, (size_t)1 << params->src_bits, sizeof *index->found);
    if (index->sources && index->irrelevant && index->found) {
        *out = index;
        return NTR_OK;
    }
    ntr_index_free(index);
    return NTR_E_MEMORY;
}

void ntr_index_free(ntr_index *index) {
    if (!index) return;
    ntr_dealloc(index->allocator, index->sources);
    ntr_dealloc(index->allocator, index->irrelevant);
    ntr_dealloc(index->allocator, index->points);
    ntr_dealloc(index->allocator, index->found);
    ntr_dealloc(index->allocator, index);
}

/* ---- points */

ntr_status ntr_index_add(ntr_index *index, const ntr_point *point) {
    if (point->src >> index->params.src_bits || point->kind > NTR_POINT_STOPPED || point->mode > NTR_MODE_HTM ||
        !point->message)
        return NTR_E_INVALID;
    struct indexed_source *source = &index->sources[point->src];
    if (source->has_kept && point->offset < source->kept) return NTR_E_INVALID;
    if (index->count == NTR_INDEX_POINTS_MAX) return NTR_E_LIMIT;
    if (ntr_reserve(index->allocator, (void **)&index->points, &index->capacity, index->count + 1,
                    sizeof *index->points))
        return NTR_E_MEMORY;
    index->points[index->count++] = *point;
    source->has_kept = true;
    source->kept = point->offset;
    return NTR_OK;
}

/* Drops the points that are nearer to the one before them than the present spacing. */
static void drop_near(ntr_index *index) {
    size_t count = 0;

    for (uint32_t i = 0; i < 1u << index->params.src_bits; i++) index->sources[i].has_kept = false;
    for (size_t i = 0; i < index->count; i++) {
        const ntr_point point = index->points[i];
        struct indexed_source *source = &index->sources[point.src];
        if (source->has_kept && point.offset - source->kept < index->spacing) continue;
        source->has_kept = true;
        source->kept = point.offset;
        index->points[count++] = point;
    }
    index->count = count;
}

static void thin_out(ntr_index *index) {
    while (index->count > MADE_MAX / 4 * 3) {
        index->spacing = index->spacing ? 2 * index->spacing : 1;
        drop_near(index);
    }
}

static ntr_status add_latest(ntr_index *index, struct indexed_source *source) {
    source->has_point = false;
    if (index->count == MADE_MAX) thin_out(index);
    return ntr_index_add(index, &source->point);
}

/* Remember the latest point. The one before it is added if it is far enough from the last point in the index. */
static ntr_status set_latest(ntr_index *index, struct indexed_source *source, const ntr_point *point) {
    ntr_status status = NTR_OK;
    bool far = !source->has_kept || point->offset - source->kept >= index->spacing;

    if (source->has_point && far) status = add_latest(index, source);
    source->point = *point;
    source->has_point = true;
    return status;
}

static ntr_point point_at(const ntr_index *index, const ntr_message *m, ntr_point_kind kind) {
    uint16_t src = ntr_message_source(&index->params, m);
    const struct indexed_source *source = &index->sources[src];

    return (ntr_point){.offset = m->offset,
                       .message = m->number,
                       .clock = source->clock,
                       .context = source->context,
                       .src = src,
                       .kind = (uint8_t)kind,
                       .mode = source->mode};
}

/* ---- messages */

static void lose(struct indexed_source *source) {
    source->in_sync = false;
    ntr_clock_lose(&source->clock);
}

/* Bytes of an unknown source were lost. */
static void lose_all(ntr_index *index) {
    for (uint32_t i = 0; i < 1u << index->params.src_bits; i++) lose(&index->sources[i]);
    index->early_loss |= !index->any;
}

static ntr_status on_defect(ntr_index *index, const ntr_message *m) {
    if (ntr_message_source_is_known(&index->params, m))
        lose(&index->sources[ntr_message_source(&index->params, m)]);
    else
        lose_all(index);
    index->untimed = true;
    return NTR_OK;
}

/* The first message is a point, unless the decoder reports a loss before it. */
static ntr_status on_first(ntr_index *index, struct indexed_source *source, const ntr_message *m) {
    bool is_point = index->any || !index->early_loss;

    source->seen = index->any = true;
    source->context.prv = NTR_PRV_UNKNOWN;
    if (!is_point) return NTR_OK;
    ntr_point point = point_at(index, m, NTR_POINT_FIRST);
    ntr_clock_follow(&point.clock, &index->params, m);
    return set_latest(index, source, &point);
}

static ntr_status on_sync(ntr_index *index, struct indexed_source *source, const ntr_message *m) {
    ntr_point point = point_at(index, m, NTR_POINT_SYNC);

    source->in_sync = true;
    source->mode = ntr_mode_follow(source->mode, m);
    /* a decoder that begins here would not know what is in the tables */
    if (ntr_flow_tables_exist(&index->params) && !(ntr_sync_flags(m) & NTR_VALUE_RESTARTS)) return NTR_OK;
    /* the first message is already the point */
    if (source->has_point && source->point.offset == m->offset) return NTR_OK;
    point.address = ntr_message_address(&index->params, m, NTR_FIELD_FADDR);
    return set_latest(index, source, &point);
}

static ntr_status on_stop(ntr_index *index, struct indexed_source *source, const ntr_message *m) {
    bool in_sync = source->in_sync;

    source->in_sync = false; /* the source must synchronize again */
    source->mode = NTR_MODE_UNKNOWN;
    if (!in_sync) return NTR_OK;
    ntr_point point = point_at(index, m, NTR_POINT_STOPPED);
    point.offset += m->raw.size;
    point.message++;
    return set_latest(index, source, &point);
}

static ntr_status on_message(ntr_index *index, struct indexed_source *source, const ntr_message *m) {
    switch (ntr_tcode_role(index->params.dialect, m->tcode)) {
    case NTR_ROLE_SYNC: return on_sync(index, source, m);
    case NTR_ROLE_STOP: return on_stop(index, source, m);
    case NTR_ROLE_CONTEXT: ntr_ownership_follow(&index->params, &source->context, m->process); break;
    case NTR_ROLE_LOSS:
        if (ntr_flow_was_lost(index->params.dialect, m)) lose(source);
        break;
    default: break;
    }
    source->mode = ntr_mode_follow(source->mode, m);
    return NTR_OK;
}

/* Messages that change nothing of a source are those of flow in its mode, without times. One whose fields have a defect
 * is not noticed; it would be a gap, which the next synchronizing message ends. */
static uint64_t irrelevant_of(const ntr_index *index, const struct indexed_source *source) {
    const bool clocked = source->clock.known || ntr_ts_rule_of(&index->params) == NTR_TS_RULE_ABSOLUTE;
    return clocked ? 0 : ntr_mode_tcodes(source->mode);
}

ntr_status ntr_index_message(ntr_index *index, const ntr_message *m) {
    if (m->defect != NTR_OK && m->defect != NTR_E_FIELD_EXTRA) return on_defect(index, m);
    const uint16_t src = ntr_message_source(&index->params, m);
    struct indexed_source *source = &index->sources[src];
    ntr_status status = source->seen ? NTR_OK : on_first(index, source, m);
    if (status != NTR_OK) return status;
    uint64_t before = source->clock.time;
    ntr_clock_follow(&source->clock, &index->params, m);
    index->untimed |= !source->clock.known || source->clock.time < before;
    status = on_message(index, source, m);
    index->irrelevant[src] = irrelevant_of(index, source);
    return status;
}

ntr_status ntr_index_messages(ntr_index *index, ntr_reader *reader) {
    ntr_message message;
    ntr_status status;

    do {
        ntr_reader_pass(reader, index->irrelevant);
        status = ntr_reader_next(reader, &message);
        if (status == NTR_OK) status = ntr_index_message(index, &message);
    } while (status == NTR_OK);
    return status;
}

ntr_status ntr_index_finish(ntr_index *index) {
    ntr_status status = NTR_OK;

    for (uint32_t i = 0; i < 1u << index->params.src_bits && status == NTR_OK; i++)
        if (index->sources[i].has_point) status = add_latest(index, &index->sources[i]);
    return status;
}

/* ---- results */

const ntr_point *ntr_index_points(const ntr_index *index, size_t *count) {
    *count = index->count;
    return index->points;
}

bool ntr_index_is_timed(const ntr_index *index) {
    return !index->untimed;
}

void ntr_index_set_timed(ntr_index *index, bool timed) {
    index->untimed = !timed;
}
