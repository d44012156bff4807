/* ELF files: good ones, which are made here. */
#include "../test.h"

#include "program/program.h"

#include "elf_builder.h"
#include "fixture.h"
#include "simple_elf.h"

#include <ntrace/program_files.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define GLOBAL_FUNC   0x12
#define LOCAL_FUNC    0x02
#define WEAK_FUNC     0x22
#define GLOBAL_OBJECT 0x11
#define LOCAL_NOTYPE  0x00
#define GLOBAL_NOTYPE 0x10
#define GLOBAL_TLS    0x16
#define LOCAL_FILE    0x04

static void segments_are_loaded(void **state) {
    (void)state;
    for (unsigned wide = 0; wide < 2; wide++) {
        elf_builder elf;
        uint8_t out[64];
        ntr_insn insn;
        ntr_image_info info;
        simple(&elf, wide);
        make(NULL);
        assert_int_equal(add(&elf, NULL), NTR_OK);
        assert_int_equal(ntr_program_xlen(program), wide ? 64 : 32);
        assert_int_equal(ntr_program_isa(program, ntr_place_at(NULL, NTR_POSITION_ANY, TEXT_ADDRESS)),
                         wide ? 0 : NTR_ISA_RV32);
        assert_int_equal(ntr_program_read(program, ntr_place_at(NULL, 0, TEXT_ADDRESS), out, 64),
                         16); /* .bss is no code */
        assert_memory_equal(out, elf.bytes + CODE_AT, 16);
        assert_int_equal(ntr_program_insn(program, ntr_place_at(NULL, 0, TEXT_ADDRESS + 14), &insn), NTR_OK);
        assert_int_equal(insn.flow, NTR_FLOW_RETURN);
        assert_int_equal(ntr_program_image(program, 0, &info), NTR_OK);
        assert_string_equal(info.path, elf.path);
        assert_string_equal(info.name, elf.path);
        assert_int_equal(info.low, TEXT_ADDRESS);
        assert_int_equal(info.high, TEXT_ADDRESS + 16);
        drop(NULL);
    }
}

static void bias_moves_everything(void **state) {
    (void)state;
    elf_builder elf;
    uint8_t byte;
    ntr_symbol symbol;
    ntr_image_options options = {.size = sizeof options, .bias = UINT64_C(0x4000000000), .name = "libx.so"};
    simple(&elf, true);
    elf_symbol(&elf, "main", GLOBAL_FUNC, 1, TEXT_ADDRESS + 4, 8);
    elf_symbol(&elf, "absolute", GLOBAL_NOTYPE, 0xfff1, 0x77, 0);
    assert_int_equal(add(&elf, &options), NTR_OK);
    assert_int_equal(ntr_program_read(program, ntr_place_at(NULL, 0, TEXT_ADDRESS), &byte, 1), 0);
    assert_int_equal(ntr_program_read(program, ntr_place_at(NULL, 0, options.bias + TEXT_ADDRESS), &byte, 1), 1);
    assert_int_equal(
        ntr_program_symbol(program, ntr_place_at(NULL, NTR_POSITION_ANY, options.bias + TEXT_ADDRESS + 5), &symbol),
        NTR_OK);
    assert_string_equal(symbol.name, "main");
    assert_string_equal(symbol.image, "libx.so");
    assert_int_equal(symbol.address, options.bias + TEXT_ADDRESS + 4);
    assert_int_equal(symbol.size, 8);
    assert_true(symbol.function);
}

static void bias_wraps_at_xlen(void **state) {
    (void)state;
    elf_builder elf;
    uint8_t out[16];
    ntr_image_options options = {.size = sizeof options, .bias = UINT64_C(0) - TEXT_ADDRESS - 6};
    simple(&elf, false);
    assert_int_equal(add(&elf, &options), NTR_OK);
    assert_int_equal(ntr_program_read(program, ntr_place_at(NULL, 0, 0xfffffffa), out, 16), 16);
    assert_memory_equal(out, elf.bytes + CODE_AT, 16);
    assert_int_equal(ntr_program_read(program, ntr_place_at(NULL, 0, 0), out, 16), 10);
}

