/* Several sources, contexts, images with a range of positions, and time. */
#include "scene.h"

#define START "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\n"

/* NT-073, NT-359 */
static void sources_have_their_own_state(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.src_bits = 2;
    code(&s, 0x100, ADD, branch(-4), JR_A5);
    code(&s, 0x200, ADD, branch(-4), JR_A5);
    const char *messages =
        "ProgTraceSync SRC=0 SYNC=3 ICNT=0 FADDR=0x80\nProgTraceSync SRC=3 SYNC=3 ICNT=0 FADDR=0x100\n"
        "ResourceFull SRC=3 RCODE=0 RDATA0=4\nIndirectBranchHist SRC=0 BTYPE=0 ICNT=6 UADDR=0x180 HIST=0x2\n"
        "DirectBranch SRC=3 ICNT=1\nDirectBranch SRC=0 ICNT=4\n";
    decodes_to(
        &s, messages,
        "sync 3 100\nsync 3 200 src3\nspan 100+2/4 not-taken 108\nspan 108+1/2 indirect-jump 200\n"
        "span 200+2/4 not-taken 208 src3\nspan 200+2/4 taken 200\ngap ICNT_SPLITS #5-#7 @19-@23 208 to ? src3\n");
    s.config.one_source = true;
    decodes_to(&s, messages,
               "sync 3 100\nspan 100+2/4 not-taken 108\nspan 108+1/2 indirect-jump 200\nspan 200+2/4 taken 200\n");
    scene_end(&s);
}

/* A note has the source and the time of its message. */
static void missing_times_are_noted_where_they_are(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.src_bits = 1;
    s.config.params.timestamps = NTR_TIMESTAMPS_ON;
    code(&s, 0x100, ADD, ADD);
    decodes_to(&s,
               "ProgTraceSync SRC=0 SYNC=3 ICNT=0 FADDR=0x80 TSTAMP=9\nProgTraceSync SRC=1 SYNC=3 ICNT=0 FADDR=0x82\n"
               "ProgTraceSync SRC=0 SYNC=2 ICNT=0 FADDR=0x80\n",
               "sync 3 100 t9\nnote FIELD_MISSING src1\nsync 3 104 src1\nnote FIELD_MISSING\nsync 2 100\n");
    scene_end(&s);
}

static void broken_framing_may_have_been_anybodys(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.src_bits = 1;
    code(&s, 0x100, ADD, ADD);
    decodes_to(&s,
               "ProgTraceSync SRC=0 SYNC=3 ICNT=0 FADDR=0x80\nProgTraceSync SRC=1 SYNC=3 ICNT=0 FADDR=0x82\nraw 02 03\n"
               "ProgTraceSync SRC=1 SYNC=2 ICNT=0 FADDR=0x82\n",
               "sync 3 100\nsync 3 104 src1\ngap MSEO_RESERVED #3-#4 @8-@10 104 to 104 src1\nsync 2 104 src1\n"
               "gap MSEO_RESERVED #3-#5 @8-@14 100 to ?\n");
    decodes_to(&s, "raw 02 03\nProgTraceSync SRC=1 SYNC=2 ICNT=0 FADDR=0x82\n",
               "gap MSEO_RESERVED #1-#2 @0-@2 ? to 104 src1\nsync 2 104 src1\n");
    scene_end(&s);
}

static void every_source_id_works(void **state) {
    (void)state;
    static ntr_event events[64];
    scene s;
    scene_start(&s, NULL);
    s.config.params.src_bits = 12;
    code(&s, 0x100, ADD, branch(-4));
    ntr_decoder *d;
    ntr_status status = ntr_decoder_new(&s.config, &d);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned id = 0; id < 4096; id++) {
            char line[128];
            stream in = {.size = 0};
            snprintf(line, sizeof line,
                     round ? "DirectBranch SRC=%u ICNT=4\n" : "ProgTraceSync SRC=%u SYNC=3 ICNT=0 FADDR=0x80\n", id);
            assemble(&in, &s.config.params, line);
            assert_int_equal(ntr_decoder_feed(d, in.bytes, in.size, false), NTR_OK);
            size_t count;
            status = ntr_decoder_read(d, events, 64, &count);
            assert_int_equal(status, NTR_NEED_MORE);
            assert_int_equal(count, 1);
            assert_int_equal(events[0].src, id);
            assert_int_equal(events[0].kind, round ? NTR_EVENT_SPAN : NTR_EVENT_SYNC);
        }
    }
    ntr_decoder_free(d);
    scene_end(&s);
}

/* ---- contexts */

