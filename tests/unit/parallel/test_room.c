/* All threads hold as much output as they may, and the head, which has no synchronizing message, needs a thread. Then a
 * chunk is put back, and nothing of its first decoding remains in the result. */
#include "../test.h"
#include "../../streams/parallels.h"
#include "../decoder/scene.h"

#include "parallel/state.h"

#include <pthread.h>
#include <string.h>
#include <time.h>
#include <ntrace/chunk_output.h>
#include <unistd.h>

/* Output of this size is more than a chunk may hold before its turn. Its memory is not touched. */
enum { LARGE = 20 << 20, PIECES = 3, CHUNK = 16, GATE_SECONDS = 5, DEADLOCK_SECONDS = 300 };

/* Counting decode collects the branch before the jump, and reports the jump at once. */
#define LOOP "IndirectBranch BTYPE=0 ICNT=6 UADDR=0\nDirectBranch ICNT=4\n"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begun_one = PTHREAD_COND_INITIALIZER;
static unsigned begun;
static bool chunk_0_begun;
static pthread_t caller;

/* Thread data: a pointer to the chunk of the thread. */
static void *thread_data_new(void *user) {
    (void)user;
    return calloc(1, sizeof(ntr_chunk *));
}

/* Waits until `number` chunks were begun, the lock being held. */
static void wait_until_begun(unsigned number) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += GATE_SECONDS;
    while (begun < number && pthread_cond_timedwait(&begun_one, &lock, &until) == 0) continue;
}

/* Waits until the caller has cut the stream so far. */
static void wait_until_sent(ntr_parallel *p, uint64_t number) {
    for (bool done = false; !done; usleep(100)) {
        pthread_mutex_lock(&p->lock);
        done = p->sent >= number;
        pthread_mutex_unlock(&p->lock);
    }
}

/* Chunk 0 lasts until the other thread has begun chunk 2, which has no output of its own, and chunk 3, and until chunk
 * 4 can be begun. */
static void begin(void *thread_data, ntr_chunk *chunk) {
    *(ntr_chunk **)thread_data = chunk;
    pthread_mutex_lock(&lock);
    begun++;
    pthread_cond_broadcast(&begun_one);
    bool first = !chunk_0_begun && chunk == chunk->parallel->ring;
    chunk_0_begun |= first;
    if (first) wait_until_begun(3);
    pthread_mutex_unlock(&lock);
    if (first) wait_until_sent(chunk->parallel, 5);
}

static ntr_status put_large(ntr_chunk *chunk) {
    size_t room;
    for (unsigned i = 0; i < PIECES; i++) {
        if (!ntr_chunk_room(chunk, 2, LARGE, &room)) return ntr_chunk_status(chunk);
        ntr_chunk_used(chunk, LARGE);
    }
    return NTR_OK;
}

static ntr_status put_events(void *thread_data, ntr_chunk *chunk, const ntr_event *events, size_t count) {
    (void)thread_data;
    ntr_status status = ntr_chunk_put(chunk, 1, events, count * sizeof *events);
    return status == NTR_OK ? put_large(chunk) : status;
}

static ntr_status put_count(void *thread_data, const ntr_event *event, uint64_t times) {
    ntr_chunk *chunk = *(ntr_chunk **)thread_data;
    const uint64_t instructions = event->kind == NTR_EVENT_SPAN ? event->instructions * times : 0;
    ntr_status status = ntr_chunk_put(chunk, 1, &instructions, sizeof instructions);
    return status == NTR_OK ? put_large(chunk) : status;
}

/* The first delivery by the caller is that of the rest of chunk 0. It lasts until both threads have begun a chunk
 * behind the next head. */
static void keep_head(void) {
    if (!pthread_equal(pthread_self(), caller)) return;
    pthread_mutex_lock(&lock);
    wait_until_begun(4);
    pthread_mutex_unlock(&lock);
}

