/* The table of stream parameters against facts written down here: limits, words, defaults, text in both directions. */
#include "../test.h"

#include <ntrace/params.h>
#include <stdio.h>
#include <string.h>

static ntr_params plain(void) {
    ntr_params params;
    ntr_params_init(&params, NULL);
    return params;
}

static void names_are_those_of_the_command_line(void **state) {
    (void)state;
    static const char *const names[] = {"dialect",         "src-bits",     "timestamps",      "ts-width",
                                        "implicit-return", "return-stack", "sequential-jump", "extend-addr",
                                        "all-jumps",       "xlen"};
    size_t seen = 0;
    for (unsigned p = 0; p < NTR_PARAMETERS; p++) {
        assert_non_null(ntr_parameter_name(p));
        for (unsigned q = 0; q < p; q++) assert_string_not_equal(ntr_parameter_name(p), ntr_parameter_name(q));
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (unsigned p = 0; p < NTR_PARAMETERS; p++) seen += strcmp(ntr_parameter_name(p), names[i]) == 0;
    assert_int_equal(seen, sizeof names / sizeof names[0]);
    assert_null(ntr_parameter_name(NTR_PARAMETERS));
}

static void text_sets_the_member_of_that_name(void **state) {
    (void)state;
    ntr_params p = plain();
    static const char *const set[][2] = {
        {"dialect", "p550"},
        {"src-bits", "0xc"},
        {"timestamps", "off"},
        {"ts-width", "40"},
        {"implicit-return", "partial"},
        {"return-stack", "70000"},
        {"sequential-jump", "on"},
        {"extend-addr", "on"},
        {"all-jumps", "on"},
        {"xlen", "32"},
    };
    for (size_t i = 0; i < sizeof set / sizeof set[0]; i++)
        assert_int_equal(ntr_params_set(&p, set[i][0], set[i][1]), NTR_OK);
    assert_string_equal(p.dialect->name, "p550");
    assert_int_equal(p.src_bits, 12);
    assert_int_equal(p.timestamps, NTR_TIMESTAMPS_OFF);
    assert_int_equal(p.ts_width, 40);
    assert_int_equal(p.implicit_return, NTR_RETURN_PARTIAL);
    assert_int_equal(p.return_stack, 70000);
    assert_true(p.sequential_jump && p.extend_addr && p.all_jumps);
    assert_int_equal(p.xlen, 32);
    assert_int_equal(ntr_params_set(&p, "extend-addr", "off"), NTR_OK);
    assert_true(p.sequential_jump && !p.extend_addr && p.all_jumps);
    assert_int_equal(ntr_params_set(&p, "timestamps", "seen"), NTR_OK);
    assert_int_equal(p.timestamps, NTR_TIMESTAMPS_SEEN);
}

static void text_outside_the_limits_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *name, *text;
        ntr_status status;
    } bad[] = {
        {"no-such", "1", NTR_E_NAME},
        {"src_bits", "1", NTR_E_NAME},
        {"src-bits", "13", NTR_E_RANGE},
        {"src-bits", "", NTR_E_SYNTAX},
        {"src-bits", "1x", NTR_E_SYNTAX},
        {"src-bits", "-1", NTR_E_SYNTAX},
        {"ts-width", "65", NTR_E_RANGE},
        {"return-stack", "4294967296", NTR_E_RANGE},
        {"xlen", "48", NTR_E_RANGE},
        {"xlen", "1", NTR_E_RANGE},
        {"xlen", "128", NTR_E_RANGE},
        {"implicit-return", "3", NTR_E_SYNTAX},
        {"implicit-return", "ful", NTR_E_SYNTAX},
        {"all-jumps", "yes", NTR_E_SYNTAX},
        {"timestamps", "on|off", NTR_E_SYNTAX},
        {"dialect", "none", NTR_E_SYNTAX},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ntr_params p = plain(), before = p;
        if (ntr_params_set(&p, bad[i].name, bad[i].text) != bad[i].status) fail_msg("%s %s", bad[i].name, bad[i].text);
        assert_memory_equal(&p, &before, sizeof p);
    }
}

/* Each parameter takes back the text that it gives, in plain parameters and in those of every dialect. */
static void text_goes_both_ways(void **state) {
    (void)state;
    const ntr_dialect *dialect;
    for (size_t d = 0; (dialect = ntr_dialect_at(d)); d++) {
        ntr_params p, copy = plain();
        ntr_params_init(&p, dialect);
        for (unsigned i = 0; i < NTR_PARAMETERS; i++) {
            char text[32], again[32];
            int length = ntr_params_get(&p, ntr_parameter_name(i), text, sizeof text);
            assert_int_equal(length, strlen(text));
            assert_int_equal(ntr_params_get(&p, ntr_parameter_name(i), again, (size_t)length), NTR_E_SPACE);
            assert_int_equal(ntr_params_set(&copy, ntr_parameter_name(i), text), NTR_OK);
        }
        assert_memory_equal(&p, &copy, sizeof p);
    }
    assert_int_equal(ntr_params_get(&(ntr_params){.size = 1}, "no-such", NULL, 0), NTR_E_NAME);
}

