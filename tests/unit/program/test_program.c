/* Images by address, context and time; ELF files have a test of their own. */
#include "../test.h"

#include "fixture.h"

#include <string.h>

static ntr_image_options at(uint64_t address) {
    return (ntr_image_options){.size = sizeof(ntr_image_options), .bias = address};
}

/* `size` bytes of `fill`. */
static void add(ntr_image_options options, uint8_t fill, size_t size) {
    uint8_t bytes[4096];
    assert_true(size <= sizeof bytes);
    memset(bytes, fill, size);
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){bytes, size}, &options), NTR_OK);
}

/* What `context` sees from `address` on, as text: '.' is nothing. */
static void sees(const ntr_context *context, uint64_t position, uint64_t address, const char *want) {
    char seen[64] = "";
    size_t size = strlen(want);
    assert_true(size < sizeof seen);
    for (size_t i = 0; i < size; i++)
        if (!ntr_program_read(program, ntr_place_at(context, position, address + i), (uint8_t *)&seen[i], 1))
            seen[i] = '.';
    assert_string_equal(seen, want);
}

static void later_images_win(void **state) {
    (void)state;
    sees(NULL, 0, 0, "....");
    add(at(0x10), 'a', 8);
    add(at(0x14), 'b', 8);
    add(at(0x12), 'c', 4);
    add(at(0x20), 'd', 2);
    sees(NULL, 0, 0xe, "..aaccccbbbbbb....dd..");
    add(at(0xf), 'e', 0x20);
    sees(NULL, 0, 0xe, ".eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee.");
}

static void one_read_goes_through_several_images(void **state) {
    (void)state;
    uint8_t out[16] = {0};
    add(at(0x10), 'a', 4);
    add(at(0x14), 'b', 4);
    add(at(0x19), 'c', 4);
    assert_int_equal(ntr_program_read(program, ntr_place_at(NULL, 0, 0x12), out, 16), 6);
    assert_memory_equal(out, "aabbbb", 6);
}

static void contexts_see_their_own(void **state) {
    (void)state;
    ntr_image_options one = at(0x10), two = at(0x14), kernel = at(0x18), guest = at(0x1c);
    one.has_scontext = two.has_scontext = true;
    one.scontext = 1;
    two.scontext = 2;
    kernel.has_prv = true;
    kernel.prv = 1;
    guest.has_hcontext = guest.has_prv = true;
    guest.hcontext = 7;
    guest.prv = guest.v = 1;
    add(at(0x10), '-', 16);
    add(one, '1', 8);
    add(two, '2', 8);
    add(kernel, 'k', 4);
    add(guest, 'g', 4);

    ntr_context context = {.prv = NTR_PRV_UNKNOWN};
    sees(NULL, 0, 0x10, "11112222kkkkgggg");
    sees(&context, 0, 0x10, "1111....kkkkgggg"); /* not known yet: which of two processes runs */
    context.has_scontext = context.has_hcontext = true;
    context.scontext = 1;
    context.prv = 0;
    sees(&context, 0, 0x10, "11111111--------");
    context.scontext = 2;
    sees(&context, 0, 0x10, "----22222222----");
    context.prv = 1;
    sees(&context, 0, 0x10, "----2222kkkk----");
    context.hcontext = 7;
    context.v = 1;
    sees(&context, 0, 0x10, "----22222222gggg");
    context.scontext = 3;
    sees(&context, 0, 0x10, "------------gggg");
}

static void what_no_context_decides_has_a_time(void **state) {
    (void)state;
    const ntr_context unknown = {.prv = NTR_PRV_UNKNOWN};
    ntr_image_options one = at(0x10), two = at(0x10);
    one.has_scontext = two.has_scontext = true;
    one.scontext = 1;
    two.scontext = 2;
    one.until = 100;
    add(one, '1', 4);
    add(two, '2', 4);
    sees(&unknown, 50, 0x10, "....");
    sees(&unknown, 100, 0x10, "2222");
    assert_int_equal(ntr_program_validity(program, ntr_place_at(&unknown, 50, 0x10), 0x13).last, 99);
    assert_int_equal(ntr_program_validity(program, ntr_place_at(&unknown, 100, 0x10), 0x13).from, 100);
}

