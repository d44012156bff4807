/* Chunks of streams with several sources are begun early, also where a source is stopped for some chunks, and where
 * sources take turns that are longer than the first chunks. */
#include "../test.h"
#include "../../streams/parallels.h"
#include <ntrace/chunk_output.h>
#include "../decoder/scene.h"

enum { CHUNK = 600, TURN = 12 };

static void add(stream *in, const scene *s, const char *messages, unsigned times) {
    for (unsigned i = 0; i < times; i++) assemble(in, &s->config.params, messages);
}

static void open(scene *s, const char *dialect) {
    scene_start(s, dialect);
    s->config.params.src_bits = 2;
    code(s, 0x100, ADD, branch(-4), JR_A5);
}

#define SYNC(src) "ProgTraceSync SRC=" #src " SYNC=2 ICNT=0 FADDR=0x80"
#define ONE(src)  SYNC(src) "\nDirectBranch SRC=" #src " ICNT=4\n"

/* Source 1 works for a moment, makes a system call, and sleeps while source 0 fills several chunks. */
static void a_source_that_sleeps(void **state) {
    (void)state;
    scene s;
    stream in = {.size = 0};
    ntr_parallel_stats stats = {0};
    open(&s, NULL);
    for (unsigned turn = 0; turn < TURN; turn++) {
        add(&in, &s, ONE(1), 1);
        add(&in, &s, "ProgTraceCorrelation SRC=1 EVCODE=4 CDF=0 ICNT=4\nOwnership SRC=1 PROCESS=0x22\n", 1);
        add(&in, &s, ONE(0), 200);
    }
    assert_null(parallels_differ(&s.config, (ntr_bytes){in.bytes, in.size}, 2, CHUNK, &stats));
    assert_true(stats.chunks > 2 * TURN);
    assert_true(stats.many_sources <= 1); /* the last one: its end may close a gap */
    assert_int_equal(stats.guessed_wrong, 0);
    scene_end(&s);
}

/* An event with an address that is relative to that before the stop: the address is not known to the threads of later
 * chunks. */
static void the_place_before_a_stop(void **state) {
    (void)state;
    scene s;
    stream in = {.size = 0};
    ntr_parallel_stats stats = {0};
    open(&s, "sifive-pre1.0");
    add(&in, &s, ONE(1), 1);
    add(&in, &s, "ProgTraceCorrelation SRC=1 EVCODE=4 CDF=0 ICNT=4\n", 1);
    for (unsigned turn = 0; turn < TURN; turn++) {
        add(&in, &s, ONE(0), 200);
        add(&in, &s,
            turn % 3 ? "ProgTraceCorrelation SRC=1 EVCODE=4 CDF=0 ICNT=0\n"
                     : "InCircuitTrace SRC=1 CKSRC=9 CKDF=0 CKDATA0=0x12\n",
            1);
    }
    assert_null(parallels_differ(&s.config, (ntr_bytes){in.bytes, in.size}, 2, CHUNK, &stats));
    assert_int_equal(stats.guessed_wrong, 0);
    scene_end(&s);
}

/* A chunk begins with messages of a source that synchronizes later in it: the thread of the chunk before decodes them.
 */
static void messages_before_a_sync(void **state) {
    (void)state;
    scene s;
    stream in = {.size = 0};
    ntr_parallel_stats stats = {0};
    open(&s, NULL);
    add(&in, &s, ONE(0), 1);
    for (unsigned turn = 0; turn < 20 * TURN; turn++)
        add(&in, &s, ONE(1) ONE(0) "DirectBranch SRC=1 ICNT=4\nDirectBranch SRC=0 ICNT=4\n", 5);
    assert_null(parallels_differ(&s.config, (ntr_bytes){in.bytes, in.size}, 2, CHUNK, &stats));
    assert_true(stats.ahead > 0);
    assert_int_equal(stats.guessed_wrong, 0);
    scene_end(&s);
}

static ntr_status nothing(void *user, unsigned what, const void *data, size_t size) {
    (void)user, (void)what, (void)data, (void)size;
    return NTR_OK;
}