static void later_segments_and_files_win(void **state) {
    (void)state;
    elf_builder elf;
    uint8_t out[16];
    simple(&elf, true);
    elf_segment(&elf, 1, CODE_AT + 14, TEXT_ADDRESS + 2, 2, 2);
    assert_int_equal(add(&elf, NULL), NTR_OK);
    assert_int_equal(ntr_program_read(program, ntr_place_at(NULL, 0, TEXT_ADDRESS), out, 6), 6);
    assert_memory_equal(out, "\x01\x00\x82\x80\x01\x00", 6);
    ntr_image_options options = {.size = sizeof options, .bias = TEXT_ADDRESS + 4};
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){(const uint8_t *)"\x02\x90", 2}, &options), NTR_OK);
    assert_int_equal(ntr_program_read(program, ntr_place_at(NULL, 0, TEXT_ADDRESS), out, 6), 6);
    assert_memory_equal(out, "\x01\x00\x82\x80\x02\x90", 6);
}

/* Checks which image names the code `offset` bytes behind TEXT_ADDRESS; -1: none. */
static void names_code(const ntr_context *context, uint64_t offset, int want) {
    size_t index = 0;
    ntr_status status =
        ntr_program_image_at(program, ntr_place_at(context, NTR_POSITION_ANY, TEXT_ADDRESS + offset), &index);
    assert_int_equal(status, want < 0 ? NTR_END : NTR_OK);
    if (want >= 0) assert_int_equal(index, want);
}

/* 0: a file for every context; 1: recorded bytes over it and behind it; 2: a file that only context 7 sees. */
static void files_name_their_code(void **state) {
    (void)state;
    elf_builder elf;
    ntr_image_options raw = {.size = sizeof raw, .bias = TEXT_ADDRESS + 12};
    ntr_image_options bound = {.size = sizeof bound, .bias = 4, .has_scontext = true, .scontext = 7};
    ntr_context seven = {.has_scontext = true, .scontext = 7}, eight = {.has_scontext = true, .scontext = 8};
    simple(&elf, true);
    assert_int_equal(add(&elf, NULL), NTR_OK);
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){(const uint8_t *)"12345678", 8}, &raw), NTR_OK);
    simple(&elf, true);
    assert_int_equal(add(&elf, &bound), NTR_OK);
    names_code(&seven, 0, 0);
    names_code(&seven, 4, 2);
    names_code(&seven, 18, 2);
    names_code(&eight, 4, 0);
    names_code(&eight, 12, 0); /* a file has the code, so that it has the name */
    names_code(&eight, 18, 1);
    names_code(&eight, 20, -1);
    names_code(NULL, 4, 2);
}

/* A function of 8 bytes, with code that was recorded over it: `equal` bytes of it are those of the file. */
static void is_named_over(size_t equal, const char *own, const char *name) {
    elf_builder elf;
    uint8_t bytes[8];
    ntr_symbol symbol;
    size_t index;
    const ntr_image_options raw = {.size = sizeof raw, .bias = TEXT_ADDRESS + 4};
    make(NULL);
    simple(&elf, true);
    elf_symbol(&elf, "patched", GLOBAL_FUNC, 1, TEXT_ADDRESS + 4, 8);
    for (size_t i = 0; i < sizeof bytes; i++) elf_put(&elf, CODE_AT + 4 + i, 1, 0x40 + i);
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)((i < equal ? 0x40 : 0x80) + i);
    assert_int_equal(add(&elf, NULL), NTR_OK);
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){bytes, sizeof bytes}, &raw), NTR_OK);
    if (own) assert_int_equal(ntr_program_name_image(program, own, raw.bias, sizeof bytes), NTR_OK);
    const ntr_place place = ntr_place_at(NULL, 0, TEXT_ADDRESS + 6);
    const ntr_status status = ntr_program_symbol(program, place, &symbol);
    assert_int_equal(status, name ? NTR_OK : NTR_END);
    if (name) assert_string_equal(symbol.name, name);
    assert_int_equal(ntr_program_image_at(program, place, &index), NTR_OK);
    assert_int_equal(index, name && !own ? 0 : 1);
    drop(NULL);
}

