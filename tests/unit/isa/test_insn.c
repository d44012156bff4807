#include "../test.h"

#include "isa/plain.h"

#include <ntrace/isa.h>
#include <string.h>

/* N-Trace 1.0 section 1.3, row by row. All at pc 0x10000; `target` is relative to it. */
#define PC   UINT64_C(0x10000)
#define BOTH 0x100 /* decode as RV32 and as RV64 */
#define ZCM  (NTR_ISA_ZCMP | NTR_ISA_ZCMT)

static const struct {
    const char *text;
    uint32_t word;
    unsigned isa;
    uint8_t size, flow, itype, rd, rs1;
    int32_t immediate;
    int32_t target;
} jumps[] = {
    {"jal ra", 0x010000ef, BOTH, 4, NTR_FLOW_DIRECT_CALL, 9, 1, 0, 0, 0x10},
    {"jal t0", 0x800002ef, BOTH, 4, NTR_FLOW_DIRECT_CALL, 9, 5, 0, 0, -0x100000},
    {"jal zero", 0x7ffff06f, BOTH, 4, NTR_FLOW_DIRECT_JUMP, 11, 0, 0, 0, 0xffffe},
    {"jal a0", 0x0040056f, BOTH, 4, NTR_FLOW_DIRECT_JUMP, 15, 10, 0, 0, 4},
    {"jalr ra, 0(ra)", 0x000080e7, BOTH, 4, NTR_FLOW_INDIRECT_CALL, 8, 1, 1, 0, 0},
    {"jalr ra, 0(a0)", 0x000500e7, BOTH, 4, NTR_FLOW_INDIRECT_CALL, 8, 1, 10, 0, 0},
    {"jalr t0, 0(t0)", 0x000282e7, BOTH, 4, NTR_FLOW_INDIRECT_CALL, 8, 5, 5, 0, 0},
    {"jalr t0, -4(ra)", 0xffc082e7, BOTH, 4, NTR_FLOW_CO_SWAP, 12, 5, 1, -4, 0},
    {"jalr ra, 0(t0)", 0x000280e7, BOTH, 4, NTR_FLOW_CO_SWAP, 12, 1, 5, 0, 0},
    {"jalr zero, 0(ra)", 0x00008067, BOTH, 4, NTR_FLOW_RETURN, 13, 0, 1, 0, 0},
    {"jalr zero, 8(t0)", 0x00828067, BOTH, 4, NTR_FLOW_RETURN, 13, 0, 5, 8, 0},
    {"jalr a0, 0(ra)", 0x00008567, BOTH, 4, NTR_FLOW_RETURN, 13, 10, 1, 0, 0},
    {"jalr zero, 2047(a5)", 0x7ff78067, BOTH, 4, NTR_FLOW_INDIRECT_JUMP, 10, 0, 15, 2047, 0},
    {"jalr a0, -2048(a5)", 0x80078567, BOTH, 4, NTR_FLOW_INDIRECT_JUMP, 14, 10, 15, -2048, 0},
    {"jalr, funct3 1", 0x00009067, BOTH, 4, NTR_FLOW_LINEAR, 0, 0, 0, 0, 0},
    {"beq", 0x7eb50fe3, BOTH, 4, NTR_FLOW_BRANCH, 4, 0, 0, 0, 4094},
    {"bne", 0x80b51063, BOTH, 4, NTR_FLOW_BRANCH, 4, 0, 0, 0, -4096},
    {"blt", 0x00b54163, BOTH, 4, NTR_FLOW_BRANCH, 4, 0, 0, 0, 2},
    {"bge", 0xfeb55fe3, BOTH, 4, NTR_FLOW_BRANCH, 4, 0, 0, 0, -2},
    {"bltu", 0x10b56063, BOTH, 4, NTR_FLOW_BRANCH, 4, 0, 0, 0, 0x100},
    {"bgeu", 0x00b570e3, BOTH, 4, NTR_FLOW_BRANCH, 4, 0, 0, 0, 0x800},
    {"beqi (Zibi)", 0x00b52163, BOTH, 4, NTR_FLOW_BRANCH, 4, 0, 0, 0, 2},
    {"bnei (Zibi)", 0xfeb53fe3, BOTH, 4, NTR_FLOW_BRANCH, 4, 0, 0, 0, -2},
    /* vendors: words of LLVM's own tests of its assembler, where it has them */
    {"qc.beqi s0, 12, 346", 0x14c40d7b, BOTH, 4, NTR_FLOW_LINEAR, 0, 0, 0, 0, 0},
    {"qc.beqi s0, 12, 346", 0x14c40d7b, NTR_ISA_RV32 | NTR_ISA_XQCIBI, 4, NTR_FLOW_BRANCH, 4, 0, 0, 0, 346},
    {"qc.bnei tp, 15, 4094", 0x7ef21ffb, NTR_ISA_RV32 | NTR_ISA_XQCIBI, 4, NTR_FLOW_BRANCH, 4, 0, 0, 0, 4094},
    {"qc.bgei a0, 1, -4096", 0x8015507b, NTR_ISA_RV32 | NTR_ISA_XQCIBI, 4, NTR_FLOW_BRANCH, 4, 0, 0, 0, -4096},
    {"qc.blti ra, 6, 2000", 0x7c60c87b, NTR_ISA_RV32 | NTR_ISA_XQCIBI, 4, NTR_FLOW_BRANCH, 4, 0, 0, 0, 2000},
    {"qc.bgeui a2, 11, 128", 0x08b6707b, NTR_ISA_RV32 | NTR_ISA_XQCIBI, 4, NTR_FLOW_BRANCH, 4, 0, 0, 0, 128},
    {"qc.bltui sp, 7, 666", 0x28716d7b, NTR_ISA_RV32 | NTR_ISA_XQCIBI, 4, NTR_FLOW_BRANCH, 4, 0, 0, 0, 666},
    {"custom-3, funct3 2", 0x14c42d7b, NTR_ISA_RV32 | NTR_ISA_XQCIBI, 4, NTR_FLOW_LINEAR, 0, 0, 0, 0, 0},
    {"cv.beqimm", 0x0055640b, NTR_ISA_RV32 | NTR_ISA_XCVBI, 4, NTR_FLOW_BRANCH, 4, 0, 0, 0, 8},
    {"cv.bneimm", 0xfe557c8b, NTR_ISA_RV32 | NTR_ISA_XCVBI, 4, NTR_FLOW_BRANCH, 4, 0, 0, 0, -8},
    {"custom-0, funct3 5", 0x0055540b, NTR_ISA_RV32 | NTR_ISA_XCVBI, 4, NTR_FLOW_LINEAR, 0, 0, 0, 0, 0},
    {"nds.beqc", 0x0055545b, BOTH | NTR_ISA_XANDESPERF, 4, NTR_FLOW_BRANCH, 4, 0, 0, 0, 8},
    {"nds.bnec", 0xbe556c5b, BOTH | NTR_ISA_XANDESPERF, 4, NTR_FLOW_BRANCH, 4, 0, 0, 0, -8},
    {"nds.bbc", 0x0055745b, BOTH | NTR_ISA_XANDESPERF, 4, NTR_FLOW_BRANCH, 4, 0, 0, 0, 8},
    {"nds.bbs", 0x405574db, BOTH | NTR_ISA_XANDESPERF, 4, NTR_FLOW_BRANCH, 4, 0, 0, 0, 8},
    {"custom-2, funct3 4", 0x0055445b, BOTH | NTR_ISA_XANDESPERF, 4, NTR_FLOW_LINEAR, 0, 0, 0, 0, 0},
    {"th.ipop", 0x0050000b, NTR_ISA_XTHEADINT, 4, NTR_FLOW_TRAP_RETURN, 3, 0, 0, 0, 0},
    {"th.ipop", 0x0050000b, BOTH, 4, NTR_FLOW_LINEAR, 0, 0, 0, 0, 0},
    {"mret", 0x30200073, BOTH, 4, NTR_FLOW_TRAP_RETURN, 3, 0, 0, 0, 0},
    {"sret", 0x10200073, BOTH, 4, NTR_FLOW_TRAP_RETURN, 3, 0, 0, 0, 0},
    {"mnret", 0x70200073, BOTH, 4, NTR_FLOW_TRAP_RETURN, 3, 0, 0, 0, 0},
    {"dret", 0x7b200073, BOTH, 4, NTR_FLOW_TRAP_RETURN, 3, 0, 0, 0, 0},
    {"ecall", 0x00000073, BOTH, 4, NTR_FLOW_TRAP, 1, 0, 0, 0, 0},
    {"ebreak", 0x00100073, BOTH, 4, NTR_FLOW_TRAP, 1, 0, 0, 0, 0},
    {"wfi", 0x10500073, BOTH, 4, NTR_FLOW_LINEAR, 0, 0, 0, 0, 0},
    {"csrrw a0, mstatus, a1", 0x30059573, BOTH, 4, NTR_FLOW_LINEAR, 0, 0, 0, 0, 0},
    {"fence.i", 0x0000100f, BOTH, 4, NTR_FLOW_LINEAR, 0, 0, 0, 0, 0},
    {"c.j", 0xaffd, BOTH, 2, NTR_FLOW_DIRECT_JUMP, 11, 0, 0, 0, 2046},
    {"c.j", 0xb001, BOTH, 2, NTR_FLOW_DIRECT_JUMP, 11, 0, 0, 0, -2048},
    {"c.jal", 0x2ffd, NTR_ISA_RV32, 2, NTR_FLOW_DIRECT_CALL, 9, 1, 0, 0, 2046},
    {"c.addiw", 0x2ffd, 0, 2, NTR_FLOW_LINEAR, 0, 0, 0, 0, 0},
    {"c.beqz", 0xcd7d, BOTH, 2, NTR_FLOW_BRANCH, 4, 0, 0, 0, 254},
    {"c.bnez", 0xf001, BOTH, 2, NTR_FLOW_BRANCH, 4, 0, 0, 0, -256},
    {"c.jr ra", 0x8082, BOTH, 2, NTR_FLOW_RETURN, 13, 0, 1, 0, 0},
    {"c.jr t0", 0x8282, BOTH, 2, NTR_FLOW_RETURN, 13, 0, 5, 0, 0},
    {"c.jr a0", 0x8502, BOTH, 2, NTR_FLOW_INDIRECT_JUMP, 10, 0, 10, 0, 0},
    {"c.jr zero: reserved", 0x8002, BOTH, 2, NTR_FLOW_LINEAR, 0, 0, 0, 0, 0},
    {"c.jalr ra", 0x9082, BOTH, 2, NTR_FLOW_INDIRECT_CALL, 8, 1, 1, 0, 0},
    {"c.jalr t0", 0x9282, BOTH, 2, NTR_FLOW_CO_SWAP, 12, 1, 5, 0, 0},
    {"c.jalr a0", 0x9502, BOTH, 2, NTR_FLOW_INDIRECT_CALL, 8, 1, 10, 0, 0},
    {"c.ebreak", 0x9002, BOTH, 2, NTR_FLOW_TRAP, 1, 0, 0, 0, 0},
    {"c.mv a0, a1", 0x852e, BOTH, 2, NTR_FLOW_LINEAR, 0, 0, 0, 0, 0},
    {"c.add a0, a1", 0x952e, BOTH, 2, NTR_FLOW_LINEAR, 0, 0, 0, 0, 0},
    {"illegal 0", 0x0000, BOTH, 2, NTR_FLOW_LINEAR, 0, 0, 0, 0, 0},
    {"c.zext.b", 0x9d61, BOTH, 2, NTR_FLOW_LINEAR, 0, 0, 0, 0, 0},
    {"cm.push", 0xb842, ZCM, 2, NTR_FLOW_LINEAR, 0, 0, 0, 0, 0},
    {"cm.pop", 0xba42, ZCM, 2, NTR_FLOW_LINEAR, 0, 0, 0, 0, 0},
    {"cm.popret", 0xbefe, NTR_ISA_ZCMP, 2, NTR_FLOW_RETURN, 13, 0, 1, 0, 0},
    {"cm.popretz", 0xbc42, NTR_ISA_ZCMP | NTR_ISA_RV32, 2, NTR_FLOW_RETURN, 13, 0, 1, 0, 0},
    {"cm.popret, rlist 3", 0xbe32, ZCM, 2, NTR_FLOW_LINEAR, 0, 0, 0, 0, 0},
    {"cm.mva01s", 0xac66, ZCM, 2, NTR_FLOW_LINEAR, 0, 0, 0, 0, 0},
    {"c.fsdsp, not cm.popret", 0xbefe, NTR_ISA_ZCMT, 2, NTR_FLOW_LINEAR, 0, 0, 0, 0, 0},
    {"c.fsdsp, not cm.jt", 0xa002, NTR_ISA_ZCMP, 2, NTR_FLOW_LINEAR, 0, 0, 0, 0, 0},
};

