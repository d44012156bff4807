/* The pieces of all buffers, in order of time, as one stream. */
#include "perf/state.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <stdio.h>
#include <stdlib.h>

static int by_time(const void *a, const void *b) {
    const struct ntr_perf_piece *x = a, *y = b;

    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void place(struct ntr_perf_data *data) {
    if (data->piece_count) qsort(data->pieces, data->piece_count, sizeof *data->pieces, by_time);
    for (size_t i = 0; i < data->piece_count; i++) {
        data->pieces[i].position = data->stream_size;
        data->stream_size += data->pieces[i].size;
    }
}

uint64_t ntr_perf_stream_position(const struct ntr_perf_data *data, uint64_t time) {
    size_t low = 0, high = data->piece_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (data->pieces[middle].time < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low < data->piece_count ? data->pieces[low].position : data->stream_size;
}

/* ---- processes */

static bool has_mappings(const struct ntr_perf_data *data, uint64_t space) {
    for (size_t i = 0; i < data->mapping_count; i++)
        if (ntr_perf_mapping_is_in(&data->mappings[i], space)) return true;
    return false;
}

/* Returns whether pieces of more than one space with files are in the trace: its images need contexts. */
static bool has_several_spaces(const struct ntr_perf_data *data) {
    uint64_t first = UINT64_MAX, last = UINT64_MAX;

    for (size_t i = 0; i < data->piece_count; i++) {
        uint64_t space = data->pieces[i].space;
        if (space == first || space == last || !data->pieces[i].size) continue;
        last = space;
        if (!has_mappings(data, space)) continue;
        if (first != UINT64_MAX) return true;
        first = space;
    }
    return false;
}

/* ---- */

enum { SHORT_SRC = 6, LONG_SRC = 12 };

/* SRC of a buffer: its CPU, or its number when there is a buffer for each thread. */
static uint32_t number_sources(struct ntr_perf_data *data) {
    uint32_t most = 0;
    bool cpus = true;

    for (size_t i = 0; i < data->buffer_count; i++) cpus &= data->buffers[i].cpu < 1u << LONG_SRC;
    for (size_t i = 0; i < data->buffer_count; i++) {
        data->buffers[i].src = cpus ? data->buffers[i].cpu : (uint32_t)i;
        if (data->buffers[i].src > most) most = data->buffers[i].src;
    }
    return most;
}

static ntr_status choose_sources(struct ntr_perf_data *data, ntr_params *out) {
    uint32_t most = number_sources(data);

    data->sources = NTR_PERF_SOURCES_OWN;
    if (out->src_bits) return ntr_perf_sources_check(data, out->src_bits, most);
    if (data->buffer_count < 2) return NTR_OK;
    data->sources = NTR_PERF_SOURCES_ADDED;
    out->src_bits = most >> SHORT_SRC ? LONG_SRC : SHORT_SRC;
    return most >> LONG_SRC ? NTR_E_LIMIT : NTR_OK;
}

static ntr_status make_stream(struct ntr_perf_data *data, ntr_params *params,
                              ntr_status (*write)(void *user, const void *bytes, size_t size), void *user) {
    const ntr_params in = *params;

    TRY(ntr_params_check(params));
    TRY(ntr_perf_frames_check(data, in.src_bits));
    TRY(ntr_perf_survey(data, &in));
    ntr_perf_clock_find(data);
    TRY(choose_sources(data, params));
    data->bind = data->contexts_are_threads;
    TRY(ntr_perf_pieces_make(data, &in, params));
    data->bind |= has_several_spaces(data);
    if (data->bind && !data->contexts_are_threads) { /* the same again, with contexts */
        data->piece_count = 0;
        for (size_t i = 0; i < data->buffer_count; i++) data->buffers[i].out_size = 0;
        TRY(ntr_perf_pieces_make(data, &in, params));
    }
    place(data);
    for (size_t i = 0; i < data->piece_count; i++) {
        const struct ntr_perf_piece *p = &data->pieces[i];
        if (!p->size) continue;
        if (!data->contexts_are_threads) TRY(ntr_perf_count_process(data, p->space, p->size));
        TRY(write(user, data->buffers[p->buffer].out + p->at, p->size));
    }
    return NTR_OK;
}

ntr_status ntr_perf_data_stream(ntr_perf_data *data, ntr_params *params,
                                ntr_status (*write)(void *user, const void *bytes, size_t size), void *user) {
    const ntr_status status = make_stream(data, params, write, user);

    if (status != NTR_OK) snprintf(data->error, sizeof data->error, "%s", data->file.error);
    return status;
}
