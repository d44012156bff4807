/* Side-band records: which files are at the addresses of a process when, which process runs on a CPU when, and perf's
 * time of the trace's. The bodies of records are written by hand from perf_event_open(2). */
#include "../test.h"

#include "perf/state.h"

#include <stdlib.h>
#include <string.h>

typedef struct sideband {
    ntr_perf_data *data;
    uint8_t bytes[8192];
    size_t size;
} sideband;

static void sideband_begin(sideband *s) {
    s->size = 0;
    ntr_perf_data_new(NULL, &s->data);
    assert_non_null(s->data);
}

static void sideband_end(sideband *s) {
    ntr_perf_data_free(s->data);
}

static void sideband_put(sideband *s, uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; i++) s->bytes[s->size++] = (uint8_t)(value >> 8 * i);
}

static void sideband_text(sideband *s, const char *text) {
    memcpy(s->bytes + s->size, text, strlen(text) + 1);
    s->size += (strlen(text) + 8) / 8 * 8;
}

/* Adds a record whose body begins at `from` and lacks its last `cut` bytes. */
static struct ntr_perf_record *sideband_record(sideband *s, unsigned type, unsigned misc, uint64_t time, size_t from,
                                               size_t cut) {
    struct ntr_perf_file *file = &s->data->file;
    file->records = realloc(file->records, (file->record_count + 1) * sizeof *file->records);
    struct ntr_perf_record *r = &file->records[file->record_count++];
    *r = (struct ntr_perf_record){.time = time,
                                  .body = s->bytes + from,
                                  .body_size = (uint32_t)(s->size - from - cut),
                                  .type = (uint16_t)type,
                                  .misc = (uint16_t)misc,
                                  .pid = NTR_PERF_NOBODY,
                                  .tid = NTR_PERF_NOBODY,
                                  .cpu = NTR_PERF_NOBODY};
    return r;
}

static void sideband_fork(sideband *s, uint64_t time, uint32_t parent, uint32_t child) {
    const size_t from = s->size;
    sideband_put(s, child, 4);
    sideband_put(s, parent, 4);
    sideband_put(s, child, 4);
    sideband_put(s, parent, 4);
    sideband_put(s, time, 8);
    (void)sideband_record(s, NTR_PERF_FORK, 0, time, from, 0);
}

static void sideband_comm(sideband *s, uint64_t time, uint32_t pid, uint32_t tid, const char *name, bool exec) {
    const size_t from = s->size;
    sideband_put(s, pid, 4);
    sideband_put(s, tid, 4);
    sideband_text(s, name);
    (void)sideband_record(s, NTR_PERF_COMM, exec ? NTR_PERF_MISC_EXEC : 0, time, from, 0);
}

enum { SIDEBAND_READ = 1, SIDEBAND_EXECUTE = 4 };

static void sideband_mmap_cut(sideband *s, uint64_t time, uint32_t pid, uint64_t address, uint64_t offset,
                              unsigned protection, const char *path, size_t cut) {
    const size_t from = s->size;
    sideband_put(s, pid, 4);
    sideband_put(s, pid, 4);
    sideband_put(s, address, 8);
    sideband_put(s, 0x1000, 8);
    sideband_put(s, offset, 8);
    for (int i = 0; i < 3; i++) sideband_put(s, 0, 8); /* device, inode, generation */
    sideband_put(s, protection, 4);
    sideband_put(s, 2, 4);
    sideband_text(s, path);
    (void)sideband_record(s, NTR_PERF_MMAP2, 2, time, from, cut);
}

static void sideband_mmap(sideband *s, uint64_t time, uint32_t pid, uint64_t address, const char *path) {
    sideband_mmap_cut(s, time, pid, address, 0, SIDEBAND_READ | SIDEBAND_EXECUTE, path, 0);
}

/* The mapping of a file in a process, of which there must be one. */
static const struct ntr_perf_mapping *sideband_find(const sideband *s, uint32_t pid, const char *path) {
    const struct ntr_perf_mapping *found = NULL;
    for (size_t i = 0; i < s->data->mapping_count; i++) {
        const struct ntr_perf_mapping *m = &s->data->mappings[i];
        if (m->pid != pid || strcmp(m->path, path) != 0) continue;
        assert_null(found);
        found = m;
    }
    if (!found) fail_msg("process %u has no mapping of %s", pid, path);
    return found;
}

static void sideband_expect_valid(const sideband *s, uint32_t pid, const char *path, uint32_t first, uint32_t last) {
    const struct ntr_perf_mapping *m = sideband_find(s, pid, path);
    assert_int_equal(m->first, first);
    assert_int_equal(m->last, last);
}