static void check_jump(size_t i, unsigned isa) {
    uint8_t bytes[4] = {(uint8_t)jumps[i].word, (uint8_t)(jumps[i].word >> 8), (uint8_t)(jumps[i].word >> 16),
                        (uint8_t)(jumps[i].word >> 24)};
    ntr_insn insn;
    uint64_t target = jumps[i].target ? PC + (uint64_t)jumps[i].target : 0;
    if (isa & NTR_ISA_RV32) target = (uint32_t)target;

    print_message("# %s\n", jumps[i].text);
    assert_int_equal(ntr_insn_decode(bytes, jumps[i].size, PC, isa, &insn), NTR_OK);
    assert_int_equal(insn.size, jumps[i].size);
    assert_int_equal(insn.flow, jumps[i].flow);
    assert_int_equal(insn.itype, jumps[i].itype);
    assert_int_equal(insn.rd, jumps[i].rd);
    assert_int_equal(insn.rs1, jumps[i].rs1);
    assert_int_equal(insn.immediate, jumps[i].immediate);
    assert_int_equal(insn.target, target);
    assert_false(insn.sets_constant || insn.table_jump);
}

/* NT-012, NT-014, NT-017, NT-018, NT-019, NT-020, NT-021, NT-022, NT-023, NT-024, NT-025, NT-026, NT-028 */
static void every_jump_has_its_class(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof jumps / sizeof jumps[0]; i++) {
        if (jumps[i].isa != BOTH) {
            check_jump(i, jumps[i].isa);
        } else {
            check_jump(i, 0);
            check_jump(i, NTR_ISA_RV32);
        }
    }
}

