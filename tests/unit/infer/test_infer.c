/* Inference of stream parameters from little information. Complete streams are tested over the corpus and at random. */
#include "../decoder/scene.h"

#define START "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\n"

static void infer(const scene *s, const char *messages, ntr_inference *got, bool with_program, uint32_t given) {
    stream in = {.size = 0};
    assemble(&in, &s->config.params, messages);
    ntr_infer_config config = {.size = sizeof config, .params = s->config.params, .given = given,
                               .program = with_program ? s->program : NULL};
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

static void a_few_messages_show_the_width_of_src(void **state) {
    (void)state;
    static ntr_inference got;
    scene s;
    scene_start(&s, NULL);
    s.config.params.src_bits = 5;
    code(&s, 0x100, ADD, branch(-4), JR_A5);
    infer(&s, "ProgTraceSync SRC=9 SYNC=3 ICNT=0 FADDR=0x80\nDirectBranch SRC=9 ICNT=4\nDirectBranch SRC=9 ICNT=4\n"
              "IndirectBranch SRC=9 BTYPE=0 ICNT=6 UADDR=0x0\nDirectBranch SRC=9 ICNT=4\n", &got, true, 0);
    assert_int_equal(got.params.src_bits, 5);
    assert_int_equal(got.choices[NTR_PARAMETER_SRC_BITS].confidence, NTR_CONFIDENCE_SURE);
    assert_string_equal(got.mode.value, "btm");
    scene_end(&s);
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

static void each_confidence_has_a_name(void **state) {
    (void)state;
    assert_string_equal(ntr_confidence_name(NTR_CONFIDENCE_UNKNOWN), "not determined");
    for (unsigned i = 0; i <= NTR_CONFIDENCE_UNKNOWN; i++) assert_non_null(ntr_confidence_name(i));
    assert_null(ntr_confidence_name(NTR_CONFIDENCE_UNKNOWN + 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(what_is_given_is_kept),
        TEST(nothing_is_sure_of_nothing),
        TEST(a_few_messages_show_the_width_of_src),
        TEST(a_parameter_that_is_never_inferred_is_kept),
        TEST(each_confidence_has_a_name),
    };
    return cmocka_run_group_tests_name("infer", tests, NULL, NULL);
}
