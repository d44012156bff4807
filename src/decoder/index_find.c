/* Where to begin in order to decode a stream from a place on: for each source its last point before that place. */
#include "decoder/index_state.h"

static bool is_before(const ntr_point *point, ntr_unit unit, uint64_t place) {
    switch (unit) {
    case NTR_UNIT_MESSAGE: return point->message < place;
    case NTR_UNIT_OFFSET: return point->offset < place;
    default: return point->clock.known && point->clock.time < place;
    }
}

/* Choose where a decoder of the source begins, given the source's next point. Returns false when that is not known. */
static bool choose(struct indexed_source *source, const ntr_point *point, bool before) {
    if (before && !source->passed) source->best = point;
    source->passed |= !before;
    if (!source->best && point->kind == NTR_POINT_FIRST) source->best = point; /* the window begins before the point */
    return source->best != NULL;
}

static bool choose_all(ntr_index *index, ntr_unit unit, uint64_t place, const uint16_t *source) {
    for (size_t i = 0; i < index->count; i++) {
        const ntr_point *point = &index->points[i];
        if (source && point->src != *source) continue;
        if (!choose(&index->sources[point->src], point, is_before(point, unit, place))) return false;
    }
    return true;
}

ntr_status ntr_index_find(ntr_index *index, ntr_unit unit, uint64_t place, const uint16_t *source,
                          const ntr_point **points, size_t *count) {
    uint32_t sources = 1u << index->params.src_bits;

    *points = index->found;
    *count = 0;
    if (unit == NTR_UNIT_TIME && index->untimed) return NTR_END;
    for (uint32_t i = 0; i < sources; i++) {
        index->sources[i].best = NULL;
        index->sources[i].passed = false;
    }
    if (!choose_all(index, unit, place, source)) return NTR_END;
    for (uint32_t i = 0; i < sources; i++)
        if (index->sources[i].best) index->found[(*count)++] = *index->sources[i].best;
    return *count ? NTR_OK : NTR_END;
}