/* The example of tasks.c. */
static void fork_and_exec(void **state) {
    (void)state;
    static sideband s;
    sideband_begin(&s);
    sideband_comm(&s, 1, 10, 10, "parent", false);
    sideband_mmap(&s, 2, 10, 0x1000, "/bin/parent");
    sideband_fork(&s, 5, 10, 11);
    sideband_comm(&s, 7, 11, 11, "child", true);
    sideband_mmap(&s, 8, 11, 0x2000, "/bin/child");
    assert_int_equal(ntr_perf_tasks_read(s.data), NTR_OK);
    static const struct {
        uint64_t time;
        uint32_t generation;
    } times[] = {{0, 0}, {5, 0}, {6, 0}, {7, 1}, {8, 1}, {UINT64_MAX, 1}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        assert_int_equal(ntr_perf_generation(s.data, 11, times[i].time), times[i].generation);
    assert_int_equal(ntr_perf_generation(s.data, 10, UINT64_MAX), 0);
    assert_int_equal(ntr_perf_generation(s.data, 12, UINT64_MAX), 0);
    sideband_expect_valid(&s, 10, "/bin/parent", 0, UINT32_MAX);
    sideband_expect_valid(&s, 11, "/bin/parent", 0, 0);
    sideband_expect_valid(&s, 11, "/bin/child", 1, UINT32_MAX);
    assert_string_equal(ntr_perf_task_name(s.data, 10), "parent");
    assert_string_equal(ntr_perf_task_name(s.data, 11), "child");
    assert_string_equal(ntr_perf_task_name(s.data, 12), "");
    assert_int_equal(s.data->change_count, 2);
    assert_int_equal(s.data->changes[0], 5);
    assert_int_equal(s.data->changes[1], 7);
    const struct ntr_perf_mapping *child = sideband_find(&s, 11, "/bin/child");
    assert_true(ntr_perf_mapping_is_in(child, ntr_perf_space(11, 1)));
    assert_false(ntr_perf_mapping_is_in(child, ntr_perf_space(11, 0)));
    assert_false(ntr_perf_mapping_is_in(child, ntr_perf_space(10, 1)));
    sideband_end(&s);
}

static void process_number_used_again(void **state) {
    (void)state;
    static sideband s;
    sideband_begin(&s);
    sideband_comm(&s, 1, 10, 10, "parent", false);
    sideband_mmap(&s, 2, 10, 0x1000, "/bin/parent");
    sideband_mmap(&s, 3, 11, 0x3000, "/bin/old");
    sideband_fork(&s, 20, 10, 11);
    assert_int_equal(ntr_perf_tasks_read(s.data), NTR_OK);
    sideband_expect_valid(&s, 11, "/bin/old", 0, 0);
    assert_int_equal(ntr_perf_generation(s.data, 11, 19), 0);
    assert_int_equal(ntr_perf_generation(s.data, 11, 20), 1); /* not the generation that has the old file */
    sideband_expect_valid(&s, 11, "/bin/parent", 1, UINT32_MAX);
    assert_int_equal(sideband_find(&s, 11, "/bin/parent")->address, 0x1000);
    assert_string_equal(ntr_perf_task_name(s.data, 11), "parent");
    sideband_end(&s);
}

/* Another file at the same addresses begins a generation; another part of the same file does not. */
static void mapping_over_another(void **state) {
    (void)state;
    static sideband s;
    sideband_begin(&s);
    sideband_mmap(&s, 1, 10, 0x10000, "/lib/a");
    sideband_mmap_cut(&s, 2, 10, 0x10800, 0x800, SIDEBAND_EXECUTE, "/lib/a", 0); /* overlaps, at the same distance */
    sideband_mmap(&s, 3, 10, 0x11800, "/lib/next");                              /* behind both */
    assert_int_equal(ntr_perf_tasks_read(s.data), NTR_OK);
    assert_int_equal(s.data->change_count, 0);
    assert_int_equal(s.data->mapping_count, 3);
    s.data->file.record_count = 0;
    sideband_mmap(&s, 9, 10, 0x10fff, "/lib/b"); /* the last byte of the first one */
    sideband_mmap(&s, 9, 12, 0x10fff, "/lib/b"); /* another process */
    assert_int_equal(ntr_perf_tasks_read(s.data), NTR_OK);
    assert_int_equal(s.data->change_count, 1);
    assert_int_equal(s.data->changes[0], 9);
    assert_int_equal(ntr_perf_generation(s.data, 10, 8), 0);
    assert_int_equal(ntr_perf_generation(s.data, 10, 9), 1);
    sideband_expect_valid(&s, 10, "/lib/b", 1, UINT32_MAX);
    sideband_expect_valid(&s, 12, "/lib/b", 0, UINT32_MAX);
    sideband_expect_valid(&s, 10, "/lib/next", 0, UINT32_MAX);
    sideband_end(&s);
}

static void what_is_no_file_of_code(void **state) {
    (void)state;
    static sideband s;
    sideband_begin(&s);
    sideband_mmap(&s, 1, 10, 0x1000, "//anon");
    sideband_mmap(&s, 1, 10, 0x2000, "[vdso]");
    sideband_mmap(&s, 1, 10, 0x3000, "/dev/zero (deleted)");
    sideband_mmap_cut(&s, 1, 10, 0x4000, 0, SIDEBAND_READ, "/data", 0);
    sideband_mmap(&s, 1, NTR_PERF_NOBODY, 0xffffffff80000000, "[kernel.kallsyms]_text");
    assert_int_equal(ntr_perf_tasks_read(s.data), NTR_OK);
    assert_int_equal(s.data->mapping_count, 2);
    assert_string_equal(s.data->mappings[0].path, "[vdso]"); /* perf keeps a copy */
    assert_string_equal(s.data->mappings[1].path, "[kernel.kallsyms]_text");
    sideband_end(&s);
}

/* Cut anywhere, a record is left out, and those before and after are not. */
static void records_that_are_cut(void **state) {
    (void)state;
    for (size_t cut = 1; cut <= 80; cut++) {
        static sideband s;
        sideband_begin(&s);
        sideband_mmap(&s, 1, 10, 0x1000, "/a");
        sideband_mmap_cut(&s, 2, 10, 0x8000, 0, SIDEBAND_EXECUTE, "/cutfile", cut); /* its text ends after 73 bytes */
        sideband_mmap(&s, 3, 10, 0x4000, "/b");
        assert_int_equal(ntr_perf_tasks_read(s.data), NTR_OK);
        assert_int_equal(s.data->mapping_count, cut <= 7 ? 3 : 2);
        sideband_end(&s);
    }
}

/* A thread has its own name, which is not that of the process. */
static void names(void **state) {
    (void)state;
    static sideband s;
    sideband_begin(&s);
    sideband_comm(&s, 1, 10, 10, "main", false);
    sideband_comm(&s, 2, 10, 12, "worker", false);
    sideband_fork(&s, 3, 10, 10); /* a thread: nothing of the process changes */
    assert_int_equal(ntr_perf_tasks_read(s.data), NTR_OK);
    assert_string_equal(ntr_perf_task_name(s.data, 10), "main");
    assert_string_equal(ntr_perf_task_name(s.data, 12), "");
    assert_int_equal(s.data->change_count, 0);
    sideband_end(&s);
}

/* ---- CPUs */

static void sideband_switch(sideband *s, uint64_t time, uint32_t cpu, uint32_t pid, bool out) {
    struct ntr_perf_record *r = sideband_record(s, NTR_PERF_SWITCH, out ? NTR_PERF_MISC_OUT : 0, time, s->size, 0);
    r->cpu = cpu;
    r->pid = pid;
}

/* `other`: which comes after, when `pid` stops; which was before, when it begins. */
static void sideband_wide(sideband *s, uint64_t time, uint32_t cpu, uint32_t pid, uint32_t other, bool out) {
    const size_t from = s->size;
    sideband_put(s, other, 4);
    sideband_put(s, other, 4);
    struct ntr_perf_record *r =
        sideband_record(s, NTR_PERF_SWITCH_CPU_WIDE, out ? NTR_PERF_MISC_OUT : 0, time, from, 0);
    r->cpu = cpu;
    r->pid = pid;
}

static void sideband_expect_running(const sideband *s, uint32_t cpu, uint64_t time, uint32_t pid, uint64_t next) {
    uint64_t found;
    assert_int_equal(ntr_perf_running_at(s->data, cpu, time, &found), pid);
    assert_int_equal(found, next);
}

static void running(void **state) {
    (void)state;
    static sideband s;
    sideband_begin(&s);
    sideband_switch(&s, 100, 1, 20, false); /* CPU 1 before CPU 0, and not sorted */
    sideband_wide(&s, 30, 0, 11, 12, true); /* both records of one switch */
    sideband_wide(&s, 31, 0, 12, 11, false);
    sideband_switch(&s, 10, 0, 11, false);
    sideband_switch(&s, 20, 0, 11, true); /* somebody who has no records */
    sideband_switch(&s, 25, 0, 11, false);
    assert_int_equal(ntr_perf_running_read(s.data), NTR_OK);
    sideband_expect_running(&s, 0, 9, NTR_PERF_NOBODY, 10);
    sideband_expect_running(&s, 0, 10, 11, 30);
    sideband_expect_running(&s, 0, 29, 11, 30);
    sideband_expect_running(&s, 0, 30, 12, UINT64_MAX);
    sideband_expect_running(&s, 0, UINT64_MAX, 12, UINT64_MAX);
    sideband_expect_running(&s, 1, 0, NTR_PERF_NOBODY, 100);
    sideband_expect_running(&s, 1, 100, 20, UINT64_MAX);
    sideband_expect_running(&s, 2, 100, NTR_PERF_NOBODY, UINT64_MAX);
    sideband_end(&s);
}

/* ---- time */

static void sideband_fragments(sideband *s, const struct ntr_perf_fragment *fragments, size_t count) {
    s->data->buffers = calloc(1, sizeof *s->data->buffers);
    s->data->buffer_count = 1;
    s->data->buffers[0].fragments = calloc(count, sizeof *fragments);
    memcpy(s->data->buffers[0].fragments, fragments, count * sizeof *fragments);
    s->data->buffers[0].fragment_count = count;
}

static void sideband_conversion(sideband *s, uint64_t shift, uint64_t mult, uint64_t zero) {
    const size_t from = s->size;
    sideband_put(s, shift, 8);
    sideband_put(s, mult, 8);
    sideband_put(s, zero, 8);
    (void)sideband_record(s, NTR_PERF_TIME_CONV, 0, 0, from, 0);
}

#define FRAGMENT(begin_, end_, first_, last_)                                                                          \
    {.begin = begin_, .end = end_, .first_time = first_, .last_time = last_, .timed = true}

/* perf_event_open(2): zero + (ticks >> shift) * mult + ((ticks & mask) * mult >> shift). */
static void conversion_of_the_file(void **state) {
    (void)state;
    static sideband s;
    const struct ntr_perf_fragment fragments[] = {FRAGMENT(1000500, 3000500, 500000, 1500000)};
    sideband_begin(&s);
    sideband_conversion(&s, 10, 2048, 500); /* two nanoseconds for each tick */
    sideband_fragments(&s, fragments, 1);
    ntr_perf_clock_find(s.data);
    assert_true(s.data->clock.known && !s.data->clock.linear);
    assert_int_equal(ntr_perf_clock_time(&s.data->clock, 0), 500);
    assert_int_equal(ntr_perf_clock_time(&s.data->clock, 500001), 1000502);
    assert_int_equal(ntr_perf_clock_time(&s.data->clock, ((uint64_t)1 << 61) + 7), ((uint64_t)1 << 62) + 514);
    sideband_end(&s);
}

static void times_of_perf_itself(void **state) {
    (void)state;
    static sideband s;
    const struct ntr_perf_fragment fragments[] = {FRAGMENT(1000000, 2000000, 1000100, 1999900),
                                                  FRAGMENT(3000000, 4000000, 3000100, 3999900)};
    sideband_begin(&s);
    sideband_conversion(&s, 0, 3, 0); /* does not fit */
    sideband_fragments(&s, fragments, 2);
    ntr_perf_clock_find(s.data);
    assert_true(s.data->clock.known);
    assert_int_equal(ntr_perf_clock_time(&s.data->clock, 1234567), 1234567);
    sideband_end(&s);
}

/* 10 ns for each tick, tick 0 at 5,000,000. The ends of the fragments are when their trace stopped. */
static void line_through_the_ends(void **state) {
    (void)state;
    static sideband s;
    const struct ntr_perf_fragment fragments[] = {FRAGMENT(5900000, 7000000, 100000, 200000),
                                                  {.begin = 7000000, .end = 8000000}, /* without times */
                                                  FRAGMENT(8900000, 10000000, 400000, 500000)};
    sideband_begin(&s);
    sideband_fragments(&s, fragments, 3);
    ntr_perf_clock_find(s.data);
    assert_true(s.data->clock.known && s.data->clock.linear);
    assert_int_equal(ntr_perf_clock_time(&s.data->clock, 0), 5000000);
    assert_int_equal(ntr_perf_clock_time(&s.data->clock, 250000), 7500000);
    sideband_end(&s);
}

/* Ticks that go backwards from one fragment to the next, and one fragment without an end: no clock is invented. */
static void no_relation(void **state) {
    (void)state;
    static sideband s;
    const struct ntr_perf_fragment backwards[] = {FRAGMENT(5000000, 6000000, 900000, 950000),
                                                  FRAGMENT(7000000, 8000000, 100000, 150000)};
    const struct ntr_perf_fragment open[] = {FRAGMENT(5000000, UINT64_MAX, 900000, 950000)};
    for (int i = 0; i < 2; i++) {
        sideband_begin(&s);
        sideband_fragments(&s, i ? open : backwards, i ? 1 : 2);
        ntr_perf_clock_find(s.data);
        assert_false(s.data->clock.known);
        sideband_end(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(fork_and_exec),
        TEST(process_number_used_again),
        TEST(mapping_over_another),
        TEST(what_is_no_file_of_code),
        TEST(records_that_are_cut),
        TEST(names),
        TEST(running),
        TEST(conversion_of_the_file),
        TEST(times_of_perf_itself),
        TEST(line_through_the_ends),
        TEST(no_relation),
    };
    return cmocka_run_group_tests_name("sideband", tests, NULL, NULL);
}
