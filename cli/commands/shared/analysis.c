#include "commands/shared/analysis.h"
#include "io/maps.h"
#include "io/follow.h"
#include "commands/shared/decode_threads.h"
#include "io/debug_files.h"
#include "io/memory.h"
#include "io/progress.h"
#include "io/trace_index.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define S struct cli_analysis_options
const struct cli_option cli_analysis_options[] = {
    CLI_FLAG(
        0, "follow", S, follow,
        "read on as the trace grows, until interrupted: a file, a pipe, or a TCP stream (tcp:HOST:PORT); then write the "
        "result"),
    CLI_NUMBER('j', "jobs", "N", S, jobs, 1, 256, 0, CLI_JOBS_HELP),
    CLI_DEBUG_PATH(S, debug_path),
    CLI_STRING(0, "source-path", "DIRS", S, source_path,
               "folders of source files that are not at the path of the compilation, separated by colons"),
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
    ntr_debug_info_new(a->trace.program, &cli_memory, &a->data.debug);
    a->data.title = title_of(a->path);
    a->data.source_name = name_of_source;
    a->data.source_name_user = a;
    a->data.ticks_per_second = a->answer         ? ntr_partial_capture_at(a->answer, 0)->ticks_per_second
                               : a->trace.bundle ? ntr_bundle_capture(a->trace.bundle)->ticks_per_second
                                                 : 0;
    a->data.own_clocks = cli_trace_has_own_clocks(&a->trace);
    a->data.read_source = cli_source_text_read;
    a->data.read_certain = cli_source_text_certain;
    a->data.read_source_user = &a->text;
    cli_source_text_search(&a->text, options->source_path);
    cli_trace_facts_find(&a->facts, &a->trace, &a->data);
    if (!a->data.debug) return out_of_memory(a);
    if (options->debug_path) ntr_debug_info_set_path(a->data.debug, options->debug_path);
    ntr_functions_new(a->data.debug, &cli_memory, &a->data.functions);
    if (!a->data.functions) return out_of_memory(a);
    if (a->trace.bundle) cli_tasks_load(a->path, &a->tasks);
    if (a->trace.perf) cli_tasks_of_perf(a->trace.perf, a->path, &a->tasks);
    if (!a->tasks && cli_maps_tasks(&options->images.maps, &a->tasks) != CLI_OK) return CLI_FAILED;
    ntr_functions_set_tasks(a->data.functions, a->tasks);
    return a->answer ? CLI_OK : open_decoder(a);
}

/* ---- decoding */

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

/* Events of several sources are not in order of time: events within the window may follow. */
static ntr_within within(void *user, const ntr_event *event) {
    struct cli_analysis *a = user;
    const bool in_order = a->window.to.unit != CLI_UNIT_TIME || !cli_trace_many_sources(&a->trace);
    const enum cli_place place = cli_window_event(&a->window, event);

    return place == CLI_INSIDE               ? NTR_WITHIN_INSIDE
           : place == CLI_BEHIND && in_order ? NTR_WITHIN_BEHIND
                                             : NTR_WITHIN_OUTSIDE;
}

static ntr_status read_stream(void *user, uint8_t *to, size_t capacity, size_t *got, bool *last) {
    struct cli_analysis *a = user;

    return (a->threads > 1 ? cli_trace_read : cli_trace_copy)(&a->trace, to, capacity, got, last);
}

static bool stop(void *user) {
    (void)user;
    return cli_progress_stopped();
}

static bool is_serial(const struct cli_analysis *a) {
    return a->part || a->options->follow || a->shard.count || a->data.totals;
}

/* Returns whether threads can count the call trees of their chunks: there is one source, and the threads of an
 * operating system are not needed. */
static bool divides(const struct cli_analysis *a) {
    return !a->tasks && !cli_trace_many_sources(&a->trace);
}

bool cli_analysis_shares(struct cli_analysis *a) {
    return !a->answer && !is_serial(a) && divides(a) && !cli_trace_stamped(&a->trace) &&
           cli_threads_number(&a->trace, a->options->jobs, CLI_GAIN_SOME) > 1;
}

