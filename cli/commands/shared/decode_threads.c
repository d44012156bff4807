#include "commands/shared/decode_threads.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <stdio.h>
#include <ntrace/chunk_output.h>
#include <stdlib.h>

/* Kinds of data in a chunk output. */
enum { PART_TEXT, PART_EVENTS, PART_MISSING };

/* Smallest file size, in bytes, that is decoded with several threads. Smaller files take less time than starting
 * threads. */
enum { PARALLEL_MIN = 1 << 20 };

/* Text is held in memory until its turn, and the tallies of chunks are added up, which costs as much as to make them:
 * two threads gain too little. */
enum { PROCESSORS_SOME = 3 };

/* Data of one worker thread. `out` writes text directly into the chunk output. */
struct thread_data {
    const struct cli_threads *threads;
    struct cli_output out; /* its buffer is reserved space of the chunk output */
    char discard[CLI_OUTPUT_RESERVE_MAX];    /* buffer of `out` when the chunk output cannot grow; its text is lost */
    struct cli_decode_output *output; /* NULL: spans are printed by the thread that delivers */
    ntr_chunk *chunk;
    uint64_t missing; /* spans without code in all chunks before this one */
};

/* ---- worker threads */

/* Ends the current text item. The next write reserves space again. */
static void close_text(struct thread_data *m) {
    if (m->out.used && m->out.buffer != m->discard) ntr_chunk_used(m->chunk, m->out.used);
    m->out.used = m->out.capacity = 0;
}

static void reserve_text(void *user) {
    struct thread_data *m = user;
    size_t room;

    close_text(m);
    m->out.buffer = ntr_chunk_room(m->chunk, PART_TEXT, CLI_OUTPUT_RESERVE_MAX, &room);
    m->out.capacity = room;
    if (m->out.buffer) return;
    m->out.buffer = m->discard;
    m->out.capacity = sizeof m->discard;
}

static void thread_data_free(void *user) {
    struct thread_data *m = user;

    cli_decode_output_close(m->output);
    free(m);
}

static void *thread_data_new(void *user) {
    const struct cli_threads *t = user;
    struct cli_decode_settings settings = *t->settings;
    struct thread_data *m = calloc(1, sizeof *m);

    if (!m) return NULL;
    m->threads = t;
    settings.part = true;
    cli_output_open_into(&m->out, reserve_text, m);
    if (t->spans != CLI_SPANS_INDEPENDENT) return m;
    m->output = cli_decode_output_open(&settings, &m->out);
    if (m->output) return m;
    thread_data_free(m);
    return NULL;
}

static void begin(void *user, ntr_chunk *chunk) {
    struct thread_data *m = user;

    m->chunk = chunk;
    m->out.used = m->out.capacity = 0; /* drop text of a chunk that was abandoned */
    if (m->output) m->missing = cli_decode_output_missing(m->output);
}

static ntr_status put_event(struct thread_data *m, const ntr_event *event) {
    close_text(m);
    return ntr_chunk_put(m->chunk, PART_EVENTS, event, sizeof *event);
}

/* CLI_SPANS_IN_ORDER: all that the output or the sorter needs. */
static ntr_status put_needed(const struct thread_data *m, const ntr_event *events, size_t count) {
    const struct cli_threads *t = m->threads;
    size_t room;

    if (t->all_spans) return ntr_chunk_put(m->chunk, PART_EVENTS, events, count * sizeof *events);
    ntr_event *to = ntr_chunk_room(m->chunk, PART_EVENTS, count * sizeof *events, &room);
    if (to) ntr_chunk_used(m->chunk, cli_decode_output_needed(t->settings->show, events, count, to) * sizeof *to);
    return ntr_chunk_status(m->chunk);
}

static ntr_status take_events(void *user, ntr_chunk *chunk, const ntr_event *events, size_t count) {
    struct thread_data *m = user;
    const enum cli_span_place place = m->threads->spans;
    ntr_status status = NTR_OK;

    if (place == CLI_SPANS_IN_ORDER) return put_needed(m, events, count);
    for (size_t i = 0, some; i < count && status == NTR_OK; i += some) {
        some = place == CLI_SPANS_INDEPENDENT ? cli_count_spans(&events[i], count - i) : 0;
        if (some) {
            cli_decode_output_events(m->output, &events[i], some);
        } else {
            if (events[i].kind != NTR_EVENT_SPAN) status = put_event(m, &events[i]);
            some = 1;
        }
    }
    close_text(m);
    return ntr_chunk_status(chunk);
}