static void code_changes_with_the_stream(void **state) {
    (void)state;
    ntr_image_options early = at(0x10), late = at(0x12), window = at(0x11);
    early.until = 100;
    late.from = 200;
    window.from = 50;
    window.until = 250;
    add(early, 'e', 4);
    add(late, 'l', 4);
    add(window, 'w', 2);
    sees(NULL, 0, 0x10, "eeee..");
    sees(NULL, 50, 0x10, "ewwe..");
    sees(NULL, 99, 0x10, "ewwe..");
    sees(NULL, 100, 0x10, ".ww...");
    sees(NULL, 200, 0x10, ".wwlll");
    sees(NULL, 250, 0x10, "..llll");
    sees(NULL, NTR_POSITION_ANY, 0x10, "ewwlll");
}

static void images_are_enumerated_and_found(void **state) {
    (void)state;
    ntr_image_options named = at(0x1000);
    ntr_image_info info;
    named.name = "firmware";
    named.has_scontext = true;
    named.scontext = 5;
    add(named, 1, 0x100);
    add(at(0x1080), 2, 0x100);

    assert_int_equal(ntr_program_image(program, 0, &info), NTR_OK);
    assert_string_equal(info.name, "firmware");
    assert_null(info.path);
    assert_int_equal(info.low, 0x1000);
    assert_int_equal(info.high, 0x1100);
    assert_int_equal(info.options.scontext, 5);
    assert_int_equal(ntr_program_image(program, 1, &info), NTR_OK);
    assert_int_equal(ntr_program_image(program, 2, &info), NTR_END);

    sees(NULL, 0, 0x107e, "\1\1\2\2");
    sees(NULL, 0, 0x117e, "\2\2..");
}

static void wrong_images_are_refused_and_explained(void **state) {
    (void)state;
    ntr_image_options options = at(0);
    uint8_t byte = 0;
    options.name = "empty\nname";
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){&byte, 0}, &options), NTR_E_INVALID);
    assert_string_equal(ntr_program_error(program), "empty?name: image without bytes");
    options.from = options.until = 7;
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){&byte, 1}, &options), NTR_E_INVALID);
    options = at(0);
    options.size = 3;
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){&byte, 1}, &options), NTR_E_INVALID);
    ntr_image_info info;
    assert_int_equal(ntr_program_image(program, 0, &info), NTR_END);
}

/* add a0, a0, a1; jal ra, +0x10; c.ebreak */
static const uint8_t code[] = {0x33, 0x05, 0xb5, 0x00, 0xef, 0x00, 0x00, 0x01, 0x02, 0x90};

static void instructions_may_straddle_images(void **state) {
    (void)state;
    ntr_insn insn;
    for (size_t cut = 1; cut < sizeof code; cut++) {
        ntr_program *halves;
        ntr_program_new(NULL, &halves);
        ntr_image_options low = at(0x1000), high = at(0x1000 + cut);
        assert_int_equal(ntr_program_add_raw(halves, (ntr_bytes){code, cut}, &low), NTR_OK);
        assert_int_equal(ntr_program_add_raw(halves, (ntr_bytes){code + cut, sizeof code - cut}, &high), NTR_OK);
        assert_int_equal(ntr_program_insn(halves, ntr_place_at(NULL, 0, 0x1004), &insn), NTR_OK);
        assert_int_equal(insn.flow, NTR_FLOW_DIRECT_CALL);
        assert_int_equal(insn.target, 0x1014);
        ntr_program_free(halves);
    }
}

