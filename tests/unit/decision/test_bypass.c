#include "../test.h"

#include "decision/matcher.h"

/* ---- code -------------------------------------------------------------------------------------- */

/* Encodings. `offset`: in instructions. */
#define JUMP(offset) (0x6fu | ((unsigned)(offset) * 4u & 0x7feu) << 20 | ((offset) < 0 ? 0x801ff000u : 0))
#define BEQZ(reg, offset)                                                                                              \
    (0x63u | (unsigned)(reg) << 15 | ((unsigned)(offset) * 4u & 0x1eu) << 7 |                                          \
     ((unsigned)(offset) * 4u & 0x7e0u) << 20 | ((offset) < 0 ? 0x80000080u : 0))
enum {
    STORE = 0x00b52023,
    MOVE_A3 = 0x00050693,
    ADD = 0x00160613,
    LOAD_A0 = 0x00052503,
    LOAD_STACK = 0x00012503,
    RETURN = 0x00008067
};
enum { A0 = 10, A1 = 11, A2 = 12, A3 = 13, A4 = 14, INSNS_MAX = 16, END = 0 };

/* A decision with the conditions a0 && a1. */
typedef struct bypass_case {
    const char *name;
    uint32_t code[INSNS_MAX];
    unsigned first, second;      /* its branches */
    unsigned when_true, when_false;
    uint8_t falls;
    bool repeats, bypassed;
} bypass_case;

static const bypass_case cases[] = {
    {"if (a && b) x; y", {BEQZ(A0, 3), BEQZ(A1, 2), STORE, ADD, RETURN}, 0, 1, 2, 3, NTR_FALLS_TRUE, false, false},
    {"x leads to y, and x has a jump of its own",
     {BEQZ(A0, 3), BEQZ(A1, 2), STORE, ADD, RETURN},
     0,
     1,
     2,
     3,
     NTR_FALLS_NOT,
     false,
     true},
    {"if (a && b) x; else y",
     {BEQZ(A0, 4), BEQZ(A1, 3), STORE, RETURN, STORE, RETURN},
     0,
     1,
     2,
     4,
     NTR_FALLS_NOT,
     false,
     false},
    {"a path from the entry to y",
     {BEQZ(A4, 4), BEQZ(A0, 3), BEQZ(A1, 2), STORE, ADD, RETURN},
     1,
     2,
     3,
     4,
     NTR_FALLS_TRUE,
     false,
     true},
    {"a path from the entry to x",
     {BEQZ(A4, 3), BEQZ(A0, 3), BEQZ(A1, 2), STORE, ADD, RETURN},
     1,
     2,
     3,
     4,
     NTR_FALLS_TRUE,
     false,
     true},
    {"a path from the entry to the end",
     {BEQZ(A4, 5), BEQZ(A0, 3), BEQZ(A1, 2), STORE, STORE, RETURN},
     1,
     2,
     3,
     4,
     NTR_FALLS_TRUE,
     false,
     false},
    {"the same, and y only sets a register",
     {BEQZ(A4, 5), BEQZ(A0, 3), BEQZ(A1, 2), STORE, ADD, RETURN},
     1,
     2,
     3,
     4,
     NTR_FALLS_TRUE,
     false,
     true},
    {"return a && b", {BEQZ(A0, 4), BEQZ(A1, 3), ADD, RETURN, ADD, RETURN}, 0, 1, 2, 4, NTR_FALLS_NOT, false, false},
    {"the same, and another return that may be a copy",
     {BEQZ(A4, 7), BEQZ(A0, 4), BEQZ(A1, 3), ADD, RETURN, ADD, RETURN, ADD, RETURN},
     1,
     2,
     3,
     5,
     NTR_FALLS_NOT,
     false,
     true},
    {"the same, and the returns are no results",
     {BEQZ(A4, 7), BEQZ(A0, 4), BEQZ(A1, 3), STORE, RETURN, STORE, RETURN, ADD, RETURN},
     1,
     2,
     3,
     5,
     NTR_FALLS_NOT,
     false,
     false},
    {"a loop around it",
     {BEQZ(A0, 3), BEQZ(A1, 2), STORE, ADD, BEQZ(A4, -4), RETURN},
     0,
     1,
     2,
     3,
     NTR_FALLS_TRUE,
     false,
     false},
    {"a loop that knows the result",
     {BEQZ(A0, 3), BEQZ(A1, 2), STORE, ADD, BEQZ(A4, -1), RETURN},
     0,
     1,
     2,
     3,
     NTR_FALLS_TRUE,
     false,
     true},
    {"a jump table to x",
     {BEQZ(A0, 5), BEQZ(A1, 3), JUMP(2), RETURN, STORE, ADD, RETURN},
     0,
     1,
     3,
     5,
     NTR_FALLS_TRUE,
     false,
     true},
    {"do x; while (a && b); y",
     {STORE, BEQZ(A0, 3), BEQZ(A1, 2), JUMP(-3), ADD, RETURN},
     1,
     2,
     0,
     4,
     NTR_FALLS_NOT,
     true,
     false},
    {"do, and a way out of x",
     {BEQZ(A4, 4), BEQZ(A0, 3), BEQZ(A1, 2), JUMP(-3), ADD, RETURN},
     1,
     2,
     0,
     4,
     NTR_FALLS_NOT,
     true,
     true},
    {"y only tests a0",
     {BEQZ(A4, 6), BEQZ(A0, 3), BEQZ(A1, 2), STORE, BEQZ(A0, 2), STORE, ADD, RETURN},
     1,
     2,
     3,
     4,
     NTR_FALLS_TRUE,
     false,
     true},
    {"y only tests a copy of a0",
     {BEQZ(A4, 7), BEQZ(A0, 3), BEQZ(A1, 2), STORE, MOVE_A3, BEQZ(A3, 2), STORE, ADD, RETURN},
     1,
     2,
     3,
     4,
     NTR_FALLS_TRUE,
     false,
     true},
    {"y tests a word of the frame",
     {BEQZ(A4, 7), BEQZ(A0, 3), BEQZ(A1, 2), STORE, LOAD_STACK, BEQZ(A0, 2), STORE, ADD, RETURN},
     1,
     2,
     3,
     4,
     NTR_FALLS_TRUE,
     false,
     true},
    {"y tests something else",
     {BEQZ(A4, 6), BEQZ(A0, 3), BEQZ(A1, 2), STORE, BEQZ(A3, 2), STORE, ADD, RETURN},
     1,
     2,
     3,
     4,
     NTR_FALLS_TRUE,
     false,
     false},
    {"y loads what it tests",
     {BEQZ(A4, 7), BEQZ(A0, 3), BEQZ(A1, 2), STORE, LOAD_A0, BEQZ(A0, 2), STORE, ADD, RETURN},
     1,
     2,
     3,
     4,
     NTR_FALLS_TRUE,
     false,
     false},
    {"a path past a test of i",
     {BEQZ(A4, 7), BEQZ(A0, 3), BEQZ(A1, 2), ADD, BEQZ(A2, 3), STORE, RETURN, STORE, RETURN},
     1,
     2,
     3,
     4,
     NTR_FALLS_TRUE,
     false,
     true},
    {"y stores first",
     {BEQZ(A4, 7), BEQZ(A0, 3), BEQZ(A1, 2), STORE, STORE, BEQZ(A0, 2), STORE, ADD, RETURN},
     1,
     2,
     3,
     4,
     NTR_FALLS_TRUE,
     false,
     false},
};