static ntr_status end(void *user, ntr_chunk *chunk) {
    struct thread_data *m = user;

    close_text(m);
    if (!m->output || ntr_chunk_status(chunk) != NTR_OK) return ntr_chunk_status(chunk);
    uint64_t missing = cli_decode_output_missing(m->output) - m->missing;
    m->missing += missing; /* `end` is called once more after the pre-sync messages of the next chunk */
    return missing ? ntr_chunk_put(chunk, PART_MISSING, &missing, sizeof missing) : NTR_OK;
}

/* ---- delivery in stream order */

static ntr_status deliver(void *user, unsigned what, const void *data, size_t size) {
    struct cli_threads *t = user;

    if (what == PART_TEXT) cli_output_write(t->out, data, size);
    if (what == PART_MISSING) t->missing += *(const uint64_t *)data;
    if (what == PART_EVENTS) t->events(t->user, data, size / sizeof(ntr_event));
    return t->out->done ? NTR_END : NTR_OK; /* the reader of the output has closed it */
}

/* ---- */

static ntr_status read_trace(void *user, uint8_t *to, size_t capacity, size_t *got, bool *last) {
    const struct cli_threads *t = user;

    return cli_trace_read(t->trace, to, capacity, got, last);
}

static ntr_status run(struct cli_threads *t, const ntr_parallel_config *config, ntr_counts *counts) {
    ntr_parallel *p;
    ntr_status status = ntr_parallel_new(config, &p);

    if (!p) return status;
    status = ntr_parallel_run(p);
    if (counts) *counts = *ntr_parallel_counts(p);
    ntr_parallel_stats_get(p, &t->stats);
    snprintf(t->error, sizeof t->error, "%s", ntr_parallel_error(p));
    ntr_parallel_free(p);
    return status;
}

ntr_status cli_threads_read(struct cli_threads *t, const ntr_decoder_config *decoder, unsigned jobs) {
    ntr_parallel_config config;

    ntr_parallel_config_init(&config);
    config.decoder = decoder;
    config.threads = jobs;
    config.work = (ntr_parallel_work){.thread_data_new = thread_data_new,
                                      .thread_data_free = thread_data_free,
                                      .begin = begin,
                                      .events = take_events,
                                      .end = end,
                                      .deliver = deliver,
                                      .read = read_trace,
                                      .repeats = t->spans == CLI_SPANS_NOWHERE,
                                      .user = t};
    return run(t, &config, NULL);
}

static ntr_status deliver_nothing(void *user, unsigned what, const void *data, size_t size) {
    (void)user, (void)what, (void)data, (void)size;
    return NTR_OK;
}

ntr_status cli_threads_count(struct cli_threads *t, const ntr_decoder_config *decoder, unsigned jobs,
                             ntr_counts *counts) {
    ntr_parallel_config config;

    ntr_parallel_config_init(&config);
    config.decoder = decoder;
    config.threads = jobs;
    config.work.deliver = deliver_nothing;
    config.work.read = read_trace;
    config.work.user = t;
    config.counting = true;
    return run(t, &config, counts);
}

unsigned cli_threads_number(struct cli_trace *trace, int64_t requested, enum cli_gain gain) {
    if (requested) return (unsigned)requested;
    if (gain == CLI_GAIN_NONE || trace->input.size_hint < PARALLEL_MIN) return 1;
    const unsigned processors = ntr_processors();
    if (processors < (gain == CLI_GAIN_SOME ? PROCESSORS_SOME : 2)) return 1;
    return cli_trace_divides(trace) ? processors : 1;
}

void cli_threads_report(const struct cli_threads *t) {
    const ntr_parallel_stats *s = &t->stats;
    const struct {
        uint64_t chunks;
        const char *why;
    } reasons[] = {
        {s->many_sources, "they lack a synchronizing message of some source"},
        {s->without_sync, "they contain no synchronizing message"},
        {s->guessed_wrong,
         "the state at their start was guessed wrong (damage, or unknown context or time, before them)"},
    };

    if (s->chunks < 4) return;
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].chunks >= s->chunks / 2)
            cli_note("%s: %" PRIu64 " of %" PRIu64 " chunks were decoded serially: %s", t->trace->input.name,
                     reasons[i].chunks, s->chunks, reasons[i].why);
}
