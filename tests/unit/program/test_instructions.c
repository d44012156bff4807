/* Instructions that a user describes, instructions of unknown class, and EXEC.IT of Andes. */
#include "../test.h"
#include "program/blocks.h"

#include <ntrace/program_files.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h" /* its names are not those of parameters above */

static char path[] = "/tmp/ntrace-instructions-XXXXXX";

static ntr_status add_text(const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return ntr_program_add_instructions(program, path);
}

static void add_code(uint64_t address, const void *bytes, size_t size) {
    ntr_image_options options;
    ntr_image_options_init(&options);
    options.bias = address;
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){bytes, size}, &options), NTR_OK);
}

static ntr_insn insn_at(uint64_t address) {
    ntr_insn insn;
    assert_int_equal(ntr_program_insn(program, ntr_place_at(NULL, 0, address), &insn), NTR_OK);
    return insn;
}

/* Words are those of the base, moved to custom-0 (0x0b) and custom-1 (0x2b): the targets are known from there. */
static void lines_describe_encodings(void **state) {
    (void)state;
    static const uint32_t code[] = {
        (0xfeb50ce3 & ~0x7fu) | 0x0b, /* beq a0, a1, -8 */
        (0x7ffff56f & ~0x7fu) | 0x2b, /* jal a0, 0xffffe */
        0x0000405b,                 /* custom-2 */
        0x0000505b,
        0x0000607b,                 /* custom-3 */
        0x8482bfcd,                 /* c.j -14; 0x8482 is c.jr s1 */
    };
    static const struct {
        uint64_t address, target;
        uint8_t flow, itype, size;
        bool loop;
    } rows[] = {
        {0x1000, 0xff8, NTR_FLOW_BRANCH, NTR_ITYPE_NOT_TAKEN, 4, false},
        {0x1004, 0x101002, NTR_FLOW_DIRECT_CALL, NTR_ITYPE_DIRECT_CALL, 4, false},
        {0x1008, 0, NTR_FLOW_LINEAR, NTR_ITYPE_NONE, 4, true},
        {0x100c, 0, NTR_FLOW_TRAP_RETURN, NTR_ITYPE_TRAP_RETURN, 4, false},
        {0x1010, 0, NTR_FLOW_LINEAR, NTR_ITYPE_NONE, 4, false},
        {0x1014, 0x1006, NTR_FLOW_DIRECT_JUMP, NTR_ITYPE_DIRECT_JUMP, 2, false},
        {0x1016, 0, NTR_FLOW_RETURN, NTR_ITYPE_RETURN, 2, false},
    };
    add_code(0x1000, code, sizeof code);
    assert_int_equal(insn_at(0x1000).flow, NTR_FLOW_LINEAR);
    assert_int_equal(
        add_text(
            "# of a vendor\n\n  0x707f 0x000b branch offset=B # like BEQ\n0x7f\t0x2b call offset=31|19-12|20|30-21<<1\r\n"
            "0x707f 0x405b loop\n0x707f 0x505b trap-return\n0x7f 0x7b custom\n0xe003 0xa001 jump offset=CJ\n"
            "0xffff 0x8482 return"),
        NTR_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const ntr_insn insn = insn_at(rows[i].address);
        if (insn.target != rows[i].target) fail_msg("%zu: target 0x%llx", i, (unsigned long long)insn.target);
        assert_int_equal(insn.flow, rows[i].flow);
        assert_int_equal(insn.itype, rows[i].itype);
        assert_int_equal(insn.size, rows[i].size);
        assert_int_equal(insn.loop, rows[i].loop);
        assert_int_equal(ntr_program_is_known(program, ntr_place_at(NULL, 0, rows[i].address), NULL),
                         rows[i].address != 0x1010);
    }
}

