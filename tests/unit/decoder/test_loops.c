/* Loops without messages are counted by multiplication: the totals, the spans and their counts are those of a decoder
 * that returns each span. */
#include "scene.h"

#define START "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\n"

/* ---- numbers that are known */

/* Returns the status with which decoding ends. `repeats`: events with repetitions, else counting. */
static ntr_status totals_of(const scene *s, const stream *in, bool repeats, ntr_counts *totals, size_t *events_read) {
    ntr_event events[64];
    ntr_decoder *d;
    ntr_status status = ntr_decoder_new(&s->config, &d);
    *totals = (ntr_counts){0};
    *events_read = 0;
    ntr_decoder_set_repeats(d, repeats);
    assert_int_equal(ntr_decoder_feed(d, in->bytes, in->size, true), NTR_OK);
    if (!repeats) status = ntr_decoder_count(d, totals);
    while (repeats && status == NTR_OK) {
        size_t count;
        status = ntr_decoder_read(d, events, 64, &count);
        for (size_t i = 0; i < count; i++) totals_add(totals, &events[i], s->config.params.dialect);
        *events_read += count;
    }
    ntr_decoder_free(d);
    return status;
}

static void stands_for(const scene *s, const char *messages, uint64_t instructions, uint64_t spans) {
    stream in = {.size = 0};
    assemble(&in, &s->config.params, messages);
    for (int repeats = 0; repeats < 2; repeats++) {
        ntr_counts totals;
        size_t events;
        assert_int_equal(totals_of(s, &in, repeats, &totals, &events), NTR_END);
        assert_int_equal(totals.instructions, instructions);
        assert_int_equal(totals.spans, spans);
        assert_int_equal(totals.gaps, 0);
        assert_true(events < 64);
    }
}

static void a_jump_to_itself(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, jal(0, 0));
    stands_for(&s, START "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=200000000\n", 100000000, 100000000);
    stands_for(&s,
               START "ResourceFull RCODE=0 RDATA0=200000000\nResourceFull RCODE=0 RDATA0=200000000\n"
                     "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=2\n",
               200000001, 200000001);
    scene_end(&s);
}

/* Five instructions in three blocks; the stream enters and leaves in the middle. */
static void a_loop_of_jumps(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, jal(0, 0xfc));
    code(&s, 0x200, jal(0, 0x100));
    code(&s, 0x300, ADD, jal(0, -0x204));
    stands_for(&s, START "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=100000002\n", 50000001, 30000001);
    stands_for(&s, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x100\nProgTraceCorrelation EVCODE=4 CDF=0 ICNT=100000002\n",
               50000001, 30000001);
    scene_end(&s);
}

/* The return is implicit: no message comes. */
static void a_loop_with_a_call(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.implicit_return = NTR_RETURN_FULL;
    code(&s, 0x100, jal(1, 0x100), jal(0, -4));
    code(&s, 0x200, ADD, RET);
    stands_for(&s, START "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=80000000\n", 40000000, 30000000);
    scene_end(&s);
}

/* In BTM, a branch that is not taken has no message. */
static void a_loop_with_a_branch(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, branch(0x40), ADD, jal(0, -8));
    stands_for(&s,
               START "DirectBranchSync SYNC=1 ICNT=0 FADDR=0x80\nProgTraceCorrelation EVCODE=4 CDF=0 ICNT=60000000\n",
               30000000, 20000000);
    scene_end(&s);
}

/* ---- what is not alike */

/* Each pass makes the return stack deeper. */
static void a_recursion_is_no_loop(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.implicit_return = NTR_RETURN_FULL;
    code(&s, 0x100, ADD, jal(1, -4));
    stream in = {.size = 0};
    assemble(&in, &s.config.params, START "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=200000\n");
    const char *differs = tallies_differ(&s.config, (ntr_bytes){in.bytes, in.size});
    if (differs) fail_msg("%s", differs);
    scene_end(&s);
}

/* The consumer follows calls: a loop of few passes with calls is returned pass by pass. */
static void few_passes_with_calls_are_returned(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.implicit_return = NTR_RETURN_FULL;
    code(&s, 0x100, jal(1, 0x100), jal(0, -4));
    code(&s, 0x200, ADD, RET);
    stream in = {.size = 0};
    ntr_counts totals;
    size_t events;
    assemble(&in, &s.config.params, START "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=8000\n");
    assert_int_equal(totals_of(&s, &in, true, &totals, &events), NTR_END);
    assert_true(events > 3000);
    assert_int_equal(totals.instructions, 4000);
    scene_end(&s);
}

/* A total that 63 bits do not hold is an error, not a small number. */
static void totals_do_not_wrap(void **state) {
    (void)state;
    enum { MESSAGES = 1 << 13 };
    scene s;
    static stream in;
    scene_start(&s, NULL);
    code(&s, 0x100, jal(0, 0x10));
    code(&s, 0x110, branch(-0x10), jal(0, -4));
    for (unsigned many = MESSAGES - 1; many <= MESSAGES + 1; many += 2) {
        in.size = 0;
        assemble(&in, &s.config.params, START "DirectBranch ICNT=4194300\n");
        for (unsigned i = 0; i < many; i++) add_line(&in, &s.config.params, "RepeatBranch BCNT=268435456");
        for (int repeats = 0; repeats < 2; repeats++) {
            ntr_counts totals;
            size_t events;
            assert_int_equal(totals_of(&s, &in, repeats, &totals, &events), many < MESSAGES ? NTR_END : NTR_E_TOTAL);
            if (many > MESSAGES) continue;
            assert_int_equal(totals.halfwords, 4194300 * (1 + many * UINT64_C(268435456)));
        }
    }
    scene_end(&s);
}

