#include "../test.h"

#include "program/blocks.h"

#include <string.h>

#define BASE UINT64_C(0x80000000)

/* Instructions, to write code as text: '.' c.nop, 'w' a 32-bit nop, 'b' c.beqz +8, 'j' c.j +8, 'r' c.jr ra,
 * 'e' c.ebreak, 'U' lui a5, 0x12345, 'J' jr -2(a5), 'A' auipc a5, 1, 'C' jalr ra, 16(a5), 'T' cm.jt 0, 'K' c.jr a4 */
static size_t assemble(const char *text, uint8_t *out) {
    size_t size = 0;
    for (; *text; text++) {
        uint32_t word = 0;
        switch (*text) {
        case '.': word = 0x0001; break;
        case 'w': word = 0x00000013; break;
        case 'b': word = 0xc501; break;
        case 'j': word = 0xa021; break;
        case 'r': word = 0x8082; break;
        case 'e': word = 0x9002; break;
        case 'U': word = 0x123457b7; break;
        case 'A': word = 0x00001797; break;
        case 'J': word = 0xffe78067; break;
        case 'C': word = 0x010780e7; break;
        case 'K': word = 0x8702; break;
        case 'T': word = 0xa002; break;
        default: fail();
        }
        for (unsigned i = 0; i < ((word & 3) == 3 ? 4 : 2); i++) out[size++] = (uint8_t)(word >> (8 * i));
    }
    return size;
}

static ntr_program *program;
static ntr_blocks *blocks;

static int make(void **state) {
    (void)state;
    ntr_program_new(NULL, &program);
    blocks = ntr_blocks_new(program, NULL, 0);
    return program && blocks ? 0 : -1;
}

static int drop(void **state) {
    (void)state;
    ntr_blocks_free(blocks);
    ntr_program_free(program);
    return 0;
}

static ntr_image_options at(uint64_t address) {
    return (ntr_image_options){.size = sizeof(ntr_image_options), .bias = address};
}

static void add_with(ntr_image_options options, const char *text) {
    uint8_t code[4096];
    size_t size = assemble(text, code);
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){code, size}, &options), NTR_OK);
}

static void add(uint64_t address, const char *text) {
    add_with(at(address), text);
}

static ntr_block *get(uint64_t address) {
    return ntr_blocks_get(blocks, ntr_blocks_view(blocks, NULL), address);
}

static void start(void) {
    ntr_blocks_seek(blocks, 0);
}

static void a_block_ends_with_the_first_jump(void **state) {
    (void)state;
    add(BASE, ".w.wb.r");
    start();
    ntr_block *block = get(BASE);
    assert_int_equal(block->start, BASE);
    assert_int_equal(block->instructions, 5);
    assert_int_equal(block->halfwords, 7);
    assert_int_equal(block->next, BASE + 14);
    assert_int_equal(ntr_block_last(block), BASE + 12);
    assert_int_equal(block->last_halfwords, 1);
    assert_int_equal(block->flow, NTR_FLOW_BRANCH);
    assert_int_equal(block->itype, NTR_ITYPE_NOT_TAKEN);
    assert_int_equal(block->target, BASE + 20);
    assert_int_equal(block->flags, 0);
    assert_int_equal(ntr_block_status(block), NTR_OK);
    assert_ptr_equal(get(BASE), block);

    ntr_block *behind = ntr_blocks_fall(blocks, block);
    assert_int_equal(behind->start, BASE + 14);
    assert_int_equal(behind->instructions, 2);
    assert_int_equal(behind->flow, NTR_FLOW_RETURN);
    assert_ptr_equal(ntr_blocks_fall(blocks, block), behind);
    assert_ptr_equal(get(BASE + 14), behind);
}

static void instructions_inside_are_found(void **state) {
    (void)state;
    add(BASE, ".w.wb");
    start();
    const ntr_block *block = get(BASE);
    static const bool boundary[] = {1, 1, 0, 1, 1, 0, 1, 1, 0};
    static const uint8_t count[] = {0, 1, 2, 2, 3, 4, 4, 5};
    static const uint8_t after[] = {1, 3, 3, 4, 6, 6, 7};
    static const uint8_t before[] = {0, 0, 1, 1, 3, 4, 4, 6};
    for (unsigned k = 0; k <= 8; k++) assert_int_equal(ntr_block_boundary(block, k), boundary[k]);
    for (unsigned k = 0; k <= 7; k++) assert_int_equal(ntr_block_count(block, k), count[k]);
    for (unsigned k = 0; k <= 6; k++) assert_int_equal(ntr_block_after(block, k), after[k]);
    for (unsigned k = 1; k <= 7; k++) assert_int_equal(ntr_block_before(block, k), before[k]);
}