/* NT-361, NT-362 */
static void contexts_choose_images(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    ntr_image_options one = {.has_scontext = true, .scontext = 1}, two = {.has_scontext = true, .scontext = 2};
    add_code_for(&s, 0x100, (uint32_t[]){ADD, ADD, JR_A5, CODE_END}, &one);
    add_code_for(&s, 0x100, (uint32_t[]){C_ADD, C_ADD, JR_A5, CODE_END}, &two);
    decodes_to(
        &s,
        START
        "Ownership PROCESS=0x22\nIndirectBranch BTYPE=0 ICNT=6 UADDR=0x0\nOwnership PROCESS=0x42\n"
        "IndirectBranch BTYPE=0 ICNT=4 UADDR=0x0\nOwnership PROCESS=0x22\nIndirectBranch BTYPE=0 ICNT=6 UADDR=0x0\n",
        "sync 3 100\ncontext 2 v0 prv0 s1 h0\nspan 100+3/6 indirect-jump 100\ncontext 2 v0 prv0 s2 h0\n"
        "span 100+3/4 indirect-jump 100\ncontext 2 v0 prv0 s1 h0\nspan 100+3/6 indirect-jump 100\n");
    scene_end(&s);
}

/* Implicit returns by count do not compare addresses: after a task switch, returns to callers of the other task may be
 * inferred. The walk then fails, but the next address is valid. */
static void task_switches_anchor_at_the_next_address(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.implicit_return = NTR_RETURN_COUNT;
    code(&s, 0x100, jal(1, 0x100), ADD, JR_A5, ADD);
    code(&s, 0x200, ADD, RET);
    const char *messages =
        START "Ownership PROCESS=0x22\nIndirectBranch BTYPE=3 ICNT=4 UADDR=0x2\nOwnership PROCESS=0x42\n"
              "IndirectBranch BTYPE=0 ICNT=12 UADDR=0x182\nIndirectBranch BTYPE=3 ICNT=2 UADDR=0x86\n";
    decodes_to(
        &s, messages,
        "sync 3 100\ncontext 2 v0 prv0 s1 h0\nspan 100+1/2 call 200\nspan 200+1/2 interrupt 104\ncontext 2 v0 prv0 s2 h0\n"
        "span 104+1/2 cut 108\nblind 108+10 indirect-jump 200\ngap UNEXPECTED_INDIRECT #5-#5 @12-@12 108 to 200\n"
        "span 200+1/2 interrupt 30c\n");
    /* An encoder that compares addresses cannot do that: here it is damage. */
    s.config.params.implicit_return = NTR_RETURN_FULL;
    decodes_to(
        &s, messages,
        "sync 3 100\ncontext 2 v0 prv0 s1 h0\nspan 100+1/2 call 200\nspan 200+1/2 interrupt 104\ncontext 2 v0 prv0 s2 h0\n"
        "span 104+1/2 cut 108\ngap UNEXPECTED_INDIRECT #5-#7 @12-@20 108 to ?\n");
    scene_end(&s);
}

/* NT-150, NT-151 */
static void ownership_forms_are_all_read(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    /* FORMAT 2 with V, then 3, then 0 (privilege only), reserved 1, and fewer bits than the fixed parts have. */
    decodes_to(&s, "raw 08 C8 3B\nOwnership PROCESS=0x27\nraw 08 33\nOwnership PROCESS=0x1\nOwnership PROCESS=0x0\n",
               "context 2 v1 prv0 s29 h0\ncontext 3 v0 prv1 s29 h1\ncontext 0 v0 prv3 s29 h1\nnote FIELD_VALUE\n"
               "context 0 v0 prv0 s29 h1\ngap NO_SYNC #1-#6 @0-@11 ? to ?\n");
    scene_end(&s);
}

/* NT-363 */
static void images_come_and_go_with_the_stream(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    ntr_image_options early = {.until = 7}, late = {.from = 7};
    add_code_for(&s, 0x100, (uint32_t[]){ADD, ADD, JR_A5, CODE_END}, &early);
    add_code_for(&s, 0x100, (uint32_t[]){C_ADD, C_ADD, JR_A5, CODE_END}, &late);
    decodes_to(&s, START "IndirectBranch BTYPE=0 ICNT=6 UADDR=0x0\nIndirectBranch BTYPE=0 ICNT=4 UADDR=0x0\n",
               "sync 3 100\nspan 100+3/6 indirect-jump 100\nspan 100+3/4 indirect-jump 100\n");
    scene_end(&s);
}

static void images_may_be_added_between_reads(void **state) {
    (void)state;
    static ntr_event events[64];
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, JR_A5);
    stream in = {.size = 0}, more = {.size = 0};
    assemble(&in, &s.config.params, START "IndirectBranch BTYPE=0 ICNT=4 UADDR=0x180\n");
    assemble(&more, &s.config.params, "IndirectBranch BTYPE=0 ICNT=3 UADDR=0x180\n");
    ntr_decoder *d;
    ntr_decoder_new(&s.config, &d);
    size_t count;
    ntr_decoder_feed(d, in.bytes, in.size, false);
    assert_int_equal(ntr_decoder_read(d, events, 64, &count), NTR_NEED_MORE);
    assert_int_equal(count, 2);
    code(&s, 0x200, C_ADD, JR_A5);
    ntr_decoder_feed(d, more.bytes, more.size, true);
    assert_int_equal(ntr_decoder_read(d, events, 64, &count), NTR_END);
    assert_int_equal(count, 1);
    assert_int_equal(events[0].halfwords, 3);
    ntr_decoder_free(d);
    scene_end(&s);
}

/* ---- time */