static ntr_insn decode(uint32_t word, uint64_t pc, unsigned isa) {
    uint8_t bytes[4] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16), (uint8_t)(word >> 24)};
    ntr_insn insn;
    assert_int_equal(ntr_insn_decode(bytes, 4, pc, isa, &insn), NTR_OK);
    return insn;
}

static void check_constant(uint32_t word, uint64_t pc, unsigned isa, unsigned rd, uint64_t value) {
    ntr_insn insn = decode(word, pc, isa);
    assert_int_equal(insn.flow, NTR_FLOW_LINEAR);
    assert_int_equal(insn.sets_constant, rd != 0);
    assert_int_equal(insn.rd, rd);
    assert_int_equal(insn.target, value);
}

static void constants_for_sequential_jumps(void **state) {
    (void)state;
    check_constant(0x80000537, 0, 0, 10, UINT64_C(0xffffffff80000000)); /* lui a0, 0x80000 */
    check_constant(0x80000537, 0, NTR_ISA_RV32, 10, 0x80000000);
    check_constant(0x80000037, 0, 0, 0, 0);                      /* lui zero: a HINT */
    check_constant(0xfffff317, 0x80001004, 0, 6, 0x80000004);    /* auipc t1, 0xfffff */
    check_constant(0xfffff317, 4, 0, 6, UINT64_C(0xfffffffffffff004));
    check_constant(0xfffff317, 4, NTR_ISA_RV32, 6, 0xfffff004);
    check_constant(0x7501, 0, 0, 10, UINT64_C(0xfffffffffffe0000)); /* c.lui a0, 0xfffe0 */
    check_constant(0x7501, 0, NTR_ISA_RV32, 10, 0xfffe0000);
    check_constant(0x657d, 0, 0, 10, 0x1f000); /* c.lui a0, 0x1f */
    check_constant(0x6141, 0, 0, 0, 0);        /* c.addi16sp */
    check_constant(0x6001, 0, 0, 0, 0);        /* immediate 0: reserved */
    check_constant(0x607d, 0, 0, 0, 0);        /* c.lui zero: a HINT */
}