static void long_straight_code_is_cut(void **state) {
    (void)state;
    char text[401];
    memset(text, '.', 400);
    text[400] = 0;
    add(BASE, text);
    start();
    ntr_block *block = get(BASE);
    assert_int_equal(block->halfwords, 255);
    assert_int_equal(block->instructions, 255);
    assert_int_equal(block->flow, NTR_FLOW_LINEAR);
    assert_int_equal(block->flags, NTR_BLOCK_CUT);
    for (unsigned k = 0; k <= 255; k++) {
        assert_true(ntr_block_boundary(block, k));
        assert_int_equal(ntr_block_count(block, k), k);
    }
    block = ntr_blocks_fall(blocks, block);
    assert_int_equal(block->start, BASE + 510);
    assert_int_equal(block->halfwords, 145);
    assert_int_equal(block->flags, NTR_BLOCK_CUT | NTR_BLOCK_NO_IMAGE);
    block = ntr_blocks_fall(blocks, block);
    assert_int_equal(block->halfwords, 0);
    assert_int_equal(ntr_block_status(block), NTR_E_NO_IMAGE);
}

static void sequential_jumps_know_their_target(void **state) {
    (void)state;
    add(BASE, "UJ");
    add(BASE + 0x100, ".AC");
    add(BASE + 0x200, "U.J");  /* not directly before */
    add(BASE + 0x300, "Ur");   /* a return */
    add(BASE + 0x400, "UK");   /* another register */
    start();
    assert_int_equal(get(BASE)->flags, NTR_BLOCK_SEQUENTIAL);
    assert_int_equal(get(BASE)->target, 0x12344ffe);
    assert_int_equal(get(BASE)->flow, NTR_FLOW_INDIRECT_JUMP);
    assert_int_equal(get(BASE + 0x100)->flags, NTR_BLOCK_SEQUENTIAL);
    assert_int_equal(get(BASE + 0x100)->target, BASE + 0x102 + 0x1010);
    assert_int_equal(get(BASE + 4)->flags, 0); /* jumped right to the second */
    assert_int_equal(get(BASE + 0x200)->flags, 0);
    assert_int_equal(get(BASE + 0x300)->flags, 0);
    assert_int_equal(get(BASE + 0x400)->flags, 0);
}

static void sequential_jumps_are_never_cut_apart(void **state) {
    (void)state;
    for (size_t before = 240; before <= 260; before++) {
        ntr_program *other;
        ntr_program_new(NULL, &other);
        char text[300];
        uint8_t code[1024];
        memset(text, '.', before);
        strcpy(text + before, "UJ");
        ntr_image_options options = at(BASE);
        size_t size = assemble(text, code);
        assert_int_equal(ntr_program_add_raw(other, (ntr_bytes){code, size}, &options), NTR_OK);
        ntr_blocks *cache = ntr_blocks_new(other, NULL, 0);
        ntr_block *block = ntr_blocks_get(cache, ntr_blocks_view(cache, NULL), BASE);
        if (block->flow == NTR_FLOW_LINEAR) block = ntr_blocks_fall(cache, block);
        assert_int_equal(block->flags, NTR_BLOCK_SEQUENTIAL);
        assert_int_equal(ntr_block_last(block), BASE + 2 * before + 4);
        ntr_blocks_free(cache);
        ntr_program_free(other);
    }
}

static void traps_end_a_block(void **state) {
    (void)state;
    add(BASE, ".e.");
    start();
    assert_int_equal(get(BASE)->flow, NTR_FLOW_TRAP);
    assert_int_equal(get(BASE)->instructions, 2);
    assert_int_equal(ntr_block_last(get(BASE)), BASE + 2);
}

static void links_follow_any_target(void **state) {
    (void)state;
    add(BASE, "r...r...r");
    start();
    ntr_block *block = get(BASE);
    assert_ptr_equal(ntr_blocks_jump(blocks, block, BASE + 8), get(BASE + 8));
    assert_ptr_equal(ntr_blocks_jump(blocks, block, BASE + 8), get(BASE + 8));
    assert_ptr_equal(ntr_blocks_jump(blocks, block, BASE + 16), get(BASE + 16));
    assert_int_equal(ntr_blocks_jump(blocks, block, BASE + 0x100)->halfwords, 0);
    assert_int_equal(ntr_blocks_jump(blocks, block, 1)->halfwords, 0);
    assert_int_equal(get(1)->halfwords, 0);
}