/* Returns what fills a->data, or NULL after reporting the error. */
static ntr_analyzer *open_analyzer(struct cli_analysis *a, cli_take_events take, void *user) {
    ntr_analyzer_config config;
    ntr_status status;

    /* A partial answer has no stream. To look for times costs as much as to count a short one. For trees it matters
     * only whether threads count them. */
    const bool ordered = take && a->follower, alone = !a->data.tally && !a->stacks_only;
    const bool matters = a->keep_time || (a->data.tree && a->options->jobs != 1 && (ordered || alone));
    const bool stamped = !a->answer && matters && cli_trace_stamped(&a->trace);
    if (a->keep_time && stamped) ntr_tally_keep_time(a->data.tally);
    ntr_analyzer_config_init(&config);
    if (!a->answer) config.decoder = &a->config;
    config.begun = a->decoder;
    config.analysis = &a->data;
    config.take = take;
    config.take_user = user;
    config.needs = a->take_needs;
    config.join_except = a->join_except;
    config.follower = a->follower;
    config.stacks_only = a->stacks_only;
    config.read = read_stream;
    config.stop = stop;
    config.other = cli_analysis_other;
    config.within = a->part ? within : NULL;
    config.user = a;
    config.alone = divides(a);
    config.stamped = stamped;
    config.by_hand = a->shard.count != 0;
    config.allocator = &cli_memory;
    ntr_analyzer *analyzer;
    status = ntr_analyzer_new(&config, &analyzer);
    if (!analyzer) cli_note("%s: %s", a->path, ntr_status_text(status));
    return analyzer;
}

static int decode(struct cli_analysis *a, ntr_analyzer *analyzer) {
    static const enum cli_gain gains[] = {
        [NTR_GAIN_NONE] = CLI_GAIN_NONE, [NTR_GAIN_SOME] = CLI_GAIN_SOME, [NTR_GAIN_ALL] = CLI_GAIN_ALL};

    cli_progress_catch_stop();
    a->threads = is_serial(a) ? 1 : cli_threads_number(&a->trace, a->options->jobs, gains[ntr_analyzer_gain(analyzer)]);
    const ntr_status status =
        a->shard.count ? cli_partials_decode_shard(a, analyzer) : ntr_analyzer_run(analyzer, a->threads);
    if (status == NTR_E_STOPPED)
        return cli_fail("%s: interrupted inside of a long message: there is no output", a->path);
    if (status < 0) return cli_fail("%s: %s", a->path, ntr_status_text(status));
    if (cli_progress_stopped()) cli_note("%s: interrupted: the output covers only the part decoded so far", a->path);
    return a->trace.failed ? CLI_FAILED : cli_progress_stopped() ? CLI_DEFECTS : CLI_OK;
}

int cli_analysis_need(struct cli_analysis *a, unsigned needs) {
    if (needs & NTR_NEEDS_TALLY && !a->data.tally && ntr_tally_new(a->data.program, NULL, &a->data.tally))
        return out_of_memory(a);
    if (needs & NTR_NEEDS_TREE && !a->data.tree &&
        (ntr_calltree_new(a->data.functions, NULL, &a->data.tree) ||
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
    a->take_needs = NTR_TAKE_WHOLE;
    a->events = cli_events_file_open();
    return a->events ? CLI_OK : CLI_FAILED;
}

/* Decodes the trace, or loads the partial answer. */
static int fill(struct cli_analysis *a, cli_take_events take, void *user) {
    ntr_analyzer *analyzer = open_analyzer(a, take, user);

    if (!analyzer) return CLI_FAILED;
    const int status = a->answer ? cli_partials_load(a, analyzer, take != NULL) : decode(a, analyzer);
    a->any |= ntr_analyzer_any(analyzer);
    ntr_analyzer_free(analyzer);
    return status;
}

int cli_analysis_run(struct cli_analysis *a, cli_take_events take, void *user) {
    const bool keeps = take && a->options->partial && !a->answer;

    if (keeps && keep_events(a) != CLI_OK) return CLI_FAILED;
    int status = keeps ? fill(a, cli_events_file_take, a->events) : fill(a, take, user);
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
    ntr_functions_free(a->data.functions);
    ntr_tasks_free(a->tasks);
    cli_debug_info_close(a->data.debug);
    cli_trace_facts_release(&a->facts);
    cli_quality_release(&a->quality);
    cli_source_text_release(&a->text);
    cli_trace_close(&a->trace);
}
