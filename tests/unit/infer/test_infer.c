/* Inference of stream parameters from little information. Complete streams are tested over the corpus and at random. */
#include "../decoder/scene.h"

#include <ntrace/infer.h>

#define START "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\n"

#define START_9 "ProgTraceSync SRC=9 SYNC=3 ICNT=0 FADDR=0x80\n"
#define TURN_9  "DirectBranch SRC=9 ICNT=4\n"

#define FOUR(text)    text text text text
#define SIXTEEN(text) FOUR(FOUR(text))

static void infer(const scene *s, const char *messages, ntr_inference *got, bool with_program, uint32_t given) {
    stream in = {.size = 0};
    assemble(&in, &s->config.params, messages);
    ntr_infer_config config = {
        .size = sizeof config, .params = s->config.params, .given = given, .program = with_program ? s->program : NULL};
    assert_int_equal(ntr_infer(&config, (ntr_bytes){in.bytes, in.size}, got), NTR_OK);
}

static void what_is_given_is_kept(void **state) {
    (void)state;
    static ntr_inference got;
    scene s;
    scene_start(&s, NULL);
    s.config.params.src_bits = 3;
    s.config.params.implicit_return = NTR_RETURN_PARTIAL;
    code(&s, 0x100, ADD, branch(-4));
    infer(&s, "ProgTraceSync SRC=1 SYNC=3 ICNT=0 FADDR=0x80\nDirectBranch SRC=1 ICNT=4\n", &got, true,
          1u << NTR_PARAMETER_SRC_BITS | 1u << NTR_PARAMETER_IMPLICIT_RETURN | 1u << NTR_PARAMETER_DIALECT);
    assert_int_equal(got.params.src_bits, 3);
    assert_int_equal(got.choices[NTR_PARAMETER_SRC_BITS].confidence, NTR_CONFIDENCE_GIVEN);
    assert_int_equal(got.params.implicit_return, NTR_RETURN_PARTIAL);
    assert_int_equal(got.choices[NTR_PARAMETER_DIALECT].confidence, NTR_CONFIDENCE_GIVEN);
    scene_end(&s);
}

/* Calls and returns without a message: returns are implicit. How deep the return stack is remains an assumption. */
static void the_depth_of_the_return_stack_is_an_assumption(void **state) {
    (void)state;
    static ntr_inference got;
    const char *text = FOUR("ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\nProgTraceCorrelation EVCODE=4 CDF=0 ICNT=8\n");
    const ntr_choice *depth = &got.choices[NTR_PARAMETER_RETURN_STACK];
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, jal(1, 0x10), ADD, ADD, ADD, ADD, RET);
    infer(&s, text, &got, true, 1u << NTR_PARAMETER_DIALECT);
    assert_int_equal(got.params.implicit_return, NTR_RETURN_FULL);
    assert_int_equal(depth->confidence, NTR_CONFIDENCE_UNKNOWN);
    assert_string_equal(depth->value, "0");
    assert_string_equal(depth->evidence, "a return stack as deep as needed");
    s.config.params.return_stack = 16;
    infer(&s, text, &got, true, 1u << NTR_PARAMETER_DIALECT | 1u << NTR_PARAMETER_RETURN_STACK);
    assert_int_equal(depth->confidence, NTR_CONFIDENCE_GIVEN);
    assert_int_equal(got.params.return_stack, 16);
    s.config.params.return_stack = 0;
    infer(&s, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\nProgTraceCorrelation EVCODE=4 CDF=0 ICNT=2\n", &got, true,
          1u << NTR_PARAMETER_DIALECT | 1u << NTR_PARAMETER_IMPLICIT_RETURN);
    assert_int_equal(depth->confidence, NTR_CONFIDENCE_GIVEN); /* no returns are implicit: nothing is assumed */
    scene_end(&s);
}

