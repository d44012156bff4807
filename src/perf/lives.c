/* When the modules of the kernel are there.
 *
 * perf lists the modules when a recording begins; later records of others have a time. One that takes addresses of an
 * earlier one ends it. One that takes the place of nothing is there from the beginning. If the times do not say which
 * of two came first, or the trace has none, the code of neither is used. */
#include "perf/images.h"

#include "base/allocator.h"
#include "base/macros.h"

enum { PERF_MODULES_MAX = 1 << 12 };

/* Records of what was there before have 0. Those of a recording without times have the greatest number. */
bool ntr_perf_time_is_known(const struct ntr_perf_data *data, uint64_t time) {
    return data->clock.known && time && time != UINT64_MAX;
}

bool ntr_perf_life_place(const struct ntr_perf_data *data, struct ntr_perf_life life, ntr_image_options *o) {
    if (!data->piece_count) return true; /* no stream is made yet */
    if (life.first) o->from = ntr_perf_stream_position(data, life.first);
    if (life.last != UINT64_MAX) {
        o->until = ntr_perf_stream_position(data, life.last);
        if (o->until <= o->from) return false;
    }
    return o->from < data->stream_size || !o->from;
}

static bool overlap(const struct ntr_perf_mapping *a, const struct ntr_perf_mapping *b) {
    return a->address - b->address < b->length || b->address - a->address < a->length;
}

static bool is_same(const struct ntr_perf_mapping *a, const struct ntr_perf_mapping *b) {
    char x[NTR_PERF_MODULE_NAME], y[NTR_PERF_MODULE_NAME];

    if (a->address != b->address || a->length != b->length) return false;
    if (a->build_id_size && b->build_id_size &&
        (a->build_id_size != b->build_id_size || memcmp(a->build_id, b->build_id, a->build_id_size) != 0))
        return false;
    ntr_perf_module_name(a->path, x);
    ntr_perf_module_name(b->path, y);
    return strcmp(x, y) == 0;
}

/* `m` comes where `before` may still be. */
static void follow(const struct ntr_perf_data *data, struct ntr_perf_mapping *before, struct ntr_perf_mapping *m) {
    if (before->life.last != UINT64_MAX || !overlap(before, m)) return;
    if (is_same(before, m)) {
        m->repeated = true;
    } else if (ntr_perf_time_is_known(data, m->time) && m->time > before->time) {
        before->life.last = m->life.first = m->time;
    } else {
        before->ambiguous = m->ambiguous = data->piece_count != 0; /* without a stream, no time is known */
    }
}

ntr_status ntr_perf_lives_find(struct ntr_perf_data *data) {
    struct ntr_perf_mapping **known = ntr_alloc(data->allocator, PERF_MODULES_MAX, sizeof(struct ntr_perf_mapping *));
    size_t count = 0, more = 0;

    if (!known) return NTR_E_MEMORY;
    for (size_t i = 0; i < data->mapping_count; i++) {
        struct ntr_perf_mapping *m = &data->mappings[i];
        m->life = NTR_PERF_ALWAYS;
        m->ambiguous = m->repeated = m->copied = false;
        if (!ntr_perf_mapping_is_module(m)) continue;
        if (count == PERF_MODULES_MAX) {
            m->repeated = true;
            more++;
            continue;
        }
        for (size_t k = 0; k < count && !m->repeated; k++) follow(data, known[k], m);
        if (!m->repeated) known[count++] = m;
    }
    ntr_dealloc(data->allocator, known);
    if (!more) return NTR_OK;
    return ntr_perf_lose(data, "it has more than %d modules: %zu are not used", PERF_MODULES_MAX, more);
}