static void other_code_has_not_the_names_of_the_file(void **state) {
    (void)state;
    is_named_over(8, NULL, "patched");
    is_named_over(6, NULL, "patched");
    is_named_over(5, NULL, NULL);
    is_named_over(0, NULL, NULL);
    is_named_over(0, "own", "own");
    is_named_over(8, "own", "own");
}

static void attributes_tell_the_extensions(void **state) {
    (void)state;
    static const struct {
        const char *arch;
        unsigned isa;
    } rows[] = {
        {"rv64i2p1_m2p0_c2p0", 0},
        {"rv64i2p1_zca1p0_zcmp1p0", NTR_ISA_ZCMP},
        {"rv64i_zcmt", NTR_ISA_ZCMT},
        {"rv64i_zcmp_zcmt1p0_zvl32b", NTR_ISA_ZCMP | NTR_ISA_ZCMT},
        {"rv64i2p1_zce1p0", NTR_ISA_ZCMP | NTR_ISA_ZCMT},
        {"rv64i2p1_zcmpx1p0_xzcmt", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        elf_builder elf;
        make(NULL);
        simple(&elf, true);
        elf_arch(&elf, rows[i].arch);
        assert_int_equal(add(&elf, NULL), NTR_OK);
        assert_int_equal(ntr_program_isa(program, ntr_place_at(NULL, NTR_POSITION_ANY, TEXT_ADDRESS)), rows[i].isa);
        drop(NULL);
    }
}

/* The file loads with any cut or damaged attributes. */
static void damaged_attributes_are_ignored(void **state) {
    (void)state;
    elf_builder elf;
    simple(&elf, true);
    elf_arch(&elf, "rv64i_zcmp");
    size_t size_field = SECTIONS_AT + 5 * 64 + 32;
    for (unsigned size = 0; size < 30; size++) {
        elf_builder cut = elf;
        elf_put(&cut, size_field, 8, size);
        assert_int_equal(add(&cut, NULL), NTR_OK);
    }
    for (unsigned at = 0; at < 30; at++) {
        for (unsigned value = 0; value < 256; value += 51) {
            elf_builder damaged = elf;
            damaged.bytes[ATTRIBUTES_AT + at] = (uint8_t)value;
            assert_int_equal(add(&damaged, NULL), NTR_OK);
        }
    }
}

static void omitted_names_are_not_read(void **state) {
    (void)state;
    elf_builder elf;
    ntr_symbol symbol;
    ntr_insn insn;
    simple(&elf, false);
    elf_symbol(&elf, "main", GLOBAL_NOTYPE, 1, TEXT_ADDRESS, 0);
    ntr_program_omit_names(program);
    assert_int_equal(add(&elf, NULL), NTR_OK);
    assert_int_equal(ntr_program_insn(program, ntr_place_at(NULL, 0, TEXT_ADDRESS), &insn), NTR_OK);
    assert_int_equal(ntr_program_symbol(program, ntr_place_at(NULL, NTR_POSITION_ANY, TEXT_ADDRESS), &symbol), NTR_END);
    assert_int_equal(ntr_program_find(program, "main", &symbol), NTR_END);
}

static void check_table_jump(bool omitted) {
    elf_builder elf;
    ntr_insn insn;
    ntr_image_options options = {.size = sizeof options, .bias = 0x1000};
    simple(&elf, false);
    elf_put(&elf, CODE_AT, 2, 0xa006);          /* cm.jt 1 */
    elf_put(&elf, CODE_AT + 12, 4, 0x00012345); /* entry 1 of a table at +8 */
    elf_symbol(&elf, "__jvt_base$", GLOBAL_NOTYPE, 1, TEXT_ADDRESS + 8, 0);
    elf_arch(&elf, "rv32i_zcmt");
    if (omitted) ntr_program_omit_names(program);
    assert_int_equal(add(&elf, &options), NTR_OK);
    assert_int_equal(ntr_program_insn(program, ntr_place_at(NULL, 0, TEXT_ADDRESS + 0x1000), &insn), NTR_OK);
    assert_int_equal(insn.flow, NTR_FLOW_DIRECT_JUMP);
    assert_int_equal(insn.target, 0x00012344);
}

static void table_jumps_find_their_table(void **state) {
    (void)state;
    check_table_jump(false);
}

static void table_jumps_find_their_table_without_names(void **state) {
    (void)state;
    check_table_jump(true);
}

static void is_named(uint64_t offset, const char *name) {
    ntr_symbol symbol;
    ntr_status status =
        ntr_program_symbol(program, ntr_place_at(NULL, NTR_POSITION_ANY, TEXT_ADDRESS + offset), &symbol);
    print_message("# +0x%x\n", (unsigned)offset);
    if (!name) {
        assert_int_equal(status, NTR_END);
    } else {
        assert_int_equal(status, NTR_OK);
        assert_string_equal(symbol.name, name);
    }
}

static void symbols_cover_addresses(void **state) {
    (void)state;
    elf_builder elf;
    elf_begin(&elf, true);
    elf_segment(&elf, 1, CODE_AT, TEXT_ADDRESS, 0x100, 0x100);
    elf_section(&elf, 1, 1, 6, TEXT_ADDRESS, CODE_AT, 0xe0, 0, 0);
    elf_symbol(&elf, "file.c", LOCAL_FILE, 0xfff1, TEXT_ADDRESS, 0);
    elf_symbol(&elf, "$xrv64gc", LOCAL_NOTYPE, 1, TEXT_ADDRESS + 8, 0);
    elf_symbol(&elf, ".L7", LOCAL_NOTYPE, 1, TEXT_ADDRESS + 8, 0);
    elf_symbol(&elf, "tls", GLOBAL_TLS, 1, TEXT_ADDRESS + 8, 0x10);
    elf_symbol(&elf, "outside", GLOBAL_FUNC, 0, TEXT_ADDRESS + 8, 0x10);
    elf_symbol(&elf, "start", GLOBAL_NOTYPE, 1, TEXT_ADDRESS + 4, 0);
    elf_symbol(&elf, "outer", LOCAL_FUNC, 1, TEXT_ADDRESS + 0x20, 0x40);
    elf_symbol(&elf, "inner", LOCAL_FUNC, 1, TEXT_ADDRESS + 0x30, 0x10);
    elf_symbol(&elf, "label", GLOBAL_NOTYPE, 1, TEXT_ADDRESS + 0x28, 0);
    elf_symbol(&elf, "table", GLOBAL_OBJECT, 1, TEXT_ADDRESS + 0x40, 0x50);
    elf_symbol(&elf, "alias_weak", WEAK_FUNC, 1, TEXT_ADDRESS + 0xa0, 0x10);
    elf_symbol(&elf, "alias_b", GLOBAL_FUNC, 1, TEXT_ADDRESS + 0xa0, 0x10);
    elf_symbol(&elf, "alias_a", GLOBAL_FUNC, 1, TEXT_ADDRESS + 0xa0, 0x10);
    elf_symbol(&elf, "alias_long", LOCAL_FUNC, 1, TEXT_ADDRESS + 0xa0, 0x20);
    elf_symbol(&elf, "around", LOCAL_FUNC, 1, TEXT_ADDRESS + 0xd4, 4);
    elf_symbol(&elf, "label_inside", GLOBAL_NOTYPE, 1, TEXT_ADDRESS + 0xd6, 0);
    elf_symbol(&elf, "last", GLOBAL_NOTYPE, 1, TEXT_ADDRESS + 0xdc, 0);
    assert_int_equal(add(&elf, NULL), NTR_OK);

    is_named(0x00, NULL);
    is_named(0x04, "start");
    is_named(0x1f, "start"); /* the nearest below */
    is_named(0x20, "outer");
    is_named(0x2f, "outer"); /* not the label without size */
    is_named(0x30, "inner");
    is_named(0x3f, "inner");
    is_named(0x40, "outer"); /* a function, although the table starts later */
    is_named(0x5f, "outer");
    is_named(0x60, "table");
    is_named(0x8f, "table");
    is_named(0x90, NULL); /* behind the table */
    is_named(0xa0, "alias_a");
    is_named(0xaf, "alias_a");
    is_named(0xb0, "alias_long");
    is_named(0xc0, NULL);
    is_named(0xd4, "around");
    is_named(0xd8, NULL); /* a label does not extend past the function around it */
    is_named(0xdc, "last");
    is_named(0xdf, "last"); /* up to the end of the section */
    is_named(0xe0, NULL);

    ntr_symbol symbol;
    assert_int_equal(ntr_program_find(program, "inner", &symbol), NTR_OK);
    assert_int_equal(symbol.address, TEXT_ADDRESS + 0x30);
    assert_int_equal(ntr_program_find(program, "outside", &symbol), NTR_END);
    assert_int_equal(ntr_program_find(program, "file.c", &symbol), NTR_END);
}

static void range_is(uint64_t offset, uint64_t first, uint64_t size) {
    ntr_code_range range;
    ntr_symbol symbol;
    assert_int_equal(ntr_program_symbol(program, ntr_place_at(NULL, NTR_POSITION_ANY, TEXT_ADDRESS + offset), &symbol),
                     NTR_END);
    assert_int_equal(
        ntr_program_code_range(program, ntr_place_at(NULL, NTR_POSITION_ANY, TEXT_ADDRESS + offset), &range), NTR_OK);
    assert_int_equal(range.address - TEXT_ADDRESS, first);
    assert_int_equal(range.size, size);
    assert_false(range.function);
    assert_int_equal(range.bias, 0);
    assert_null(strchr(range.file_name, '/'));
}

/* Code without a symbol: the code between its neighbours, inside its section or else its segment. */
static void code_without_symbols_has_ranges(void **state) {
    (void)state;
    elf_builder elf;
    ntr_code_range range;
    elf_begin(&elf, true);
    elf_segment(&elf, 1, CODE_AT, TEXT_ADDRESS, 0x100, 0x100);
    elf_section(&elf, 1, 1, 6, TEXT_ADDRESS, CODE_AT, 0xe0, 0, 0);
    elf_symbol(&elf, "one", GLOBAL_FUNC, 1, TEXT_ADDRESS + 0x20, 0x10);
    elf_symbol(&elf, "two", LOCAL_FUNC, 1, TEXT_ADDRESS + 0x40, 0x10);
    assert_int_equal(add(&elf, NULL), NTR_OK);
    range_is(0x00, 0x00, 0x20);
    range_is(0x1f, 0x00, 0x20);
    assert_int_equal(ntr_program_code_range(program, ntr_place_at(NULL, NTR_POSITION_ANY, TEXT_ADDRESS + 0x20), &range),
                     NTR_END);
    range_is(0x30, 0x30, 0x10);
    range_is(0x50, 0x50, 0x90);
    range_is(0xdf, 0x50, 0x90);
    range_is(0xe0, 0x50, 0xb0); /* in no section */
    assert_int_equal(
        ntr_program_code_range(program, ntr_place_at(NULL, NTR_POSITION_ANY, TEXT_ADDRESS + 0x100), &range), NTR_END);
}

static void debug_symbols_are_added(void **state) {
    (void)state;
    elf_builder elf, other;
    uint8_t cut[64] = {0};
    simple(&elf, true);
    assert_int_equal(add(&elf, NULL), NTR_OK);
    is_named(4, NULL);
    elf_begin(&other, true); /* without segments */
    elf_symbol(&other, "static_function", LOCAL_FUNC, 1, TEXT_ADDRESS + 4, 8);
    assert_int_equal(ntr_program_add_debug_symbols(program, 0, (ntr_bytes){other.bytes, other.size}), NTR_OK);
    memset(other.bytes, 0, sizeof other.bytes); /* nothing of it is kept */
    is_named(0, NULL);
    is_named(4, "static_function");
    is_named(11, "static_function");
    is_named(12, NULL);
    assert_int_equal(ntr_program_add_debug_symbols(program, 1, (ntr_bytes){other.bytes, other.size}), NTR_E_INVALID);
    assert_int_equal(ntr_program_add_debug_symbols(program, 0, (ntr_bytes){cut, sizeof cut}), NTR_E_FORMAT);
    elf_begin(&other, false);
    assert_int_equal(ntr_program_add_debug_symbols(program, 0, (ntr_bytes){other.bytes, other.size}), NTR_E_FORMAT);
    is_named(4, "static_function");
}

static void empty_sections_name_nothing(void **state) {
    (void)state;
    elf_builder elf;
    ntr_symbol symbol;
    elf_begin(&elf, true);
    elf_segment(&elf, 1, CODE_AT, 0, 0x100, 0x100);
    elf_section(&elf, 2, 8, 3, 0, 0, 0, 0, 0);
    elf_symbol(&elf, "nothing", GLOBAL_NOTYPE, 2, 0, 0);
    assert_int_equal(add(&elf, NULL), NTR_OK);
    assert_int_equal(ntr_program_symbol(program, ntr_place_at(NULL, NTR_POSITION_ANY, 0x10), &symbol), NTR_END);
}

static void contexts_have_their_own_names(void **state) {
    (void)state;
    elf_builder elf;
    ntr_symbol symbol;
    for (unsigned i = 0; i < 2; i++) {
        ntr_image_options options = {.size = sizeof options, .has_scontext = true, .scontext = i};
        simple(&elf, true);
        elf_symbol(&elf, i ? "one" : "zero", GLOBAL_FUNC, 1, TEXT_ADDRESS, 16);
        assert_int_equal(add(&elf, &options), NTR_OK);
    }
    ntr_context context = {.has_scontext = true};
    assert_int_equal(ntr_program_symbol(program, ntr_place_at(&context, NTR_POSITION_ANY, TEXT_ADDRESS), &symbol),
                     NTR_OK);
    assert_string_equal(symbol.name, "zero");
    context.scontext = 1;
    assert_int_equal(ntr_program_symbol(program, ntr_place_at(&context, NTR_POSITION_ANY, TEXT_ADDRESS), &symbol),
                     NTR_OK);
    assert_string_equal(symbol.name, "one");
    context.scontext = 2;
    assert_int_equal(ntr_program_symbol(program, ntr_place_at(&context, NTR_POSITION_ANY, TEXT_ADDRESS), &symbol),
                     NTR_END);
}

/* A capture of a machine has all bytes that were executed, above the files that they came from. */
static void copies_of_code_have_its_names(void **state) {
    (void)state;
    elf_builder elf;
    ntr_symbol symbol;
    ntr_code_range range;
    simple(&elf, true);
    elf_symbol(&elf, "inside", GLOBAL_FUNC, 1, TEXT_ADDRESS, 8);
    assert_int_equal(add(&elf, NULL), NTR_OK);
    uint8_t bytes[16];
    const ntr_context user = {.prv = 0}, supervisor = {.prv = 1};
    assert_int_equal(ntr_program_read(program, ntr_place_at(NULL, 0, TEXT_ADDRESS), bytes, sizeof bytes), sizeof bytes);
    ntr_image_options options = {.size = sizeof options, .bias = TEXT_ADDRESS, .has_prv = true};
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){bytes, sizeof bytes}, &options), NTR_OK);
    assert_int_equal(ntr_program_symbol(program, ntr_place_at(&user, NTR_POSITION_ANY, TEXT_ADDRESS + 4), &symbol),
                     NTR_OK);
    assert_string_equal(symbol.name, "inside");
    assert_int_equal(ntr_program_symbol(program, ntr_place_at(&user, NTR_POSITION_ANY, TEXT_ADDRESS + 12), &symbol),
                     NTR_END);
    assert_int_equal(ntr_program_code_range(program, ntr_place_at(&user, NTR_POSITION_ANY, TEXT_ADDRESS + 12), &range),
                     NTR_OK);
    bytes[4] ^= 0xff; /* changed code */
    options.prv = 1;
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){bytes, sizeof bytes}, &options), NTR_OK);
    assert_int_equal(
        ntr_program_symbol(program, ntr_place_at(&supervisor, NTR_POSITION_ANY, TEXT_ADDRESS + 4), &symbol), NTR_OK);
}