static ntr_status get_events(void *user, unsigned what, const void *data, size_t size) {
    keep_head();
    return parallels_get(user, what, data, size);
}

static ntr_status get_count(void *user, unsigned what, const void *data, size_t size) {
    uint64_t *sum = user;
    const uint64_t *instructions = data;
    keep_head();
    for (size_t i = 0; what == 1 && i < size / sizeof *instructions; i++) *sum += instructions[i];
    return NTR_OK;
}

/* Two chunks without synchronization, then chunks that can be begun early. */
static void start(scene *s, stream *in) {
    scene_start(s, NULL);
    code(s, 0x100, ADD, branch(-4), JR_A5);
    assemble(in, &s->config.params, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\n");
    while (in->size < 40 * CHUNK) assemble(in, &s->config.params, LOOP);
    for (unsigned i = 0; i < 32; i++) {
        assemble(in, &s->config.params, "ProgTraceSync SYNC=2 ICNT=0 FADDR=0x80\n");
        for (unsigned j = 0; j < 4; j++) assemble(in, &s->config.params, LOOP);
    }
}

static void run(const scene *s, const stream *in, const ntr_parallel_work *work, bool counting) {
    ntr_parallel_stats stats;
    ntr_parallel_config config;
    ntr_parallel_config_init(&config);
    config.decoder = &s->config;
    config.threads = 2;
    config.chunk = CHUNK;
    config.counting = counting;
    config.work = *work;
    config.work.thread_data_new = thread_data_new;
    config.work.thread_data_free = free;
    config.work.begin = begin;
    begun = 0;
    chunk_0_begun = false;
    caller = pthread_self();
    ntr_parallel *p;
    ntr_parallel_new(&config, &p);
    alarm(DEADLOCK_SECONDS);
    assert_int_equal(ntr_parallel_feed(p, in->bytes, in->size, true), NTR_END);
    alarm(0);
    ntr_parallel_stats_get(p, &stats);
    ntr_parallel_free(p);
    assert_true(stats.without_sync > 0 && stats.ahead > 0);
    assert_true(begun > stats.chunks); /* a chunk was put back */
}

static void check_events(const scene *s, const stream *in) {
    parallels_events many = {.status = NTR_OK}, one = parallels_one(&s->config, (ntr_bytes){in->bytes, in->size});
    const ntr_parallel_work work = {.events = put_events, .deliver = get_events, .user = &many};
    run(s, in, &work, false);
    assert_int_equal(many.count, one.count);
    for (size_t i = 0; i < one.count; i++) assert_true(parallels_same_event(&one.events[i], &many.events[i]));
    free(one.events);
    free(many.events);
}

static void check_counts(const scene *s, const stream *in) {
    uint64_t instructions = 0;
    ntr_counts counts = {0};
    const ntr_parallel_work work = {.count_callback = put_count, .deliver = get_count, .user = &instructions};
    run(s, in, &work, true);
    ntr_decoder *d;
    ntr_decoder_new(&s->config, &d);
    assert_int_equal(ntr_decoder_feed(d, in->bytes, in->size, true), NTR_OK);
    assert_int_equal(ntr_decoder_count(d, &counts), NTR_END);
    ntr_decoder_free(d);
    assert_int_equal(instructions, counts.instructions);
}

static void the_head_gets_a_thread(void **state) {
    (void)state;
    scene s;
    stream in = {.size = 0};
    start(&s, &in);
    check_events(&s, &in);
    check_counts(&s, &in);
    scene_end(&s);
}

/* ---- refused output */

static unsigned refused;

static void begin_marked(void *thread_data, ntr_chunk *chunk) {
    const bool again = ntr_chunk_again(chunk);
    (void)thread_data;
    ntr_chunk_put(chunk, 3, &again, sizeof again);
}

static ntr_status put_marked(void *thread_data, ntr_chunk *chunk, const ntr_event *events, size_t count) {
    (void)thread_data;
    return ntr_chunk_put(chunk, 1, events, count * sizeof *events);
}

/* Refuses the first output of each chunk. */
static ntr_status get_or_refuse(void *user, unsigned what, const void *data, size_t size) {
    if (what != 3) return parallels_get(user, what, data, size);
    refused += !*(const bool *)data;
    return *(const bool *)data ? NTR_OK : NTR_NEED_MORE;
}

static void refused_chunks_are_decoded_again(void **state) {
    (void)state;
    scene s;
    stream in = {.size = 0};
    start(&s, &in);
    for (unsigned threads = 1; threads <= 3; threads++) {
        parallels_events many = {.status = NTR_OK}, one = parallels_one(&s.config, (ntr_bytes){in.bytes, in.size});
        ntr_parallel_stats stats;
        ntr_parallel_config config;
        ntr_parallel_config_init(&config);
        config.decoder = &s.config;
        config.threads = threads;
        config.chunk = CHUNK;
        config.work =
            (ntr_parallel_work){.begin = begin_marked, .events = put_marked, .deliver = get_or_refuse, .user = &many};
        refused = 0;
        ntr_parallel *p;
        ntr_parallel_new(&config, &p);
        alarm(DEADLOCK_SECONDS);
        assert_int_equal(ntr_parallel_feed(p, in.bytes, in.size, true), NTR_END);
        alarm(0);
        ntr_parallel_stats_get(p, &stats);
        ntr_parallel_free(p);
        assert_int_equal(refused, stats.chunks);
        assert_int_equal(many.count, one.count);
        for (size_t i = 0; i < one.count; i++) assert_true(parallels_same_event(&one.events[i], &many.events[i]));
        free(one.events);
        free(many.events);
    }
    scene_end(&s);
}

/* ---- chunks with much output */

/* Output of each chunk, of a size that a chunk may hold. Its memory is not touched. */
static size_t output_of_chunk;

static void begin_with_output(void *thread_data, ntr_chunk *chunk) {
    size_t room;
    (void)thread_data;
    if (ntr_chunk_room(chunk, 1, output_of_chunk, &room)) ntr_chunk_used(chunk, output_of_chunk);
}

static ntr_status drop(void *user, unsigned what, const void *data, size_t size) {
    (void)user, (void)what, (void)data, (void)size;
    return NTR_OK;
}

static uint64_t chunks_with(const scene *s, const uint8_t *bytes, size_t size, size_t output) {
    ntr_parallel_stats stats;
    ntr_parallel_config config;
    ntr_parallel_config_init(&config);
    config.decoder = &s->config;
    config.threads = 2;
    config.work = (ntr_parallel_work){.begin = begin_with_output, .deliver = drop};
    output_of_chunk = output;
    ntr_parallel *p;
    ntr_parallel_new(&config, &p);
    assert_int_equal(ntr_parallel_feed(p, bytes, size, true), NTR_END);
    ntr_parallel_stats_get(p, &stats);
    ntr_parallel_free(p);
    return stats.chunks;
}

static void chunks_with_much_output_become_smaller(void **state) {
    enum { COPIES = 2000 };
    (void)state;
    scene s;
    stream in = {.size = 0};
    start(&s, &in);
    uint8_t *bytes = malloc(in.size * COPIES);
    for (size_t i = 0; i < COPIES; i++) memcpy(bytes + i * in.size, in.bytes, in.size);
    const uint64_t few = chunks_with(&s, bytes, in.size * COPIES, 1),
                   many = chunks_with(&s, bytes, in.size * COPIES, LARGE / 2);
    assert_true(few > 20 && many > 4 * few);
    free(bytes);
    scene_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(the_head_gets_a_thread), TEST(refused_chunks_are_decoded_again),
                                       TEST(chunks_with_much_output_become_smaller)};
    return cmocka_run_group_tests_name("room", tests, NULL, NULL);
}
