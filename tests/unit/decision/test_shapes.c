#include "../test.h"

#include "decision/arguments.h"
#include "decision/record.h"
#include "decision/graph.h"
#include "decision/statements.h"

#include <stdlib.h>
#include <string.h>

/* ---- levels of optimization -------------------------------------------------------------------- */

static void levels(void **state) {
    static const struct {
        const char *producer;
        bool unoptimized, debug;
    } cases[] = {
        {"GNU C17 12.2.0 -march=rv64gc -g", true, false},
        {"GNU C17 12.2.0 -O2 -g -O0", true, false},
        {"GNU C17 12.2.0 -O0 -g -O2", false, false},
        {"GNU C17 12.2.0 -Og -g", false, true},
        {"GNU C17 12.2.0 -O -g", false, false},
        {"GNU C17 12.2.0 -Ofast", false, false},
        {NULL, false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool unoptimized, debug;
        ntr_producer_level(cases[i].producer, &unoptimized, &debug);
        assert_int_equal(unoptimized, cases[i].unoptimized);
        assert_int_equal(debug, cases[i].debug);
    }
    assert_true(ntr_producer_keeps_paths("GNU C17 12.2.0 -g -Og -fno-thread-jumps"));
    assert_false(ntr_producer_keeps_paths("GNU C17 12.2.0 -fno-thread-jumps -g -Og -fthread-jumps"));
    assert_false(ntr_producer_keeps_paths("GNU C17 12.2.0 -g -Og -fno-thread-jumps-not"));
    assert_false(ntr_producer_keeps_paths(NULL));
}

/* ---- graphs ------------------------------------------------------------------------------------ */

static const uint16_t beqz_4 = 0xc111, jump_2 = 0xa009, jump_4 = 0xa011, nop = 0x0001,
                      ret = 0x8082; /* beqz a0, .+4; j .+2; ... */

static bool unoptimized(const uint16_t *code, size_t count) {
    ntr_program *program;
    ntr_program_new(NULL, &program);
    ntr_image_options options;
    ntr_graph graph = {0};
    ntr_image_options_init(&options);
    options.bias = 0x1000;
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){(const uint8_t *)code, 2 * count}, &options), NTR_OK);
    assert_int_equal(
        ntr_graph_make(&graph, program, NULL, ntr_place_at(NULL, NTR_POSITION_ANY, 0x1000), 0x1000 + 2 * count),
        NTR_OK);
    assert_int_equal(graph.count, count);
    bool result = ntr_graph_unoptimized(&graph);
    ntr_graph_release(&graph);
    ntr_program_free(program);
    return result;
}

/* Code shows that clang has not optimized it by a jump after each branch and one to the next instruction. */
static void code_without_optimization(void **state) {
    (void)state;
    assert_true(unoptimized((const uint16_t[]){beqz_4, jump_2, nop, ret}, 4));
    assert_false(unoptimized((const uint16_t[]){beqz_4, jump_4, nop, ret}, 4));
    assert_false(unoptimized((const uint16_t[]){beqz_4, nop, jump_2, ret}, 4));
    assert_false(unoptimized((const uint16_t[]){jump_2, nop, beqz_4, ret}, 4));
    assert_false(unoptimized((const uint16_t[]){nop, ret}, 2));
    assert_false(unoptimized((const uint16_t[]){ret, beqz_4}, 2)); /* the function ends in a branch */
}

/* ---- statements -------------------------------------------------------------------------------- */

static void statements(void **state) {
    static const char file[] = "one", other[] = "one";
    const ntr_extent body = {5, 3, 6, 10};
    ntr_statements s = {0};
    (void)state;
    assert_false(ntr_statements_any(&s, 0));
    const ntr_statement rows[] = {
        {0x30, file, 6, 9}, {0x10, file, 5, 2}, {0x10, file, 5, 3}, {0x20, other, 5, 4}, {0x40, file, 6, 10}};
    for (size_t i = 0; i < 5; i++) assert_int_equal(ntr_statements_add(&s, &rows[i]), NTR_OK);
    ntr_statements_sort(&s);
    assert_true(ntr_statements_any(&s, 0x10) && ntr_statements_any(&s, 0x40));
    assert_false(ntr_statements_any(&s, 0x11) || ntr_statements_any(&s, 0x50));
    assert_true(ntr_statements_within(&s, 0x10, file, &body)); /* the second one at this address */
    assert_true(ntr_statements_within(&s, 0x30, file, &body));
    assert_false(ntr_statements_within(&s, 0x20, file, &body)); /* paths are compared by identity */
    assert_false(ntr_statements_within(&s, 0x40, file, &body)); /* the end is exclusive */
    ntr_statements_release(&s);
}

/* ---- how often decisions are evaluated --------------------------------------------------------- */

static void flows(void **state) {
    ntr_flow_count entries = ntr_flow_of(0, 0), yes = ntr_flow_of(1, NTR_FLOW_TRUE), sum;
    (void)state;
    sum = ntr_flow_add(&entries, &yes, -1);
    assert_int_equal(sum.far.count, 2);
    sum = ntr_flow_add(&sum, &yes, 1); /* terms that cancel leave nothing */
    assert_int_equal(sum.far.count, 1);
    assert_int_equal(sum.far.terms[0].id, 0);
    ntr_flow_count unknown = ntr_flow_unknown();
    assert_true(ntr_flow_add(&sum, &unknown, 1).far.unknown);
    for (uint32_t i = 0; i <= NTR_FLOW_TERMS_MAX && !sum.far.unknown; i++) {
        ntr_flow_count term = ntr_flow_of(i + 2, NTR_FLOW_TRUE);
        sum = ntr_flow_add(&sum, &term, 1);
    }
    assert_true(sum.far.unknown); /* a sum with too many terms is not known, not shortened */
    sum = ntr_flow_restart(&entries, 7, NTR_FLOW_CALL); /* the far sum goes on from the entry */
    sum = ntr_flow_add(&sum, &yes, -1);
    assert_true(sum.far.count == 2 && sum.far.terms[0].id == 0 && sum.far.terms[1].id == 1);
    assert_true(sum.near.count == 2 && sum.near.terms[0].id == 7 && sum.near.terms[0].what == NTR_FLOW_CALL &&
                sum.near.terms[1].id == 1);
    sum = ntr_flow_restart(&unknown, 7, NTR_FLOW_CALL); /* behind a label both begin here */
    assert_true(!sum.far.unknown && sum.far.terms[0].id == 7 && !sum.near.unknown);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(levels), TEST(code_without_optimization), TEST(statements), TEST(flows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