/* NT-027 */
static void table_jumps_tell_their_index(void **state) {
    (void)state;
    static const struct {
        uint32_t word;
        uint8_t flow, itype, rd, index;
    } rows[] = {
        {0xa002, NTR_FLOW_DIRECT_JUMP, NTR_ITYPE_DIRECT_JUMP, 0, 0},
        {0xa07e, NTR_FLOW_DIRECT_JUMP, NTR_ITYPE_DIRECT_JUMP, 0, 31},
        {0xa082, NTR_FLOW_DIRECT_CALL, NTR_ITYPE_DIRECT_CALL, 1, 32},
        {0xa3fe, NTR_FLOW_DIRECT_CALL, NTR_ITYPE_DIRECT_CALL, 1, 255},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ntr_insn insn = decode(rows[i].word, PC, ZCM);
        assert_true(insn.table_jump);
        assert_int_equal(insn.flow, rows[i].flow);
        assert_int_equal(insn.itype, rows[i].itype);
        assert_int_equal(insn.rd, rows[i].rd);
        assert_int_equal(insn.immediate, rows[i].index);
        assert_int_equal(insn.target, 0);
    }
}

static void targets_wrap_at_the_end_of_the_address_space(void **state) {
    (void)state;
    assert_int_equal(decode(0x010000ef, 0xfffffff8, NTR_ISA_RV32).target, 8);
    assert_int_equal(decode(0x010000ef, 0xfffffff8, 0).target, UINT64_C(0x100000008));
    assert_int_equal(decode(0x010000ef, UINT64_C(0xfffffffffffffff8), 0).target, 8);
    assert_int_equal(decode(0xfeb55fe3, 0, NTR_ISA_RV32).target, 0xfffffffe);
    assert_int_equal(decode(0xb001, 0, 0).target, UINT64_C(0xfffffffffffff800));
}

