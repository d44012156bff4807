/* The explorer: its replay, and the making of the index. */
#include "explore/state.h"

#include "base/allocator.h"
#include "base/config.h"

static ntr_status open_stream(void *user, ntr_stream_reader **out) {
    const ntr_explorer *x = user;
    return x->config.open(x->config.user, out);
}

static bool proceed(void *user, uint64_t done) {
    ntr_explorer *x = user;
    (void)done;
    return !x->config.proceed || x->config.proceed(x->config.user);
}

static ntr_status start(ntr_explorer *x, const ntr_explorer_config *config) {
    ntr_replay_config replay;
    ntr_status status = NTR_OK;
    x->config = *config;
    if (config->allocator) {
        x->allocator_copy = *config->allocator;
        x->allocator = &x->allocator_copy;
    }
    x->decoder = *config->decoder;
    x->nodes.allocator = x->index.allocator = x->index.runs.allocator = x->answer.allocator = x->allocator;
    ntr_replay_config_init(&replay);
    replay.decoder = &x->decoder;
    replay.functions = config->functions;
    replay.allocator = x->allocator;
    replay.open = open_stream;
    replay.proceed = proceed;
    replay.user = x;
    replay.by_time = config->by_time;
    status = ntr_replay_new(&replay, &x->replay);
    return x->replay ? NTR_OK : status;
}

ntr_status ntr_explorer_new(const ntr_explorer_config *config, ntr_explorer **out) {
    *out = NULL;
    ntr_explorer_config own;
    ntr_status result = ntr_config_load(&own, sizeof own, config);
    if (result == NTR_OK && (!own.decoder || !own.debug || !own.functions || !own.open)) result = NTR_E_INVALID;
    ntr_explorer *x = result == NTR_OK ? ntr_alloc(own.allocator, 1, sizeof *x) : NULL;
    if (!x && result == NTR_OK) result = NTR_E_MEMORY;
    if (x) result = start(x, &own);
    if (result == NTR_OK)
        *out = x;
    else
        ntr_explorer_free(x);
    return result;
}

void ntr_explorer_free(ntr_explorer *x) {
    if (!x) return;
    const ntr_allocator copy = x->allocator_copy;
    const bool own = x->allocator != NULL;
    ntr_explorer_forget(x);
    ntr_answer_release(&x->answer);
    ntr_replay_free(x->replay);
    ntr_dealloc(own ? &copy : NULL, x);
}

void ntr_explorer_forget(ntr_explorer *x) {
    ntr_explore_index_release(&x->index);
    x->index = (ntr_explore_index){.allocator = x->allocator, .runs.allocator = x->allocator};
    ntr_nodes_release(&x->nodes);
    ntr_dealloc(x->allocator, x->executed);
    x->executed = NULL;
    x->executed_count = 0;
}

uint64_t ntr_explorer_executed(const ntr_explorer *x, size_t index) {
    if (!x->replay->complete && index < x->executed_count) return x->executed[index];
    return ntr_replay_executed(x->replay, x->replay->harts[index]);
}

/* Returns whether an index that was loaded has the instructions that the trace has. */
static bool index_fits(const ntr_explorer *x) {
    if (x->executed_count != x->replay->hart_count || x->index.done != x->replay->executed) return false;
    for (size_t i = 0; i < x->executed_count; i++)
        if (x->executed[i] != x->replay->hart_executed[i]) return false;
    return true;
}

ntr_status ntr_explorer_work(ntr_explorer *x) {
    ntr_replay *r = x->replay;
    if (!r->complete) {
        const ntr_status status = ntr_replay_pass(r);
        if (status == NTR_OK && r->complete && x->index.complete && !index_fits(x)) ntr_explorer_forget(x);
        return status == NTR_OK ? NTR_END : status;
    }
    return ntr_explore_index_step(&x->index, r, &x->nodes);
}

uint64_t ntr_explorer_gaps(const ntr_explorer *x, ntr_event *first) {
    if (first && x->index.gap_count) *first = x->index.gaps[0].event;
    return x->index.gap_count + x->index.gaps_left_out;
}

ntr_explore_progress ntr_explorer_progress(const ntr_explorer *x) {
    ntr_explore_progress progress = {
        .indexed = x->index.done,
    };
    progress.known = ntr_replay_known(x->replay, &progress.read);
    if (x->index.complete) progress.known = x->index.done;
    progress.complete = x->index.complete && progress.read;
    if (x->replay->point_count) progress.bytes = x->replay->points[x->replay->point_count - 1].offset;
    return progress;
}
