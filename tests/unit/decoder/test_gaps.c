/* Recovery: one gap for each disturbance, and decoding resumes at the first certain address. */
#include "scene.h"

#define START "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\n"
#define AGAIN "ProgTraceSync SYNC=2 ICNT=0 FADDR=0x80\n"

static void plain(scene *s) {
    scene_start(s, NULL);
    code(s, 0x100, ADD, branch(-4), JR_A5, ADD);
    code(s, 0x200, ADD, branch(-4), JR_A5);
}

static void bad_bytes_cost_what_is_up_to_the_next_sync(void **state) {
    (void)state;
    scene s;
    plain(&s);
    decodes_to(
        &s, START "DirectBranch ICNT=4\nraw 02 03\nDirectBranch ICNT=4\n" AGAIN "DirectBranch ICNT=4\n",
        "sync 3 100\nspan 100+2/4 taken 100\ngap MSEO_RESERVED #3-#5 @6-@10 100 to 100\nsync 2 100\nspan 100+2/4 taken 100\n");
    scene_end(&s);
}

static void several_defects_before_a_sync_are_one_gap(void **state) {
    (void)state;
    scene s;
    plain(&s);
    decodes_to(&s, START "DirectBranch ICNT=4\nraw 02 03 07 13 03\n" AGAIN,
               "sync 3 100\nspan 100+2/4 taken 100\ngap MSEO_RESERVED #3-#7 @6-@11 100 to 100\nsync 2 100\n");
    scene_end(&s);
}

static void truncation_is_reported_at_the_end(void **state) {
    (void)state;
    scene s;
    plain(&s);
    decodes_to(&s, START "DirectBranch ICNT=4\nraw 10 41 00",
               "sync 3 100\nspan 100+2/4 taken 100\ngap TRUNCATED #3-#4 @6-@9 100 to ?\n");
    decodes_to(&s, "raw 10 41 00", "gap TRUNCATED #1-#2 @0-@3 ? to ?\n");
    decodes_to(&s, "raw 05", "gap MSEO_SEQUENCE #1-#2 @0-@1 ? to ?\n");
    decodes_to(&s, "", "");
    scene_end(&s);
}

static void certain_code_is_reported_before_a_gap(void **state) {
    (void)state;
    scene s;
    plain(&s);
    decodes_to(
        &s, START "ResourceFull RCODE=0 RDATA0=20\nError ETYPE=0 ECODE=0x4\nProgTraceSync SYNC=7 ICNT=0 FADDR=0x100\n",
        "sync 3 100\nspan 100+1/2 cut 104\noverflow 0 4\ngap OVERFLOW #3-#4 @7-@10 104 to 200\nsync 7 200\n");
    scene_end(&s);
}

static void overruns_without_their_error_message_are_gaps(void **state) {
    (void)state;
    scene s;
    plain(&s);
    decodes_to(&s, START "ProgTraceSync SYNC=7 ICNT=0 FADDR=0x100\n",
               "sync 3 100\ngap OVERFLOW #2-#2 @4-@4 100 to 200\nsync 7 200\n");
    decodes_to(&s, START "Error ETYPE=0 ECODE=0x4\n", "sync 3 100\noverflow 0 4\ngap OVERFLOW #2-#3 @4-@7 100 to ?\n");
    scene_end(&s);
}

static void streams_may_start_in_the_middle(void **state) {
    (void)state;
    scene s;
    plain(&s);
    s.config.mid_stream = true;
    decodes_to(&s, "raw 41 00 1B\nDirectBranch ICNT=4\n" START "DirectBranch ICNT=4\n",
               "gap NOT_SYNCED #1-#2 @3-@5 ? to 100\nsync 3 100\nspan 100+2/4 taken 100\n");
    scene_end(&s);
}