static void lengths_follow_the_low_bits(void **state) {
    (void)state;
    static const struct {
        uint16_t first;
        uint8_t length;
    } rows[] = {
        {0x0000, 2},  {0x0001, 2},  {0xfffe, 2},  {0x0003, 4},  {0x001b, 4},  {0x001f, 6},  {0xff9f, 6},
        {0x005f, 6},  {0x003f, 8},  {0xffbf, 8},  {0x007f, 10}, {0x107f, 12}, {0x207f, 14}, {0x307f, 16},
        {0x407f, 18}, {0x507f, 20}, {0x607f, 22}, {0xefff, 22}, {0x707f, 2},  {0xffff, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(ntr_insn_length(rows[i].first), rows[i].length);
}

static void long_instructions_are_linear(void **state) {
    (void)state;
    uint8_t bytes[22] = {0x7f, 0x60};
    ntr_insn insn;
    assert_int_equal(ntr_insn_decode(bytes, sizeof bytes, PC, 0, &insn), NTR_OK);
    assert_int_equal(insn.size, 22);
    assert_int_equal(insn.flow, NTR_FLOW_LINEAR);
    assert_int_equal(insn.itype, NTR_ITYPE_NONE);
}

/* Xqcibi and Xqcilb, as LLVM assembles them. */
static void jumps_of_48_bits(void **state) {
    (void)state;
    static const struct {
        uint8_t bytes[6];
        uint8_t flow;
        int32_t target;
    } words[] = {
        {{0x1f, 0xc1, 0x80, 0x01, 0x01, 0x00}, NTR_FLOW_BRANCH, 2},          /* qc.e.beqi ra, 1, 2 */
        {{0x9f, 0x4f, 0x92, 0x7f, 0x73, 0x00}, NTR_FLOW_BRANCH, 4094},       /* qc.e.bnei tp, 115, 4094 */
        {{0x1f, 0x44, 0x00, 0x00, 0x00, 0x00}, NTR_FLOW_DIRECT_JUMP, 8},     /* qc.e.j 8 */
        {{0x1f, 0xc4, 0x00, 0x00, 0x01, 0x00}, NTR_FLOW_DIRECT_CALL, 65544}, /* qc.e.jal 65544 */
        {{0x1f, 0x44, 0x01, 0x00, 0x00, 0x00}, NTR_FLOW_LINEAR, 0},
        {{0x1f, 0xc1, 0xa0, 0x01, 0x01, 0x00}, NTR_FLOW_LINEAR, 0},
    };
    ntr_insn insn;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const unsigned isa = NTR_ISA_RV32 | NTR_ISA_XQCIBI | NTR_ISA_XQCILB;
        assert_int_equal(ntr_insn_decode(words[i].bytes, 6, PC, isa, &insn), NTR_OK);
        assert_int_equal(insn.size, 6);
        assert_int_equal(insn.flow, words[i].flow);
        if (insn.flow) assert_int_equal(insn.target, (uint32_t)(PC + (uint64_t)(int64_t)words[i].target));
        assert_int_equal(ntr_insn_decode(words[i].bytes, 6, PC, NTR_ISA_RV32, &insn), NTR_OK);
        assert_int_equal(insn.flow, NTR_FLOW_LINEAR);
    }
}

enum {
    CUSTOM_0_TO_2 = NTR_ISA_CUSTOM_0 | NTR_ISA_CUSTOM_1 | NTR_ISA_CUSTOM_2,
    CUSTOM_0_TO_3 = CUSTOM_0_TO_2 | NTR_ISA_CUSTOM_3,
};

static void names_of_instruction_sets(void **state) {
    (void)state;
    static const struct {
        const char *text;
        unsigned isa;
    } names[] = {{"rv64gc", 0},
                 {"rv32imac", NTR_ISA_RV32},
                 {"rv32i2p1_m2p0_zcmp1p0_zcmt1p0", NTR_ISA_RV32 | NTR_ISA_ZCMP | NTR_ISA_ZCMT},
                 {"rv32i_zce", NTR_ISA_RV32 | NTR_ISA_ZCMP | NTR_ISA_ZCMT},
                 {"rv64imac_zcmpx", 0},
                 {"rv64gc_xandesperf5p0", NTR_ISA_XANDESPERF | CUSTOM_0_TO_2},
                 {"rv64gc_xtheadba1p0_xtheadint", NTR_ISA_XTHEADINT | NTR_ISA_CUSTOM_0},
                 {"rv32imc_xqci0p13",
                  NTR_ISA_RV32 | NTR_ISA_XQCIBI | NTR_ISA_XQCILB | NTR_ISA_XQCIINT | NTR_ISA_ZCMP | CUSTOM_0_TO_3},
                 {"rv32imc_xqcili", NTR_ISA_RV32 | NTR_ISA_XQCIBI | NTR_ISA_XQCILB | NTR_ISA_XQCIINT | CUSTOM_0_TO_3},
                 {"rv32imc_xesploop", NTR_ISA_RV32 | NTR_ISA_XESPLOOP},
                 {"rv32imc_xcvbi_xcvhwlp", NTR_ISA_RV32 | NTR_ISA_XCVBI | NTR_ISA_XCVHWLP | CUSTOM_0_TO_3}};
    unsigned isa;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(ntr_isa_parse(names[i].text, &isa), NTR_OK);
        if (isa != names[i].isa) fail_msg("%s: expected 0x%x, found 0x%x", names[i].text, names[i].isa, isa);
    }
    assert_int_equal(ntr_isa_parse("", &isa), NTR_E_NAME);
    assert_int_equal(ntr_isa_parse("rv", &isa), NTR_E_NAME);
    assert_int_equal(ntr_isa_parse("rv128i", &isa), NTR_E_NAME);
}

