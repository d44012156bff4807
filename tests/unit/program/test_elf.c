/* ELF files: good ones, and every kind of bad one. All are made here. */
#include "../test.h"

#include "program/program.h"

#include "elf_builder.h"
#include "fixture.h"

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

/* 16 bytes of c.nop and c.jr ra from CODE_AT, at TEXT_ADDRESS, 32 in memory. */
static void simple(elf_builder *elf, bool wide) {
    elf_begin(elf, wide);
    for (unsigned i = 0; i < 8; i++) elf_put(elf, CODE_AT + 2 * i, 2, i == 7 ? 0x8082 : 0x0001);
    elf_segment(elf, 1, CODE_AT, TEXT_ADDRESS, 16, 32);
}

static ntr_status add(elf_builder *elf, const ntr_image_options *options) {
    assert_int_equal(elf_write(elf), 0);
    ntr_status status = ntr_program_add_elf(program, elf->path, options);
    elf_end(elf); /* what is mapped stays */
    return status;
}

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

/* ---- bad files ---- */

static void refused(elf_builder *elf, ntr_status status, const char *reason) {
    char want[256];
    ntr_image_info info;
    assert_int_equal(add(elf, NULL), status);
    snprintf(want, sizeof want, "%s: %s", elf->path, reason);
    assert_string_equal(ntr_program_error(program), want);
    assert_int_equal(ntr_program_image(program, 0, &info), NTR_END);
    assert_int_equal(ntr_program_xlen(program), 0);
}

static const struct {
    size_t at;
    unsigned width;
    uint64_t value;
    const char *reason;
} damaged[] = {
    {1, 1, 'e', "not an ELF file"},
    {4, 1, 3, "damaged ELF header"},
    {5, 1, 2, "not a little-endian ELF"},
    {18, 2, 62, "not a RISC-V ELF (machine 62)"},
    {32, 8, UINT64_MAX, "program headers: 56 bytes at 0xffffffffffffffff, but the file ends at 0xb00"},
    {32, 8, ELF_SIZE - 8, "program headers: 56 bytes at 0xaf8, but the file ends at 0xb00"},
    {54, 2, 1, "program headers of 1 bytes instead of 56"},
    {56, 2, 0xfffe, "program headers: 3669904 bytes at 0x40, but the file ends at 0xb00"},
    {56, 2, 0, "no loadable segment"},
    {PHDRS_AT, 4, 4, "no loadable segment"},
    {PHDRS_AT + 8, 8, ELF_SIZE - 15, "program header 0: 0x10 bytes at 0xaf1, but the file ends at 0xb00"},
    {PHDRS_AT + 8, 8, UINT64_MAX - 7, "program header 0: 0x10 bytes at 0xfffffffffffffff8, but the file ends at 0xb00"},
    {PHDRS_AT + 32, 8, UINT64_MAX, "program header 0: 0xffffffffffffffff bytes at 0x200, but the file ends at 0xb00"},
    {PHDRS_AT + 32, 8, 33, "program header 0: 0x21 bytes in the file, but 0x20 in memory"},
    {PHDRS_AT + 16, 8, UINT64_MAX - 14,
     "program header 0: 0x10 bytes for address 0xfffffffffffffff1, beyond the last one"},
    {SECTIONS_AT + 3 * 64 + 24, 8, ELF_SIZE - 1, "symbol table: 0x30 bytes at 0xaff, but the file ends at 0xb00"},
    {SECTIONS_AT + 3 * 64 + 32, 8, UINT64_MAX - 1,
     "symbol table: 0xfffffffffffffffe bytes at 0x400, but the file ends at 0xb00"},
    {SECTIONS_AT + 3 * 64 + 40, 4, 77, "symbol 1: its name is outside the string table"},
    {SECTIONS_AT + 4 * 64 + 24, 8, ELF_SIZE, "symbol 1: its name is outside the string table"},
    {SECTIONS_AT + 4 * 64 + 32, 8, 5, "symbol 1: its name is outside the string table"},
    {SYMBOLS_AT + 24, 4, 6, "symbol 1: its name is outside the string table"},
};

static void damage_is_explained(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        elf_builder elf;
        simple(&elf, true);
        elf_symbol(&elf, "main", GLOBAL_FUNC, 1, TEXT_ADDRESS, 16);
        elf_put(&elf, damaged[i].at, damaged[i].width, damaged[i].value);
        make(NULL);
        print_message("# %zx: %s\n", damaged[i].at, damaged[i].reason);
        refused(&elf, NTR_E_FORMAT, damaged[i].reason);
        drop(NULL);
    }
}

static void files_cut_anywhere_are_refused(void **state) {
    (void)state;
    elf_builder elf;
    simple(&elf, true);
    elf_symbol(&elf, "main", GLOBAL_FUNC, 1, TEXT_ADDRESS, 16);
    elf_segment(&elf, 1, SECTIONS_AT, DATA_ADDRESS, ELF_SIZE - SECTIONS_AT, ELF_SIZE);
    for (elf.size = 0; elf.size < ELF_SIZE; elf.size += elf.size < 160 ? 1 : 37) {
        assert_int_equal(add(&elf, NULL), NTR_E_FORMAT);
        if (elf.size == 0) assert_non_null(strstr(ntr_program_error(program), ": empty file"));
        if (elf.size == 40) assert_non_null(strstr(ntr_program_error(program), ": damaged ELF header"));
        if (elf.size == 100) assert_non_null(strstr(ntr_program_error(program), ": program header"));
    }
}

