/* perf.data in memory: records written here by hand, from the documentation of the kernel's and of perf's layouts. The
 * form is that of `perf record -o -`: records alone. */
#include "../test.h"

#include <ntrace/tools.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MMAP2 = 10,
    COMM = 3,
    AUX = 11,
    ITRACE_START = 12,
    ATTR = 64,
    AUXTRACE_INFO = 70,
    AUXTRACE = 71,
    FEATURE = 80,
    PMU_MAPPINGS = 16,
    PMU = 42,
    PID = 77,
    USER = 2,
    SAMPLE = 1 << 1 | 1 << 2 | 1 << 7 | 1 << 16, /* TID, TIME, CPU, IDENTIFIER */
    ATTR_FLAGS = 1 << 18 | 1 << 8 | 1 << 9 | 1 << 13 | 1 << 23, /* every record has the block of SAMPLE */
};

/* ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80; DirectBranch ICNT=3. */
static const uint8_t trace[] = {0x24, 0x0d, 0x00, 0x0b, 0x0c, 0x0f};

typedef struct file {
    uint8_t bytes[4096];
    size_t size, begin; /* `begin`: of the current record */
} file;

static void put(file *f, uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; i++) f->bytes[f->size++] = (uint8_t)(i < 8 ? value >> 8 * i : 0);
}

static void put_text(file *f, const char *text, size_t size) {
    const size_t length = strlen(text);
    for (size_t i = 0; i < size; i++) f->bytes[f->size++] = (uint8_t)(i < length ? text[i] : 0);
}

static void begin(file *f, unsigned kind, unsigned misc) {
    f->begin = f->size;
    put(f, kind, 4);
    put(f, misc, 2);
    put(f, 0, 2);
}

static void end(file *f) {
    const size_t size = f->size - f->begin;
    f->bytes[f->begin + 6] = (uint8_t)size;
    f->bytes[f->begin + 7] = (uint8_t)(size >> 8);
}

/* A record of the kernel ends with TID, TIME, CPU and IDENTIFIER. */
static void end_kernel(file *f, uint64_t time) {
    put(f, PID, 4);
    put(f, PID, 4);
    put(f, time, 8);
    put(f, 0, 8);
    put(f, 7, 8);
    end(f);
}

static void head(file *f, const char *pmu) {
    *f = (file){.size = 0};
    put_text(f, "PERFILE2", 8);
    put(f, 16, 8);
    begin(f, ATTR, 0);
    put(f, PMU, 4);
    put(f, 128, 4);
    put(f, 0, 16);
    put(f, SAMPLE, 8);
    put(f, 0, 8);
    put(f, ATTR_FLAGS, 8);
    put(f, 0, 128 - 48);
    put(f, 7, 8);
    end(f);
    begin(f, FEATURE, 0);
    put(f, PMU_MAPPINGS, 8);
    put(f, 1, 4);
    put(f, PMU, 4);
    put(f, 16, 4);
    put_text(f, pmu, 16);
    end(f);
    begin(f, AUXTRACE_INFO, 0);
    put(f, 8, 8);
    put(f, PMU, 8);
    end(f);
}

static void process(file *f, const char *name) {
    begin(f, COMM, USER | 1 << 13);
    put(f, PID, 4);
    put(f, PID, 4);
    put_text(f, name, 8);
    end_kernel(f, 100);
    begin(f, MMAP2, USER);
    put(f, PID, 4);
    put(f, PID, 4);
    put(f, 0x10000, 8);
    put(f, 0x1000, 8);
    put(f, 0, 8);
    put(f, 8, 4);
    put(f, 1, 4);
    put(f, 99, 8);
    put(f, 1, 8);
    put(f, 5, 4);
    put(f, 2, 4);
    put_text(f, "/no/such/file", 16);
    end_kernel(f, 110);
    begin(f, ITRACE_START, 0);
    put(f, PID, 4);
    put(f, PID, 4);
    end_kernel(f, 120);
}

