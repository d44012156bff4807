/* A decoder that is stopped, also inside of one message (ntr_decoder_config.proceed), goes on where it was: totals and
 * instructions are those that the messages stand for, and no work between two questions is long. */
#include "scene.h"

#include <time.h>

#define START "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\n"

enum { LONGEST_MS = 2000 }; /* between two questions; some milliseconds on an idle machine */

/* Answers "go on" to every third question. */
typedef struct questions {
    unsigned asked;
    int64_t before, longest; /* milliseconds */
} questions;

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool proceed(void *user) {
    questions *q = user;
    const int64_t now = now_ms();
    if (q->asked && now - q->before > q->longest) q->longest = now - q->before;
    q->before = now;
    return q->asked++ % 3 == 2;
}

static bool one_function(void *user, const ntr_context *context, uint64_t position, const uint64_t *addresses,
                         size_t count) {
    (void)user, (void)context, (void)position, (void)addresses, (void)count;
    return true;
}

enum how { COUNT, REPEATS, JOINED, JOINED_REPEATS, HOWS };

/* Returns the instructions; *stops is how often the decoder stopped. */
static uint64_t instructions_of(const scene *s, const stream *in, enum how how, questions *q, unsigned *stops) {
    ntr_event events[64];
    ntr_counts totals = {0};
    ntr_decoder_config config = s->config;
    ntr_status status = NTR_OK;
    config.proceed = proceed;
    config.proceed_user = q;
    ntr_decoder *d;
    status = ntr_decoder_new(&config, &d);
    *stops = 0;
    ntr_decoder_set_repeats(d, how == REPEATS || how == JOINED_REPEATS);
    if (how >= JOINED) ntr_decoder_set_join(d, one_function, NULL);
    assert_int_equal(ntr_decoder_feed(d, in->bytes, in->size, true), NTR_OK);
    while (status == NTR_OK || status == NTR_E_STOPPED) {
        size_t count = 0;
        status = how == COUNT ? ntr_decoder_count(d, &totals) : ntr_decoder_read(d, events, 64, &count);
        *stops += status == NTR_E_STOPPED;
        for (size_t i = 0; i < count; i++)
            if (events[i].kind == NTR_EVENT_SPAN)
                totals.instructions += events[i].instructions * (1 + events[i].repeats);
    }
    assert_int_equal(status, NTR_END);
    ntr_decoder_free(d);
    return totals.instructions;
}

/* `long_for`: the ways of decoding, one bit each, in which the messages are long: the decoder must stop. */
static void stand_for(const scene *s, const char *messages, uint64_t instructions, unsigned long_for) {
    stream in = {.size = 0};
    assemble(&in, &s->config.params, messages);
    for (enum how how = COUNT; how < HOWS; how++) {
        questions q = {0};
        unsigned stops;
        assert_int_equal(instructions_of(s, &in, how, &q, &stops), instructions);
        if (long_for >> how & 1) assert_true(stops > 0);
        assert_true(q.longest < LONGEST_MS);
    }
}

/* Nothing is multiplied: the return stack becomes deeper. */
static void a_recursion(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.implicit_return = NTR_RETURN_FULL;
    code(&s, 0x100, ADD, jal(1, -4));
    stand_for(&s, START "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=20000000\n", 10000000,
              1 << COUNT | 1 << REPEATS | 1 << JOINED | 1 << JOINED_REPEATS);
    scene_end(&s);
}

/* Joined spans without repetitions are walked over: 25 million jumps, with hardly a span. */
static void joined_spans(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, jal(0, 0));
    stand_for(&s, START "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=50000000\n", 25000000, 1 << JOINED);
    scene_end(&s);
}

enum { JUMPS = 70000, PASSES = 900 };

/* A pass of so many blocks is longer than the work between two questions: the decoder stops inside of the pass that
 * stands for others. */
static void inside_of_a_multiplied_pass(void **state) {
    (void)state;
    static uint8_t bytes[4 * JUMPS];
    const uint32_t on = jal(0, 4), back = jal(0, -4 * (JUMPS - 1));
    char text[120];
    scene s;
    scene_start(&s, NULL);
    for (int i = 0; i < JUMPS; i++)
        for (unsigned k = 0; k < 4; k++) bytes[4 * i + (int)k] = (uint8_t)((i < JUMPS - 1 ? on : back) >> 8 * k);
    const ntr_image_options options = {.size = sizeof options, .bias = 0x100};
    assert_int_equal(ntr_program_add_raw(s.program, (ntr_bytes){bytes, sizeof bytes}, &options), NTR_OK);
    snprintf(text, sizeof text, START "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=%d\n", 2 * (JUMPS * PASSES + 17));
    stand_for(&s, text, JUMPS * PASSES + 17, 1 << COUNT);
    scene_end(&s);
}

/* With a branch predictor, repeated messages are walked one by one. */
static void repeated_messages(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.branch_predictor = 6;
    code(&s, 0x100, ADD, branch(-4), jal(0, -8));
    stand_for(&s, START "DirectBranch ICNT=4\nRepeatBranch BCNT=3000000\nProgTraceCorrelation EVCODE=4 CDF=0 ICNT=4\n",
              2 * UINT64_C(3000001) + 2, 1 << COUNT);
    scene_end(&s);
}

/* A consumer that never wants to go on gets the same, as often as it asks. */
static bool never(void *user) {
    ++*(unsigned *)user;
    return false;
}

static void each_call_goes_on(void **state) {
    (void)state;
    scene s;
    stream in = {.size = 0};
    ntr_counts totals = {0};
    ntr_status status = NTR_E_STOPPED;
    unsigned asked = 0, calls = 0;
    scene_start(&s, NULL);
    s.config.params.implicit_return = NTR_RETURN_FULL;
    s.config.proceed = never;
    s.config.proceed_user = &asked;
    code(&s, 0x100, ADD, jal(1, -4));
    assemble(&in, &s.config.params, START "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=2000000\n");
    ntr_decoder *d;
    ntr_decoder_new(&s.config, &d);
    assert_int_equal(ntr_decoder_feed(d, in.bytes, in.size, true), NTR_OK);
    for (; status == NTR_E_STOPPED; calls++) status = ntr_decoder_count(d, &totals);
    assert_int_equal(status, NTR_END);
    assert_int_equal(totals.instructions, 1000000);
    assert_int_equal(totals.gaps, 0);
    assert_true(calls > 5 && asked == calls - 1);
    ntr_decoder_free(d);
    scene_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recursion),
        cmocka_unit_test(joined_spans),
        cmocka_unit_test(inside_of_a_multiplied_pass),
        cmocka_unit_test(repeated_messages),
        cmocka_unit_test(each_call_goes_on),
    };
    return cmocka_run_group_tests_name("stops", tests, NULL, NULL);
}
