/* The ways of an analyzer: which one gives what is wanted, and decoding by one thread. */
#include "analyzer/state.h"

#include "analysis/tree_chunk.h"
#include "base/allocator.h"
#include "base/config.h"

#include <ntrace/debug_info.h>
#include <ntrace/parallel.h>
#include <ntrace/tally.h>

enum { ANALYZED_EVENTS = 1024, STREAM_PIECE = 256 << 10 };

/* ---- the way */

/* Returns whether no consumer needs the order of events. The counting decode is then sufficient, and much faster. */
static bool counts_only(const ntr_analyzer_config *c) {
    const ntr_analysis *to = c->analysis;
    if (to->totals) return true;
    return to->tally && !ntr_tally_keeps_time(to->tally) && !to->tree && !c->take && !c->within;
}

/* Returns whether the consumers need only calls, returns and the instructions between them. */
static bool joins_spans(const ntr_analyzer_config *c) {
    return (!c->take || c->needs & NTR_TAKE_JOINED) &&
           !(c->analysis->tally && ntr_tally_keeps_time(c->analysis->tally)) && !c->within && !c->by_hand;
}

static void choose(ntr_analyzer *a) {
    const ntr_analyzer_config *c = &a->config;
    a->counting = counts_only(c);
    a->repeated = !a->counting && (!c->take || c->needs & NTR_TAKE_REPEATS);
    a->joins = !a->counting && joins_spans(c);
    a->trees = a->joins && c->analysis->tree && c->alone && (!c->take || (c->follower && !c->stamped));
}

static bool is_serial(const ntr_analyzer *a) {
    return a->config.within || a->config.by_hand || a->analysis->totals;
}

/* Where trees are counted in stream order, that is the larger part of the work. A tree that one thread does not need
 * costs more. Counts of code cost more because the stream is cut. */
ntr_gain ntr_analyzer_gain(const ntr_analyzer *a) {
    if (is_serial(a)) return NTR_GAIN_NONE;
    if (a->trees)
        return a->analysis->tally || a->config.stacks_only || a->config.stamped ? NTR_GAIN_SOME : NTR_GAIN_ALL;
    return a->counting ? NTR_GAIN_SOME : NTR_GAIN_NONE;
}

/* ---- creation */

static ntr_status prepare_by_hand(ntr_analyzer *a) {
    ntr_decoder_set_repeats(a->decoder, a->repeated);
    if (a->counting && a->analysis->tally) ntr_decoder_set_count_callback(a->decoder, ntr_analyzer_count, a);
    return ntr_analyzer_divide(a);
}

ntr_status ntr_analyzer_new(const ntr_analyzer_config *given, ntr_analyzer **out) {
    *out = NULL;
    ntr_analyzer_config config = {.size = sizeof config};
    ntr_status status = given ? ntr_config_load(&config, sizeof config, given) : NTR_E_INVALID;
    if (status == NTR_OK && (!config.analysis || (config.by_hand && !config.begun))) status = NTR_E_INVALID;
    if (status != NTR_OK) return status;
    ntr_analyzer *a = ntr_alloc(config.allocator, 1, sizeof *a);
    if (!a) return NTR_E_MEMORY;
    a->config = config;
    a->analysis = config.analysis;
    a->totals = a->analysis->totals ? a->analysis->totals : &a->own_totals;
    a->decoder = config.begun;
    if (config.decoder) a->stream = *config.decoder;
    choose(a);
    if (config.by_hand && (status = prepare_by_hand(a))) {
        ntr_analyzer_free(a);
        return status;
    }
    *out = a;
    return NTR_OK;
}

void ntr_analyzer_free(ntr_analyzer *a) {
    if (!a) return;
    ntr_functions_free(a->places);
    if (!a->config.begun) ntr_decoder_free(a->decoder);
    ntr_dealloc(a->config.allocator, a->piece);
    ntr_dealloc(a->config.allocator, a->events);
    ntr_dealloc(a->config.allocator, a);
}

bool ntr_analyzer_any(const ntr_analyzer *a) {
    return a->any;
}

/* ---- decoding by one thread */

static void set_join(ntr_analyzer *a) {
    if (!a->places) return;
    a->joined = true;
    ntr_decoder_set_join(a->decoder, ntr_functions_same, a->places);
    ntr_decoder_set_join_except(a->decoder, a->config.join_except);
    if (a->analysis->tally) ntr_decoder_set_count_callback(a->decoder, ntr_tally_count, a->analysis->tally);
}

