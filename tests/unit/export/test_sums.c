/* Call arcs, merged stacks and ranges: what several formats are made from. main calls work from two sites, work calls
 * itself, and the inner one calls idle. All spans are in the program of world.h and were counted by hand. */
#include "world.h"

#include "export/ranges.h"
#include "export/stacks.h"

static ntr_export sums_export;

static const struct {
    uint16_t from, last;
    uint8_t instructions, halfwords;
    ntr_span_end end;
    uint16_t to;
} sums_spans[] = {
    {0x00, 0x04, 3, 4, NTR_SPAN_CALL, 0x40},      /* main, first site: 3 */
    {0x40, 0x46, 4, 4, NTR_SPAN_CALL, 0x40},      /* work: 4 */
    {0x40, 0x44, 3, 3, NTR_SPAN_CALL, 0x60},      /* work in work: 3 */
    {0x60, 0x66, 4, 4, NTR_SPAN_RETURN, 0x46},    /* idle: 4 */
    {0x46, 0x48, 2, 2, NTR_SPAN_RETURN, 0x48},    /* work in work: 2 */
    {0x48, 0x48, 1, 1, NTR_SPAN_RETURN, 0x08},    /* work: 1 */
    {0x08, 0x0a, 2, 2, NTR_SPAN_CALL, 0x40},      /* main, second site: 2 */
    {0x40, 0x48, 5, 5, NTR_SPAN_RETURN, 0x0c},    /* work: 5 */
    {0x0c, 0x0c, 1, 1, NTR_SPAN_CUT, 0x0c},       /* main: 1 */
};

enum { SUMS_ALL = 25 };

static void sums_begin(world *w) {
    world_begin(w);
    w->event_count = 0;
    for (size_t i = 0; i < sizeof sums_spans / sizeof *sums_spans; i++)
        world_span(w, WORLD_MAIN + sums_spans[i].from, WORLD_MAIN + sums_spans[i].last, sums_spans[i].instructions,
                   sums_spans[i].halfwords, sums_spans[i].end, WORLD_MAIN + sums_spans[i].to);
    ntr_calltree_free(w->analysis.tree);
    ntr_tally_free(w->analysis.tally);
    ntr_calltree_new(w->analysis.functions, NULL, &w->analysis.tree);
    ntr_tally_new(NULL, NULL, &w->analysis.tally);
    assert_int_equal(ntr_calltree_feed(w->analysis.tree, w->events, w->event_count), NTR_OK);
    assert_int_equal(ntr_tally_feed(w->analysis.tally, w->events, w->event_count), NTR_OK);
    ntr_calltree_finish(w->analysis.tree);
    memset(&sums_export, 0, sizeof sums_export);
    sums_export.analysis = w->analysis;
    assert_int_equal(ntr_program_image(w->program, 0, &sums_export.image), NTR_OK);
}

static const char *sums_name(const world *w, uint32_t function) {
    const ntr_function *f = ntr_functions_get(w->analysis.functions, function);
    return f ? f->name : "";
}

static void sums_arcs(void **state) {
    (void)state;
    static world w;
    static const struct {
        const char *caller, *callee;
        uint64_t site, calls, inclusive;
    } expected[] = {
        {"", "main", 0, 1, SUMS_ALL},    {"main", "work", 0x10004, 1, 4 + 3 + 4 + 2 + 1},
        {"main", "work", 0x1000a, 1, 5}, {"work", "work", 0x10046, 1, 3 + 4 + 2},
        {"work", "idle", 0x10044, 1, 4},
    };
    ntr_arcs arcs;
    sums_begin(&w);
    if (!world_has_lines(&w)) {
        world_end(&w);
        SKIP_TEST("build-dwarf");
    }
    assert_int_equal(ntr_arcs_make(&arcs, &sums_export), NTR_OK);
    assert_int_equal(arcs.count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < arcs.count; i++) {
        size_t k = 0; /* the numbers of functions are in the order of their first execution */
        while (k < arcs.count && (strcmp(sums_name(&w, arcs.items[i].caller), expected[k].caller) != 0 ||
                                  strcmp(sums_name(&w, arcs.items[i].callee), expected[k].callee) != 0 ||
                                  arcs.items[i].site != expected[k].site))
            k++;
        if (k == arcs.count)
            fail_msg("not expected: %s -> %s from 0x%llx", sums_name(&w, arcs.items[i].caller),
                     sums_name(&w, arcs.items[i].callee), (unsigned long long)arcs.items[i].site);
        assert_int_equal(arcs.items[i].calls, expected[k].calls);
        assert_int_equal(arcs.items[i].inclusive, expected[k].inclusive);
    }
    ntr_arcs_release(&arcs);
    world_end(&w);
}

