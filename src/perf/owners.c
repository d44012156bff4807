/* What is learned from a first reading of the trace: the times of fragments, and which process has which context.
 *
 * Without a clock, the contexts of a fragment's Ownership messages and the processes that its switch records name come
 * in the same order. If there are as many of both, each context is that of the process at its place. */
#include "perf/scan.h"

#include "base/allocator.h"
#include "base/macros.h"
#include "message/sets.h"
#include "trace/ownership.h"

enum { RUNS_MAX = 4096 };

struct runs {
    uint64_t scontext[RUNS_MAX];
    size_t count;
};

uint32_t ntr_perf_owner_of(const struct ntr_perf_data *data, uint64_t scontext) {
    for (size_t i = data->owner_count; i-- > 0;)
        if (data->owners[i].scontext == scontext) return data->owners[i].pid;
    return NTR_PERF_NOBODY;
}

static void note_message(struct ntr_perf_scan *s, struct ntr_perf_fragment *f, const ntr_message *m,
                         struct runs *runs) {
    if (s->timed) {
        if (!f->timed || s->ticks < f->first_time) f->first_time = s->ticks;
        if (!f->timed || s->ticks > f->last_time) f->last_time = s->ticks;
        f->timed = true;
    }
    const bool owner = !m->defect && ntr_has_role(m->tcode, NTR_ROLE_CONTEXT) && NTR_HAS(m, PROCESS);
    if (m->tcode != NTR_TCODE_NONE && !owner) s->at_sync[s->source] = ntr_has_role(m->tcode, NTR_ROLE_SYNC);
    if (!owner) return;
    s->data->owner_seen = true;
    s->data->modes_sent |= !s->at_sync[s->source];
    if (ntr_ownership_format(m->process) != NTR_FORMAT_SCONTEXT || runs->count == RUNS_MAX) return;
    uint64_t scontext = m->process >> NTR_PROCESS_CONTEXT;
    if (!runs->count || runs->scontext[runs->count - 1] != scontext) runs->scontext[runs->count++] = scontext;
}

static ntr_status learn(struct ntr_perf_data *data, uint64_t scontext, uint32_t pid) {
    if (pid == NTR_PERF_NOBODY || ntr_perf_owner_of(data, scontext) == pid) return NTR_OK;
    struct ntr_perf_owner *o = NTR_PERF_ADD(data, owners, owner_count, owner_capacity);
    if (!o) return NTR_E_MEMORY;
    *o = (struct ntr_perf_owner){scontext, pid};
    return NTR_OK;
}

static ntr_status learn_fragment(struct ntr_perf_data *data, const struct ntr_perf_buffer *b,
                                 const struct ntr_perf_fragment *f, const struct runs *runs) {
    uint32_t pids[RUNS_MAX];
    uint64_t next = f->begin;
    size_t count = 0;

    if (b->cpu == NTR_PERF_NOBODY || f->end == UINT64_MAX) return NTR_OK;
    while (next <= f->end && count < RUNS_MAX) {
        uint32_t pid = ntr_perf_running_at(data, b->cpu, next, &next);
        if (pid != NTR_PERF_NOBODY) pids[count++] = pid;
    }
    if (count != runs->count)
        return count > 1 && !f->timed
                   ? ntr_perf_lose(data,
                                   "CPU %u: %zu processes ran in one part of the trace, which has neither times nor as "
                                   "many contexts; it is read as that of the first",
                                   b->cpu, count)
                   : NTR_OK;
    for (size_t i = 0; i < count; i++) TRY(learn(data, runs->scontext[i], pids[i]));
    return NTR_OK;
}

/* Linux gives a thread its number as scontext. That this is so is taken from the numbers: nearly all are those of
 * threads of which the file has a record. Without records of context switches nothing else says who runs. */
static void count_threads(struct ntr_perf_data *data, const struct runs *runs, size_t *known, size_t *all) {
    for (size_t i = 0; i < runs->count; i++) {
        if (!runs->scontext[i]) continue; /* the idle task */
        *known += ntr_perf_process_of(data, runs->scontext[i], UINT64_MAX) != NTR_PERF_NOBODY;
        ++*all;
    }
}

static ntr_status survey_buffer(struct ntr_perf_scan *s, struct runs *runs, size_t *known, size_t *all) {
    const bool several = s->data->buffer_count > 1 && s->params->src_bits;
    struct ntr_perf_fragment *f;
    ntr_message m;

    while ((f = ntr_perf_scan_fragment(s))) {
        runs->count = 0;
        while (ntr_perf_scan_message(s, &m)) {
            note_message(s, f, &m, runs);
            if (several && !m.defect && m.tcode != NTR_TCODE_NONE) TRY(ntr_perf_span_note(s, f));
        }
        count_threads(s->data, runs, known, all);
        if (s->data->switch_seen) TRY(learn_fragment(s->data, s->buffer, f, runs));
    }
    return NTR_OK;
}

ntr_status ntr_perf_survey(struct ntr_perf_data *data, const ntr_params *params) {
    struct ntr_perf_scan s = {0};
    struct runs *runs = ntr_alloc(data->allocator, 1, sizeof *runs);
    ntr_status status = runs ? ntr_perf_scan_new(&s, data, params) : NTR_E_MEMORY;
    size_t known = 0, all = 0;

    for (size_t i = 0; i < data->buffer_count && status == NTR_OK; i++) {
        ntr_perf_scan_buffer(&s, i);
        status = survey_buffer(&s, runs, &known, &all);
    }
    data->contexts_are_threads = known && !data->switch_seen && known >= all / 2;
    ntr_perf_scan_release(&s);
    ntr_dealloc(data->allocator, runs);
    return status;
}