static void new_images_show_at_once(void **state) {
    (void)state;
    start();
    assert_int_equal(get(BASE)->halfwords, 0);
    add(BASE, "..");
    start();
    ntr_block *block = get(BASE);
    assert_int_equal(block->halfwords, 2);
    assert_int_equal(ntr_blocks_fall(blocks, block)->halfwords, 0);
    add(BASE + 0x1000, "..r");
    start();
    assert_ptr_equal(get(BASE), block); /* far away: nothing changed here */
    add(BASE + 4, "r");
    start();
    assert_int_equal(block->key, NTR_BLOCK_INVALID);
    assert_int_equal(get(BASE)->halfwords, 3);
    assert_int_equal(get(BASE)->flow, NTR_FLOW_RETURN);
}

static void only_changed_code_dies(void **state) {
    (void)state;
    ntr_image_options patch = at(BASE + 4);
    patch.from = 100;
    patch.until = 200;
    add(BASE, "..r..r..j");
    add_with(patch, "j");
    start();
    ntr_block *first = get(BASE), *second = get(BASE + 6), *third = get(BASE + 12);
    uint64_t epoch = blocks->epoch, generation = blocks->generation;
    first->executed = 7;
    assert_int_equal(first->flow, NTR_FLOW_RETURN);
    ntr_blocks_jump(blocks, third, BASE);
    ntr_blocks_seek(blocks, 99);
    assert_int_equal(blocks->epoch, epoch);
    ntr_blocks_seek(blocks, 100);
    assert_int_not_equal(blocks->epoch, epoch);
    assert_int_equal(blocks->generation, generation);
    assert_int_equal(first->key, NTR_BLOCK_INVALID);
    assert_int_equal(first->executed, 7);
    assert_int_equal(get(BASE)->flow, NTR_FLOW_DIRECT_JUMP);
    assert_ptr_equal(ntr_blocks_jump(blocks, third, BASE), get(BASE));
    assert_ptr_equal(get(BASE + 6), second);
    ntr_blocks_seek(blocks, 5000);
    assert_int_equal(get(BASE)->flow, NTR_FLOW_RETURN);
    ntr_blocks_seek(blocks, 150); /* and backwards */
    assert_int_equal(get(BASE)->flow, NTR_FLOW_DIRECT_JUMP);
    assert_ptr_equal(get(BASE + 12), third);
}

static void views_are_what_contexts_see(void **state) {
    (void)state;
    ntr_image_options mine = at(BASE);
    mine.has_scontext = true;
    mine.scontext = 1;
    add(BASE, "r");
    add_with(mine, "j");
    start();
    ntr_context one = {.has_scontext = true, .scontext = 1}, two = {.has_scontext = true, .scontext = 2},
                three = {.has_scontext = true, .scontext = 3, .prv = 1};
    uint32_t view = ntr_blocks_view(blocks, &two);
    assert_int_not_equal(ntr_blocks_view(blocks, &one), view);
    assert_int_equal(ntr_blocks_view(blocks, &three), view);
    assert_int_equal(ntr_blocks_get(blocks, ntr_blocks_view(blocks, &one), BASE)->flow, NTR_FLOW_DIRECT_JUMP);
    assert_int_equal(ntr_blocks_get(blocks, view, BASE)->flow, NTR_FLOW_RETURN);

    uint64_t generation = blocks->generation;
    mine.scontext = 3;
    add_with(mine, "e"); /* now three differs from two */
    start();
    assert_int_not_equal(blocks->generation, generation);
    assert_int_not_equal(ntr_blocks_view(blocks, &three), ntr_blocks_view(blocks, &two));
    assert_int_equal(ntr_blocks_get(blocks, ntr_blocks_view(blocks, &three), BASE)->flow, NTR_FLOW_TRAP);
}

