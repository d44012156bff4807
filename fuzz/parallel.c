/* Parallel decoding: for any stream, the events and the totals are those of one decoder. */
#include "fuzz.h"

#include <ntrace/export.h>
#include <ntrace/parallel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARALLEL_READS = 800, AT_ONCE = 32 };

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    return fuzz_behind_program(data, size, FUZZ_HEAD);
}

/* The result of a decoding, and its status. */
typedef struct outcome {
    fuzz_bytes events;
    ntr_counts counts;
    uint64_t counted[NTR_EVENT_KINDS], instructions; /* from the count callback */
    ntr_status status;
} outcome;

static void add_told(outcome *o, const ntr_event *event, uint64_t times) {
    o->counted[event->kind] += times;
    if (event->kind == NTR_EVENT_SPAN) o->instructions += event->instructions * times;
}

/* ---- one decoder */

/* False: there are too many events to compare. */
static bool read_alone(const ntr_decoder_config *config, ntr_bytes stream, size_t room, outcome *o) {
    ntr_event events[AT_ONCE];
    size_t n, reads = PARALLEL_READS;
    ntr_decoder *decoder;
    ntr_decoder_new(config, &decoder);
    if (!decoder) return false;
    o->status = ntr_decoder_feed(decoder, stream.data, stream.size, true);
    while (o->status == NTR_OK && reads--) {
        o->status = ntr_decoder_read(decoder, events, room, &n);
        fuzz_add(&o->events, events, n * sizeof *events);
    }
    ntr_decoder_free(decoder);
    return o->status != NTR_OK;
}

static ntr_status add_count(void *user, const ntr_event *event, uint64_t times) {
    add_told(user, event, times);
    return NTR_OK;
}

static void count_alone(const ntr_decoder_config *config, ntr_bytes stream, outcome *o) {
    ntr_decoder *decoder;
    ntr_decoder_new(config, &decoder);
    if (!decoder) return;
    ntr_decoder_set_count_callback(decoder, add_count, o);
    ntr_decoder_feed(decoder, stream.data, stream.size, true);
    o->status = ntr_decoder_count(decoder, &o->counts);
    ntr_decoder_free(decoder);
}

/* ---- many */

typedef struct fuzz_thread {
    ntr_chunk *chunk;
} fuzz_thread;

typedef struct telling {
    ntr_event event;
    uint64_t times;
} telling;

enum { KIND_EVENTS, KIND_TOLD };

static void *thread_data_new(void *user) {
    (void)user;
    return calloc(1, sizeof(fuzz_thread));
}

static void begin(void *user, ntr_chunk *chunk) {
    fuzz_thread *m = user;
    m->chunk = chunk;
}

static ntr_status put_events(void *user, ntr_chunk *chunk, const ntr_event *events, size_t count) {
    (void)user;
    return ntr_chunk_put(chunk, KIND_EVENTS, events, count * sizeof *events);
}

static ntr_status put_told(void *user, const ntr_event *event, uint64_t times) {
    fuzz_thread *m = user;
    telling t;
    memset(&t, 0, sizeof t);
    t.event = *event;
    t.times = times;
    return ntr_chunk_put(m->chunk, KIND_TOLD, &t, sizeof t);
}

static ntr_status deliver(void *user, unsigned what, const void *data, size_t size) {
    outcome *o = user;
    if (what == KIND_EVENTS) fuzz_add(&o->events, data, size);
    for (const telling *t = data; what == KIND_TOLD && size; t++, size -= sizeof *t) add_told(o, &t->event, t->times);
    return NTR_OK;
}

