#include "commands/analysis.h"
#include "io/maps.h"
#include "io/follow.h"
#include "commands/decode_threads.h"
#include "io/debug_files.h"
#include "io/memory.h"
#include "io/progress.h"
#include "io/trace_index.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ANALYSIS_EVENTS 1024

#define S struct cli_analysis_options
const struct cli_option cli_analysis_options[] = {
    CLI_FLAG(
        0, "follow", S, follow,
        "read on as the trace grows, until interrupted: a file, a pipe, or a TCP stream (tcp:HOST:PORT); then write the "
        "result"),
    CLI_NUMBER('j', "jobs", "N", S, jobs, 1, 256, 0, CLI_JOBS_HELP),
    CLI_DEBUG_PATH(S, debug_path),
    CLI_STRING(0, "source-path", "DIRS", S, source_path,
               "directories of source files that are not at the path of the compilation, separated by colons"),
    CLI_PARTS(S),
    {0},
};
#undef S

/* ---- opening */

static int out_of_memory(const struct cli_analysis *a) {
    return cli_fail("%s: out of memory", a->path);
}

static const char *title_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static int open_decoder(struct cli_analysis *a) {
    ntr_decoder_config_init(&a->config);
    a->config.params = a->trace.params;
    a->config.program = a->trace.program;
    a->config.one_source = a->window.one_source;
    a->config.source = a->window.source;
    a->config.proceed = cli_progress_proceed;
    a->decoder = cli_trace_decoder(&a->trace, &a->config);
    if (a->decoder && a->shard.count)
        return cli_shard_open(&a->shard, &a->trace, a->path, a->decoder, a->options->from_start);
    struct cli_begin begin;
    return a->decoder ? cli_seek(&a->trace, &a->window, a->decoder, &begin) : CLI_FAILED;
}

/* What a thread or encoder is called. */
static const char *name_of_source(void *user, uint16_t src) {
    const struct cli_analysis *a = user;
    const ntr_bundle_source *source = a->answer ? NULL : cli_trace_source(&a->trace, src);

    return source ? source->name : NULL;
}

static int open_input(struct cli_analysis *a, const char *path) {
    const struct cli_analysis_options *o = a->options;

    if (cli_partials_seen(path)) return cli_partials_open(a, path);
    if (cli_trace_open(&a->trace, path, &o->stream, &o->images) != CLI_OK) return CLI_FAILED;
    a->trace.index_file = o->index;
    a->trace.only = a->window.one_source ? a->window.source + 1 : 0;
    a->trace.whole = !a->part && !o->shard && !o->partial;
    if (cli_trace_program(&a->trace, &o->images, &o->stream, true) != CLI_OK) return CLI_FAILED;
    if (cli_trace_check_window(&a->trace, &a->window) != CLI_OK) return CLI_FAILED;
    a->defects.explained = cli_trace_explains;
    a->defects.user = &a->trace;
    if (o->shard && !o->partial) return cli_fail("--shard expects --partial FILE: the counts of a part are no answer");
    return o->partial ? cli_partials_prepare(a) : CLI_OK;
}

int cli_analysis_open(struct cli_analysis *a, const char *path, const struct cli_analysis_options *options) {
    *a = (struct cli_analysis){.options = options, .path = path, .defects.file = path};
    if (cli_selection_window(&options->selection, &a->window) != CLI_OK) return CLI_FAILED;
    a->part = cli_window_is_part(&a->window);
    if (options->follow) cli_follow_begin(NULL, NULL);
    if (open_input(a, path) != CLI_OK) return CLI_FAILED;
    if (cli_debug_files_load(a->trace.program, options->debug_path) != CLI_OK) return CLI_FAILED;
    ntr_analysis_init(&a->data);
    a->data.program = a->trace.program;
    a->data.debug = ntr_debug_info_new(a->trace.program, &cli_memory);
    a->data.title = title_of(a->path);
    a->data.source_name = name_of_source;
    a->data.source_name_user = a;
    a->data.ticks_per_second = a->answer         ? ntr_partial_capture_at(a->answer, 0)->ticks_per_second
                               : a->trace.bundle ? ntr_bundle_capture(a->trace.bundle)->ticks_per_second
                                                 : 0;
    a->data.own_clocks = cli_trace_has_own_clocks(&a->trace);
    a->data.read_source = cli_source_text_read;
    a->data.read_source_user = &a->text;
    a->text.folders = options->source_path;
    cli_trace_facts_find(&a->facts, &a->trace, &a->data);
    if (!a->data.debug) return out_of_memory(a);
    if (options->debug_path) ntr_debug_info_set_path(a->data.debug, options->debug_path);
    a->data.functions = ntr_functions_new(a->data.debug, &cli_memory);
    if (!a->data.functions) return out_of_memory(a);
    if (a->trace.bundle) cli_tasks_load(a->path, &a->tasks);
    if (a->trace.perf) cli_tasks_of_perf(a->trace.perf, a->path, &a->tasks);
    if (!a->tasks && cli_maps_tasks(&options->images.maps, &a->tasks) != CLI_OK) return CLI_FAILED;
    ntr_functions_set_tasks(a->data.functions, a->tasks);
    return a->answer ? CLI_OK : open_decoder(a);
}

