/* Which buffer has messages of which SRC, and when.
 *
 * The stream is that of all buffers, so SRC must say who sent a message. It may come in several buffers: a sink that
 * CPUs share is copied into the buffer of the CPU that stops last, and a hart runs the threads of several buffers one
 * after the other. But a hart is in one place at a time. If messages of one SRC overlap in time in two buffers, they
 * are of two harts with the same number, and decoding them as one would go wrong without a sign.
 *
 * Then, if each buffer has one SRC only, it is replaced by the number of the buffer's CPU, as if the trace had none.
 * Otherwise the file is refused.
 *
 * Times are those of the trace. Without, they are those of the AUX records, for buffers of CPUs; buffers of threads
 * without times are read one after the other. */
#include "perf/scan.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <stdlib.h>

ntr_status ntr_perf_span_note(struct ntr_perf_scan *s, const struct ntr_perf_fragment *f) {
    struct ntr_perf_data *data = s->data;
    const bool follows = s->span[s->source] && data->spans[s->span[s->source] - 1].fragment == s->fragment;

    if (!follows) {
        struct ntr_perf_span *span = NTR_PERF_ADD(data, spans, span_count, span_capacity);
        if (!span) return NTR_E_MEMORY;
        *span = (struct ntr_perf_span){.src = (uint16_t)s->source, .buffer = s->number, .fragment = s->fragment};
        span->record = (struct ntr_perf_times){f->begin, f->end};
        s->span[s->source] = data->span_count;
    }
    if (!s->timed) return NTR_OK;
    struct ntr_perf_span *span = &data->spans[s->span[s->source] - 1];
    if (!span->timed) span->ticks = (struct ntr_perf_times){s->ticks, s->ticks};
    span->timed = true;
    if (s->ticks < span->ticks.first) span->ticks.first = s->ticks;
    if (s->ticks > span->ticks.last) span->ticks.last = s->ticks;
    return NTR_OK;
}

/* ---- */

static const struct ntr_perf_times *times_of(const struct ntr_perf_span *span) {
    return span->timed ? &span->ticks : &span->record;
}

/* By SRC; those with times first, and in their order. */
static int by_source(const void *a, const void *b) {
    const struct ntr_perf_span *x = a, *y = b;
    const struct ntr_perf_times *s = times_of(x), *t = times_of(y);

    if (x->src != y->src) return x->src < y->src ? -1 : 1;
    if (x->timed != y->timed) return x->timed ? -1 : 1;
    return s->first < t->first ? -1 : s->first > t->first;
}

struct clash {
    const struct ntr_perf_buffer *a, *b;
    unsigned src;
};

/* Two spans of one SRC in different buffers, of which one begins before the other ends. Those that touch are not
 * counted. A span that ends last hides none of an earlier buffer: two are kept, of different buffers. */
static bool find_clash(const struct ntr_perf_data *data, bool timed, struct clash *clash) {
    const struct ntr_perf_span *latest = NULL, *other = NULL; /* the ones that end last */

    for (size_t i = 0; i < data->span_count; i++) {
        const struct ntr_perf_span *s = &data->spans[i];
        const struct ntr_perf_buffer *buffer = &data->buffers[s->buffer];
        if (s->timed != timed || (!timed && buffer->cpu == NTR_PERF_NOBODY)) continue;
        if (latest && latest->src != s->src) latest = other = NULL;
        const struct ntr_perf_span *before = latest && latest->buffer != s->buffer ? latest : other;
        if (before && times_of(s)->first < times_of(before)->last) {
            *clash = (struct clash){&data->buffers[before->buffer], buffer, s->src};
            return true;
        }
        if (latest && times_of(s)->last <= times_of(latest)->last && latest->buffer == s->buffer) continue;
        if (latest && latest->buffer != s->buffer) other = latest;
        latest = s;
    }
    return false;
}

static bool has_one_source(const struct ntr_perf_data *data, size_t buffer) {
    const struct ntr_perf_span *first = NULL;

    for (size_t i = 0; i < data->span_count; i++) {
        const struct ntr_perf_span *s = &data->spans[i];
        if (s->buffer != buffer) continue;
        if (first && first->src != s->src) return false;
        first = s;
    }
    return true;
}

static bool can_replace(const struct ntr_perf_data *data, unsigned src_bits, uint32_t most) {
    for (size_t i = 0; i < data->buffer_count; i++)
        if (!has_one_source(data, i)) return false;
    return most >> src_bits == 0;
}

static ntr_status refuse(struct ntr_perf_data *data, const struct clash *clash) {
    if (clash->a->cpu == NTR_PERF_NOBODY || clash->b->cpu == NTR_PERF_NOBODY)
        return ntr_perf_fail(&data->file, NTR_E_UNSUPPORTED,
                             "%s: threads %u and %u: both have messages with SRC %u at the same time, so SRC does not "
                             "tell harts apart",
                             data->path, clash->a->tid, clash->b->tid, clash->src);
    return ntr_perf_fail(&data->file, NTR_E_UNSUPPORTED,
                         "%s: CPUs %u and %u: both have messages with SRC %u at the same time, so SRC does not tell "
                         "harts apart; record one of them (perf record -C)",
                         data->path, clash->a->cpu, clash->b->cpu, clash->src);
}

ntr_status ntr_perf_sources_check(struct ntr_perf_data *data, unsigned src_bits, uint32_t most) {
    struct clash clash = {0};

    if (!src_bits || data->buffer_count < 2 || !data->span_count) return NTR_OK;
    qsort(data->spans, data->span_count, sizeof *data->spans, by_source);
    if (!find_clash(data, true, &clash) && !find_clash(data, false, &clash)) return NTR_OK;
    if (!can_replace(data, src_bits, most)) return refuse(data, &clash);
    data->sources = NTR_PERF_SOURCES_REPLACED;
    return ntr_perf_lose(
        data, "several %s have messages with SRC %u at the same time: SRC is replaced by the number of the %s",
        clash.a->cpu == NTR_PERF_NOBODY ? "threads" : "CPUs", clash.src,
        clash.a->cpu == NTR_PERF_NOBODY ? "buffer" : "CPU");
}

ntr_status ntr_perf_frames_check(struct ntr_perf_data *data, unsigned src_bits) {
    unsigned ids[2];

    if (!data->frames || !ntr_frames_mixed(data->frames, src_bits, ids)) return NTR_OK;
    return ntr_perf_fail(&data->file, NTR_E_UNSUPPORTED,
                         src_bits ? "%s: trace IDs %u and %u: both have messages with the same SRC; read one of them "
                                    "with --trace-id"
                                  : "%s: trace IDs %u and %u: no SRC says who sent a message; specify its width with "
                                    "--src-bits if there is one, or read one of them with --trace-id",
                         data->path, ids[0], ids[1]);
}