/* The trace at `offset` of the buffer. */
static void aux(file *f, uint64_t offset, unsigned flags) {
    enum { PADDED = (sizeof trace + 7) / 8 * 8 };
    begin(f, AUX, 0);
    put(f, offset, 8);
    put(f, sizeof trace, 8);
    put(f, flags, 8);
    end_kernel(f, 200 + offset);
    begin(f, AUXTRACE, 0);
    put(f, PADDED, 8);
    put(f, offset, 8);
    put(f, 0, 8);
    put(f, 0, 4);
    put(f, UINT32_MAX, 4);
    put(f, 0, 8);
    end(f);
    for (size_t i = 0; i < PADDED; i++) put(f, i < sizeof trace ? trace[i] : 0, 1);
}

typedef struct stream {
    uint8_t bytes[256];
    size_t size;
} stream;

static ntr_status keep(void *user, const void *bytes, size_t size) {
    stream *s = user;
    assert_true(s->size + size <= sizeof s->bytes);
    memcpy(s->bytes + s->size, bytes, size);
    s->size += size;
    return NTR_OK;
}

static ntr_status read_file(const file *f, size_t size, ntr_perf_data **data) {
    assert_int_equal(ntr_perf_data_new(NULL, data), NTR_OK);
    return ntr_perf_data_read(*data, "test", (ntr_bytes){f->bytes, size});
}

static void one_process(void **state) {
    (void)state;
    file f;
    ntr_perf_data *data;
    ntr_params params;
    stream s = {.size = 0};
    head(&f, "rvtrace");
    process(&f, "work");
    aux(&f, 0, 0);
    assert_true(ntr_perf_data_seen((ntr_bytes){f.bytes, 16}));
    assert_int_equal(read_file(&f, f.size, &data), NTR_OK);
    ntr_params_init(&params, NULL);
    (void)ntr_perf_data_params(data, &params);
    const ntr_bytes sample = ntr_perf_data_sample(data);
    assert_int_equal(sample.size, sizeof trace);
    assert_memory_equal(sample.data, trace, sizeof trace);
    assert_int_equal(ntr_perf_data_stream(data, &params, keep, &s), NTR_OK);
    assert_int_equal(s.size, sizeof trace); /* a single process: nothing is inserted */
    assert_memory_equal(s.bytes, trace, sizeof trace);
    const ntr_perf_process *p = ntr_perf_data_process(data, 0);
    assert_non_null(p);
    assert_int_equal(p->pid, PID);
    assert_string_equal(p->name, "work");
    assert_int_equal(p->bytes, sizeof trace);
    assert_null(ntr_perf_data_process(data, 1));
    ntr_program *program;
    ntr_program_new(NULL, &program);
    assert_int_equal(ntr_perf_data_load(data, NULL, program), NTR_OK);
    assert_non_null(ntr_perf_data_loss(data, 0)); /* the mapped file is named */
    assert_non_null(strstr(ntr_perf_data_loss(data, 0), "/no/such/file"));
    ntr_program_free(program);
    ntr_perf_data_free(data);
}

static void other_trace_is_refused_by_name(void **state) {
    (void)state;
    static const char *const others[] = {"intel_pt", "arm_spe_0", "cs_etm"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        file f;
        ntr_perf_data *data;
        head(&f, others[i]);
        f.bytes[f.size - 16] = (uint8_t)(i + 1); /* kinds of AUXTRACE_INFO: Intel PT 1, BTS 2, CoreSight 3 */
        process(&f, "work");
        aux(&f, 0, 0);
        assert_int_not_equal(read_file(&f, f.size, &data), NTR_OK);
        assert_true(strlen(ntr_perf_data_error(data)) > 10);
        ntr_perf_data_free(data);
    }
}

/* Cut anywhere, a file is refused with a sentence or read as far as it goes; what is read is a beginning of the trace.
 */