static void other_code_at_an_address_has_not_the_names_of_a_file(void **state) {
    (void)state;
    elf_builder elf;
    ntr_symbol symbol;
    uint8_t bytes[16];
    const ntr_context machine = {.prv = 3};
    ntr_image_options file = {.size = sizeof file, .has_prv = true, .prv = 1}, raw = file;
    simple(&elf, true);
    elf_symbol(&elf, "inside", GLOBAL_FUNC, 1, TEXT_ADDRESS, 16);
    assert_int_equal(add(&elf, &file), NTR_OK);
    memcpy(bytes, "\1\0\1\0", 4); /* it begins equally */
    memset(bytes + 4, 0x13, sizeof bytes - 4);
    raw.prv = 3;
    raw.bias = TEXT_ADDRESS;
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){bytes, sizeof bytes}, &raw), NTR_OK);
    assert_int_equal(ntr_program_symbol(program, ntr_place_at(&machine, NTR_POSITION_ANY, TEXT_ADDRESS), &symbol),
                     NTR_END);
}

static void one_program_has_one_xlen(void **state) {
    (void)state;
    elf_builder elf;
    simple(&elf, true);
    assert_int_equal(add(&elf, NULL), NTR_OK);
    simple(&elf, false);
    assert_int_equal(add(&elf, NULL), NTR_E_FORMAT);
    assert_non_null(strstr(ntr_program_error(program), ": RV32 code in an RV64 program"));
    assert_int_equal(ntr_program_set_isa(program, NTR_ISA_RV32), NTR_E_INVALID);
}