/* A count beyond that of any counter is believed where the program cannot leave. */
static void large_counts_need_a_loop(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, jal(0, 0));
    stands_for(&s, START "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=200000000000000\n", 100000000000000,
               100000000000000);
    code(&s, 0x200, ADD, JR_A5);
    decodes_to(&s,
               "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x100\nProgTraceCorrelation EVCODE=4 CDF=0 ICNT=200000000000000\n",
               "sync 3 200\ngap FIELD_VALUE #2-#2 @4-@4 200 to ?\nstop 4 ?\n");
    scene_end(&s);
}

/* A branch message of the largest I-CNT, as often as the largest B-CNT says. */
static void repetitions_of_long_messages(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, jal(0, 0x10));
    code(&s, 0x110, branch(-0x10), jal(0, -4));
    stands_for(&s, START "DirectBranch ICNT=4194300\nRepeatBranch BCNT=262143\n", 262144 * UINT64_C(2097150),
               262144 * UINT64_C(2097150));
    scene_end(&s);
}

/* ---- random loops */

static uint64_t seed;

static unsigned below(unsigned limit) {
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)((seed >> 33) % limit);
}

enum { BLOCKS_MOST = 6, SPACING = 0x400 };

/* Blocks at 0x400, 0x800, ... each of which jumps to the next one, and the last one to the first; functions behind
 * them. Before the first jump there may be calls and branches. */
static void random_loop(scene *s) {
    const unsigned blocks = 1 + below(BLOCKS_MOST);
    for (unsigned b = 0; b < blocks; b++) {
        uint32_t words[64];
        unsigned count = 0;
        const int at = (int)(b + 1) * SPACING, next = (int)((b + 1) % blocks + 1) * SPACING;
        for (unsigned i = below(4); i-- > 0;) {
            const unsigned what = below(4);
            for (unsigned k = below(5); k-- > 0;) words[count++] = ADD;
            if (what == 0) words[count] = branch(below(2) ? 8 : -4 * (int)count), count++;
            if (what == 1) {
                words[count] = jal(1, 0x2000 - at - 4 * (int)count);
                count++;
            }
            if (what == 2) words[count++] = jal(0, 4);
        }
        words[count] = jal(0, next - at - 4 * (int)count);
        words[count + 1] = CODE_END;
        add_code_for(s, (uint64_t)at, words, NULL);
    }
    code(s, 0x2000, ADD, below(2) ? RET : branch(-4), RET);
}

/* Messages that are likely to fit such code, and some that are not. */
static void random_messages(char *text, size_t room) {
    size_t at = (size_t)snprintf(text, room, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x200\n");
    for (unsigned i = 1 + below(6); i-- > 0;) {
        const unsigned icnt = below(8) ? 2 * below(4000) : below(300);
        switch (below(7)) {
        case 0:
        case 1:
        case 2: at += (size_t)snprintf(text + at, room - at, "ResourceFull RCODE=0 RDATA0=%u\n", icnt + 1); break;
        case 3:
            at += (size_t)snprintf(text + at, room - at, "ResourceFull RCODE=2 RDATA0=%u RDATA1=%u\n", 2 + below(62),
                                   1 + below(500));
            break;
        case 4: at += (size_t)snprintf(text + at, room - at, "DirectBranch ICNT=%u\n", icnt); break;
        case 5: at += (size_t)snprintf(text + at, room - at, "RepeatBranch BCNT=%u\n", 1 + below(300)); break;
        case 6:
            at += (size_t)snprintf(text + at, room - at, "IndirectBranchHist BTYPE=1 ICNT=%u UADDR=0x0 HIST=%u\n", icnt,
                                   1 + below(63));
            break;
        }
    }
    snprintf(text + at, room - at, "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=%u\n", 2 * below(1 + below(40000)));
}

static void random_loops_count_alike(void **state) {
    (void)state;
    for (seed = 1; seed < TEST_ROUNDS(301);) {
        const uint64_t number = seed;
        char text[2048];
        static stream in;
        scene s;
        scene_start(&s, NULL);
        in.size = 0;
        s.config.params.implicit_return = below(3) ? NTR_RETURN_FULL : NTR_RETURN_OFF;
        s.config.params.return_stack = below(4) ? 0 : 2;
        random_loop(&s);
        random_messages(text, sizeof text);
        assemble(&in, &s.config.params, text);
        const char *differs = tallies_differ(&s.config, (ntr_bytes){in.bytes, in.size});
        if (differs) fail_msg("loop %" PRIu64 ": %s\n%s", number, differs, text);
        scene_end(&s);
        seed = number + 1;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_jump_to_itself),
        cmocka_unit_test(a_loop_of_jumps),
        cmocka_unit_test(a_loop_with_a_call),
        cmocka_unit_test(a_loop_with_a_branch),
        cmocka_unit_test(a_recursion_is_no_loop),
        cmocka_unit_test(few_passes_with_calls_are_returned),
        cmocka_unit_test(totals_do_not_wrap),
        cmocka_unit_test(large_counts_need_a_loop),
        cmocka_unit_test(repetitions_of_long_messages),
        cmocka_unit_test(random_loops_count_alike),
    };
    return cmocka_run_group_tests_name("loops", tests, NULL, NULL);
}
