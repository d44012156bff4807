#include "../test.h"

#include "decision/values.h"

/* ---- compressed instructions ------------------------------------------------------------------- */

/* Encodings of the GNU assembler, with and without .option rvc. */
static void expansion(void **state) {
    static const struct {
        uint32_t compressed, whole;
    } cases[] = {
        {0x0808, 0x01010513}, /* addi a0,sp,16 */
        {0x1fe4, 0x3fc10493}, /* addi s1,sp,1020 */
        {0x41c8, 0x0045a503}, /* lw a0,4(a1) */
        {0x5c7c, 0x07c42783}, /* lw a5,124(s0) */
        {0x6588, 0x0085b503}, /* ld a0,8(a1) */
        {0x7c7c, 0x0f843783}, /* ld a5,248(s0) */
        {0xc1a8, 0x04a5a023}, /* sw a0,64(a1) */
        {0xe4f8, 0x0ce4b423}, /* sd a4,200(s1) */
        {0x1e01, 0xfe0e0e13}, /* addi t3,t3,-32 */
        {0x2e7d, 0x01fe0e1b}, /* addiw t3,t3,31 */
        {0x557d, 0xfff00513}, /* li a0,-1 */
        {0x7505, 0xfffe1537}, /* lui a0,0xfffe1 */
        {0x66fd, 0x0001f6b7}, /* lui a3,0x1f */
        {0x7101, 0xe0010113}, /* addi sp,sp,-512 */
        {0x617d, 0x1f010113}, /* addi sp,sp,496 */
        {0x9105, 0x02155513}, /* srli a0,a0,33 */
        {0x95fd, 0x43f5d593}, /* srai a1,a1,63 */
        {0x9a6d, 0xffb67613}, /* andi a2,a2,-5 */
        {0x8d0d, 0x40b50533}, /* sub a0,a0,a1 */
        {0x8d2d, 0x00b54533}, /* xor a0,a0,a1 */
        {0x8ec1, 0x0086e6b3}, /* or a3,a3,s0 */
        {0x8cfd, 0x00f4f4b3}, /* and s1,s1,a5 */
        {0x9d0d, 0x40b5053b}, /* subw a0,a0,a1 */
        {0x9e35, 0x00d6063b}, /* addw a2,a2,a3 */
        {0x12a2, 0x02829293}, /* slli t0,t0,40 */
        {0x537e, 0x0fc12303}, /* lw t1,252(sp) */
        {0x73fe, 0x1f813383}, /* ld t2,504(sp) */
        {0x8efa, 0x000f0e93}, /* mv t4,t5; the assembler has ADDI, which has the same effect */
        {0x9efe, 0x01fe8eb3}, /* add t4,t4,t6 */
        {0xdf86, 0x0e112e23}, /* sw ra,252(sp) */
        {0xff86, 0x1e113c23}, /* sd ra,504(sp) */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t expanded = ntr_expand(cases[i].compressed, 64);
        if (cases[i].compressed == 0x8efa) expanded = expanded == 0x01e00eb3 ? cases[i].whole : 0; /* add t4,zero,t5 */
        assert_int_equal(expanded, cases[i].whole);
        assert_int_equal(ntr_expand(cases[i].whole, 64), cases[i].whole);
    }
    assert_int_equal(ntr_expand(0, 64), 0); /* not an instruction */
    assert_int_equal(ntr_expand(0x2000, 64), 0); /* c.fld */
    assert_int_equal(ntr_expand(0x6588, 32), 0); /* c.flw of RV32 */
    assert_int_equal(ntr_expand(0x9c61, 64), 0); /* c.zext.b of Zcb */
}

/* ---- branches that are certain ----------------------------------------------------------------- */

typedef struct code_graph {
    ntr_program *program;
    ntr_graph graph;
} code_graph;