static void nothing_is_sure_of_nothing(void **state) {
    (void)state;
    static ntr_inference got;
    scene s;
    scene_start(&s, NULL);
    for (int program = 0; program < 2; program++) {
        infer(&s, "", &got, program, 0);
        for (unsigned p = 0; p < NTR_PARAMETERS; p++)
            if (got.choices[p].confidence == NTR_CONFIDENCE_SURE) fail_msg("%s is sure", ntr_parameter_name(p));
        assert_int_equal(ntr_params_check(&got.params), NTR_OK);
    }
    scene_end(&s);
}

/* The first of these streams is too short to leave the defaults. */
static void some_messages_show_the_width_of_src(void **state) {
    (void)state;
    static const struct {
        const char *text;
        unsigned bits, confidence;
    } cases[] = {
        {START_9 FOUR(TURN_9), 0, NTR_CONFIDENCE_UNKNOWN},
        {START_9 FOUR(FOUR(TURN_9)), 5, NTR_CONFIDENCE_LIKELY},
        {START_9 SIXTEEN(FOUR(TURN_9)), 5, NTR_CONFIDENCE_SURE},
    };
    static ntr_inference got;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        scene s;
        scene_start(&s, NULL);
        s.config.params.src_bits = 5;
        code(&s, 0x100, ADD, branch(-4), JR_A5);
        infer(&s, cases[i].text, &got, true, 0);
        assert_int_equal(got.params.src_bits, cases[i].bits);
        assert_int_equal(got.choices[NTR_PARAMETER_SRC_BITS].confidence, cases[i].confidence);
        if (cases[i].bits) assert_string_equal(got.mode.value, "btm");
        scene_end(&s);
    }
}

static void a_parameter_that_is_never_inferred_is_kept(void **state) {
    (void)state;
    static ntr_inference got;
    scene s;
    scene_start(&s, NULL);
    s.config.params.return_stack = 7;
    code(&s, 0x100, ADD, branch(-4));
    infer(&s, START "DirectBranch ICNT=4\n", &got, true, 0);
    assert_int_equal(got.params.return_stack, 7);
    assert_int_equal(got.choices[NTR_PARAMETER_RETURN_STACK].confidence, NTR_CONFIDENCE_GIVEN);
    assert_string_equal(got.choices[NTR_PARAMETER_RETURN_STACK].value, "7");
    scene_end(&s);
}

static void infer_bytes(const scene *s, const char *hex, ntr_inference *got, bool with_program) {
    stream in = {.size = 0};
    unsigned byte;
    for (int length = 0; sscanf(hex, "%2x%n", &byte, &length) == 1; hex += length) in.bytes[in.size++] = (uint8_t)byte;
    ntr_infer_config config = {
        .size = sizeof config, .params = s->config.params, .program = with_program ? s->program : NULL};
    assert_int_equal(ntr_infer(&config, (ntr_bytes){in.bytes, in.size}, got), NTR_OK);
}

#define FILL8 "FFFFFFFFFFFFFFFF"

/* Both dialects follow the program; only the frames of 64 bytes tell them apart, and the repeated U-ADDR goes to other
 * places. */
static void frames_show_tt_dfd(void **state) {
    (void)state;
    static ntr_inference got;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, branch(8), JR_A5, ADD, ADD, ADD, ADD, ADD, ADD, branch(8), JR_A5);
    infer_bytes(
        &s,
        /* ProgTraceSync SYNC 1 at 0x100, Ownership, IndirectBranchHist to 0x120, RepeatBranch: 0x100, 0x120, ... */
        "244001000B"
        "08000F"
        "700011410B"
        "780007" FILL8 FILL8 FILL8 FILL8 FILL8 FILL8
        /* a second frame: ProgTraceCorrelation */
        "84001507" FILL8 FILL8 FILL8 FILL8 FILL8 FILL8 FILL8 "FFFFFFFF",
        &got, true);
    assert_string_equal(got.choices[NTR_PARAMETER_DIALECT].value, "tt-dfd");
    assert_int_equal(got.choices[NTR_PARAMETER_DIALECT].confidence, NTR_CONFIDENCE_LIKELY);
    assert_int_equal(got.params.src_bits, 4);
    scene_end(&s);
}