/* `many`: each chunk has the states of 4,096 sources, so there are fewer chunks. */
static void run(const ntr_decoder_config *decoder, ntr_bytes stream, uint8_t how, bool many, size_t span, bool counting,
                outcome *o) {
    const size_t scale = many ? 256 : 1;
    const ntr_parallel_work work = {.thread_data_new = thread_data_new,
                                    .thread_data_free = free,
                                    .begin = begin,
                                    .events = put_events,
                                    .count_callback = counting ? put_told : NULL,
                                    .deliver = deliver,
                                    .user = o};
    const ntr_parallel_config config = {.size = sizeof config,
                                        .decoder = decoder,
                                        .work = work,
                                        .threads = 2 + (how & 1),
                                        .chunk = (8u << (how >> 1) % 8) * scale,
                                        .counting = counting};
    ntr_parallel *parallel;
    ntr_parallel_new(&config, &parallel);
    if (!parallel) return;
    o->status = NTR_NEED_MORE;
    for (size_t at = 0; o->status == NTR_NEED_MORE; at += span) {
        size_t left = stream.size - at, some = left < span ? left : span;
        o->status = ntr_parallel_feed(parallel, stream.size ? stream.data + at : NULL, some, some == left);
    }
    o->counts = *ntr_parallel_counts(parallel);
    ntr_parallel_free(parallel);
}

/* ---- comparing */

/* Members of an event that do not apply may differ. */
static bool same_event(const ntr_event *a, const ntr_event *b) {
    char one[NTR_EVENT_TEXT_MAX], many[NTR_EVENT_TEXT_MAX];
    if (memcmp(a, b, sizeof *a) == 0) return true;
    size_t size = ntr_event_json(a, one, sizeof one), other = ntr_event_json(b, many, sizeof many);
    bool same = size == other && memcmp(one, many, size) == 0;
    if (same && ntr_context_equal(&a->context, &b->context)) return true;
    fprintf(stderr, "one:  %.*smany: %.*s", (int)size, one, (int)other, many);
    return false;
}

static void compare(const outcome *one, const outcome *many) {
    const ntr_event *a = (const void *)one->events.data, *b = (const void *)many->events.data;
    size_t count = one->events.size / sizeof *a, other = many->events.size / sizeof *b;
    for (size_t i = 0; i < count && i < other; i++)
        fuzz_must(same_event(&a[i], &b[i]), "events are those of one thread");
    fuzz_must(count == other, "the number of events is that of one thread");
    fuzz_must(one->status == many->status, "the status is that of one thread");
}

static void compare_counts(const outcome *one, const outcome *many) {
    fuzz_must(one->status == many->status, "counting ends with the same status");
    fuzz_must(memcmp(&one->counts, &many->counts, sizeof one->counts) == 0, "totals are those of one thread");
    if (one->status != NTR_END) return; /* some counters are flushed only at the end */
    fuzz_must(memcmp(one->counted, many->counted, sizeof one->counted) == 0 && one->instructions == many->instructions,
              "the calls of the count callback are the same");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_tape tape = {data, size, 0};
    ntr_decoder_config config = {.size = sizeof config, .params = fuzz_params(&tape)};
    uint8_t how = fuzz_byte(&tape), chunks = fuzz_byte(&tape);
    size_t span = 1 + fuzz_number(&tape, 2);
    ntr_program *program = fuzz_program(&tape, config.params.xlen);
    ntr_bytes stream = fuzz_rest(&tape);
    fuzz_bytes sources = {0};
    if (how & 8) {
        sources = fuzz_many_sources(&config.params, size > FUZZ_HEAD ? data[FUZZ_HEAD] : 0, stream);
        stream = (ntr_bytes){sources.data, sources.size};
    }
    outcome one = {0}, many = {0}, counted = {0}, counted_by_many = {0};
    config.program = program;
    config.strict = how & 1;
    config.mid_stream = how & 2;
    config.one_source = how & 4;
    config.source = how >> 4;
    if (read_alone(&config, stream, chunks & 64 ? 3 : AT_ONCE, &one)) {
        run(&config, stream, chunks, how & 8, span, false, &many);
        compare(&one, &many);
        count_alone(&config, stream, &counted);
        run(&config, stream, chunks, how & 8, span, true, &counted_by_many);
        compare_counts(&counted, &counted_by_many);
    }
    free(one.events.data);
    free(many.events.data);
    free(sources.data);
    ntr_program_free(program);
    return 0;
}