/* ---- decoding */

static bool feed(struct cli_analysis *a) {
    ntr_bytes span;
    bool last;

    return cli_trace_feed(&a->trace, &span, &last) &&
           ntr_decoder_feed(a->decoder, span.data, span.size, last) == NTR_OK;
}

void cli_analysis_report_gap(struct cli_analysis *a, uint64_t offset, uint64_t message, int reason) {
    if (a->gaps < NTR_PARTIAL_GAPS) a->first_gaps[a->gaps] = (ntr_partial_gap){offset, message, (int16_t)reason};
    a->gaps++;
    if (cli_defect_count_gap(&a->defects))
        cli_note("%s: byte 0x%" PRIx64 ", message #%" PRIu64 ": gap: %s", a->path, offset, message,
                 ntr_status_text((ntr_status)reason));
}

int cli_analysis_rate(struct cli_analysis *a) {
    a->rated = true;
    if (a->answer || a->options->partial) return CLI_OK;
    if (!a->part && !a->shard.count) cli_quality_count(&a->quality, &a->trace);
    return cli_trace_fit(&a->trace);
}

void cli_analysis_quality(struct cli_analysis *a) {
    if (!a->rated) return;
    if (a->answer) a->quality.gaps = a->quality.unplaced = a->gaps;
    if (!a->stacks_only) cli_quality_execution(&a->quality, &a->data); /* else one thread has no tree */
    cli_quality_images(&a->quality, &a->trace);
}

void cli_analysis_end_document(struct cli_analysis *a, struct cli_output *out) {
    cli_analysis_quality(a);
    cli_quality_document(&a->quality, out);
}

static inline void inspect_event(struct cli_analysis *a, const ntr_event *event) {
    if (event->kind == NTR_EVENT_SPAN) return; /* nearly all are spans */
    if (event->kind == NTR_EVENT_GAP && a->rated) cli_quality_gap(&a->quality, event);
    if (event->kind == NTR_EVENT_GAP) cli_analysis_report_gap(a, event->offset, event->message, event->reason);
    if (ntr_event_is_doubtful(event, a->trace.params.dialect)) a->reserved++;
}

static ntr_status tally_all(struct cli_analysis *a, const ntr_event *events, size_t count) {
    return ntr_tally_feed(a->data.tally, events, count);
}

/* The tally counts spans by ntr_tally_count and the other events here. */
static ntr_status tally_others(struct cli_analysis *a, const ntr_event *events, size_t count) {
    ntr_status status = NTR_OK;

    for (size_t i = 0; i < count && !status; i++)
        if (events[i].kind != NTR_EVENT_SPAN) status = ntr_tally_feed(a->data.tally, &events[i], 1);
    return status;
}

ntr_status cli_analysis_events(struct cli_analysis *a, const ntr_event *events, size_t count, cli_take_events take,
                               void *user) {
    ntr_status status = NTR_OK;

    if (count) a->any = true;
    for (size_t i = 0; i < count; i++) inspect_event(a, &events[i]);
    if (a->data.tally) status = (a->joined ? tally_others : tally_all)(a, events, count);
    if (!status && a->data.tree) status = ntr_calltree_feed(a->data.tree, events, count);
    if (!status && take) status = take(user, events, count);
    return status;
}

ntr_status cli_analysis_others(struct cli_analysis *a, const ntr_event *events, size_t count) {
    for (size_t i = 0; i < count; i++) inspect_event(a, &events[i]);
    if (count) a->any = true;
    return a->data.tally ? tally_others(a, events, count) : NTR_OK;
}

/* Processes the events that are within --from and --until. */
static ntr_status process_part(struct cli_analysis *a, const ntr_event *events, size_t count, cli_take_events take,
                               void *user) {
    /* Events of several sources are not in order of time: events within the window may follow. */
    const bool in_order = a->window.to.unit != CLI_UNIT_TIME || !cli_trace_many_sources(&a->trace);
    ntr_status status = NTR_OK;

    for (size_t i = 0, inside; i < count && !a->behind && !status; i += inside + 1) {
        enum cli_place place = CLI_INSIDE;
        for (inside = 0; i + inside < count; inside++)
            if ((place = cli_window_event(&a->window, &events[i + inside])) != CLI_INSIDE) break;
        if (inside) status = cli_analysis_events(a, &events[i], inside, take, user);
        a->behind = place == CLI_BEHIND && in_order;
    }
    return status;
}