static void syncs_that_do_not_follow_are_gaps(void **state) {
    (void)state;
    scene s;
    plain(&s);
    decodes_to(&s, START "ProgTraceSync SYNC=2 ICNT=2 FADDR=0x100\n",
               "sync 3 100\nspan 100+1/2 cut 104\ngap ADDRESS_MISMATCH #2-#2 @4-@4 104 to 200\nsync 2 200\n");
    decodes_to(&s, START "ProgTraceSync SYNC=2 ICNT=3 FADDR=0x100\n", /* splits an instruction */
               "sync 3 100\nspan 100+1/2 cut 104\ngap ICNT_SPLITS #2-#2 @4-@4 104 to 200\nsync 2 200\n");
    scene_end(&s);
}

/* ---- code without image */

static void missing_code_is_walked_blindly(void **state) {
    (void)state;
    scene s;
    plain(&s);
    decodes_to(&s,
               START "IndirectBranchHist BTYPE=0 ICNT=6 UADDR=0x580 HIST=0x2\n" /* 0x100 to 0xa00 */
                     "IndirectBranchHist BTYPE=0 ICNT=7 UADDR=0x80 HIST=0x3\n"  /* to 0xb00 */
                     "IndirectBranch BTYPE=2 ICNT=3 UADDR=0x480\n"              /* to 0x200 */
                     "IndirectBranchHist BTYPE=0 ICNT=6 UADDR=0x80 HIST=0x2\n",
               "sync 3 100\nspan 100+2/4 not-taken 108\nspan 108+1/2 indirect-jump a00\nblind a00+7 indirect-jump b00\n"
               "blind b00+3 exception 200\ngap NO_IMAGE #3-#4 @9-@14 a00 to 200\nspan 200+2/4 not-taken 208\n"
               "span 208+1/2 indirect-jump 300\n");
    scene_end(&s);
}

static void missing_code_starts_and_ends_anywhere(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(-4), ADD);
    code(&s, 0x200, ADD, branch(-4), JR_A5);
    /* History leads out of the image; so does I-CNT. */
    const char *events =
        "sync 3 100\nspan 100+2/4 taken 100\nspan 100+2/4 not-taken 108\nspan 108+1/2 cut 10c\n"
        "blind 10c+10 indirect-jump 200\ngap NO_IMAGE #%u-#%u @%u-@%u 10c to 200\nspan 200+2/4 taken 200\n";
    char text[512];
    snprintf(text, sizeof text, events, 2, 3, 4, 7);
    decodes_to(&s,
               START "ResourceFull RCODE=1 RDATA0=0xc\nIndirectBranch BTYPE=0 ICNT=20 UADDR=0x180\n"
                     "ResourceFull RCODE=1 RDATA0=0x3\n",
               text);
    snprintf(text, sizeof text, events, 2, 2, 4, 4);
    decodes_to(&s, START "IndirectBranchHist BTYPE=0 ICNT=20 UADDR=0x180 HIST=0xc\nResourceFull RCODE=1 RDATA0=0x3\n",
               text);
    scene_end(&s);
}

static void branches_are_reported_without_code(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    decodes_to(
        &s,
        START
        "DirectBranch ICNT=4\nIndirectBranch BTYPE=0 ICNT=3 UADDR=0x180\nProgTraceCorrelation EVCODE=0 CDF=0 ICNT=9\n",
        "sync 3 100\nblind 100+4 taken ?\nblind ?+3 indirect-jump 200\nblind 200+9 cut ?\n"
        "gap NO_IMAGE #2-#4 @4-@10 100 to ?\nstop 0 ?\n");
    scene_end(&s);
}

static void calls_in_missing_code_spoil_the_stack_softly(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.implicit_return = NTR_RETURN_FULL;
    code(&s, 0x200, ADD, RET);
    code(&s, 0x300, ADD, JR_A5);
    /* The caller has no image. The return of its callee is implicit and cannot be followed. */
    decodes_to(&s,
               START "IndirectBranch BTYPE=0 ICNT=4 UADDR=0x180\nIndirectBranch BTYPE=0 ICNT=10 UADDR=0x80\n"
                     "IndirectBranch BTYPE=0 ICNT=4 UADDR=0x80\n",
               "sync 3 100\nblind 100+4 indirect-jump 200\ngap NO_IMAGE #2-#2 @4-@4 100 to 200\n"
               "span 200+1/2 cut 204\nblind 204+8 indirect-jump 300\ngap RETURN_STACK #3-#3 @8-@8 204 to 300\n"
               "span 300+2/4 indirect-jump 200\n");
    scene_end(&s);
}