static void too_many_views_are_a_limit(void **state) {
    (void)state;
    for (unsigned i = 0; i < 1100; i++) {
        ntr_image_options mine = at(BASE);
        mine.has_scontext = true;
        mine.scontext = i;
        add_with(mine, i % 2 ? "r" : "j");
    }
    start();
    ntr_context context = {.has_scontext = true};
    uint32_t view = 0;
    for (; context.scontext < 1100; context.scontext++) {
        view = ntr_blocks_view(blocks, &context);
        if (view == NTR_VIEW_NONE) break;
        assert_int_equal(ntr_blocks_get(blocks, view, BASE)->flow,
                         context.scontext % 2 ? NTR_FLOW_RETURN : NTR_FLOW_DIRECT_JUMP);
        assert_int_equal(ntr_blocks_full(blocks), context.scontext >= 512);
    }
    assert_int_equal(context.scontext, 1024);
    assert_int_equal(ntr_block_status(ntr_blocks_get(blocks, view, BASE)), NTR_E_LIMIT);
    ntr_blocks_flush(blocks);
    assert_false(ntr_blocks_full(blocks));
    view = ntr_blocks_view(blocks, &context);
    assert_int_equal(ntr_blocks_get(blocks, view, BASE)->halfwords, 1);
}

static void flushing_starts_anew(void **state) {
    (void)state;
    add(BASE, "r");
    start();
    get(BASE)->executed = 5;
    uint64_t generation = blocks->generation;
    ntr_blocks_flush(blocks);
    assert_int_not_equal(blocks->generation, generation);
    assert_int_equal(blocks->count, 0);
    assert_int_equal(get(BASE)->executed, 0);
}

static void blocks_stay_where_they_are(void **state) {
    (void)state;
    char text[2001] = "";
    memset(text, 'r', 2000);
    add(BASE, text);
    start();
    ntr_block *blocks_made[2000];
    for (unsigned i = 0; i < 2000; i++) blocks_made[i] = get(BASE + 2 * i);
    for (unsigned i = 0; i < 2000; i++) {
        assert_ptr_equal(get(BASE + 2 * i), blocks_made[i]);
        assert_ptr_equal(ntr_blocks_at(blocks, i), blocks_made[i]);
    }
    assert_int_equal(blocks->count, 2000);
}

static void memory_is_bounded(void **state) {
    (void)state;
    char text[1001] = "";
    memset(text, 'r', 1000);
    add(BASE, text);
    ntr_blocks *small = ntr_blocks_new(program, NULL, 100);
    uint32_t view = ntr_blocks_view(small, NULL);
    for (uint64_t i = 0; i < 400; i++) {
        assert_int_equal(ntr_blocks_full(small), i >= 100);
        assert_int_equal(ntr_blocks_get(small, view, BASE + 2 * i)->halfwords, 1);
    }
    assert_int_equal(ntr_block_status(ntr_blocks_get(small, view, BASE + 900)), NTR_E_LIMIT);
    assert_int_equal(ntr_block_status(ntr_blocks_get(small, view, BASE + 700)), NTR_OK);
    ntr_blocks_flush(small);
    assert_int_equal(ntr_block_status(ntr_blocks_get(small, ntr_blocks_view(small, NULL), BASE + 900)), NTR_OK);
    ntr_blocks_free(small);
}

static size_t read_returns(void *user, const ntr_context *context, uint64_t position, uint64_t address, uint8_t *out,
                           size_t size) {
    (void)position;
    if (address / 4096 != BASE / 4096) return 0;
    for (size_t i = 0; i < size; i++) out[i] = (uint8_t)(*(const uint16_t *)user >> 8 * ((address + i) & 1));
    if (context->has_scontext && context->scontext == 9) memset(out, 1, size);
    return size;
}

static void readers_are_asked_per_context(void **state) {
    (void)state;
    uint16_t word = 0x8082; /* c.jr ra */
    ntr_context other = {.has_scontext = true, .scontext = 9};
    assert_int_equal(ntr_program_set_reader(program, read_returns, &word), NTR_OK);
    start();
    assert_int_equal(get(BASE)->flow, NTR_FLOW_RETURN);
    assert_int_equal(ntr_blocks_get(blocks, ntr_blocks_view(blocks, &other), BASE)->flow, NTR_FLOW_LINEAR);
    word = 0x9002;
    assert_int_equal(get(BASE)->flow, NTR_FLOW_RETURN);
    assert_int_equal(ntr_program_set_reader(program, read_returns, &word), NTR_OK);
    start();
    assert_int_equal(get(BASE)->flow, NTR_FLOW_TRAP);
}

