/* Parts of a stream that are decoded apart: where it is cut, and feeding one of them. */
#include <ntrace/partial.h>

#include "base/allocator.h"

#include <stdlib.h>

static int by_offset(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Returns the first offset that is not below `wanted`, or the last one. */
static uint64_t nearest(const uint64_t *offsets, size_t count, uint64_t wanted) {
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (offsets[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count ? offsets[low] : count ? offsets[count - 1] : 0;
}

ntr_status ntr_partial_cut(const ntr_index *index, uint32_t number, uint32_t count, const ntr_allocator *allocator,
                           uint64_t *begin, uint64_t *end) {
    if (!number || number > count) return NTR_E_INVALID;
    size_t points_count;
    const ntr_point *points = ntr_index_points(index, &points_count);
    uint64_t *offsets = ntr_alloc(allocator, points_count + 1, sizeof *offsets);
    if (!offsets) return NTR_E_MEMORY;
    for (size_t i = 0; i < points_count; i++) offsets[i] = points[i].offset;
    if (points_count) qsort(offsets, points_count, sizeof *offsets, by_offset);
    const uint64_t last = points_count ? offsets[points_count - 1] : 0;
    uint64_t cuts[2];
    for (unsigned k = 0; k < 2; k++) {
        const uint64_t part = number - 1 + k, wanted = last / count * part + last % count * part / count;
        cuts[k] = part == 0 ? 0 : part == count ? UINT64_MAX : nearest(offsets, points_count, wanted);
    }
    *begin = cuts[0];
    *end = cuts[1];
    ntr_dealloc(allocator, offsets);
    return NTR_OK;
}

/* ---- feeding */

/* The decoder is at the beginning of the part. */
static ntr_status begin_part(ntr_partial_part *p, const ntr_decoder *decoder) {
    p->begun = true;
    if (p->begin) ntr_decoder_state(decoder, p->begin_state, sizeof p->begin_state);
    return p->start(p->user);
}

/* Decodes the next bytes, up to the next cut. Stores their number. */
static ntr_status feed_some(ntr_partial_part *p, ntr_decoder *decoder, ntr_bytes bytes, bool last, size_t *fed) {
    const uint64_t left = (p->begun ? p->end : p->begin) - p->at;
    const size_t size = *fed = bytes.size < left ? bytes.size : (size_t)left;
    /* A part that ends where the bytes end is not the last one: that has no end. */
    ntr_status status = ntr_decoder_feed(decoder, bytes.data, size, last && size == bytes.size && size != left);
    if (status == NTR_OK) status = p->drain(p->user);
    if (p->begun) ntr_partial_digest_add(&p->digest, bytes.data, size);
    p->at += size;
    return status;
}

ntr_status ntr_partial_part_feed(ntr_partial_part *p, ntr_decoder *decoder, const uint8_t *data, size_t size,
                                 bool last) {
    ntr_status status = NTR_NEED_MORE;
    bool at_cut;
    do {
        if (!p->begun && p->at == p->begin) {
            status = begin_part(p, decoder);
            if (status != NTR_OK) return status;
        }
        if (p->begun && p->at == p->end) {
            if (p->end) ntr_decoder_state(decoder, p->end_state, sizeof p->end_state);
            return NTR_END;
        }
        size_t fed;
        status = feed_some(p, decoder, (ntr_bytes){data, size}, last, &fed);
        data += data ? fed : 0;
        size -= fed;
        at_cut = p->at == (p->begun ? p->end : p->begin);
    } while (status == NTR_NEED_MORE && (size || at_cut));
    if (status == NTR_END && p->end == UINT64_MAX) p->end = p->at;
    return status;
}