ntr_status cli_analysis_read(struct cli_analysis *a, cli_take_events take, void *user) {
    ntr_event events[ANALYSIS_EVENTS];
    size_t count = 0;
    ntr_status status = ntr_decoder_read(a->decoder, events, ANALYSIS_EVENTS, &count);
    ntr_status taken = (a->part ? process_part : cli_analysis_events)(a, events, count, take, user);

    return status < 0 || taken >= 0 ? status : taken;
}

ntr_status cli_analysis_count(void *user, const ntr_event *event, uint64_t times) {
    struct cli_analysis *a = user;

    a->any = true;
    inspect_event(a, event);
    return ntr_tally_count(a->data.tally, event, times);
}

/* Returns whether no consumer needs the order of events. The counting decode is then sufficient, and much faster. */
static bool counts_only(const struct cli_analysis *a, cli_take_events take) {
    if (a->data.totals) return true;
    return a->data.tally && !ntr_tally_keeps_time(a->data.tally) && !a->data.tree && !take && !a->part;
}

/* Returns whether the consumers need only calls, returns and the instructions between them. */
static bool joins_spans(const struct cli_analysis *a, cli_take_events take) {
    return (!take || a->joins) && !(a->data.tally && ntr_tally_keeps_time(a->data.tally)) && !a->part;
}

bool cli_analysis_same_function(ntr_functions *functions, const ntr_context *context, uint64_t position,
                                const uint64_t *addresses, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (ntr_functions_at(functions, ntr_place_at(context, position, addresses[i])) !=
            ntr_functions_at(functions, ntr_place_at(context, position, addresses[0])))
            return false;
    return true;
}

static bool same_function(void *user, const ntr_context *context, uint64_t position, const uint64_t *addresses,
                          size_t count) {
    const struct cli_analysis *a = user;

    return cli_analysis_same_function(a->places, context, position, addresses, count);
}

/* Blocks are divided by a table of functions of its own: the numbers in a->data.functions remain in the order of
 * execution, which some outputs show. Without memory for it, spans are not joined. */
static void set_join(struct cli_analysis *a) {
    if (!(a->places = ntr_functions_new(a->data.debug, &cli_memory))) return;
    a->joined = true;
    ntr_decoder_set_join(a->decoder, same_function, a);
    ntr_decoder_set_join_except(a->decoder, a->join_except);
    if (a->data.tally) ntr_decoder_set_count_callback(a->decoder, ntr_tally_count, a->data.tally);
}

static ntr_status decode_serial(struct cli_analysis *a, bool counting, cli_take_events take, void *user) {
    ntr_status status = NTR_OK;

    if (counting && a->data.tally) ntr_decoder_set_count_callback(a->decoder, cli_analysis_count, a);
    while (status != NTR_END && !a->behind && !cli_progress_stopped()) {
        status = counting ? ntr_decoder_count(a->decoder, &a->totals) : cli_analysis_read(a, take, user);
        if (status == NTR_NEED_MORE && !feed(a)) break;
        if (status < 0) break;
    }
    if (status == NTR_E_STOPPED) status = NTR_NEED_MORE; /* interrupted: what was decoded is delivered */
    if ((counting || a->joined) && status >= 0 && status != NTR_END) status = ntr_decoder_flush_counts(a->decoder);
    return status;
}

static bool is_serial(const struct cli_analysis *a) {
    return a->part || a->options->follow || a->shard.count || a->data.totals;
}

/* Returns whether threads can count the call trees of their chunks: there is one source, and the threads of an
 * operating system are not needed. */
static bool divides(const struct cli_analysis *a) {
    return !a->tasks && !cli_trace_many_sources(&a->trace);
}

static bool divides_trees(struct cli_analysis *a, cli_take_events take) {
    return a->data.tree && divides(a) && (!take || (a->follower && !cli_trace_stamped(&a->trace)));
}

bool cli_analysis_shares(struct cli_analysis *a) {
    return !a->answer && !is_serial(a) && divides(a) && !cli_trace_stamped(&a->trace) &&
           cli_threads_number(&a->trace, a->options->jobs, CLI_GAIN_SOME) > 1;
}

/* Where trees are counted in stream order, that is the larger part of the work. A tree that one thread does not need
 * costs more. Counts of code cost more because the stream is cut. */