/* EVCODE 5 and 15 are known in one dialect only. */
static void own_values_show_a_dialect(void **state) {
    (void)state;
    static ntr_inference got;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(-4), JR_A5);
#define SESSION(evcode)                                                                                                \
    "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\nDirectBranch ICNT=4\nProgTraceCorrelation EVCODE=" evcode " CDF=0 ICNT=2\n"
#define SESSIONS SESSION("15") SESSION("5") SESSION("15")
    infer(&s, SESSIONS SESSIONS SESSION("5"), &got, true, 0);
    assert_string_equal(got.choices[NTR_PARAMETER_DIALECT].value, "ntrace-1.0"); /* seven may be damage */
    infer(&s, SESSIONS SESSIONS SESSION("5") SESSION("5"), &got, true, 0);
    assert_string_equal(got.choices[NTR_PARAMETER_DIALECT].value, "andes");
    assert_int_equal(got.choices[NTR_PARAMETER_DIALECT].confidence, NTR_CONFIDENCE_LIKELY);
    scene_end(&s);
}

/* N-Trace 1.0 and three producers without messages of their own are read alike: none is sure. */
static void dialects_that_are_read_alike_are_not_sure(void **state) {
    (void)state;
    static ntr_inference got;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(-4), JR_A5);
    infer(&s, "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\nDirectBranch ICNT=4\nDirectBranch ICNT=4\n", &got, true, 0);
    assert_string_equal(got.choices[NTR_PARAMETER_DIALECT].value, "ntrace-1.0");
    assert_int_not_equal(got.choices[NTR_PARAMETER_DIALECT].confidence, NTR_CONFIDENCE_SURE);
    scene_end(&s);
}

/* What Config says needs no program. */
static void config_is_believed(void **state) {
    (void)state;
    static ntr_inference got;
    scene s;
    scene_start(&s, NULL);
    s.config.params.dialect = ntr_dialect_find("ctte");
    s.config.params.src_bits = 4;
    stream in = {.size = 0};
    assemble(&in, &s.config.params,
             "Config SRC=3 CFGVER=1 CAPS=0xffffff ENAB=0x8a8031 P0=0x34 P1=0x86 P2=0xa01 P3=0x1096\n"
             "ProgTraceSync SRC=3 SYNC=5 ICNT=0 FADDR=0x80\n");
    ntr_infer_config config = {.size = sizeof config};
    assert_int_equal(ntr_infer(&config, (ntr_bytes){in.bytes, in.size}, &got), NTR_OK);
    assert_string_equal(got.params.dialect->name, "ctte");
    assert_int_equal(got.params.src_bits, 4);
    assert_int_equal(got.params.branch_predictor, 9);
    assert_int_equal(got.params.jump_cache, 6);
    scene_end(&s);
}

static void each_confidence_has_a_name(void **state) {
    (void)state;
    assert_string_equal(ntr_confidence_name(NTR_CONFIDENCE_UNKNOWN), "not determined");
    for (unsigned i = 0; i <= NTR_CONFIDENCE_UNKNOWN; i++) assert_non_null(ntr_confidence_name(i));
    assert_null(ntr_confidence_name(NTR_CONFIDENCE_UNKNOWN + 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(what_is_given_is_kept),
        TEST(the_depth_of_the_return_stack_is_an_assumption),
        TEST(nothing_is_sure_of_nothing),
        TEST(some_messages_show_the_width_of_src),
        TEST(a_parameter_that_is_never_inferred_is_kept),
        TEST(frames_show_tt_dfd),
        TEST(own_values_show_a_dialect),
        TEST(dialects_that_are_read_alike_are_not_sure),
        TEST(config_is_believed),
        TEST(each_confidence_has_a_name),
    };
    return cmocka_run_group_tests_name("infer", tests, NULL, NULL);
}