static void instructions_cut_by_the_end_of_the_image_are_missing(void **state) {
    (void)state;
    ntr_insn insn;
    ntr_image_options options = at(0x1000);
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){code, 6}, &options), NTR_OK);
    assert_int_equal(ntr_program_insn(program, ntr_place_at(NULL, 0, 0x1000), &insn), NTR_OK);
    assert_int_equal(ntr_program_insn(program, ntr_place_at(NULL, 0, 0x1004), &insn), NTR_E_NO_IMAGE);
    assert_int_equal(ntr_program_insn(program, ntr_place_at(NULL, 0, 0x1006), &insn), NTR_E_NO_IMAGE);
    assert_int_equal(ntr_program_insn(program, ntr_place_at(NULL, 0, 0x0ffe), &insn), NTR_E_NO_IMAGE);
}

static void addresses_of_32_bit_programs_wrap(void **state) {
    (void)state;
    assert_int_equal(ntr_program_xlen(program), 0);
    assert_int_equal(ntr_program_set_isa(program, NTR_ISA_RV32), NTR_OK);
    assert_int_equal(ntr_program_xlen(program), 32);
    assert_int_equal(ntr_program_set_isa(program, 0), NTR_E_INVALID);

    ntr_insn insn;
    ntr_image_options options = at(0xfffffffa);
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){code, sizeof code}, &options), NTR_OK);
    assert_int_equal(ntr_program_insn(program, ntr_place_at(NULL, 0, 0xfffffffe), &insn), NTR_OK);
    assert_int_equal(insn.flow, NTR_FLOW_DIRECT_CALL);
    assert_int_equal(insn.target, 0xe);
    assert_int_equal(ntr_program_insn(program, ntr_place_at(NULL, 0, UINT64_C(0x100000002)), &insn), NTR_OK);
    assert_int_equal(insn.flow, NTR_FLOW_TRAP);
    uint8_t out[16];
    assert_int_equal(ntr_program_read(program, ntr_place_at(NULL, 0, 0xfffffffa), out, 16), sizeof code);
    assert_memory_equal(out, code, sizeof code);
}

static void images_may_end_with_the_address_space(void **state) {
    (void)state;
    add(at(UINT64_MAX - 3), 'z', 4);
    add(at(UINT64_MAX - 1), 'y', 4);
    sees(NULL, 0, UINT64_MAX - 5, "..zzyyyy..");
}

static unsigned isa_of(uint64_t address) {
    return ntr_program_isa(program, ntr_place_at(NULL, NTR_POSITION_ANY, address));
}

static void raw_images_are_what_they_are_told(void **state) {
    (void)state;
    ntr_image_options compact = at(0x1000), wide = at(0x2000);
    compact.has_isa = wide.has_isa = true;
    compact.isa = NTR_ISA_RV32 | NTR_ISA_ZCMP;
    add(at(0), 0, 16);
    assert_int_equal(isa_of(0), 0);
    add(compact, 0, 16);
    assert_int_equal(isa_of(0), NTR_ISA_RV32);
    assert_int_equal(isa_of(0x1000), NTR_ISA_RV32 | NTR_ISA_ZCMP);
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){code, 4}, &wide), NTR_E_INVALID);
    assert_string_equal(
        ntr_program_error(program),
        "raw image: RV64 code in an RV32 program; bind one of them to its context or mode (:ctx=N, :prv=U)");
    assert_int_equal(ntr_program_set_isa(program, NTR_ISA_RV32 | NTR_ISA_ZCMT), NTR_OK);
    assert_int_equal(isa_of(0), NTR_ISA_RV32 | NTR_ISA_ZCMT);
}