/* The encodings are those of the documentation of CV32E40P, and of Espressif's assembler. */
static void hardware_loops_begin(void **state) {
    (void)state;
    static const struct {
        uint32_t word;
        unsigned isa;
        bool loop;
    } rows[] = {
        {0x00a0402b, NTR_ISA_XCVHWLP, false},  /* cv.starti 0 */
        {0x00a0422b, NTR_ISA_XCVHWLP, false},  /* cv.endi 0 */
        {0x00a0442b, NTR_ISA_XCVHWLP, true},   /* cv.counti 0, 10 */
        {0x0005452b, NTR_ISA_XCVHWLP, true},   /* cv.count 0, a0 */
        {0x00a2c62b, NTR_ISA_XCVHWLP, true},   /* cv.setupi 0, 10 */
        {0x0045472b, NTR_ISA_XCVHWLP, true},   /* cv.setup 0, a0 */
        {0x0045482b, NTR_ISA_XCVHWLP, false},  {0x0045472b, NTR_ISA_XESPLOOP, true}, {0x0045472b, 0, false},
        {0xfa00302b, NTR_ISA_XESPLOOP, true},  /* esp.lp.counti 0, 4000 */
        {0x0005a02b, NTR_ISA_XESPLOOP, true},  /* esp.lp.count 0, a1 */
        {0x4d20502b, NTR_ISA_XESPLOOP, true},  /* esp.lp.setupi 0, 1234 */
        {0x0052c02b, NTR_ISA_XESPLOOP, true},  /* esp.lp.setup 0, t0 */
        {0x0000002b, NTR_ISA_XESPLOOP, false}, /* esp.lp.starti 0 */
        {0x0000102b, NTR_ISA_XESPLOOP, false}, /* esp.lp.endi 0 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ntr_insn insn = decode(rows[i].word, PC, NTR_ISA_RV32 | rows[i].isa);
        if (insn.loop != rows[i].loop) fail_msg("%08x", rows[i].word);
        assert_int_equal(insn.flow, NTR_FLOW_LINEAR);
    }
}

/* What is known: what a ratified extension or a vendor of the instruction set defines. */
static void instructions_are_known(void **state) {
    (void)state;
    static const struct {
        uint32_t word;
        unsigned isa;
        bool known;
    } rows[] = {
        {0x00c58533, 0, true},                 /* add */
        {0x0000050b, 0, false},                /* custom-0 */
        {0x0000050b, NTR_ISA_CUSTOM_0, true},
        {0x0000050b, NTR_ISA_CUSTOM_1, false},
        {0x0000052b, NTR_ISA_CUSTOM_1, true},
        {0x0000052b, NTR_ISA_XESPLOOP, true},
        {0x0000055b, NTR_ISA_CUSTOM_2, true},
        {0x0000057b, NTR_ISA_CUSTOM_3, true},
        {0x0000006b, NTR_ISA_ALL, false},      /* reserved */
        {0x0eb52f63, 0, false},                /* Zibi: an older core may have another instruction there */
        {0x1a12, NTR_ISA_RV32, false},
        {0x1a12, NTR_ISA_RV32 | NTR_ISA_XQCIINT, true}, /* qc.c.mileaveret */
        {0x1096, NTR_ISA_RV32, false},
        {0x1096, NTR_ISA_RV32 | NTR_ISA_XQCIINT, true}, /* qc.c.extu */
        {0xb952, NTR_ISA_ZCMP, true},                   /* qc.cm.pushfp */
        {0x9c60, 0, false},
        {0x9c60, NTR_ISA_XANDESCODENSE, true}, /* exec.it */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint32_t w = rows[i].word;
        const uint8_t bytes[4] = {(uint8_t)w, (uint8_t)(w >> 8), (uint8_t)(w >> 16), (uint8_t)(w >> 24)};
        if (ntr_insn_is_known(bytes, sizeof bytes, rows[i].isa) != rows[i].known) fail_msg("%08x", w);
    }
    static const uint32_t returns[] = {0x1912, 0x1992, 0x1a12}; /* qc.c.mret, qc.c.mnret, qc.c.mileaveret */
    for (size_t i = 0; i < sizeof returns / sizeof returns[0]; i++) {
        assert_int_equal(decode(returns[i], PC, NTR_ISA_RV32 | NTR_ISA_XQCIINT).flow, NTR_FLOW_TRAP_RETURN);
        assert_int_equal(decode(returns[i], PC, NTR_ISA_XQCIINT).flow, NTR_FLOW_LINEAR); /* C.SLLI of RV64 */
    }
}

/* The bits of the offset, as QEMU's branch for Andes takes them: 4, 11:10, 2, 6:5, 9, 3, 12, 8 are 2, 4:3, 5, 7:6, 8
 * to 11. */
static void exec_tells_its_offset(void **state) {
    (void)state;
    static const struct {
        uint32_t word;
        int32_t offset;
    } rows[] = {{0x8000, 0},      {0x8010, 1 << 2},  {0x8400, 1 << 3}, {0x8800, 1 << 4},
                {0x8004, 1 << 5}, {0x8020, 1 << 6},  {0x8040, 1 << 7}, {0x8200, 1 << 8},
                {0x8008, 1 << 9}, {0x9000, 1 << 10}, {0x8100, 1 << 11}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ntr_insn insn = decode(rows[i].word, PC, NTR_ISA_XANDESCODENSE);
        assert_true(insn.table_jump);
        assert_int_equal(insn.immediate, rows[i].offset);
        assert_int_equal(insn.flow, NTR_FLOW_LINEAR);
        assert_false(decode(rows[i].word, PC, 0).table_jump);
    }
    assert_false(decode(0x8080, PC, NTR_ISA_XANDESCODENSE).table_jump);
}

static void too_few_bytes_tell_the_length(void **state) {
    (void)state;
    static const uint8_t jal[] = {0xef, 0x00, 0x00, 0x01};
    ntr_insn insn;
    assert_int_equal(ntr_insn_decode(jal, 0, PC, 0, &insn), NTR_E_SPACE);
    assert_int_equal(insn.size, 2);
    assert_int_equal(ntr_insn_decode(jal, 1, PC, 0, &insn), NTR_E_SPACE);
    assert_int_equal(insn.size, 2);
    for (size_t size = 2; size < 4; size++) {
        assert_int_equal(ntr_insn_decode(jal, size, PC, 0, &insn), NTR_E_SPACE);
        assert_int_equal(insn.size, 4);
        assert_int_equal(insn.flow, NTR_FLOW_LINEAR);
    }
    assert_int_equal(ntr_insn_decode(jal, 4, PC, 0, &insn), NTR_OK);
}

/* Returns whether decoding gives the size alone, in every instruction set. */
static bool is_linear_everywhere(uint32_t word) {
    const uint8_t bytes[4] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16), (uint8_t)(word >> 24)};
    ntr_insn expected, insn;
    memset(&expected, 0, sizeof expected);
    expected.size = (word & 3) == 3 ? 4 : 2;
    for (unsigned isa = 0; isa <= NTR_ISA_ALL; isa = isa ? 2 * isa : 1)
        for (unsigned base = 0; base < 2; base++)
            for (unsigned all = 0; all < 2; all++) {
                memset(&insn, 0, sizeof insn);
                if (ntr_insn_decode(bytes, 4, PC, (all ? NTR_ISA_ALL & ~NTR_ISA_RV32 : isa) | base, &insn) != NTR_OK ||
                    memcmp(&insn, &expected, sizeof insn) != 0)
                    return false;
            }
    return true;
}