/* Call sites are merged. A node is a stack of functions. */
static void sums_stacks(void **state) {
    (void)state;
    static world w;
    static const struct {
        const char *path;
        uint64_t calls, self, total;
    } expected[] = {
        {"main", 1, 3 + 2 + 1, SUMS_ALL},
        {"main/work", 2, 4 + 1 + 5, 4 + 3 + 4 + 2 + 1 + 5},
        {"main/work/work", 1, 3 + 2, 3 + 4 + 2},
        {"main/work/work/idle", 1, 4, 4},
    };
    ntr_stacks stacks;
    sums_begin(&w);
    if (!world_has_lines(&w)) {
        world_end(&w);
        SKIP_TEST("build-dwarf");
    }
    assert_int_equal(ntr_stacks_make(&stacks, &sums_export), NTR_OK);
    assert_int_equal(stacks.count, 1 + sizeof expected / sizeof *expected);
    for (uint32_t i = 1; i < stacks.count; i++) {
        static uint32_t path[NTR_CALLTREE_DEPTH_MAX + 1];
        char text[256] = "";
        for (size_t depth = ntr_stacks_path(&stacks, i, path); depth-- > 0;) {
            strcat(text, *text ? "/" : "");
            strcat(text, ntr_stacks_name(&sums_export, &stacks.nodes[path[depth]]));
        }
        assert_string_equal(text, expected[i - 1].path);
        assert_int_equal(stacks.nodes[i].calls, expected[i - 1].calls);
        assert_int_equal(stacks.nodes[i].self, expected[i - 1].self);
        assert_int_equal(stacks.nodes[i].total, expected[i - 1].total);
    }
    assert_int_equal(stacks.nodes[0].total, SUMS_ALL);
    ntr_stacks_release(&stacks);
    world_end(&w);
}

static void sums_expect_ranges(const ntr_range *found, size_t count, const ntr_range *expected, size_t expected_count) {
    assert_int_equal(count, expected_count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(found[i].from, expected[i].from);
        assert_int_equal(found[i].to, expected[i].to);
        assert_int_equal(found[i].count, expected[i].count);
    }
}

static void sums_ranges(void **state) {
    (void)state;
    static world w;
    static const ntr_range runs[] = {{0x10000, 0x10004, 1}, {0x10008, 0x1000a, 1}, {0x1000c, 0x1000c, 1},
                                     {0x10040, 0x10044, 1}, {0x10040, 0x10046, 1}, {0x10040, 0x10048, 1},
                                     {0x10046, 0x10048, 1}, {0x10048, 0x10048, 1}, {0x10060, 0x10066, 1}};
    static const ntr_range branches[] = {{0x10004, 0x10040, 1}, {0x1000a, 0x10040, 1}, {0x10044, 0x10060, 1},
                                         {0x10046, 0x10040, 1}, {0x10048, 0x10008, 1}, {0x10048, 0x1000c, 1},
                                         {0x10048, 0x10048, 1}, {0x10066, 0x10046, 1}};
    ntr_ranges ranges;
    sums_begin(&w);
    assert_int_equal(ntr_ranges_make(&ranges, &sums_export), NTR_OK);
    sums_expect_ranges(ranges.runs, ranges.run_count, runs, sizeof runs / sizeof *runs);
    sums_expect_ranges(ranges.branches, ranges.branch_count, branches, sizeof branches / sizeof *branches);
    ntr_ranges_release(&ranges);
    world_end(&w);
}

/* An end of a branch outside of the image is 0; a run there, and branches between two other images, are left out. */
static void sums_ranges_of_one_image(void **state) {
    (void)state;
    static world w;
    static const ntr_range runs[] = {{0x10040, 0x10042, 2}};
    static const ntr_range branches[] = {{0, 0x10040, 2}, {0x10042, 0, 1}};
    ntr_ranges ranges;
    static const uint8_t other[] = {0x01, 0x00, 0x82, 0x80}; /* c.nop, ret; at 0x60000 no image is known */
    const ntr_image_options options = {.size = sizeof options, .bias = 0x50000};
    sums_begin(&w);
    assert_int_equal(ntr_program_add_raw(w.program, (ntr_bytes){other, sizeof other}, &options), NTR_OK);
    ntr_tally_restart(w.analysis.tally);
    w.event_count = 0;
    for (int i = 0; i < 2; i++) {
        world_span(&w, 0x50000, 0x50002, 2, 2, NTR_SPAN_CALL, WORLD_WORK);
        world_span(&w, WORLD_WORK, 0x10042, 2, 2, i ? NTR_SPAN_INTERRUPT : NTR_SPAN_INDIRECT_JUMP, 0x60000);
        world_span(&w, 0x60000, 0x60002, 2, 2, NTR_SPAN_JUMP, 0x50000);
    }
    assert_int_equal(ntr_tally_feed(w.analysis.tally, w.events, w.event_count), NTR_OK);
    assert_int_equal(ntr_ranges_make(&ranges, &sums_export), NTR_OK);
    sums_expect_ranges(ranges.runs, ranges.run_count, runs, 1);
    sums_expect_ranges(ranges.branches, ranges.branch_count, branches, 2);
    ntr_ranges_release(&ranges);
    world_end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(sums_arcs), TEST(sums_stacks), TEST(sums_ranges),
                                       TEST(sums_ranges_of_one_image)};
    return cmocka_run_group_tests_name("sums", tests, NULL, NULL);
}
