/* The library has no state of its own: contexts of different threads do not meet. ThreadSanitizer judges (make
 * sanitize-more); without it, the answers do. */
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

int main(void) {
    const struct CMUnitTest tests[] = {TEST(threads_do_not_meet)};
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