/* A program that executes itself again has two images of one file; the same file elsewhere is another one. */
static void a_file_that_is_executed_again_is_one_file(void **state) {
    (void)state;
    static const uint32_t expected[] = {0, 1, 0};
    ntr_image_options options = {.size = sizeof options, .until = 100};
    elf_builder elf;
    simple(&elf, true);
    assert_int_equal(elf_write(&elf), 0);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(ntr_program_add_elf(program, elf.path, &options), NTR_OK);
        options = (ntr_image_options){.size = sizeof options, .bias = i ? 0 : 0x100000, .from = 100};
    }
    uint32_t *first = ntr_program_first_images(program, NULL);
    assert_non_null(first);
    assert_memory_equal(first, expected, sizeof expected);
    free(first);
    elf_end(&elf);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, drop)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(segments_are_loaded),
        CASE(bias_moves_everything),
        CASE(bias_wraps_at_xlen),
        CASE(later_segments_and_files_win),
        CASE(files_name_their_code),
        TEST(other_code_has_not_the_names_of_the_file),
        TEST(attributes_tell_the_extensions),
        CASE(damaged_attributes_are_ignored),
        CASE(table_jumps_find_their_table),
        CASE(table_jumps_find_their_table_without_names),
        CASE(omitted_names_are_not_read),
        CASE(symbols_cover_addresses),
        CASE(code_without_symbols_has_ranges),
        CASE(debug_symbols_are_added),
        CASE(empty_sections_name_nothing),
        CASE(contexts_have_their_own_names),
        CASE(copies_of_code_have_its_names),
        CASE(other_code_at_an_address_has_not_the_names_of_a_file),
        CASE(one_program_has_one_xlen),
        CASE(a_file_that_is_executed_again_is_one_file),
    };
    return cmocka_run_group_tests_name("elf", tests, NULL, NULL);
}
