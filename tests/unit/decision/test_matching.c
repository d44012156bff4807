/* What the branches of a decision mean: the results that their outcomes have (match_results.c), the groups of
 * conditions that are computed together (match_groups.c), and results that are stored (match_stored.c). */
#include "code.h"

enum {
    BEQZ_A0_4 = 0x00050863, /* beqz a0, four instructions on */
    BNEZ_A0_4 = 0x00051863,
    BEQZ_A0_5 = 0x00050a63,
    BNEZ_A0_3 = 0x00051663,
    BEQZ_A1_3 = 0x00058663,
    BEQZ_A1_4 = 0x00058863,
    OR_A1_A1_A2 = 0x00c5e5b3,
    OTHER_STORE = 0x00c53023, /* sd a2,0(a0) */
    LI_A4_0 = 0x00000713,
    LI_A4_1 = 0x00100713,
    SNEZ_A4_A1 = 0x00b03733,
    SD_A4_8 = 0x00e13423, /* sd a4,8(sp) */
    SD_A4_16 = 0x00e13823,
    LD_A0_8 = 0x00813503,
    NEXT = 0x0040006f, /* j to the next instruction */
};

/* Conditions are at the columns 10, 20 and 30 of line 10, with two columns each; the operator before each is three
 * columns before. */
static void place(const char *text) {
    make(text);
    record.path = "this file";
    record.extent = (ntr_extent){10, 1, 10, 40};
    for (uint32_t i = 0; i < record.shown.condition_count; i++) {
        flow[i].extent = (ntr_extent){10, 10 * (i + 1), 10, 10 * (i + 1) + 2};
        flow[i].operator_line = i ? 10 : 0;
        flow[i].operator_column = i ? 10 * (i + 1) - 3 : 0;
        flow[i].names = UINT64_C(1) << i;
        flow[i].calls = false;
    }
}

/* ---- results */