/* Of all compressed instructions, and of all groups of 32 bits with several operands. */
static void what_is_linear_needs_no_decoding(void **state) {
    static const uint32_t operands[] = {0, 0x00500080, 0xfe000f80, 0x00008000, 0x30200000, 0xffff8f80, 0x12345680};
    unsigned linear = 0;
    (void)state;
    for (uint32_t word = 0; word < 0x10000; word++) {
        ntr_insn insn;
        const uint8_t bytes[4] = {(uint8_t)word, (uint8_t)(word >> 8)};
        if ((word & 3) == 3) continue;
        if (ntr_insn_is_linear(word) && !is_linear_everywhere(word)) fail_msg("0x%04x", word);
        if (!ntr_insn_take_linear(bytes, &insn)) continue;
        assert_int_equal(insn.size, 2);
        linear++;
    }
    assert_in_range(linear, 0x6000, 0xc000); /* most of them */
    for (uint32_t low = 3; low < 0x8000; low += 4) /* opcode, rd and funct3 */
        for (size_t i = 0; i < sizeof operands / sizeof *operands; i++) {
            const uint32_t word = low | (operands[i] & 0xffff8000);
            if (ntr_insn_is_linear(word) && !is_linear_everywhere(word)) fail_msg("0x%08x", word);
        }
    assert_true(ntr_insn_is_linear(0x00c50533)); /* add a0, a0, a2 */
    assert_false(ntr_insn_is_linear(0x00000537)); /* lui a0, 0: a jump may follow */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_jump_has_its_class),         TEST(constants_for_sequential_jumps),
        TEST(table_jumps_tell_their_index),     TEST(targets_wrap_at_the_end_of_the_address_space),
        TEST(lengths_follow_the_low_bits),      TEST(long_instructions_are_linear),
        TEST(too_few_bytes_tell_the_length),    TEST(jumps_of_48_bits),
        TEST(names_of_instruction_sets),        TEST(hardware_loops_begin),
        TEST(instructions_are_known),           TEST(exec_tells_its_offset),
        TEST(what_is_linear_needs_no_decoding),
    };
    return cmocka_run_group_tests_name("insn", tests, NULL, NULL);
}