static void changed_jump_tables_are_seen(void **state) {
    (void)state;
    ntr_image_options code = at(BASE), table = at(BASE + 0x1000);
    code.has_isa = true;
    code.isa = NTR_ISA_ZCMT;
    add_with(code, ".T");
    start();
    assert_int_equal(get(BASE)->flags, NTR_BLOCK_NO_TARGET);
    assert_int_equal(get(BASE)->flow, NTR_FLOW_DIRECT_JUMP);
    uint8_t entry[8] = {0x34, 0x12};
    table.has_jvt = true;
    table.jvt = BASE + 0x1000;
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){entry, 8}, &table), NTR_OK);
    start();
    assert_int_equal(get(BASE)->flags, 0);
    assert_int_equal(get(BASE)->target, 0x1234);
    table.has_jvt = false;
    table.from = 10;
    entry[0] = 0x36;
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){entry, 8}, &table), NTR_OK);
    start();
    assert_int_equal(get(BASE)->target, 0x1234);
    ntr_blocks_seek(blocks, 10);
    assert_int_equal(get(BASE)->target, 0x1236);
}

static void code_around_the_end_of_the_address_space(void **state) {
    (void)state;
    assert_int_equal(ntr_program_set_isa(program, NTR_ISA_RV32), NTR_OK);
    add(0xfffffffa, "..w.r");
    start();
    ntr_block *block = get(0xfffffffa);
    assert_int_equal(block->instructions, 5);
    assert_int_equal(block->next, 6);
    ntr_image_options patch = at(2);
    patch.from = 5;
    add_with(patch, "j");
    start();
    block = get(0xfffffffa);
    ntr_blocks_seek(blocks, 5);
    assert_int_equal(block->key, NTR_BLOCK_INVALID);
    assert_int_equal(get(0xfffffffa)->flow, NTR_FLOW_DIRECT_JUMP);
}

/* ---- against a plain walk ---- */

static uint64_t seed;

static unsigned draw(unsigned below) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % below;
}

/* The block must be what ntr_program_insn says, one instruction after the other. */
static void check(const ntr_block *block, const ntr_context *context, uint64_t position, uint64_t address) {
    ntr_insn insn = {0};
    uint64_t pc = address;
    for (unsigned k = 0; k < block->halfwords; k += insn.size / 2u) {
        assert_true(ntr_block_boundary(block, k));
        assert_int_equal(ntr_program_insn(program, ntr_place_at(context, position, pc), &insn), NTR_OK);
        pc += insn.size;
        assert_int_equal(ntr_block_after(block, k), k + insn.size / 2u);
        bool inside = k + insn.size / 2u < block->halfwords;
        assert_int_equal(insn.flow == NTR_FLOW_LINEAR, inside || block->flags & NTR_BLOCK_CUT);
    }
    if (block->halfwords) {
        assert_int_equal(block->next, pc);
        assert_int_equal(insn.flow, block->flow);
        if (insn.flow == NTR_FLOW_BRANCH) assert_int_equal(block->target, insn.target);
    }
    if (block->flags & NTR_BLOCK_NO_IMAGE) {
        const ntr_status why = ntr_program_insn(program, ntr_place_at(context, position, pc), &insn);
        assert_true(why == NTR_E_NO_IMAGE || why == NTR_E_UNDECIDED);
    } else if (block->flow == NTR_FLOW_LINEAR &&
               ntr_program_is_known(program, ntr_place_at(context, position, pc), NULL))
        assert_in_range(block->halfwords, NTR_BLOCK_HALFWORDS_MAX - 12, NTR_BLOCK_HALFWORDS_MAX);
}

static void add_random_image(unsigned room) {
    static const char kinds[] = "....wwwwww.w.b..jrewUJ";
    char text[301];
    unsigned length = draw(300) + 1;
    for (unsigned i = 0; i < length; i++) text[i] = kinds[draw(sizeof kinds - 1)];
    text[length] = 0;
    ntr_image_options options = at(BASE + 2 * draw(room));
    options.has_scontext = draw(3) == 0;
    options.scontext = draw(3);
    options.has_prv = draw(5) == 0;
    options.prv = (uint8_t)draw(2);
    if (draw(2)) options.from = draw(500);
    if (draw(2)) options.until = options.from + 1 + draw(200);
    add_with(options, text);
}

