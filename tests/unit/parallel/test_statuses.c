/* The first failure is the status of a run, whoever fails later; and how many processors a machine has that has more
 * than a set of fixed size holds. */
#include "../test.h"
#include "../decoder/scene.h"

#include "parallel/state.h"

#include <errno.h>
#include <ntrace/chunk_output.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CHUNK = 64, READ_MOST = 8 * CHUNK, DEADLOCK_SECONDS = 300 };

/* ---- a thread fails while another one delivers */

typedef struct failing {
    stream in;
    size_t at;
    ntr_parallel *parallel;
    ntr_status late;        /* what `deliver` returns after the failure */
    atomic_bool delivering; /* the first output is being delivered */
    unsigned pieces;
} failing;

static ntr_status put_count(void *user, ntr_chunk *chunk, const ntr_event *events, size_t count) {
    (void)user, (void)events;
    return ntr_chunk_put(chunk, 1, &count, sizeof count);
}

/* The bytes of some chunks, and then a failure, but not before output is delivered. */
static ntr_status read_some(void *user, uint8_t *to, size_t capacity, size_t *got, bool *last) {
    failing *f = user;

    *got = 0;
    *last = false;
    if (f->at >= READ_MOST) {
        while (!atomic_load(&f->delivering)) usleep(100);
        return NTR_E_IO;
    }
    *got = capacity < CHUNK ? capacity : CHUNK;
    memcpy(to, f->in.bytes + f->at, *got);
    f->at += *got;
    return NTR_OK;
}

/* The first call lasts until the other thread has failed. */
static ntr_status deliver_late(void *user, unsigned what, const void *data, size_t size) {
    failing *f = user;

    (void)what, (void)data, (void)size;
    if (f->pieces++) return f->late;
    atomic_store(&f->delivering, true);
    for (bool failed = false; !failed; usleep(100)) {
        pthread_mutex_lock(&f->parallel->lock);
        failed = f->parallel->status != NTR_OK;
        pthread_mutex_unlock(&f->parallel->lock);
    }
    return f->late;
}

static void the_first_failure_is_the_status(void **state) {
    static const ntr_status late[] = {NTR_OK, NTR_END, NTR_E_LIMIT};

    (void)state;
    for (size_t i = 0; i < sizeof late / sizeof *late; i++) {
        static failing f;
        ntr_parallel_config config;
        scene s;

        memset(&f, 0, sizeof f);
        f.late = late[i];
        scene_start(&s, NULL);
        code(&s, 0x100, c_beqz(0), C_EBREAK);
        assemble(&f.in, &s.config.params, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\n");
        while (f.in.size < 2 * READ_MOST)
            assemble(&f.in, &s.config.params, "DirectBranch ICNT=1\nDirectBranchSync SYNC=2 ICNT=1 FADDR=0x80\n");
        ntr_parallel_config_init(&config);
        config.decoder = &s.config;
        config.threads = 3;
        config.chunk = CHUNK;
        config.work.events = put_count;
        config.work.deliver = deliver_late;
        config.work.read = read_some;
        config.work.user = &f;
        assert_int_equal(ntr_parallel_new(&config, &f.parallel), NTR_OK);
        alarm(DEADLOCK_SECONDS);
        assert_int_equal(ntr_parallel_run(f.parallel), NTR_E_IO);
        alarm(0);
        assert_int_equal(f.pieces, 1); /* nothing is delivered after it */
        assert_string_equal(ntr_parallel_error(f.parallel), "input or output failed");
        ntr_parallel_free(f.parallel);
        scene_end(&s);
    }
}

/* ---- processors */

static unsigned processors; /* of a machine that is not there; 0: the real one */
static int refusal;         /* what the kernel says */

/* In place of the C library's: the kernel refuses a set that has not a bit for each of its processors. */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set) {
    if (!processors) {
        const long filled = syscall(SYS_sched_getaffinity, pid, size, set);
        if (filled >= 0) memset((char *)set + filled, 0, size - (size_t)filled);
        return filled < 0 ? -1 : 0;
    }
    if (refusal || size < (processors + 7) / 8) {
        errno = refusal ? refusal : EINVAL;
        return -1;
    }
    memset(set, 0, size);
    for (unsigned i = 0; i < processors; i++) CPU_SET_S(i, size, set);
    return 0;
}

static void all_processors_are_counted(void **state) {
    static const unsigned numbers[] = {1, 1024, 1025, 5000};

    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        processors = numbers[i];
        assert_int_equal(ntr_processors(), processors);
    }
    processors = 1u << 22; /* more than any kernel has */
    assert_int_equal(ntr_processors(), 1);
    processors = 8;
    refusal = EPERM;
    assert_int_equal(ntr_processors(), 1);
    processors = 0;
    refusal = 0;
    assert_true(ntr_processors() >= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(the_first_failure_is_the_status), TEST(all_processors_are_counted)};
    return cmocka_run_group_tests_name("statuses", tests, NULL, NULL);
}
