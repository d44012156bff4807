/* Questions before the index has begun, about more instructions than a question walks over. */
#include "../replay/scene_stream.h"

#include <ntrace/explore.h>

static scene s;
static scene_stream in;

static ntr_status open_stream(void *user, ntr_stream_reader **out) {
    return scene_stream_open(user, out);
}

/* A loop of two instructions; each message stands for two million. */
static ntr_explorer *begin(ntr_debug_info **debug, ntr_functions **functions) {
    ntr_explorer_config config;
    scene_start(&s, NULL);
    memset(&in, 0, sizeof in);
    code(&s, 0x1000, ADD, jal(0, -4));
    assemble(&in.in, &s.config.params, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x800\n");
    for (int i = 0; i < 3; i++) assemble(&in.in, &s.config.params, "ResourceFull RCODE=0 RDATA0=4000000\n");
    ntr_debug_info_new(s.program, NULL, debug);
    ntr_functions_new(*debug, NULL, functions);
    ntr_explorer_config_init(&config);
    config.decoder = &s.config;
    config.debug = *debug;
    config.functions = *functions;
    config.open = open_stream;
    config.user = &in;
    ntr_explorer *x;
    assert_int_equal(ntr_explorer_new(&config, &x), NTR_OK);
    return x;
}

static bool answer_has(ntr_explorer *x, const char *question, const char *part) {
    ntr_bytes answer;
    assert_int_equal(ntr_explorer_ask(x, question, strlen(question), &answer), NTR_OK);
    return memmem(answer.data, answer.size, part, strlen(part)) != NULL;
}

static void questions_before_the_index(void **state) {
    (void)state;
    static const char *const questions[] = {"{\"query\":\"overview\"}", "{\"query\":\"slices\"}",
                                            "{\"query\":\"tree\"}", "{\"query\":\"functions\"}"};
    ntr_debug_info *debug;
    ntr_functions *functions;
    ntr_explorer *x = begin(&debug, &functions);
    while (!ntr_explorer_progress(x).read) assert_int_equal(ntr_explorer_work(x), NTR_END);
    assert_true(ntr_explorer_progress(x).known > 1 << 21);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        assert_true(answer_has(x, questions[i], "\"complete\":false,\"progress\""));
    while (ntr_explorer_work(x) == NTR_END) {
    }
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        assert_true(answer_has(x, questions[i], "\"complete\":true,\"progress\""));
    ntr_explorer_free(x);
    ntr_functions_free(functions);
    ntr_debug_info_free(debug);
    scene_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(questions_before_the_index)};
    return cmocka_run_group_tests_name("early", tests, NULL, NULL);
}