static void text_is_as_people_write_it(void **state) {
    (void)state;
    ntr_params p = plain();
    char text[16];
    p.implicit_return = NTR_RETURN_COUNT;
    p.timestamps = NTR_TIMESTAMPS_ON;
    p.all_jumps = true;
    p.return_stack = UINT32_MAX;
    static const char *const want[][2] = {
        {"implicit-return", "count"}, {"timestamps", "on"},           {"all-jumps", "on"},
        {"extend-addr", "off"},       {"return-stack", "4294967295"}, {"dialect", "ntrace-1.0"}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        assert_true(ntr_params_get(&p, want[i][0], text, sizeof text) > 0);
        assert_string_equal(text, want[i][1]);
    }
    p.dialect = NULL;
    assert_int_equal(ntr_params_get(&p, "dialect", text, sizeof text), 10);
    p.implicit_return = 4;
    assert_int_equal(ntr_params_get(&p, "implicit-return", text, sizeof text), NTR_E_RANGE);
}

static void the_dialect_gives_the_defaults(void **state) {
    (void)state;
    const ntr_dialect made = {.name = "made",
                              .src_bits = 7,
                              .ts_width = 33,
                              .implicit_return = NTR_RETURN_PARTIAL,
                              .timestamps = NTR_TIMESTAMPS_OFF,
                              .return_stack = 0x12345678};
    ntr_params p;
    memset(&p, 0xff, sizeof p);
    ntr_params_init(&p, &made);
    assert_int_equal(p.size, sizeof p);
    assert_ptr_equal(p.dialect, &made);
    assert_int_equal(p.src_bits, 7);
    assert_int_equal(p.ts_width, 33);
    assert_int_equal(p.implicit_return, NTR_RETURN_PARTIAL);
    assert_int_equal(p.timestamps, NTR_TIMESTAMPS_OFF);
    assert_int_equal(p.return_stack, 0x12345678);
    assert_true(!p.sequential_jump && !p.extend_addr && !p.all_jumps && p.xlen == 0);
}

static void members_outside_the_limits_are_refused(void **state) {
    (void)state;
    ntr_params bad[6];
    for (size_t i = 0; i < 6; i++) bad[i] = plain();
    bad[0].src_bits = 13;
    bad[1].xlen = 128;
    bad[2].xlen = 48;
    bad[3].ts_width = 65;
    bad[4].timestamps = 3;
    bad[5].implicit_return = 4;
    for (size_t i = 0; i < 6; i++) assert_int_equal(ntr_params_check(&bad[i]), NTR_E_RANGE);
    ntr_params good = plain();
    good.src_bits = 12, good.xlen = 32, good.ts_width = 64, good.timestamps = 2, good.implicit_return = 3;
    good.return_stack = UINT32_MAX;
    assert_int_equal(ntr_params_check(&good), NTR_OK);
    assert_int_equal(ntr_params_check(&(ntr_params){.size = sizeof(ntr_params)}), NTR_OK);
    good.size = 1;
    assert_int_equal(ntr_params_check(&good), NTR_E_INVALID);
    assert_int_equal(ntr_params_check(NULL), NTR_E_INVALID);
}

static void differences_are_a_set(void **state) {
    (void)state;
    ntr_params a = plain(), b = a;
    b.dialect = NULL;
    assert_int_equal(ntr_params_difference(&a, &b), 0);
    b.dialect = ntr_dialect_find("p550");
    b.return_stack = UINT32_C(1) << 31;
    b.xlen = 32;
    const uint32_t set = 1u << NTR_PARAMETER_DIALECT | 1u << NTR_PARAMETER_RETURN_STACK | 1u << NTR_PARAMETER_XLEN;
    assert_int_equal(ntr_params_difference(&a, &b), set);
    assert_int_equal(ntr_params_difference(&b, &a), set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(names_are_those_of_the_command_line),
        TEST(text_sets_the_member_of_that_name),
        TEST(text_outside_the_limits_is_refused),
        TEST(text_goes_both_ways),
        TEST(text_is_as_people_write_it),
        TEST(the_dialect_gives_the_defaults),
        TEST(members_outside_the_limits_are_refused),
        TEST(differences_are_a_set),
    };
    return cmocka_run_group_tests_name("params", tests, NULL, NULL);
}
