/* perf.data, read here by the layout of perf's documentation (perf.data-file-format.txt, perf_event_open(2)): which
 * instructions are samples, with which period, time, process and callers. The program is that of world.h. */
#include "world.h"

enum {
    PERF_FILE_MAX = 1 << 16,
    PERF_SAMPLE_RECORD = 9,
    PERF_COMM_RECORD = 3,
    PERF_MMAP2_RECORD = 10,
    PERF_CALLERS_MAX = 8,
    PERF_BRANCHES_MAX = 4,
};

static const uint64_t perf_executed[] = {
    0x10000, 0x10002, 0x10004, 0x10040, 0x10042, 0x10048, 0x10008, /* main once, work */
    0x10002, 0x10004, 0x10040, 0x10042, 0x10048, 0x10008,          /* the loop */
    0x10002, 0x10004, 0x10040, 0x10042, 0x10048, 0x10008, 0x1000a, 0x1000c,
};
enum { PERF_EXECUTED = sizeof perf_executed / sizeof *perf_executed };

typedef struct perf_file_bytes {
    uint8_t at[PERF_FILE_MAX];
    size_t size;
} perf_file_bytes;

static ntr_status perf_file_take(void *user, const void *bytes, size_t size) {
    perf_file_bytes *file = user;
    assert_true(file->size + size <= sizeof file->at);
    memcpy(file->at + file->size, bytes, size);
    file->size += size;
    return NTR_OK;
}

static uint64_t perf_number(const perf_file_bytes *file, size_t at, unsigned width) {
    uint64_t value = 0;
    assert_true(at + width <= file->size);
    for (unsigned i = 0; i < width; i++) value |= (uint64_t)file->at[at + i] << 8 * i;
    return value;
}

typedef struct perf_sample {
    uint64_t ip, time, period;
    uint32_t pid, cpu;
    uint64_t callers[PERF_CALLERS_MAX]; /* with the sampled instruction, without marks of a context */
    size_t caller_count;
    uint64_t from[PERF_BRANCHES_MAX], to[PERF_BRANCHES_MAX];
    size_t branch_count;
} perf_sample;

/* IP, TID, TIME, CPU, PERIOD, CALLCHAIN, BRANCH_STACK. */
static perf_sample perf_read_sample(const perf_file_bytes *file, size_t at, size_t end, bool branches) {
    perf_sample s = {.ip = perf_number(file, at, 8),
                     .pid = (uint32_t)perf_number(file, at + 8, 4),
                     .time = perf_number(file, at + 16, 8),
                     .cpu = (uint32_t)perf_number(file, at + 24, 4),
                     .period = perf_number(file, at + 32, 8)};
    const uint64_t chain = perf_number(file, at + 40, 8);
    at += 48;
    for (uint64_t i = 0; i < chain; i++, at += 8) {
        const uint64_t address = perf_number(file, at, 8);
        if (address >= (uint64_t)-4095) continue; /* PERF_CONTEXT_* */
        assert_true(s.caller_count < PERF_CALLERS_MAX);
        s.callers[s.caller_count++] = address;
    }
    if (branches) {
        const uint64_t count = perf_number(file, at, 8);
        at += 8;
        assert_true(count <= PERF_BRANCHES_MAX);
        for (; s.branch_count < count; s.branch_count++, at += 24) {
            s.from[s.branch_count] = perf_number(file, at, 8);
            s.to[s.branch_count] = perf_number(file, at + 8, 8);
        }
    }
    assert_int_equal(at, end);
    return s;
}