static void wrong_lines_are_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"0x7f", "line 1: expected MASK MATCH CLASS, found '0x7f'"},
        {"\n0x7f x linear", "line 2: expected a number of at most 64 bits, found 'x'"},
        {"0x7f 0x10b linear", "line 1: expected a MATCH without bits outside of MASK, found '0x10b'"},
        {"0x7f 0xb", "expected linear, custom, loop,"},
        {"0x7f 0xb jumps", "found 'jumps'"},
        {"0x7f 0xb linear x", "line 1: expected the end of the line, found 'x'"},
        {"0x7f 0xb jump", "found the end of the line"},
        {"0x7f 0xb jump offset=", "found 'offset='"},
        {"0x7f 0xb jump offset=64", "found 'offset=64'"},
        {"0x7f 0xb jump offset=3-4", "found 'offset=3-4'"},
        {"0x7f 0xb jump offset=31-0|1", "found 'offset=31-0|1'"},
        {"0x7f 0xb jump offset=4-3<<32", "found 'offset=4-3<<32'"},
        {"0x7f 0xb jump offset=4|", "found 'offset=4|'"},
        {"0x7f 0xb jump offset=B x", "line 1: expected the end of the line, found 'x'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(add_text(rows[i].text), NTR_E_FORMAT);
        if (!strstr(ntr_program_error(program), rows[i].error)) fail_msg("%s", ntr_program_error(program));
    }
    assert_int_equal(program->rule_count, 0);
}

/* A block ends before such an instruction, so that only those that are reached are noted. */
static void instructions_of_unknown_class_are_noted(void **state) {
    (void)state;
    static const uint32_t code[] = {0x00000013, 0x00b5150b, 0x00000013, 0x00b5052b, 0x0000006f};
    ntr_place lowest;
    add_code(0x1000, code, sizeof code);
    ntr_blocks *blocks = ntr_blocks_new(program, NULL, 0);
    assert_non_null(blocks);
    const uint32_t view = ntr_blocks_view(blocks, NULL);
    ntr_block *block = ntr_blocks_get(blocks, view, 0x1000);
    assert_int_equal(block->instructions, 1);
    assert_int_equal(ntr_program_unknown(program, &lowest), 0);
    ntr_blocks_get(blocks, view, 0x100c);
    block = ntr_blocks_fall(blocks, block);
    assert_int_equal(block->instructions, 2);
    assert_int_equal(ntr_program_unknown(program, &lowest), 2);
    assert_int_equal(lowest.address, 0x1004);
    ntr_program_forget_unknown(program);
    assert_int_equal(ntr_program_unknown(program, &lowest), 0);
    ntr_blocks_free(blocks);
    assert_int_equal(add_text("0x7f 0x0b linear\n0x7f 0x2b linear\n"), NTR_OK);
    blocks = ntr_blocks_new(program, NULL, 0);
    assert_int_equal(ntr_blocks_get(blocks, ntr_blocks_view(blocks, NULL), 0x1000)->instructions, 5);
    assert_int_equal(ntr_program_unknown(program, &lowest), 0);
    ntr_blocks_free(blocks);
}

enum { EACH = 600 };

static void *note_many(void *user) {
    const uint64_t number = *(uint64_t *)user;
    for (uint64_t i = 0; i < EACH; i++) ntr_unknown_note(program->unknown, 2 * i, 10 + (i + number) % 4);
    return NULL;
}

static void threads_note_the_same(void **state) {
    (void)state;
    pthread_t threads[4];
    uint64_t numbers[4] = {0, 1, 2, 3};
    ntr_place lowest;
    for (size_t i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, note_many, &numbers[i]), 0);
    for (size_t i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    assert_int_equal(ntr_program_unknown(program, &lowest), EACH);
    assert_int_equal(lowest.address, 0);
    assert_int_equal(lowest.position, 10);
    for (uint64_t i = 0; i < UINT64_C(2) * NTR_UNKNOWN_MAX; i++) ntr_unknown_note(program->unknown, 4 * i, 5);
    assert_int_equal(ntr_program_unknown(program, &lowest), NTR_UNKNOWN_MAX);
    assert_int_equal(lowest.position, 5);
}

