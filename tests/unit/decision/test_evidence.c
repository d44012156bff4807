/* What shows which outcome of a branch is true, one piece of evidence at a time: the constants of a comparison
 * (match_operand.c), the statements that an outcome reaches, what it sets, and the call it ends in (match_exits.c). */
#include "../test.h"

#include "code.h"

/* ---- operands */

#define UNSIGNED_CHAR {1, false}
#define SIGNED_CHAR   {1, true}
#define INT           {4, true}
#define UNSIGNED      {4, false}

/* What the source compares, the code before the branch, which is its last instruction, and the value of the condition
 * when it is taken. */
static const struct {
    const char *source;
    ntr_integer_type type;
    uint8_t relation;
    int64_t constant;
    uint32_t code[INSNS_MAX];
    int taken_is;
    bool clang;
} operands[] = {
    {"c == 'A'", UNSIGNED_CHAR, NTR_EQUAL, 65, {LBU_A5, LI_A4_65, BNE_A5_A4}, 0},
    {"c == 'A', the branch leads to the body", UNSIGNED_CHAR, NTR_EQUAL, 65, {LBU_A5, LI_A4_65, BEQ_A5_A4}, 1},
    {"c == 'A', by clang", UNSIGNED_CHAR, NTR_EQUAL, 65, {LBU_A5, LI_A4_65, BNE_A5_A4}, NTR_NOT_KNOWN, true},
    {"c == 'B', and the code compares with A",
     UNSIGNED_CHAR,
     NTR_EQUAL,
     66,
     {LBU_A5, LI_A4_65, BNE_A5_A4},
     NTR_NOT_KNOWN},
    {"c <= 9", UNSIGNED_CHAR, NTR_LESS_EQUAL, 9, {LBU_A5, LI_A4_9, BLTU_A4_A5}, 0},
    {"c > 9", UNSIGNED_CHAR, NTR_GREATER, 9, {LBU_A5, LI_A4_9, BLTU_A4_A5}, 1},
    {"c > 9, inverted", UNSIGNED_CHAR, NTR_GREATER, 9, {LBU_A5, LI_A4_9, BGEU_A4_A5}, 0},
    {"c <= 9, signed", SIGNED_CHAR, NTR_LESS_EQUAL, 9, {LB_A5, LI_A4_9, BLT_A4_A5}, 0},
    {"c <= 9, signed, and the code compares unsigned",
     SIGNED_CHAR,
     NTR_LESS_EQUAL,
     9,
     {LB_A5, LI_A4_9, BLTU_A4_A5},
     NTR_NOT_KNOWN},
    {"i <= 9", INT, NTR_LESS_EQUAL, 9, {LW_A5, LI_A4_9, BLT_A4_A5}, 0},
    {"u <= 9", UNSIGNED, NTR_LESS_EQUAL, 9, {LWU_A5, LI_A4_9, BLTU_A4_A5}, 0},
    {"u <= 9, and the code compares signed words",
     UNSIGNED,
     NTR_LESS_EQUAL,
     9,
     {LW_A5, LI_A4_9, BLT_A4_A5},
     NTR_NOT_KNOWN},
    {"i <= 9, of another width", INT, NTR_LESS_EQUAL, 9, {LBU_A5, LI_A4_9, BLT_A4_A5}, NTR_NOT_KNOWN},
    {"i != 0", INT, NTR_NOT_EQUAL, 0, {LW_A5, BNEZ_A5}, 1},
    {"i != 0, inverted", INT, NTR_NOT_EQUAL, 0, {LW_A5, BEQZ_A5}, 0},
    {"i != 0, in a register that may have the truth of it", INT, NTR_NOT_EQUAL, 0, {NOP, BNEZ_A0}, NTR_NOT_KNOWN},
};

static uint32_t last_of(const uint32_t *code) {
    uint32_t at = 0;
    while (at + 1 < INSNS_MAX && code[at + 1]) at++;
    return at;
}

static void constants_of_a_comparison(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof operands / sizeof *operands; i++) {
        ntr_operand_root root = {0};
        make("a");
        flow[0].compared =
            (ntr_compared){1, operands[i].type, operands[i].type, operands[i].relation, operands[i].constant};
        read_code(operands[i].code, last_of(operands[i].code));
        f.match.kind.gnu = !operands[i].clang;
        const int taken_is = ntr_matcher_by_operand(&f.matcher, 0, &root);
        if (taken_is != operands[i].taken_is) fail_msg("%s: %d", operands[i].source, taken_is);
        if (taken_is != NTR_NOT_KNOWN) { /* a5 behind its load */
            assert_int_equal(root.reg, 15);
            assert_int_equal(root.at, 1);
        }
        release();
    }
}

/* c >= '0' && c <= '9' is one branch: the sum with a constant is in a range. */
static void a_range_is_one_comparison(void **state) {
    static const struct {
        uint32_t sum;
        int64_t last;
        int taken_is;
    } rows[] = {
        {ADD_A5_MINUS_48, '9', 0}, {ADD_A5_MINUS_49, '9', NTR_NOT_KNOWN}, {ADD_A5_MINUS_48, '8', NTR_NOT_KNOWN}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static ntr_grouped_record grouped;
        const ntr_integer_type type = UNSIGNED_CHAR, common = INT;
        make("&ab");
        flow[0].compared = (ntr_compared){1, type, common, NTR_GREATER_EQUAL, '0'};
        flow[1].compared = (ntr_compared){1, type, common, NTR_LESS_EQUAL, rows[i].last};
        read_code((const uint32_t[INSNS_MAX]){LBU_A5, rows[i].sum, BYTE_A5, LI_A4_9, BLTU_A4_A5}, 4);
        assert_true(ntr_grouping_make(&record, 1, &f.match.grouping, &grouped));
        f.match.ungrouped = &record;
        f.match.record = &grouped.record;
        assert_int_equal(ntr_matcher_by_operand(&f.matcher, 0, NULL), rows[i].taken_is);
        release();
    }
}