static void outcomes_with_the_code_of_a_result(void **state) {
    static const struct {
        const char *name;
        uint32_t code[INSNS_MAX]; /* branches: 0 and 2 */
        int taken_is; /* of the second one, or NTR_NOT_KNOWN */
    } rows[] = {
        {"both lead to the code of false", {BEQZ_A0_5, NOP, BEQZ_A1_3, STORE_A1, RETURN, OTHER_STORE, RETURN}, 0},
        {"its other outcome does", {BEQZ_A0_4, NOP, BNEZ_A0_3, RETURN, STORE_A1, OTHER_STORE, RETURN}, NTR_NOT_KNOWN},
        {"not taken, it leads to the code of false",
         {BEQZ_A0_4, NOP, BEQZ_A1_4, NEXT, STORE_A1, RETURN, OTHER_STORE, RETURN},
         1},
        {"both of its outcomes lead to the code of false",
         {BEQZ_A0_4, NOP, BEQZ_A1_3, NEXT, NEXT, STORE_A1, RETURN},
         NTR_NOT_KNOWN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static const ntr_candidate candidates[2] = {{.insn = 0}, {.insn = 2}};
        ntr_result_exits exits = {0};
        place("&ab");
        read_code(rows[i].code, 0);
        f.match.kind = (ntr_code_kind){.unoptimized = true, .gnu = true};
        f.match.candidates = candidates;
        f.match.count = 2;
        f.matcher.after[1][false] = 3;
        f.matcher.after[1][true] = f.graph.insns[2].target;
        f.matcher.best.condition[1] = 1;
        f.matcher.best.taken_is[1] = NTR_NOT_KNOWN; /* the first branch leads to false when it is taken */
        const bool all = ntr_matcher_results(&f.matcher, &exits);
        if (all != (rows[i].taken_is != NTR_NOT_KNOWN) || f.matcher.best.taken_is[1] != rows[i].taken_is)
            fail_msg("%s: %d", rows[i].name, f.matcher.best.taken_is[1]);
        if (all) {
            assert_int_equal(exits.count[false], 2); /* of both conditions */
            assert_int_equal(exits.count[true], 1);
        }
        release();
    }
}

static void results_lead_to_different_code(void **state) {
    static const struct {
        uint32_t when_false, when_true;
        bool differs;
    } rows[] = {{1, 3, true}, {3, 3, false}, {1, 1, false}, {2, 4, false} /* a jump to it */, {2, 3, true}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const ntr_result_exits exits = {{{rows[i].when_false}, {rows[i].when_true}}, {1, 1}};
        make("a");
        read_code((const uint32_t[INSNS_MAX]){BNEZ_A0, RETURN, JUMP_ON, STORE_A1, OTHER_STORE, RETURN}, 0);
        if (ntr_matcher_differs(&f.match, &exits) != rows[i].differs) fail_msg("row %zu", i);
        release();
    }
}

static void places_of_branches(void **state) {
    static const ntr_code_kind debug = {.gnu = true, .debug = true}, optimized = {.gnu = true}, clang = {0},
                               plain_clang = {.unoptimized = true}, plain = {.unoptimized = true, .gnu = true};
    static const struct {
        const char *name;
        const ntr_code_kind *kind;
        uint32_t column;
        uint8_t condition;
        bool good;
    } rows[] = {
        {"at its condition", &debug, 21, 1, true},
        {"at another condition", &debug, 11, 1, false},
        {"behind its condition", &optimized, 22, 1, false},
        {"at the operator before it", &optimized, 17, 1, true},
        {"elsewhere, with -Og", &debug, 5, 1, true},
        {"elsewhere, optimized", &optimized, 5, 1, false},
        {"elsewhere, the first one", &optimized, 5, 0, true},
        {"of clang, at an operator", &clang, 17, 1, false},
        {"of clang without optimization", &plain_clang, 11, 1, true},
        {"of gcc without", &plain, 5, 1, true},
        {"of gcc without, at another condition", &plain, 11, 1, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const ntr_candidate candidate = {0, 10, rows[i].column};
        place("&ab");
        read_code((const uint32_t[INSNS_MAX]){BNEZ_A0, RETURN}, 0);
        f.match.candidates = &candidate;
        f.match.kind = *rows[i].kind;
        f.matcher.best.condition[0] = rows[i].condition;
        if (ntr_matcher_places(&f.matcher) != rows[i].good) fail_msg("%s", rows[i].name);
        release();
    }
}

/* ---- groups */

/* if (a || b || c) line 20; else line 22; as a, and b | c. */
static void conditions_that_are_computed_together(void **state) {
    static const struct {
        const char *name, *reason;
        uint32_t column; /* of the second branch */
        uint64_t names;  /* of `a` */
        unsigned alternatives;
        bool calls, swapped; /* `c` calls a function; the statements are exchanged */
    } rows[] = {
        {"in the place of b", NULL, 20, 1, 1},
        {"at the operator before c: the groups may be a || b and c, too", NULL, 27, 1, 2},
        {"in the place of c: so they may", NULL, 30, 1, 2},
        {"in the place of a", "no group", 10, 1, 0},
        {"a and b read one variable", "no group", 20, 2, 0},
        {"c calls a function", "no group", 20, 1, 0, true},
        {"the statements say the opposite", "no group", 20, 1, 0, false, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const ntr_candidate candidates[2] = {{0, 10, 10}, {2, 10, rows[i].column}};
        ntr_statement items[2] = {{CODE_BEGIN + 12, "this file", rows[i].swapped ? 22 : 20, 5},
                                  {CODE_BEGIN + 20, "this file", rows[i].swapped ? 20 : 22, 5}};
        const ntr_statements statements = {.items = items, .count = 2};
        place("|a|bc");
        record.when[true] = (ntr_extent){20, 1, 20, 9};
        record.when[false] = (ntr_extent){22, 1, 22, 9};
        flow[0].names = rows[i].names;
        flow[2].calls = rows[i].calls;
        read_code((const uint32_t[INSNS_MAX]){BNEZ_A0_3, OR_A1_A1_A2, BEQZ_A1_3, STORE_A1, RETURN, OTHER_STORE, RETURN},
                  0);
        f.match.candidates = candidates;
        f.match.count = 2;
        f.match.statements = &statements;
        const char *reason = ntr_match_groups(&f.match);
        if (!reason != !rows[i].reason || (reason && !strstr(reason, rows[i].reason)))
            fail_msg("%s: %s", rows[i].name, reason ? reason : "fits");
        if (!reason) {
            assert_ptr_equal(f.match.record, &record);
            assert_int_equal(f.match.grouping.count, 2);
            assert_int_equal(f.match.grouping.alternatives, rows[i].alternatives);
            const ntr_group *groups = f.match.grouping.groups[rows[i].alternatives - 1];
            assert_int_equal(groups[0].last, 0);
            assert_int_equal(groups[1].first, 1);
            assert_int_equal(groups[1].last, 2);
            assert_int_equal(f.match.matched[0].condition, 0);
            assert_int_equal(f.match.matched[1].condition, 1);
            assert_true(f.match.matched[0].taken_is && f.match.matched[0].first);
            assert_false(f.match.matched[1].taken_is || f.match.matched[1].first);
        }
        release();
    }
}

/* ---- stored results */

/* x = a && b by clang without optimization: the branch is that of a, and b is stored. */
static void results_that_are_stored(void **state) {
    static const struct {
        const char *name, *text;
        uint32_t code[INSNS_MAX];
        bool fits, taken_is;
    } rows[] = {
        {"a && b", "&ab", {LI_A4_0, SD_A4_8, BEQZ_A0_4, SNEZ_A4_A1, SD_A4_8, NEXT, LD_A0_8, RETURN}, true, false},
        {"a || b", "|ab", {LI_A4_1, SD_A4_8, BNEZ_A0_4, SNEZ_A4_A1, SD_A4_8, NEXT, LD_A0_8, RETURN}, true, true},
        {"a && b, and a when it is false stores 1",
         "&ab",
         {LI_A4_1, SD_A4_8, BEQZ_A0_4, SNEZ_A4_A1, SD_A4_8, NEXT, LD_A0_8, RETURN}},
        {"what is stored before the branch is another word",
         "&ab",
         {LI_A4_0, SD_A4_16, BEQZ_A0_4, SNEZ_A4_A1, SD_A4_8, NEXT, LD_A0_8, RETURN}},
        {"b is stored in another word",
         "&ab",
         {LI_A4_0, SD_A4_8, BEQZ_A0_4, SNEZ_A4_A1, SD_A4_16, NEXT, LD_A0_8, RETURN}},
        {"b is not stored", "&ab", {LI_A4_0, SD_A4_8, BEQZ_A0_4, SNEZ_A4_A1, NOP, NEXT, LD_A0_8, RETURN}},
        {"a branch of other code is behind the store",
         "&ab",
         {LI_A4_0, SD_A4_8, BEQZ_A0_4, SNEZ_A4_A1, SD_A4_8, BNEZ_A0, LD_A0_8, RETURN}},
        {"nothing is loaded", "&ab", {LI_A4_0, SD_A4_8, BEQZ_A0_4, SNEZ_A4_A1, SD_A4_8, NEXT, NOP, RETURN}},
        {"three conditions, and a branch for one",
         "&&abc",
         {LI_A4_0, SD_A4_8, BEQZ_A0_4, SNEZ_A4_A1, SD_A4_8, NEXT, LD_A0_8, RETURN}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const ntr_candidate candidate = {2, 10, 10};
        uint32_t load = 0;
        place(rows[i].text);
        read_code(rows[i].code, 2);
        f.match.candidates = &candidate;
        f.match.kind = (ntr_code_kind){.unoptimized = true};
        const char *reason = ntr_match_stored(&f.match, &load);
        if (!reason != rows[i].fits) fail_msg("%s: %s", rows[i].name, reason ? reason : "fits");
        assert_int_equal(f.match.count, 1);
        assert_ptr_equal(f.match.candidates, &candidate);
        if (!reason) {
            assert_int_equal(load, 6);
            assert_int_equal(f.match.matched[0].condition, 0);
            assert_int_equal(f.match.matched[0].taken_is, rows[i].taken_is);
            assert_int_equal(f.match.matched[1].condition, 1);
            assert_int_equal(f.match.operands[1].at, 7); /* behind the load, a0 */
            assert_int_equal(f.match.operands[1].reg, 10);
            assert_int_equal(f.graph.insns[6].flow, NTR_FLOW_LINEAR);
        }
        release();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(outcomes_with_the_code_of_a_result), TEST(results_lead_to_different_code),
                                       TEST(places_of_branches), TEST(conditions_that_are_computed_together),
                                       TEST(results_that_are_stored)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