static bool bypassed(const bypass_case *c) {
    ntr_program *program;
    ntr_program_new(NULL, &program);
    ntr_image_options options;
    ntr_graph graph = {0};
    size_t count = 0;
    while (count < INSNS_MAX && c->code[count] != END) count++;
    ntr_image_options_init(&options);
    options.bias = 0x1000;
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){(const uint8_t *)c->code, 4 * count}, &options), NTR_OK);
    assert_int_equal(
        ntr_graph_make(&graph, program, NULL, ntr_place_at(NULL, NTR_POSITION_ANY, 0x1000), 0x1000 + 4 * count),
        NTR_OK);
    assert_int_equal(graph.count, count);
    graph.insns[c->first].candidate = 1;
    graph.insns[c->second].candidate = 2;
    const ntr_decision_record record = {.falls = c->falls, .repeats = c->repeats};
    const ntr_result_exits exits = {{{c->when_false}, {c->when_true}}, {1, 1}};
    bool result = ntr_matcher_bypassed(&graph, &record, &exits);
    for (size_t i = 0; i < count; i++) assert_false(graph.insns[i].anchor || graph.insns[i].barrier);
    ntr_graph_release(&graph);
    ntr_program_free(program);
    return result;
}

static void ways_past_a_decision(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (bypassed(&cases[i]) != cases[i].bypassed) fail_msg("%s: expected %d", cases[i].name, cases[i].bypassed);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(ways_past_a_decision)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