/* ---- statements */

/* if (a) line 20; -- the branch is at 0. Which instruction begins line 20, and the value of `a` when the branch is
 * taken. */
static void statements_that_an_outcome_reaches(void **state) {
    static const struct {
        const char *name;
        uint32_t code[INSNS_MAX];
        uint32_t statement;
        int taken_is;
    } rows[] = {
        {"behind the branch", {BNEZ_A0, STORE_A1, NOP, RETURN}, 1, 0},
        {"where the branch leads, and its other outcome returns", {BNEZ_A0, RETURN, STORE_A1, RETURN}, 2, 1},
        {"where both outcomes lead", {BNEZ_A0, NOP, STORE_A1, RETURN}, 2, NTR_NOT_KNOWN},
        {"in code that no outcome reaches", {BNEZ_A0, RETURN, RETURN, STORE_A1}, 3, NTR_NOT_KNOWN},
        {"behind a jump", {BNEZ_A0, JUMP_ON, RETURN, STORE_A1, RETURN}, 3, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ntr_statement item = {CODE_BEGIN + 4 * rows[i].statement, "this file", 20, 5};
        ntr_statements statements = {.items = &item, .count = 1};
        make("a");
        record.path = "this file";
        record.extent = (ntr_extent){10, 1, 10, 9};
        record.when[true] = (ntr_extent){20, 1, 20, 9};
        read_code(rows[i].code, 0);
        f.match.statements = &statements;
        const int taken_is = ntr_matcher_by_reach(&f.matcher, 0);
        if (taken_is != rows[i].taken_is) fail_msg("%s: %d", rows[i].name, taken_is);
        item.path = "another file"; /* a line of another file says nothing */
        assert_int_equal(ntr_matcher_by_reach(&f.matcher, 0), NTR_NOT_KNOWN);
        for (uint32_t k = 0; k < f.graph.count; k++) assert_int_equal(f.graph.insns[k].candidate, 0);
        release();
    }
}

/* ---- what is set, and called */

static void constants_that_two_exits_set(void **state) {
    static const struct {
        uint32_t code[INSNS_MAX];
        uint32_t exit, opposite;
        bool apart;
    } rows[] = {
        {{LI_A0_1, RETURN, LI_A0_0, RETURN}, 0, 2, true},
        {{LI_A0_1, RETURN, MV_A0_A1, RETURN}, 0, 2, true},
        {{LI_A0_1, RETURN, MV_A0_A1, RETURN}, 2, 0, false}, /* this one sets no constant */
        {{LI_A0_1, RETURN, LI_A0_1, RETURN}, 0, 2, false},  /* equal code */
        {{LI_A0_1, RETURN, STORE_A1, RETURN},
         0,
         2,
         false},    /* the other one sets nothing: it may have the value already */
        {{NOP, NOP, LI_A0_1, RETURN}, 0, 1, false},      /* both lead to it */
        {{JUMP_ON, RETURN, LI_A0_1, RETURN, LI_A0_0, RETURN}, 0, 4, true},
        {{NOP, STORE_A1, NOP, NOP, LI_A0_1, RETURN, LI_A0_0}, 0, 6, false}, /* too far away */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make("a");
        read_code(rows[i].code, 0);
        if (ntr_matcher_sets_apart(&f.graph, rows[i].exit, rows[i].opposite) != rows[i].apart) fail_msg("row %zu", i);
        release();
    }
}

/* assert(a): the result false has the only call of a function that never returns. */
static void the_call_of_a_result(void **state) {
    static const uint32_t code[INSNS_MAX] = {BNEZ_A0, NOP, RETURN, STORE_A1, RETURN};
    (void)state;
    make("a");
    read_code(code, 0);
    f.graph.insns[3].last_call = CODE_BEGIN + 4 * INSNS_MAX;
    const char *const abort_alone[2] = {"abort", NULL}, *const two[2] = {"abort", "abort"},
                      *const other[2] = {"exit", NULL}, *const begins[2] = {"abor", NULL};
    memcpy(record.called, abort_alone, sizeof record.called);
    assert_true(ntr_matcher_ends_in_call(&f.matcher, 3, false));
    assert_false(ntr_matcher_ends_in_call(&f.matcher, 3, true));  /* the source has none there */
    assert_false(ntr_matcher_ends_in_call(&f.matcher, 1, false)); /* this code returns */
    memcpy(record.called, two, sizeof record.called);
    assert_false(ntr_matcher_ends_in_call(&f.matcher, 3, false)); /* both results call it */
    memcpy(record.called, other, sizeof record.called);
    assert_false(ntr_matcher_ends_in_call(&f.matcher, 3, false));
    memcpy(record.called, begins, sizeof record.called);
    assert_false(ntr_matcher_ends_in_call(&f.matcher, 3, false));
    release();
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(constants_of_a_comparison), TEST(a_range_is_one_comparison),
                                       TEST(statements_that_an_outcome_reaches), TEST(constants_that_two_exits_set),
                                       TEST(the_call_of_a_result)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