static void cut_anywhere(void **state) {
    (void)state;
    file f;
    head(&f, "rvtrace");
    process(&f, "work");
    aux(&f, 0, 0);
    for (size_t size = 0; size < f.size; size++) {
        ntr_perf_data *data;
        uint8_t *copy = malloc(size + 1); /* exactly: sanitizers see reads behind the end */
        memcpy(copy, f.bytes, size);
        ntr_perf_data_new(NULL, &data);
        const ntr_status status = ntr_perf_data_read(data, "test", (ntr_bytes){copy, size});
        if (status == NTR_OK) {
            ntr_params params;
            stream s = {.size = 0};
            ntr_params_init(&params, NULL);
            (void)ntr_perf_data_stream(data, &params, keep, &s);
            assert_true(s.size <= sizeof trace);
            assert_memory_equal(s.bytes, trace, s.size);
        } else {
            assert_true(strlen(ntr_perf_data_error(data)) > 0);
        }
        ntr_perf_data_free(data);
        free(copy);
    }
}

/* Each byte with each bit changed: no read outside of the file, and an end. */
static void changed_anywhere(void **state) {
    (void)state;
    file f;
    head(&f, "rvtrace");
    process(&f, "work");
    aux(&f, 0, 0);
    for (size_t bit = 0; bit < 8 * f.size; bit++) {
        ntr_perf_data *data;
        f.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (read_file(&f, f.size, &data) == NTR_OK) {
            ntr_params params;
            stream s = {.size = 0};
            ntr_program *program;
            ntr_program_new(NULL, &program);
            ntr_params_init(&params, NULL);
            (void)ntr_perf_data_stream(data, &params, keep, &s);
            (void)ntr_perf_data_load(data, NULL, program);
            ntr_program_free(program);
        }
        ntr_perf_data_free(data);
        f.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

/* The kernel lost bytes before the second part: an Error message is there, so that a decoder does not go on over the
 * loss. */
static void truncated(void **state) {
    (void)state;
    enum { TRUNCATED = 1, ERROR_TCODE = 8 << 2 };
    for (unsigned flags = 0; flags <= TRUNCATED; flags++) {
        file f;
        ntr_perf_data *data;
        ntr_params params;
        stream s = {.size = 0};
        head(&f, "rvtrace");
        process(&f, "work");
        aux(&f, 0, 0);
        aux(&f, sizeof trace, flags);
        assert_int_equal(read_file(&f, f.size, &data), NTR_OK);
        ntr_params_init(&params, NULL);
        assert_int_equal(ntr_perf_data_stream(data, &params, keep, &s), NTR_OK);
        assert_memory_equal(s.bytes, trace, sizeof trace);
        assert_memory_equal(s.bytes + s.size - sizeof trace, trace, sizeof trace);
        assert_true(flags ? s.bytes[sizeof trace] == ERROR_TCODE : s.size == 2 * sizeof trace);
        ntr_perf_data_free(data);
    }
}

static void no_perf_data(void **state) {
    (void)state;
    static const uint8_t elf[16] = "\x7f"
                                   "ELF\2\1\1";
    ntr_perf_data *data;
    file f = {.size = 16};
    memcpy(f.bytes, elf, sizeof elf);
    assert_false(ntr_perf_data_seen((ntr_bytes){elf, sizeof elf}));
    assert_int_equal(read_file(&f, f.size, &data), NTR_E_FORMAT);
    assert_true(strlen(ntr_perf_data_error(data)) > 0);
    ntr_perf_data_free(data);
    head(&f, "rvtrace");
    process(&f, "work");
    assert_int_equal(read_file(&f, f.size, &data), NTR_E_FORMAT); /* no trace */
    ntr_perf_data_free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(one_process),  TEST(other_trace_is_refused_by_name),
                                       TEST(cut_anywhere), TEST(changed_anywhere),
                                       TEST(truncated),    TEST(no_perf_data)};
    return cmocka_run_group_tests_name("perf", tests, NULL, NULL);
}