/* The instruction of the table is executed as if it were there; JAL keeps the upper bits of the address. */
static void exec_takes_the_instruction_of_its_table(void **state) {
    (void)state;
    static const uint16_t code[] = {0x8000, 0x8010, 0x8400, 0x8800};
    static const uint32_t table[] = {0x00a58593, 0x2000206f | 1 << 7, 0x00008067};
    ntr_image_options options;
    ntr_image_options_init(&options);
    options.bias = 0x80211000;
    options.has_isa = options.has_jvt = true;
    options.isa = NTR_ISA_XANDESCODENSE;
    options.jvt = 0x5000;
    ntr_insn insn;
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){(const uint8_t *)code, sizeof code}, &options), NTR_OK);
    assert_int_equal(ntr_program_insn(program, ntr_place_at(NULL, 0, 0x80211000), &insn), NTR_E_JUMP_TABLE);
    add_code(0x5000, table, sizeof table);
    insn = insn_at(0x80211000); /* addi */
    assert_int_equal(insn.flow, NTR_FLOW_LINEAR);
    assert_int_equal(insn.size, 2);
    insn = insn_at(0x80211002); /* jal ra, 0x2200 */
    assert_int_equal(insn.flow, NTR_FLOW_DIRECT_CALL);
    assert_int_equal(insn.target, 0x80202200);
    assert_int_equal(insn.size, 2);
    assert_int_equal(insn_at(0x80211004).flow, NTR_FLOW_RETURN);
    assert_int_equal(ntr_program_insn(program, ntr_place_at(NULL, 0, 0x80211006), &insn), NTR_E_JUMP_TABLE);
    ntr_blocks *blocks = ntr_blocks_new(program, NULL, 0);
    const uint32_t view = ntr_blocks_view(blocks, NULL);
    assert_int_equal(ntr_block_status(ntr_blocks_get(blocks, view, 0x80211006)), NTR_E_JUMP_TABLE);
    assert_int_equal(ntr_block_status(ntr_blocks_get(blocks, view, 0x80219000)), NTR_E_NO_IMAGE);
    const ntr_block *block = ntr_blocks_get(blocks, view, 0x80211000);
    assert_int_equal(block->instructions, 2);
    assert_int_equal(block->next, 0x80211004);
    ntr_blocks_free(blocks);
}

static void hardware_loops_end_the_flow(void **state) {
    (void)state;
    static const uint32_t code[] = {0x00000013, 0x00a2c62b, 0x0000006f};
    add_code(0x1000, code, sizeof code);
    assert_int_equal(ntr_program_set_isa(program, NTR_ISA_RV32 | NTR_ISA_XCVHWLP), NTR_OK);
    ntr_blocks *blocks = ntr_blocks_new(program, NULL, 0);
    const uint32_t view = ntr_blocks_view(blocks, NULL);
    const ntr_block *block = ntr_blocks_get(blocks, view, 0x1000);
    assert_int_equal(block->instructions, 1);
    assert_true(block->flags & NTR_BLOCK_CUT);
    assert_int_equal(ntr_block_status(ntr_blocks_get(blocks, view, 0x1004)), NTR_E_HARDWARE_LOOP);
    ntr_blocks_free(blocks);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_describe_encodings, make, drop),
        cmocka_unit_test_setup_teardown(wrong_lines_are_named, make, drop),
        cmocka_unit_test_setup_teardown(instructions_of_unknown_class_are_noted, make, drop),
        cmocka_unit_test_setup_teardown(threads_note_the_same, make, drop),
        cmocka_unit_test_setup_teardown(exec_takes_the_instruction_of_its_table, make, drop),
        cmocka_unit_test_setup_teardown(hardware_loops_end_the_flow, make, drop),
    };
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    const int failed = cmocka_run_group_tests_name("instructions", tests, NULL, NULL);
    unlink(path);
    return failed;
}