static void table_jumps_go_through_the_table(void **state) {
    (void)state;
    static const uint8_t jumps[] = {0x02, 0xa0, 0x86, 0xa0}; /* cm.jt 0; cm.jalt 33 */
    uint8_t table[8 * 34] = {0x10, 0x20, 0x30};
    table[8 * 33] = 0x41; /* bit 0 is not part of the address */
    table[8 * 33 + 7] = 0x80;
    ntr_insn insn;
    ntr_image_options options = at(0x1000), data = at(0x2000);
    options.has_isa = true;
    options.isa = NTR_ISA_ZCMT;
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){jumps, 4}, &options), NTR_OK);
    assert_int_equal(ntr_program_insn(program, ntr_place_at(NULL, 0, 0x1000), &insn), NTR_E_JUMP_TABLE);
    assert_int_equal(insn.size, 2);
    assert_true(insn.table_jump);
    data.has_jvt = true;
    data.jvt = 0x2000;
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){table, sizeof table - 1}, &data), NTR_OK);
    assert_int_equal(ntr_program_insn(program, ntr_place_at(NULL, 0, 0x1000), &insn), NTR_OK);
    assert_int_equal(insn.target, 0x302010);
    assert_int_equal(insn.flow, NTR_FLOW_DIRECT_JUMP);
    assert_int_equal(ntr_program_insn(program, ntr_place_at(NULL, 0, 0x1002), &insn),
                     NTR_E_JUMP_TABLE); /* its last byte is missing */
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){table, sizeof table}, &data), NTR_OK);
    assert_int_equal(ntr_program_insn(program, ntr_place_at(NULL, 0, 0x1002), &insn), NTR_OK);
    assert_int_equal(insn.target, UINT64_C(0x8000000000000040));
    assert_int_equal(insn.flow, NTR_FLOW_DIRECT_CALL);
}

/* A target with memory at [0x1000, 0x1008), all 'r'. */
static size_t read_target(void *user, const ntr_context *context, uint64_t position, uint64_t address, uint8_t *out,
                          size_t size) {
    (void)context;
    (void)position;
    ++*(unsigned *)user;
    size_t given = 0;
    for (; given < size && address + given >= 0x1000 && address + given < 0x1008; given++) out[given] = 'r';
    return given;
}

static void readers_are_asked_where_no_image_is(void **state) {
    (void)state;
    unsigned asked = 0;
    uint8_t out[16];
    assert_int_equal(ntr_program_set_reader(program, read_target, &asked), NTR_OK);
    ntr_image_options elsewhere = at(0x1006);
    elsewhere.from = 10;
    add(at(0x1002), 'i', 2);
    add(elsewhere, 'e', 1);
    add(at(0x1007), 'f', 1);
    assert_int_equal(ntr_program_read(program, ntr_place_at(NULL, 0, 0x1000), out, 16), 8);
    assert_memory_equal(out, "rriirrrf", 8);
    assert_int_equal(ntr_program_read(program, ntr_place_at(NULL, 10, 0x1000), out, 16), 8);
    assert_memory_equal(out, "rriirref", 8);
    asked = 0;
    assert_int_equal(ntr_program_read(program, ntr_place_at(NULL, 0, 0x1002), out, 2), 2);
    assert_int_equal(asked, 0);
    assert_int_equal(ntr_program_set_reader(program, NULL, NULL), NTR_OK);
    assert_int_equal(ntr_program_read(program, ntr_place_at(NULL, 0, 0x1000), out, 16), 0);
}

/* A thousand versions of the same code, most of them in the order of time, against the plain rule. */
static void code_rewritten_again_and_again(void **state) {
    (void)state;
    enum { VERSIONS = 1000 };
    static uint64_t from[VERSIONS], until[VERSIONS];
    uint64_t random = 11;
    for (unsigned i = 0; i < VERSIONS; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        ntr_image_options options = at(0x1000);
        options.from = from[i] = 1 + (random >> 60 ? i * 10u : random >> 32 & 0x1fff);
        options.until = until[i] = random >> 50 & 3 ? 0 : options.from + (random >> 40 & 0x3ff) + 1;
        uint16_t bytes = (uint16_t)(i + 1);
        assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){(const uint8_t *)&bytes, 2}, &options), NTR_OK);
    }
    for (uint64_t position = 0; position < 12000; position += 7) {
        unsigned newest = VERSIONS;
        while (newest && !(from[newest - 1] <= position && (!until[newest - 1] || position < until[newest - 1])))
            newest--;
        uint16_t seen = 0;
        size_t size = ntr_program_read(program, ntr_place_at(NULL, position, 0x1000), (uint8_t *)&seen, 2);
        assert_int_equal(size, newest ? 2 : 0);
        assert_int_equal(seen, newest);
    }
}