static void any_walk_is_a_plain_walk(void **state) {
    (void)state;
    const unsigned room = 1500;
    for (seed = 1; seed <= 40; seed++) {
        uint64_t this_seed = seed;
        make(NULL);
        for (unsigned i = 0; i < 5; i++) add_random_image(room);
        ntr_context context = {.prv = NTR_PRV_UNKNOWN};
        uint64_t position = 0, generation = UINT64_MAX;
        uint32_t view = 0;
        ntr_block *block = NULL;
        for (unsigned step = 0; step < 1500; step++) {
            unsigned what = draw(100);
            if (what < 2) add_random_image(room);
            if (what < 8) position = draw(800);
            if (what < 15) {
                context = (ntr_context){.has_scontext = draw(4) != 0,
                                        .scontext = draw(4),
                                        .prv = draw(3) ? (uint8_t)draw(3) : NTR_PRV_UNKNOWN};
                generation = UINT64_MAX;
                block = NULL;
            }
            ntr_blocks_seek(blocks, position);
            if (generation != blocks->generation) view = ntr_blocks_view(blocks, &context);
            if (generation != blocks->generation || (block && block->key == NTR_BLOCK_INVALID)) block = NULL;
            generation = blocks->generation;
            uint64_t address = BASE + 2 * draw(room);
            if (block && what % 3 == 0) {
                address = block->next;
                block = ntr_blocks_fall(blocks, block);
            } else if (block && what % 3 == 1) {
                block = ntr_blocks_jump(blocks, block, address);
            } else {
                block = ntr_blocks_get(blocks, view, address);
            }
            check(block, &context, position, address);
            if (block->halfwords == 0) block = NULL;
        }
        drop(NULL);
        seed = this_seed;
    }
}

/* The code below `user` is one function, the rest another one. */
static bool same(void *user, const ntr_context *context, uint64_t position, const uint64_t *addresses, size_t count) {
    const uint64_t end = *(const uint64_t *)user;
    (void)context, (void)position;
    for (size_t i = 1; i < count; i++)
        if ((addresses[i] < end) != (addresses[0] < end)) return false;
    return true;
}

static void blocks_end_where_functions_change(void **state) {
    (void)state;
    static const struct {
        const char *code;
        uint64_t other; /* begins here */
        unsigned halfwords, instructions, last; /* of the first block */
        bool divided;
    } rows[] = {
        {".w.wb", 6, 3, 2, 2, true},     /* inside of linear code */
        {".w.wb", 12, 6, 4, 2, true},    /* before the branch */
        {".w.wb", 14, 7, 5, 1, false},   /* the branch decides */
        {".w.wb", 4, 3, 2, 2, true},     /* inside of an instruction: behind it */
        {"..UJ", 8, 6, 4, 2, false},     /* the two instructions of a jump stay together */
        {"..UJ", 4, 2, 2, 1, true},    {".w.r", 10, 5, 4, 1, false}, {"..", 4, 2, 2, 1, false}, /* no code follows */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t other = BASE + rows[i].other;
        make(NULL);
        ntr_blocks_divide(blocks, same, &other);
        add(BASE, rows[i].code);
        start();
        const ntr_block *block = get(BASE);
        assert_int_equal(block->halfwords, rows[i].halfwords);
        assert_int_equal(block->instructions, rows[i].instructions);
        assert_int_equal(block->last_halfwords, rows[i].last);
        assert_int_equal(block->next, BASE + 2 * rows[i].halfwords);
        assert_int_equal((block->flags & NTR_BLOCK_DIVIDED) != 0, rows[i].divided);
        if (rows[i].divided) assert_int_equal(block->flow, NTR_FLOW_LINEAR);
        for (unsigned k = block->halfwords; k < 64; k++) assert_false(block->starts[0] >> k & 1);
        drop(NULL);
    }
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, drop)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(a_block_ends_with_the_first_jump),
        CASE(instructions_inside_are_found),
        CASE(long_straight_code_is_cut),
        CASE(sequential_jumps_know_their_target),
        TEST(sequential_jumps_are_never_cut_apart),
        CASE(traps_end_a_block),
        CASE(links_follow_any_target),
        CASE(new_images_show_at_once),
        CASE(only_changed_code_dies),
        CASE(views_are_what_contexts_see),
        CASE(too_many_views_are_a_limit),
        CASE(flushing_starts_anew),
        CASE(blocks_stay_where_they_are),
        CASE(memory_is_bounded),
        CASE(readers_are_asked_per_context),
        CASE(changed_jump_tables_are_seen),
        CASE(code_around_the_end_of_the_address_space),
        TEST(any_walk_is_a_plain_walk),
        TEST(blocks_end_where_functions_change),
    };
    return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