static void strict_stops_at_the_first_defect(void **state) {
    (void)state;
    static char text[SCENE_TEXT];
    scene s;
    plain(&s);
    s.config.strict = true;
    stream in = {.size = 0};
    assemble(&in, &s.config.params, START "DirectBranch ICNT=4\nDirectBranch ICNT=3\n" AGAIN);
    assert_int_equal(decode_stream(&s, &in, text, &(ntr_counts){0}), NTR_E_ICNT_SPLITS);
    assert_string_equal(text, "sync 3 100\nspan 100+2/4 taken 100\nspan 100+1/2 cut 104\n");
    scene_end(&s);
}

/* Returns why decoding stops, by ntr_decoder_read or ntr_decoder_count. */
static const char *why_it_stops(scene *s, const char *messages, bool counting) {
    static char error[300];
    stream in = {.size = 0};
    ntr_event events[16];
    size_t count;
    ntr_status status = NTR_OK;
    assemble(&in, &s->config.params, messages);
    ntr_decoder *d;
    ntr_decoder_new(&s->config, &d);
    assert_string_equal(ntr_decoder_error(d), "");
    ntr_decoder_feed(d, in.bytes, in.size, true);
    if (counting) status = ntr_decoder_count(d, &(ntr_counts){0});
    while (status == NTR_OK) status = ntr_decoder_read(d, events, 16, &count);
    snprintf(error, sizeof error, "%s", ntr_decoder_error(d));
    assert_int_equal(status < 0, *error != 0);
    ntr_decoder_free(d);
    return error;
}

static void strict_says_where_and_why(void **state) {
    (void)state;
    const struct {
        const char *messages, *error;
    } cases[] = {
        {START "DirectBranch ICNT=4\nDirectBranch ICNT=3\n" AGAIN,
         "message 3 at byte 6 (DirectBranch): I-CNT ends inside an instruction; execution is known up to address 0x104"},
        {START "raw 02 03\n" AGAIN,
         "message 2 at byte 4 (Malformed): reserved MSEO code 10; execution is known up to address 0x100"},
        {START "raw 10 03\n" AGAIN,
         "message 2 at byte 4 (IndirectBranch), field UADDR: message ends before this mandatory field; "
         "execution is known up to address 0x100"},
        {START "DirectBranch ICNT=4\n", ""},
    };
    for (int counting = 0; counting < 2; counting++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            scene s;
            plain(&s);
            s.config.strict = true;
            assert_string_equal(why_it_stops(&s, cases[i].messages, counting), cases[i].error);
            scene_end(&s);
        }
}

static void strict_names_the_source(void **state) {
    (void)state;
    scene s;
    plain(&s);
    s.config.strict = true;
    s.config.params.src_bits = 4;
    assert_string_equal(
        why_it_stops(&s, "ProgTraceSync SRC=5 SYNC=3 ICNT=0 FADDR=0x80\nDirectBranch SRC=5 ICNT=3\n", false),
        "message 2 at byte 5 (DirectBranch of source 5): I-CNT ends inside an instruction; execution is "
        "known up to address 0x104");
    scene_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(bad_bytes_cost_what_is_up_to_the_next_sync),
        TEST(several_defects_before_a_sync_are_one_gap),
        TEST(truncation_is_reported_at_the_end),
        TEST(certain_code_is_reported_before_a_gap),
        TEST(overruns_without_their_error_message_are_gaps),
        TEST(streams_may_start_in_the_middle),
        TEST(syncs_that_do_not_follow_are_gaps),
        TEST(missing_code_is_walked_blindly),
        TEST(missing_code_starts_and_ends_anywhere),
        TEST(branches_are_reported_without_code),
        TEST(calls_in_missing_code_spoil_the_stack_softly),
        TEST(strict_stops_at_the_first_defect),
        TEST(strict_says_where_and_why),
        TEST(strict_names_the_source),
    };
    return cmocka_run_group_tests_name("gaps", tests, NULL, NULL);
}