static code_graph graph_of(const uint16_t *code, size_t count) {
    code_graph c = {0};
    ntr_program_new(NULL, &c.program);
    ntr_image_options options;
    ntr_image_options_init(&options);
    options.bias = 0x1000;
    assert_int_equal(ntr_program_add_raw(c.program, (ntr_bytes){(const uint8_t *)code, 2 * count}, &options), NTR_OK);
    assert_int_equal(
        ntr_graph_make(&c.graph, c.program, NULL, ntr_place_at(NULL, NTR_POSITION_ANY, 0x1000), 0x1000 + 2 * count),
        NTR_OK);
    return c;
}

static void release(code_graph *c) {
    ntr_graph_release(&c->graph);
    ntr_program_free(c->program);
}

/* Returns the offset at which an outcome of the branch at the offset `branch` arrives. */
static uint64_t arrives(const code_graph *c, uint32_t from, uint64_t branch, bool taken, unsigned passes) {
    ntr_passed passed;
    uint32_t at = ntr_graph_at(&c->graph, 0x1000 + branch);
    uint32_t place = ntr_constants_follow(&c->graph, from, at, taken, &passed);
    assert_int_equal(passed.count, passes);
    return c->graph.insns[place].address - 0x1000;
}

/* beqz a0,8; beqz a1,8; li a5,1; j a; 8: li a5,0; a: beqz a5,e; nop; e: ret -- C++ code of gcc */
static void result_in_a_register(void **state) {
    static const uint16_t code[] = {0xc501, 0xc199, 0x4785, 0xa011, 0x4781, 0xc391, 0x0001, 0x8082};
    code_graph c = graph_of(code, 8);
    (void)state;
    assert_int_equal(arrives(&c, 0, 0, true, 0), 8); /* a branch that is not joint is not passed */
    c.graph.insns[ntr_graph_at(&c.graph, 0x100a)].joint = true;
    assert_int_equal(arrives(&c, 0, 0, true, 1), 0xe);
    assert_int_equal(arrives(&c, 0, 0, false, 0), 2);
    assert_int_equal(arrives(&c, 1, 2, true, 1), 0xe);
    assert_int_equal(arrives(&c, 1, 2, false, 1), 0xc);
    release(&c);
}

/* li a2,0; sd a2,24(sp); beqz a0,10; j 8; 8: snez a3,a1; sd a3,24(sp); j 10; 10: ld a0,24(sp); andi a0,a0,1; beqz
 * a0,1a; ...
 * -- a loop of clang: the value of the last condition is stored */
static void result_in_memory(void **state) {
    static const uint16_t code[] = {0x4601, 0xec32, 0xc511, 0xa009, 0x36b3, 0x00b0, 0xec36,
                                    0xa009, 0x6562, 0x8905, 0xc119, 0xa009, 0x0001, 0x8082};
    code_graph c = graph_of(code, 14);
    (void)state;
    c.graph.insns[ntr_graph_at(&c.graph, 0x1014)].joint = true;
    assert_int_equal(arrives(&c, 0, 4, true, 1), 0x1a);
    assert_int_equal(arrives(&c, 0, 4, false, 0), 6); /* a computed value is stored */
    assert_int_equal(arrives(&c, 2, 4, true, 0), 0x10); /* what was before is not known */
    release(&c);
}

/* The same with a store through another register before the load: the word may have changed. */
static void changed_memory(void **state) {
    static const uint16_t code[] = {0x4601, 0xec32, 0xc501, 0x0001, 0x8082, 0x0001,
                                    0xe188, 0x6562, 0xc119, 0x0001, 0x8082};
    code_graph c = graph_of(code, 11); /* ...; beqz a0,c; ...; c: sd a0,0(a1); ld a0,24(sp); beqz a0,14 */
    (void)state;
    c.graph.insns[ntr_graph_at(&c.graph, 0x1010)].joint = true;
    assert_int_equal(c.graph.insns[2].target, 6);
    assert_int_equal(arrives(&c, 0, 4, true, 0), 0xc);
    release(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(expansion), TEST(result_in_a_register), TEST(result_in_memory),
                                       TEST(changed_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