/* Takes the events that are within the window. */
static ntr_status consume_part(ntr_analyzer *a, const ntr_event *events, size_t count) {
    ntr_status status = NTR_OK;
    for (size_t i = 0, inside; i < count && !a->behind && !status; i += inside + 1) {
        ntr_within place = NTR_WITHIN_INSIDE;
        for (inside = 0; i + inside < count; inside++)
            if ((place = a->config.within(a->config.user, &events[i + inside])) != NTR_WITHIN_INSIDE) break;
        if (inside) status = ntr_analyzer_consume(a, &events[i], inside);
        a->behind = place == NTR_WITHIN_BEHIND;
    }
    return status;
}

static ntr_status read_events(ntr_analyzer *a) {
    size_t count = 0;
    if (!a->events && !(a->events = ntr_alloc(a->config.allocator, ANALYZED_EVENTS, sizeof *a->events)))
        return NTR_E_MEMORY;
    const ntr_status status = ntr_decoder_read(a->decoder, a->events, ANALYZED_EVENTS, &count);
    const ntr_status taken = (a->config.within ? consume_part : ntr_analyzer_consume)(a, a->events, count);
    return status < 0 || taken >= 0 ? status : taken;
}

static ntr_status feed_piece(ntr_analyzer *a) {
    size_t got = 0;
    bool last = false;
    if (!a->piece && !(a->piece = ntr_alloc(a->config.allocator, STREAM_PIECE, 1))) return NTR_E_MEMORY;
    const ntr_status status = ntr_analyzer_read(a, a->piece, STREAM_PIECE, &got, &last);
    return status == NTR_OK ? ntr_decoder_feed(a->decoder, a->piece, got, last) : status;
}

static ntr_status decode(ntr_analyzer *a) {
    ntr_status status = NTR_OK, fed = NTR_OK;
    if (a->counting && a->analysis->tally) ntr_decoder_set_count_callback(a->decoder, ntr_analyzer_count, a);
    while (status >= 0 && status != NTR_END && fed == NTR_OK && !a->behind && !ntr_analyzer_stopped(a)) {
        status = a->counting ? ntr_decoder_count(a->decoder, a->totals) : read_events(a);
        if (status == NTR_NEED_MORE) fed = feed_piece(a);
    }
    if (fed < 0) return fed;
    if (status == NTR_E_STOPPED) status = NTR_NEED_MORE; /* what was decoded is delivered */
    const bool flushes = (a->counting || a->joined) && status >= 0 && status != NTR_END;
    const ntr_status flushed = flushes ? ntr_decoder_flush_counts(a->decoder) : NTR_OK;
    return flushed < 0 ? flushed : status;
}

static ntr_status run(ntr_analyzer *a, unsigned threads) {
    ntr_status status = NTR_OK;
    if (threads > 1 && !is_serial(a)) {
        a->joined = a->joins;
        return ntr_analyzer_parallel(a, threads);
    }
    if (!a->decoder && (status = ntr_decoder_new(&a->stream, &a->decoder))) return status;
    if ((status = ntr_analyzer_divide(a))) return status;
    ntr_decoder_set_repeats(a->decoder, a->repeated);
    if (a->joins) set_join(a);
    return decode(a);
}

ntr_status ntr_analyzer_run(ntr_analyzer *a, unsigned threads) {
    if (!a->config.read || !a->config.decoder || a->config.by_hand) return NTR_E_INVALID;
    atomic_store(&a->stopped, false);
    const ntr_status status = run(a, threads ? threads : ntr_processors());
    return status >= 0 && (a->behind || atomic_load(&a->stopped)) ? NTR_OK : status;
}

/* ---- decoding by hand */

ntr_status ntr_analyzer_drain(ntr_analyzer *a) {
    ntr_status status = NTR_OK;
    if (a->counting) return ntr_decoder_count(a->decoder, a->totals);
    while (status == NTR_OK) status = read_events(a);
    return status;
}

ntr_status ntr_analyzer_begin(ntr_analyzer *a) {
    ntr_status status = a->counting ? ntr_decoder_flush_counts(a->decoder) : NTR_OK;
    a->begun = true;
    *a->totals = (ntr_counts){0};
    a->any = false;
    if (status == NTR_OK && a->analysis->tally) ntr_tally_restart(a->analysis->tally);
    if (status == NTR_OK && a->analysis->tree) ntr_calltree_restart(a->analysis->tree);
    return status;
}

ntr_status ntr_analyzer_finish(ntr_analyzer *a) {
    return a->counting ? ntr_decoder_flush_counts(a->decoder) : NTR_OK;
}