/* Two busy sources, of which each fills more than a chunk before it is the turn of the other. */
static void sources_that_take_turns(void **state) {
    (void)state;
    scene s;
    ntr_status status = NTR_NEED_MORE;
    ntr_parallel_stats stats = {0};
    open(&s, NULL);
    ntr_parallel_config config = {.size = sizeof config, .decoder = &s.config, .threads = 2, .work.deliver = nothing};
    ntr_parallel *p;
    ntr_parallel_new(&config, &p);
    for (unsigned turn = 0; turn < 120; turn++) {
        static stream in;
        in.size = 0;
        add(&in, &s, turn % 2 ? ONE(1) : ONE(0), 1);
        for (unsigned i = 0; i < 100; i++)
            add(&in, &s, turn % 2 ? "DirectBranch SRC=1 ICNT=4\n" : "DirectBranch SRC=0 ICNT=4\n", 1);
        for (unsigned i = 0; i < 320 && status == NTR_NEED_MORE; i++)
            status = ntr_parallel_feed(p, in.bytes, in.size, turn == 119 && i == 319);
    }
    assert_int_equal(status, NTR_END);
    ntr_parallel_stats_get(p, &stats);
    ntr_parallel_free(p);
    assert_true(stats.chunks > 20);
    assert_true(stats.many_sources < stats.chunks / 6);
    scene_end(&s);
}

static bool one_function(void *user, const ntr_context *context, uint64_t position, const uint64_t *addresses,
                         size_t count) {
    (void)user, (void)context, (void)position, (void)addresses, (void)count;
    return true;
}

static unsigned spans_of_1, timed_spans_of_1;

static ntr_status note_spans_of_1(void *thread_data, ntr_chunk *chunk, const ntr_event *events, size_t count) {
    (void)thread_data, (void)chunk;
    for (size_t i = 0; i < count; i++) {
        if (events[i].kind != NTR_EVENT_SPAN || events[i].src != 1) continue;
        spans_of_1++;
        timed_spans_of_1 += (events[i].flags & NTR_EVENT_TIME) != 0;
    }
    return NTR_OK;
}

/* Source 0 has times, source 1 has none. Chunks end with a message of source 0, and then what source 1 has not told. */
static void the_time_of_another_source(void **state) {
    (void)state;
    scene s;
    stream in = {.size = 0};
    ntr_parallel_stats stats = {0};
    open(&s, NULL);
    const ntr_parallel_config config = {.size = sizeof config,
                                        .decoder = &s.config,
                                        .threads = 1,
                                        .chunk = CHUNK,
                                        .work = {.events = note_spans_of_1, .deliver = nothing, .join = one_function}};
    for (unsigned turn = 0; turn < 200; turn++) {
        if (turn % 10 == 0) add(&in, &s, SYNC(0) " TSTAMP=1000\n" SYNC(1) "\n", 1);
        add(&in, &s, "ResourceFull SRC=1 RCODE=1 RDATA0=0xff\nDirectBranch SRC=0 ICNT=4 TSTAMP=3\n", 5);
    }
    assert_int_equal(parallels_run(&config, (ntr_bytes){in.bytes, in.size}, NULL, &stats), NTR_END);
    assert_true(stats.chunks > 5);
    assert_true(spans_of_1 >= stats.chunks);
    assert_int_equal(timed_spans_of_1, 0);
    scene_end(&s);
}

/* coreutils' nproc asks the kernel by itself. */
static void processors_are_those_of_this_process(void **state) {
    (void)state;
    unsigned expected = 0;
    FILE *nproc = popen("env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc", "r");
    assert_non_null(nproc);
    assert_int_equal(fscanf(nproc, "%u", &expected), 1);
    pclose(nproc);
    assert_int_equal(ntr_processors(), expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(processors_are_those_of_this_process),
                                       TEST(a_source_that_sleeps),
                                       TEST(the_place_before_a_stop),
                                       TEST(messages_before_a_sync),
                                       TEST(sources_that_take_turns),
                                       TEST(the_time_of_another_source)};
    return cmocka_run_group_tests_name("sources", tests, NULL, NULL);
}
