/* The callbacks of an analyzer: what `progress` is told, and how a run ends that `stop` or `read` ends. */
#include "../decoder/scene.h"

#include <ntrace/analyzer.h>
#include <ntrace/tally.h>

#include <stdatomic.h>

/* A branch to itself. Each of so many messages says that it was taken. `read` gives so many bytes at once. */
enum { LOOP = 0x100, ROUNDS = 4000, PIECE = 100 };
#define START "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\n"
#define END   "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=0\n"

static scene a_loop;
static stream bytes;
static const unsigned threads_of[] = {1, 2};

/* What the callbacks share. Each call is made by one thread at a time, but by any. */
typedef struct run {
    size_t at, pieces;
    size_t stop_at; /* `stop` is true when so many bytes were read; 0: never */
    ntr_status fails; /* what `read` returns in place of the piece after `fails_at` bytes */
    size_t fails_at;
    uint64_t told;
    size_t tellings;
    bool wrong; /* a telling was not the number of bytes read so far */
    atomic_uint asked;
} run;

static ntr_status read_piece(void *user, uint8_t *to, size_t capacity, size_t *got, bool *last) {
    run *r = user;
    size_t size = bytes.size - r->at < PIECE ? bytes.size - r->at : PIECE;

    *got = 0;
    *last = false;
    if (r->fails && r->at >= r->fails_at) return r->fails;
    if (size > capacity) size = capacity;
    memcpy(to, bytes.bytes + r->at, size);
    r->at += size;
    r->pieces += size != 0;
    *got = size;
    *last = r->at == bytes.size;
    return NTR_OK;
}

static bool stops(void *user) {
    run *r = user;
    atomic_fetch_add(&r->asked, 1);
    return r->stop_at && r->at >= r->stop_at;
}

static void tell(void *user, uint64_t read) {
    run *r = user;
    r->tellings++;
    r->wrong |= read != r->at || read <= r->told;
    r->told = read;
}

static int begin(void **state) {
    (void)state;
    scene_start(&a_loop, NULL);
    code(&a_loop, LOOP, c_beqz(0), C_EBREAK);
    bytes.size = 0;
    assemble(&bytes, &a_loop.config.params, START);
    for (unsigned i = 0; i < ROUNDS; i++) assemble(&bytes, &a_loop.config.params, "DirectBranch ICNT=1\n");
    assemble(&bytes, &a_loop.config.params, END);
    return 0;
}

static int end(void **state) {
    (void)state;
    scene_end(&a_loop);
    return 0;
}

/* Runs an analyzer that counts code. Returns its status; *executed: how often the branch was. */
static ntr_status analyze(run *r, unsigned threads, uint64_t *executed) {
    ntr_analysis analysis;
    ntr_analyzer_config config;
    ntr_analyzer *analyzer;
    size_t count;

    ntr_analysis_init(&analysis);
    analysis.program = a_loop.program;
    assert_int_equal(ntr_tally_new(a_loop.program, NULL, &analysis.tally), NTR_OK);
    ntr_analyzer_config_init(&config);
    config.decoder = &a_loop.config;
    config.analysis = &analysis;
    config.read = read_piece;
    config.stop = stops;
    config.progress = tell;
    config.user = r;
    assert_int_equal(ntr_analyzer_new(&config, &analyzer), NTR_OK);
    const ntr_status status = ntr_analyzer_run(analyzer, threads);
    *executed = 0;
    const ntr_tally_row *rows = ntr_tally_rows(analysis.tally, &count);
    for (size_t i = 0; i < count; i++) *executed += rows[i].address == LOOP ? rows[i].count : 0;
    ntr_analyzer_free(analyzer);
    ntr_tally_free(analysis.tally);
    return status;
}

static void progress_is_told_the_bytes_read_so_far(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        run r = {0};
        uint64_t executed;
        assert_int_equal(analyze(&r, threads_of[i], &executed), NTR_END);
        assert_int_equal(executed, ROUNDS);
        assert_false(r.wrong);
        assert_int_equal(r.told, bytes.size);
        assert_int_equal(r.tellings, r.pieces); /* once for each piece */
        assert_true(atomic_load(&r.asked) > 1);
    }
}

/* What was read until then may be counted, and nothing else is read. */
static void stop_ends_a_run(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        run r = {.stop_at = 5 * PIECE};
        uint64_t executed;
        assert_int_equal(analyze(&r, threads_of[i], &executed), NTR_OK);
        assert_true(r.at >= r.stop_at && r.at <= r.stop_at + PIECE);
        assert_true(executed < ROUNDS);
        assert_int_equal(r.told, r.at);
        assert_false(r.wrong);
    }
}

static void stop_before_the_first_byte(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        run r = {.fails = NTR_E_IO};
        uint64_t executed;
        r.stop_at = 1;
        r.at = 1; /* as if it were so from the beginning */
        assert_int_equal(analyze(&r, threads_of[i], &executed), NTR_OK);
        assert_int_equal(executed, 0);
        assert_int_equal(r.tellings, 0);
    }
}

/* The status of `read` is that of the run; what was read before is counted. */
static void read_ends_a_run(void **state) {
    static const ntr_status all[] = {NTR_E_IO, NTR_NEED_MORE};
    (void)state;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < 2; i++) {
            run r = {.fails = all[k], .fails_at = 3 * PIECE};
            uint64_t executed;
            assert_int_equal(analyze(&r, threads_of[i], &executed), all[k]);
            assert_int_equal(r.told, 3 * PIECE);
            assert_true(executed < ROUNDS);
        }
}

static void what_cannot_be_run(void **state) {
    ntr_analysis analysis;
    ntr_analyzer_config config;
    ntr_analyzer *analyzer = (ntr_analyzer *)(uintptr_t)1;

    (void)state;
    ntr_analysis_init(&analysis);
    ntr_analyzer_config_init(&config);
    config.decoder = &a_loop.config;
    assert_int_equal(ntr_analyzer_new(&config, &analyzer), NTR_E_INVALID); /* nothing to fill */
    assert_null(analyzer);
    config.analysis = &analysis;
    assert_int_equal(ntr_analyzer_new(&config, &analyzer), NTR_OK);
    assert_int_equal(ntr_analyzer_run(analyzer, 1), NTR_E_INVALID); /* nothing to read */
    assert_false(ntr_analyzer_any(analyzer));
    ntr_analyzer_free(analyzer);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(progress_is_told_the_bytes_read_so_far), TEST(stop_ends_a_run),
                                       TEST(stop_before_the_first_byte), TEST(read_ends_a_run),
                                       TEST(what_cannot_be_run)};
    return cmocka_run_group_tests(tests, begin, end);
}