static enum cli_gain gain_of(struct cli_analysis *a, bool counting) {
    if (a->trees) return a->data.tally || a->stacks_only || cli_trace_stamped(&a->trace) ? CLI_GAIN_SOME : CLI_GAIN_ALL;
    return counting ? CLI_GAIN_SOME : CLI_GAIN_NONE;
}

static int decode(struct cli_analysis *a, cli_take_events take, void *user) {
    cli_progress_catch_stop();
    if (a->keep_time && cli_trace_stamped(&a->trace)) ntr_tally_keep_time(a->data.tally);
    const bool counting = counts_only(a, take);
    a->repeated = !counting && (!take || a->repeats);
    ntr_decoder_set_repeats(a->decoder, a->repeated);
    const bool joins = !counting && !a->shard.count && joins_spans(a, take);
    a->trees = joins && divides_trees(a, take);
    const unsigned jobs = is_serial(a) ? 1 : cli_threads_number(&a->trace, a->options->jobs, gain_of(a, counting));
    a->joined = jobs > 1 && joins;
    if (joins && jobs == 1) set_join(a);
    ntr_status status = a->shard.count ? cli_partials_decode_shard(a, counting, take, user)
                        : jobs > 1     ? cli_analysis_parallel(a, jobs, counting, take, user)
                                       : decode_serial(a, counting, take, user);
    if (status == NTR_E_STOPPED)
        return cli_fail("%s: interrupted inside of a long message: there is no output", a->path);
    if (status < 0) return cli_fail("%s: %s", a->path, ntr_status_text(status));
    if (cli_progress_stopped()) cli_note("%s: interrupted: the output covers only the part decoded so far", a->path);
    return a->trace.failed ? CLI_FAILED : cli_progress_stopped() ? CLI_DEFECTS : CLI_OK;
}

int cli_analysis_need(struct cli_analysis *a, unsigned needs) {
    if (needs & NTR_NEEDS_TALLY && !a->data.tally && !(a->data.tally = ntr_tally_new(a->data.program, NULL)))
        return out_of_memory(a);
    if (needs & NTR_NEEDS_TREE && !a->data.tree &&
        (!(a->data.tree = ntr_calltree_new(a->data.functions, NULL)) ||
         (a->shard.count && ntr_calltree_open(a->data.tree) != NTR_OK)))
        return out_of_memory(a);
    return CLI_OK;
}

/* The output needs all events in order: the partial answer has them, as they are, for every output. */
static int keep_events(struct cli_analysis *a) {
    ntr_calltree_free(a->data.tree);
    ntr_tally_free(a->data.tally);
    a->data.tree = NULL;
    a->data.tally = NULL;
    a->joins = a->repeats = false;
    a->events = cli_events_file_open();
    return a->events ? decode(a, cli_events_file_take, a->events) : CLI_FAILED;
}

int cli_analysis_run(struct cli_analysis *a, cli_take_events take, void *user) {
    int status = a->answer                     ? cli_partials_load(a, take, user)
                 : take && a->options->partial ? keep_events(a)
                                               : decode(a, take, user);
    if (status == CLI_FAILED) return status;
    cli_trace_facts_judged(&a->facts, &a->trace);
    if (a->data.tree) {
        ntr_calltree_finish(a->data.tree);
        if (!a->options->partial && !a->stacks_only)
            cli_debug_files_report(a->data.tree, a->data.functions); /* else the sum is reported */
    }
    if (a->data.totals) return a->options->partial && cli_partials_write(a) != CLI_OK ? CLI_FAILED : status;
    cli_trace_reserved(&a->trace, a->reserved);
    a->defects.hint = cli_trace_hint(&a->trace);
    int defects = cli_defect_summary(&a->defects);
    status =
        cli_trace_part_status(&a->trace, &a->window, a->any || a->shard.count, status == CLI_OK ? defects : status);
    a->incomplete = status != CLI_OK;
    return a->options->partial && status != CLI_FAILED && cli_partials_write(a) != CLI_OK ? CLI_FAILED : status;
}

void cli_analysis_close(struct cli_analysis *a) {
    ntr_decoder_free(a->decoder);
    ntr_partial_free(a->answer);
    cli_events_file_close(a->events);
    cli_partials_release(a);
    ntr_calltree_free(a->data.tree);
    ntr_tally_free(a->data.tally);
    ntr_functions_free(a->places);
    ntr_functions_free(a->data.functions);
    ntr_tasks_free(a->tasks);
    cli_debug_info_close(a->data.debug);
    cli_trace_facts_release(&a->facts);
    cli_quality_release(&a->quality);
    cli_source_text_release(&a->text);
    cli_trace_close(&a->trace);
}
