#include "perf/scan.h"

#include "base/allocator.h"
#include "base/macros.h"
#include "message/sets.h"

ntr_status ntr_perf_scan_new(struct ntr_perf_scan *s, struct ntr_perf_data *data, const ntr_params *params) {
    const size_t sources = (size_t)1 << params->src_bits;

    TRY(ntr_params_check(params));
    s->data = data;
    s->params = params;
    s->clocks = ntr_alloc(data->allocator, sources, sizeof *s->clocks);
    s->process = ntr_alloc(data->allocator, sources, sizeof *s->process);
    s->known = ntr_alloc(data->allocator, sources, sizeof *s->known);
    s->seen = ntr_alloc(data->allocator, sources, sizeof *s->seen);
    s->space = ntr_alloc(data->allocator, sources, sizeof *s->space);
    s->at_sync = ntr_alloc(data->allocator, sources, sizeof *s->at_sync);
    s->span = ntr_alloc(data->allocator, sources, sizeof *s->span);
    return s->clocks && s->process && s->known && s->seen && s->space && s->at_sync && s->span ? NTR_OK : NTR_E_MEMORY;
}

void ntr_perf_scan_release(struct ntr_perf_scan *s) {
    if (!s->data) return;
    ntr_dealloc(s->data->allocator, s->clocks);
    ntr_dealloc(s->data->allocator, s->process);
    ntr_dealloc(s->data->allocator, s->known);
    ntr_dealloc(s->data->allocator, s->seen);
    ntr_dealloc(s->data->allocator, s->space);
    ntr_dealloc(s->data->allocator, s->at_sync);
    ntr_dealloc(s->data->allocator, s->span);
}

void ntr_perf_scan_buffer(struct ntr_perf_scan *s, size_t number) {
    const size_t sources = (size_t)1 << s->params->src_bits;

    s->buffer = &s->data->buffers[number];
    s->number = (uint32_t)number;
    s->fragment = 0;
    s->seen_count = 0;
    s->pid = NTR_PERF_NOBODY;
    s->time = 0;
    memset(s->clocks, 0, sources * sizeof *s->clocks);
    memset(s->process, 0, sources * sizeof *s->process);
    memset(s->known, 0, sources * sizeof *s->known);
    memset(s->space, 0xff, sources * sizeof *s->space); /* NO_SPACE */
    memset(s->at_sync, true, sources * sizeof *s->at_sync);
    memset(s->span, 0, sources * sizeof *s->span);
}

/* Returns whether the bytes begin with a whole message that may begin a trace. */
static bool begins_with_message(const struct ntr_perf_scan *s, const struct ntr_perf_fragment *f) {
    ntr_reader reader;
    ntr_message m;

    ntr_reader_init(&reader, s->params);
    ntr_reader_feed(&reader, f->bytes, (size_t)f->size, true);
    if (ntr_reader_next(&reader, &m) != NTR_OK || m.defect) return false;
    return ntr_has_role(m.tcode, NTR_ROLE_SYNC) || ntr_has_role(m.tcode, NTR_ROLE_CONTEXT) ||
           ntr_has_role(m.tcode, NTR_ROLE_LOSS);
}

static void start_reader(struct ntr_perf_scan *s, const struct ntr_perf_fragment *f) {
    ntr_reader_init(&s->reader, s->params);
    if (f->wrapped || !begins_with_message(s, f)) ntr_reader_seek_start(&s->reader);
    for (unsigned i = 0; i < s->seen_count; i++) {
        ntr_clock_lose(&s->clocks[s->seen[i]]);
        s->at_sync[s->seen[i]] = true;
    }
}

struct ntr_perf_fragment *ntr_perf_scan_fragment(struct ntr_perf_scan *s) {
    while (s->fragment < s->buffer->fragment_count && !s->buffer->fragments[s->fragment].size) s->fragment++;
    if (s->fragment >= s->buffer->fragment_count) return NULL;
    struct ntr_perf_fragment *f = &s->buffer->fragments[s->fragment++];
    bool first = s->fragment == 1 || s->reader.params.size == 0;
    s->lost = f->loss || (f->apart && s->data->form != NTR_PERF_BLOCKS);
    if (first || s->lost || f->apart) start_reader(s, f);
    ntr_reader_feed(&s->reader, f->bytes, (size_t)f->size, false);
    return f;
}

bool ntr_perf_scan_message(struct ntr_perf_scan *s, ntr_message *m) {
    if (ntr_reader_next(&s->reader, m) != NTR_OK) return false;
    s->is_new = false;
    if (m->tcode == NTR_TCODE_NONE || m->defect) { /* of the same source as the last one, as far as is known */
        s->timed = false;
        return true;
    }
    s->source = NTR_HAS(m, SRC) ? (unsigned)m->src : 0;
    s->is_new = !s->known[s->source];
    if (s->is_new) s->seen[s->seen_count++] = (uint16_t)s->source;
    s->known[s->source] = true;
    ntr_clock *clock = &s->clocks[s->source];
    ntr_clock_follow(clock, s->params, m);
    s->timed = clock->known && NTR_HAS(m, TSTAMP);
    s->ticks = clock->time;
    return true;
}