/* Exports and reads all samples. Returns their number. */
static size_t perf_samples_of(world *w, perf_sample *samples, size_t capacity) {
    static perf_file_bytes file;
    size_t count = 0, maps = 0;
    ntr_output output;
    ntr_output_init(&output);
    file.size = 0;
    output.write = perf_file_take;
    output.user = &file;
    ntr_export *x;
    ntr_export_new(ntr_exporter_find("export", "perf.data"), &w->analysis, &output, &x);
    assert_non_null(x);
    assert_int_equal(ntr_export_feed(x, w->events, w->event_count), NTR_OK);
    assert_int_equal(ntr_export_finish(x), NTR_OK);
    ntr_export_free(x);

    assert_memory_equal(file.at, "PERFILE2", 8);
    assert_int_equal(perf_number(&file, 8, 8), 104);
    const size_t attr = (size_t)perf_number(&file, 24, 8), data = (size_t)perf_number(&file, 40, 8);
    const size_t end = data + (size_t)perf_number(&file, 48, 8);
    const uint64_t kind = perf_number(&file, attr + 24, 8);
    const bool branches = kind >> 11 & 1;
    assert_int_equal(kind & ~(UINT64_C(1) << 11), 1 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 7 | 1 << 8);
    assert_true(end <= file.size);
    for (size_t at = data, size; at < end; at += size) {
        const unsigned type = (unsigned)perf_number(&file, at, 4);
        size = (size_t)perf_number(&file, at + 6, 2);
        assert_true(size >= 8 && size % 8 == 0 && at + size <= end);
        maps += type == PERF_MMAP2_RECORD || type == 1;
        if (type != PERF_SAMPLE_RECORD) continue;
        assert_true(maps > 0 && count < capacity); /* mappings come first */
        samples[count++] = perf_read_sample(&file, at + 8, at + size, branches);
    }
    return count;
}

static void every_instruction(void **state) {
    (void)state;
    static world w;
    perf_sample samples[64];
    world_begin(&w);
    w.analysis.sample_every = 1;
    assert_int_equal(perf_samples_of(&w, samples, 64), PERF_EXECUTED);
    for (size_t i = 0; i < PERF_EXECUTED; i++) {
        const bool in_work = perf_executed[i] >= WORLD_WORK;
        assert_int_equal(samples[i].ip, perf_executed[i]);
        assert_int_equal(samples[i].period, 1);
        assert_int_equal(samples[i].cpu, 0);
        assert_int_equal(samples[i].pid, samples[0].pid);
        assert_true(i == 0 || samples[i].time >= samples[i - 1].time);
        assert_int_equal(samples[i].caller_count, in_work ? 2 : 1);
        assert_int_equal(samples[i].callers[0], perf_executed[i]);
        if (in_work) assert_int_equal(samples[i].callers[1], 0x10008);
    }
    assert_int_equal(samples[0].time, 1010); /* the first span ends with the message at 1010 */
    world_end(&w);
}

/* The periods add up to the instructions: what is left is a last sample. */
static void every_fourth_instruction(void **state) {
    (void)state;
    static world w;
    perf_sample samples[64];
    world_begin(&w);
    w.analysis.sample_every = 4;
    assert_int_equal(perf_samples_of(&w, samples, 64), 6);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(samples[i].ip, perf_executed[4 * i + 3]);
        assert_int_equal(samples[i].period, 4);
    }
    assert_int_equal(samples[5].ip, perf_executed[PERF_EXECUTED - 1]);
    assert_int_equal(samples[5].period, 1);
    world_end(&w);
}

/* The newest branch first; those of a span that has not ended are not there. */
static void branch_stacks(void **state) {
    (void)state;
    static world w;
    perf_sample samples[64];
    world_begin(&w);
    w.analysis.sample_every = 10; /* samples 10 and 20, and the rest */
    w.analysis.sample_branches = 3;
    assert_int_equal(perf_samples_of(&w, samples, 64), 3);
    static const struct {
        uint64_t from, to;
    } expected[2][3] = {
        {{0x10004, 0x10040}, {0x10008, 0x10002}, {0x10048, 0x10008}},
        {{0x10048, 0x10008}, {0x10042, 0x10048}, {0x10004, 0x10040}},
    };
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(samples[i].ip, perf_executed[10 * i + 9]);
        assert_int_equal(samples[i].branch_count, 3);
        for (size_t k = 0; k < 3; k++) {
            assert_int_equal(samples[i].from[k], expected[i][k].from);
            assert_int_equal(samples[i].to[k], expected[i][k].to);
        }
    }
    world_end(&w);
}

static void times_in_nanoseconds(void **state) {
    (void)state;
    static world w;
    perf_sample samples[64];
    world_begin(&w);
    w.analysis.sample_every = 7;
    w.analysis.ticks_per_second = 1000000; /* a tick is 1000 ns */
    assert_int_equal(perf_samples_of(&w, samples, 64), 3);
    assert_int_equal(samples[0].time, 1040000); /* the branch of main: the fourth span */
    world_end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(every_instruction), TEST(every_fourth_instruction), TEST(branch_stacks),
                                       TEST(times_in_nanoseconds)};
    return cmocka_run_group_tests_name("perf_file", tests, NULL, NULL);
}