/* NT-284 */
static void times_add_up(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(-4));
    decodes_to(
        &s,
        "DirectBranch ICNT=4 TSTAMP=5\nProgTraceSync SYNC=3 ICNT=0 FADDR=0x80 TSTAMP=100\nDirectBranch ICNT=4 TSTAMP=7\n"
        "DirectBranch ICNT=4\nDirectBranch ICNT=4 TSTAMP=3\n",
        "gap NOT_SYNCED #1-#2 @0-@3 ? to 100 t100\nsync 3 100 t100\nspan 100+2/4 taken 100 t107\n"
        "span 100+2/4 taken 100 t107\nspan 100+2/4 taken 100 t110\n");
    /* A synchronizing message without TSTAMP: the time is unknown until the next absolute one (OQ-22). */
    decodes_to(
        &s,
        "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80 TSTAMP=100\nProgTraceSync SYNC=2 ICNT=0 FADDR=0x80\nDirectBranch ICNT=4 TSTAMP=3\n",
        "sync 3 100 t100\nsync 2 100\nspan 100+2/4 taken 100\n");
    scene_end(&s);
}

/* The TSTAMP of RepeatBranch counts after all repetitions (OQ-23). */
static void repeats_ran_before_their_time(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(-4));
    decodes_to(
        &s,
        "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80 TSTAMP=100\nDirectBranch ICNT=4 TSTAMP=7\nRepeatBranch BCNT=2 TSTAMP=20\nDirectBranch ICNT=4\n",
        "sync 3 100 t100\nspan 100+2/4 taken 100 t107\nspan 100+2/4 taken 100 t107\nspan 100+2/4 taken 100 t107\nspan 100+2/4 taken 100 t127\n");
    scene_end(&s);
}

static void narrow_clocks_wrap(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.ts_width = 8;
    code(&s, 0x100, ADD, branch(-4));
    decodes_to(&s,
               "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80 TSTAMP=200\nProgTraceSync SYNC=2 ICNT=0 FADDR=0x80 TSTAMP=100\n"
               "DirectBranch ICNT=4 TSTAMP=200\nProgTraceSync SYNC=2 ICNT=0 FADDR=0x80 TSTAMP=60\n",
               "sync 3 100 t200\nsync 2 100 t356\nspan 100+2/4 taken 100 t556\nsync 2 100 t572\n");
    scene_end(&s);
}

/* The lost messages may have carried differences. */
static void lost_messages_lose_the_time(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(-4));
    decodes_to(
        &s,
        "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80 TSTAMP=100\nraw 02 03\nDirectBranch ICNT=4 TSTAMP=3\nOwnership PROCESS=0x0 TSTAMP=1\n"
        "ProgTraceSync SYNC=2 ICNT=0 FADDR=0x80 TSTAMP=300\n",
        "sync 3 100 t100\ncontext 0 v0 prv0 s0 h0\ngap MSEO_RESERVED #2-#5 @6-@14 100 to 100 t300\nsync 2 100 t300\n");
    decodes_to(
        &s,
        "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80 TSTAMP=100\nError ETYPE=0 ECODE=0x4 TSTAMP=2\nOwnership PROCESS=0x0 TSTAMP=1\n"
        "ProgTraceSync SYNC=7 ICNT=0 FADDR=0x80 TSTAMP=300\n",
        "sync 3 100 t100\noverflow 0 4 t102\ncontext 0 v0 prv0 s0 h0\ngap OVERFLOW #2-#4 @6-@13 100 to 100 t300\nsync 7 100 t300\n");
    scene_end(&s);
}

/* No message is missing: their times are valid. */
static void flow_that_contradicts_keeps_the_time(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(-4));
    decodes_to(
        &s,
        "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80 TSTAMP=100\nDirectBranch ICNT=3 TSTAMP=2\nOwnership PROCESS=0x0 TSTAMP=1\n"
        "raw 02 03\nOwnership PROCESS=0x0 TSTAMP=1\nProgTraceSync SYNC=2 ICNT=0 FADDR=0x80 TSTAMP=300\n",
        "sync 3 100 t100\nspan 100+1/2 cut 104 t102\ncontext 0 v0 prv0 s0 h0 t103\ncontext 0 v0 prv0 s0 h0\n"
        "gap ICNT_SPLITS #2-#6 @6-@17 104 to 100 t300\nsync 2 100 t300\n");
    scene_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(sources_have_their_own_state),
        TEST(missing_times_are_noted_where_they_are),
        TEST(broken_framing_may_have_been_anybodys),
        TEST(every_source_id_works),
        TEST(contexts_choose_images),
        TEST(task_switches_anchor_at_the_next_address),
        TEST(ownership_forms_are_all_read),
        TEST(images_come_and_go_with_the_stream),
        TEST(images_may_be_added_between_reads),
        TEST(times_add_up),
        TEST(repeats_ran_before_their_time),
        TEST(narrow_clocks_wrap),
        TEST(lost_messages_lose_the_time),
        TEST(flow_that_contradicts_keeps_the_time),
    };
    return cmocka_run_group_tests_name("sources", tests, NULL, NULL);
}