/* Random images over 256 addresses against an array of bytes for each of four (context, time) looks. */
static void any_pile_of_images_reads_as_a_simple_model(void **state) {
    (void)state;
    uint64_t random = 1;
    for (unsigned round = 0; round < 200; round++) {
        uint8_t model[2][2][256] = {0};
        ntr_program *pile;
        ntr_program_new(NULL, &pile);
        for (unsigned i = 1; i <= 24; i++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            unsigned draw = (unsigned)(random >> 32);
            unsigned first = draw >> 24, size = (draw >> 16 & 63) + 1, bound = draw >> 8 & 7;
            ntr_image_options options = at(first);
            options.has_scontext = bound & 1;
            options.from = bound & 2 ? 5 : 0;
            options.until = bound & 4 ? 5 : 0;
            if (bound & 2) options.until = 0;
            if (first + size > 256) size = 256 - first;
            uint8_t bytes[64];
            memset(bytes, (int)i, sizeof bytes);
            assert_int_equal(ntr_program_add_raw(pile, (ntr_bytes){bytes, size}, &options), NTR_OK);
            for (unsigned scontext = 0; scontext < 2; scontext++)
                for (unsigned late = 0; late < 2; late++)
                    if (!(scontext && bound & 1) && (late || !(bound & 2)) && !(late && (bound & 6) == 4))
                        memset(&model[scontext][late][first], (int)i, size);
        }
        for (unsigned look = 0; look < 4 * 256; look++) {
            ntr_context context = {.has_scontext = true, .scontext = look >> 9};
            uint8_t seen = 0, want = model[look >> 9][look >> 8 & 1][look & 255];
            size_t n = ntr_program_read(pile, ntr_place_at(&context, look & 256 ? 5 : 4, look & 255), &seen, 1);
            assert_int_equal(n, want != 0);
            assert_int_equal(seen, want);
        }
        ntr_program_free(pile);
    }
}

/* The image with the code; a program that generates code has tens of thousands of them. Visiting each one in each
 * look-up would take minutes. */
static void images_are_found_by_address(void **state) {
    (void)state;
    enum { IMAGES = 30000, ROUNDS = 30 };
    ntr_symbol symbol;
    size_t index;
    for (unsigned i = 0; i < IMAGES; i++) add(at(0x1000 + 4 * i), 'x', 2);
    for (unsigned i = 0; i < IMAGES * ROUNDS; i++) {
        uint64_t address = 0x1000 + 4 * (uint64_t)(i * 7919u % IMAGES);
        assert_int_equal(ntr_program_image_at(program, ntr_place_at(NULL, NTR_POSITION_ANY, address + 1), &index),
                         NTR_OK);
        assert_int_equal(index, (address - 0x1000) / 4);
        assert_int_equal(ntr_program_image_at(program, ntr_place_at(NULL, NTR_POSITION_ANY, address + 2), &index),
                         NTR_END);
        assert_int_equal(ntr_program_symbol(program, ntr_place_at(NULL, NTR_POSITION_ANY, address), &symbol), NTR_END);
    }
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, drop)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(later_images_win),
        CASE(one_read_goes_through_several_images),
        CASE(contexts_see_their_own),
        CASE(what_no_context_decides_has_a_time),
        CASE(code_changes_with_the_stream),
        CASE(images_are_enumerated_and_found),
        CASE(wrong_images_are_refused_and_explained),
        CASE(instructions_may_straddle_images),
        CASE(instructions_cut_by_the_end_of_the_image_are_missing),
        CASE(addresses_of_32_bit_programs_wrap),
        CASE(images_may_end_with_the_address_space),
        CASE(raw_images_are_what_they_are_told),
        CASE(table_jumps_go_through_the_table),
        CASE(readers_are_asked_where_no_image_is),
        CASE(images_are_found_by_address),
        CASE(code_rewritten_again_and_again),
        TEST(any_pile_of_images_reads_as_a_simple_model),
    };
    return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
