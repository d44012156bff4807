/* The library has no global state: decoders of different threads are independent. ThreadSanitizer checks this (make
 * sanitize-more); without it, the results do. */
#include "../test.h"
#include "../decoder/scene.h"

#include <pthread.h>

#define START "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\n"

enum { THREADS = 4, ROUNDS = 50 };

static void one_round(void) {
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(-4), JR_A5);
    code(&s, 0x200, ADD, branch(-4), JR_A5);
    decodes_to(&s, START "DirectBranch ICNT=4\nRepeatBranch BCNT=1\nIndirectBranch BTYPE=0 ICNT=6 UADDR=0x180\n",
               "sync 3 100\nspan 100+2/4 taken 100\nspan 100+2/4 taken 100\nspan 100+2/4 not-taken 108\n"
               "span 108+1/2 indirect-jump 200\n");
    scene_end(&s);
}

static void *work(void *unused) {
    for (unsigned i = 0; i < ROUNDS; i++) one_round();
    return unused;
}

static void threads_do_not_meet(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    one_round();
    for (unsigned i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, work, NULL), 0);
    for (unsigned i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* ---- ntr_parallel_error */

static ntr_status deliver(void *user, unsigned what, const void *data, size_t size) {
    (void)user, (void)what, (void)data, (void)size;
    return NTR_OK;
}

static ntr_status refuse(void *user, ntr_chunk *chunk, const ntr_event *events, size_t count) {
    (void)user, (void)chunk, (void)events, (void)count;
    return NTR_E_IO;
}

static void failures_are_described(void **state) {
    (void)state;
    const struct {
        const char *messages;
        bool counting;
        ntr_status (*events)(void *user, ntr_chunk *chunk, const ntr_event *events, size_t count);
        const char *error;
    } cases[] = {
        {START "DirectBranch ICNT=4\nDirectBranch ICNT=3\n", false, NULL,
         "message 3 at byte 6 (DirectBranch): I-CNT ends inside an instruction; execution is known up to address 0x104"},
        {START "DirectBranch ICNT=4\nDirectBranch ICNT=3\n", true, NULL,
         "message 3 at byte 6 (DirectBranch): I-CNT ends inside an instruction; execution is known up to address 0x104"},
        {START "DirectBranch ICNT=4\n", false, refuse, "input or output failed"},
        {START "DirectBranch ICNT=4\n", false, NULL, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scene s;
        scene_start(&s, NULL);
        s.config.strict = true;
        code(&s, 0x100, ADD, branch(-4), JR_A5);
        stream in = {.size = 0};
        assemble(&in, &s.config.params, cases[i].messages);
        ntr_parallel_config config;
        ntr_parallel_config_init(&config);
        config.decoder = &s.config;
        config.threads = 2;
        config.counting = cases[i].counting;
        config.work.events = cases[i].events;
        config.work.deliver = deliver;
        ntr_parallel *p;
        ntr_parallel_new(&config, &p);
        assert_string_equal(ntr_parallel_error(p), "");
        ntr_status status = ntr_parallel_feed(p, in.bytes, in.size, true);
        assert_int_equal(status < 0, *cases[i].error != 0);
        assert_string_equal(ntr_parallel_error(p), cases[i].error);
        ntr_parallel_free(p);
        scene_end(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(threads_do_not_meet), TEST(failures_are_described)};
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
