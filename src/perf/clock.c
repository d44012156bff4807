/* The relation of the trace's time to perf's.
 *
 * Candidates, in this order: the conversion in the file (TIME_CONV), no conversion at all, a line through the ends of
 * the first and last fragment (an AUX record is written when its trace stops), a line from the first begin to the last
 * end. The first one that puts every fragment's times between the begin and the end of its records is used. */
#include "perf/state.h"

uint64_t ntr_perf_clock_time(const struct ntr_perf_clock *clock, uint64_t ticks) {
    if (!clock->linear) {
        uint64_t high = ticks >> clock->shift, low = ticks & ((UINT64_C(1) << clock->shift) - 1);
        return clock->zero + high * clock->mult + (low * clock->mult >> clock->shift);
    }
    double time = (double)ticks * clock->rate + clock->offset;
    return time <= 0 ? 0 : time >= 1.8e19 ? UINT64_MAX : (uint64_t)time;
}

/* Returns whether all fragments are where their records say, within a thousandth of their length. */
static bool fits(const struct ntr_perf_data *data, const struct ntr_perf_clock *clock) {
    for (size_t i = 0; i < data->buffer_count; i++) {
        for (size_t k = 0; k < data->buffers[i].fragment_count; k++) {
            const struct ntr_perf_fragment *f = &data->buffers[i].fragments[k];
            if (!f->timed || f->end == UINT64_MAX) continue;
            uint64_t slack = (f->end - f->begin) / 1000 + 1000;
            if (ntr_perf_clock_time(clock, f->first_time) + slack < f->begin) return false;
            if (ntr_perf_clock_time(clock, f->last_time) > f->end + slack) return false;
        }
    }
    return true;
}

static bool find_conversion(const struct ntr_perf_data *data, struct ntr_perf_clock *clock) {
    for (size_t i = 0; i < data->file.record_count; i++) {
        const struct ntr_perf_record *r = &data->file.records[i];
        struct ntr_perf_cursor c = ntr_perf_cursor_at(r->body, r->body_size);
        if (r->type != NTR_PERF_TIME_CONV) continue;
        uint64_t shift = ntr_perf_u64(&c);
        *clock = (struct ntr_perf_clock){.known = true, .shift = shift & 31, .mult = ntr_perf_u64(&c)};
        clock->zero = ntr_perf_u64(&c);
        return !c.broken && shift < 32 && clock->mult;
    }
    return false;
}

struct ends {
    const struct ntr_perf_fragment *first, *last;
};

static struct ends find_ends(const struct ntr_perf_data *data) {
    struct ends e = {0};

    for (size_t i = 0; i < data->buffer_count; i++) {
        for (size_t k = 0; k < data->buffers[i].fragment_count; k++) {
            const struct ntr_perf_fragment *f = &data->buffers[i].fragments[k];
            if (!f->timed || f->end == UINT64_MAX) continue;
            if (!e.first || f->end < e.first->end) e.first = f;
            if (!e.last || f->end > e.last->end) e.last = f;
        }
    }
    return e;
}

static bool line(struct ntr_perf_clock *clock, uint64_t ticks_a, uint64_t time_a, uint64_t ticks_b, uint64_t time_b) {
    if (ticks_b <= ticks_a || time_b <= time_a) return false;
    double rate = (double)(time_b - time_a) / (double)(ticks_b - ticks_a);
    *clock = (struct ntr_perf_clock){
        .known = true, .linear = true, .rate = rate, .offset = (double)time_a - (double)ticks_a * rate};
    return true;
}

void ntr_perf_clock_find(struct ntr_perf_data *data) {
    struct ntr_perf_clock *clock = &data->clock;
    struct ends e = find_ends(data);

    *clock = (struct ntr_perf_clock){0};
    if (!e.first) return;
    if (find_conversion(data, clock) && fits(data, clock)) return;
    *clock = (struct ntr_perf_clock){.known = true, .mult = 1};
    if (fits(data, clock)) return;
    if (line(clock, e.first->last_time, e.first->end, e.last->last_time, e.last->end) && fits(data, clock)) return;
    if (line(clock, e.first->first_time, e.first->begin, e.last->last_time, e.last->end) && fits(data, clock)) return;
    *clock = (struct ntr_perf_clock){0};
}
