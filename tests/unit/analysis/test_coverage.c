#include "../test.h"

#include <ntrace/coverage.h>

#include "analysis/names.h"

#include <string.h>

enum { IMAGES = 50, CODE_BYTES = 4096 };

/* Target memory: c.nop everywhere. Counts the reads. */
static size_t read_nops(void *user, const ntr_context *context, uint64_t position, uint64_t address, uint8_t *out,
                        size_t size) {
    (void)context;
    (void)position;
    if (address >= CODE_BYTES) return 0;
    for (size_t i = 0; i < size; i++) out[i] = (address + i) % 2 == 0;
    ++*(size_t *)user;
    return size;
}

static void images_without_lines_do_not_expand_the_tally(void **state) {
    (void)state;
    static const uint8_t nop[] = {0x01, 0x00};
    size_t reads = 0, rows, count;
    ntr_program *program;
    ntr_program_new(NULL, &program);
    for (uint64_t i = 0; i < IMAGES; i++) {
        ntr_image_options at = {.size = sizeof at, .bias = UINT64_C(0x100000) + 16 * i};
        assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){nop, sizeof nop}, &at), NTR_OK);
    }
    assert_int_equal(ntr_program_set_reader(program, read_nops, &reads), NTR_OK);

    ntr_event span = {.kind = NTR_EVENT_SPAN, .end = NTR_SPAN_CUT, .address = 0x100, .last = 0x11e, .target = 0x120};
    span.instructions = span.halfwords = 16;
    ntr_tally *tally;
    ntr_tally_new(NULL, NULL, &tally);
    assert_int_equal(ntr_tally_feed(tally, &span, 1), NTR_OK);
    ntr_insn_count *counts;
    assert_int_equal(ntr_tally_instructions(tally, program, UINT32_MAX, &counts, &rows), NTR_OK);
    assert_int_equal(rows, 16);
    assert_true(reads > 0); /* expanding needs the code */
    ntr_tally_free_counts(tally, counts);

    reads = 0;
    ntr_coverage *coverage;
    ntr_coverage_new(NULL, &coverage);
    ntr_debug_info *debug;
    ntr_debug_info_new(program, NULL, &debug);
    assert_int_equal(ntr_coverage_add(coverage, program, debug, tally), NTR_OK);
    (void)ntr_coverage_lines(coverage, &count);
    assert_int_equal(count, 0);
    assert_int_equal(reads, 0);
    ntr_debug_info_free(debug);
    ntr_coverage_free(coverage);
    ntr_tally_free(tally);
    ntr_program_free(program);
}

static void lambdas_are_known_by_their_linkage_names(void **state) {
    (void)state;
    /* main::{lambda()#1}, {lambda(int)#2} of a static function, a generic one, and that of clang */
    static const char *const lambdas[] = {"_ZZ4mainENKUlvE_clEv", "_ZZL1fvENKUliE0_clEi", "_ZZ4mainENKUlT_E_clIiEEDaS_",
                                          "_ZZ4mainENK3$_0clEv", "_ZZ4mainENK4$_12clIiEEDaT_"};
    /* a function, a class, std::function and a template of a lambda, and names that are not mangled */
    static const char *const others[] = {"_Z4mainv",
                                         "_ZN1AclEv",
                                         "_ZNKSt8functionIFvvEEclEv",
                                         "_Z4callIZ4mainEUlvE_EvT_",
                                         "_ZN3BoxIZ4mainEUlvE_EclEv",
                                         "Ul_E_cl",
                                         "$_0cl",
                                         "_ZN2Ul1EE"};
    for (size_t i = 0; i < sizeof lambdas / sizeof *lambdas; i++) assert_true(ntr_linkage_is_lambda(lambdas[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_false(ntr_linkage_is_lambda(others[i]));
}

static void instances_have_one_plain_name(void **state) {
    (void)state;
    static const char *const names[][2] = {
        {"main", "main"},
        {"int twice<int>(int)", "twice"},
        {"std::vector<int> list<int>::get<char>(char) const", "list::get"},
        {"Box<long>::operator<(Box<long> const&) const", "Box::operator<"},
        {"main::$_0::operator()(int) const", "main::$_0::operator()"},
        {"auto main::{lambda(auto:1)#2}::operator()<int>(int) const", "main::{lambda#2}::operator()"},
        {"(anonymous namespace)::f(int)", "::f"},
        {"counter(int) [clone .resume]", "counter"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char plain[NTR_NAME_PLAIN_MAX];
        ntr_name_plain(names[i][0], plain);
        assert_string_equal(plain, names[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(images_without_lines_do_not_expand_the_tally),
        TEST(lambdas_are_known_by_their_linkage_names),
        TEST(instances_have_one_plain_name),
    };
    return cmocka_run_group_tests_name("coverage", tests, NULL, NULL);
}