static void other_kinds_of_files_are_refused(void **state) {
    (void)state;
    char path[] = "/tmp/ntrace-fifo-XXXXXX";
    assert_int_equal(ntr_program_add_elf(program, "/no/such\tfile", NULL), NTR_E_IO);
    assert_string_equal(ntr_program_error(program), "/no/such?file: No such file or directory");
    assert_int_equal(ntr_program_add_elf(program, "/", NULL), NTR_E_IO);
    assert_string_equal(ntr_program_error(program), "/: not a regular file");
    close(mkstemp(path));
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(ntr_program_add_elf(program, path, NULL), NTR_E_IO);
    unlink(path);
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

/* Random damage: either the file loads or it is refused with a line; nothing else may happen. */
static void random_damage_is_survived(void **state) {
    (void)state;
    uint64_t random = 7;
    for (unsigned round = 0; round < 1000; round++) {
        elf_builder elf;
        simple(&elf, round & 1);
        elf_symbol(&elf, "main", GLOBAL_FUNC, 1, TEXT_ADDRESS, 16);
        elf_symbol(&elf, "main2", GLOBAL_OBJECT, 2, DATA_ADDRESS, 16);
        elf_segment(&elf, 1, CODE_AT + 4, TEXT_ADDRESS + 4, 32, 32);
        elf_arch(&elf, "rv64i_zcmp");
        for (unsigned i = 0; i < 1 + round % 8; i++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            uint32_t draw = (uint32_t)(random >> 32);
            static const size_t areas[][2] = {{4, 60}, {PHDRS_AT, 112}, {SYMBOLS_AT, 72}, {SECTIONS_AT, 6 * 64}};
            const size_t *area = areas[draw >> 30];
            elf.bytes[area[0] + (draw >> 8 & 0xffff) % area[1]] = (uint8_t)(draw & 1 ? draw >> 1 : 0xff);
        }
        make(NULL);
        ntr_status status = add(&elf, NULL);
        if (status == NTR_OK) {
            ntr_symbol symbol;
            uint8_t out[64];
            ntr_program_symbol(program, ntr_place_at(NULL, NTR_POSITION_ANY, TEXT_ADDRESS + 2), &symbol);
            ntr_program_find(program, "main2", &symbol);
            ntr_program_read(program, ntr_place_at(NULL, 0, TEXT_ADDRESS), out, sizeof out);
        } else {
            assert_int_equal(status, NTR_E_FORMAT);
            assert_true(strlen(ntr_program_error(program)) > strlen(elf.path) + 2);
        }
        drop(NULL);
    }
}

/* 65535 segments, each of them the whole file, each nested into the one before, bound to a context: memory must
 * follow the file's size, not the sum of what it claims. */
static void hostile_segment_tables_cost_little(void **state) {
    (void)state;
    const size_t count = 20000, size = 64 + count * 56;
    uint8_t *bytes = calloc(size, 1);
    elf_builder head;
    elf_begin(&head, true);
    elf_put(&head, 40, 8, 0); /* no sections */
    elf_put(&head, 60, 2, 0);
    elf_put(&head, 56, 2, count);
    memcpy(bytes, head.bytes, 64);
    for (size_t i = 0; i < count; i++) {
        const uint64_t fields[] = {UINT64_C(0x500000001), 0, 0x1000 + 2 * i, 0, size - 4 * i, size - 4 * i};
        for (unsigned k = 0; k < 6; k++) memcpy(bytes + 64 + 56 * i + 8 * k, &fields[k], 8);
    }
    char path[] = "/tmp/ntrace-elf-XXXXXX";
    int file = mkstemp(path);
    assert_int_equal(write(file, bytes, size), (ssize_t)size);
    close(file);
    ntr_image_options options = {.size = sizeof options, .has_scontext = true, .scontext = 1};
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    for (unsigned i = 0; i < 4; i++) assert_int_equal(ntr_program_add_elf(program, path, &options), NTR_OK);
    getrusage(RUSAGE_SELF, &after);
    unlink(path);
    uint8_t out;
    assert_int_equal(ntr_program_read(program, ntr_place_at(NULL, 0, 0x1000 + 2 * count), &out, 1), 1);
    assert_in_range(after.ru_maxrss - before.ru_maxrss, 0, 64 * 1024); /* KiB */
    free(bytes);
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
        TEST(damage_is_explained),
        CASE(files_cut_anywhere_are_refused),
        CASE(other_kinds_of_files_are_refused),
        CASE(one_program_has_one_xlen),
        TEST(random_damage_is_survived),
        CASE(hostile_segment_tables_cost_little),
    };
    return cmocka_run_group_tests_name("elf", tests, NULL, NULL);
}
