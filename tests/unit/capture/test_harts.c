/* Blocks that come through a lane make the stream that the classifier makes of them one by one: with and without block
 * chain, with calls and returns, with loops that are counted, and where execution ends early. */
#include "capture/block_chain.h"
#include "capture/spaces.h"
#include "fake_plugin.h"

enum {
    NOP = 0x00000013,
    RET = 0x00008067,
    JUMP = 0x00030067, /* jr t1 */
    FUNCTIONS = 24,
    FUNCTION_SIZE = 0x100,
    CALL_OFFSET = 0x80,
    RA = 1,
    BASE = 0x10000,
};

static uint32_t next_random(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

static uint32_t jal(int32_t offset) {
    uint32_t o = (uint32_t)offset;
    return 0x6f | (o >> 12 & 255) << 12 | (o >> 11 & 1) << 20 | (o >> 1 & 1023) << 21 | (o >> 20 & 1) << 31;
}

static uint32_t beq(int32_t offset) {
    uint32_t o = (uint32_t)offset;
    return 0x63 | (o >> 11 & 1) << 7 | (o >> 1 & 15) << 8 | (o >> 5 & 63) << 25 | (o >> 12 & 1) << 31;
}

/* ---- the reference: an encoder that gets block by block ------------------------------------------------------------
 */

typedef struct reference {
    ntr_encoder *encoder;
    ntr_classifier *classifier;
    const struct channel *channel;
    bool timestamps;
    uint64_t time;
    uint8_t *bytes;
    size_t size, capacity;
} reference;

static ntr_status keep(void *user, const uint8_t *bytes, size_t size) {
    reference *r = user;

    if (r->size + size > r->capacity) {
        r->capacity = 2 * (r->size + size);
        r->bytes = realloc(r->bytes, r->capacity);
        assert_non_null(r->bytes);
    }
    memcpy(r->bytes + r->size, bytes, size);
    r->size += size;
    return NTR_OK;
}

static void reference_open(reference *r, const engine *e) {
    ntr_encoder_config config = e->config;
    ntr_classifier_config classifier;
    ntr_status status;

    *r = (reference){.channel = e->plugin.channel, .timestamps = config.params.timestamps == NTR_TIMESTAMPS_ON};
    config.sink = keep;
    config.sink_user = r;
    status = ntr_encoder_new(&config, &r->encoder);
    assert_int_equal(status, NTR_OK);
    ntr_classifier_config_init(&classifier);
    classifier.encoder = r->encoder;
    status = ntr_classifier_new(&classifier, &r->classifier);
    assert_int_equal(status, NTR_OK);
    ntr_classifier_set_state(r->classifier, &(ntr_hart_state){.priv = NTR_PRIV_U});
}

/* The first `instructions` of a block; 0: all of it. */
static void reference_enter(reference *r, uint32_t number, uint32_t instructions) {
    const struct channel_block *block = &r->channel->blocks[number];
    ntr_code_block code;

    assert_int_equal(
        ntr_code_block_scan(r->channel->code + block->code, block->size, block->address, 0, instructions, &code),
        NTR_OK);
    r->time += code.instructions;
    if (r->timestamps) ntr_classifier_set_state(r->classifier, &(ntr_hart_state){.priv = NTR_PRIV_U, .time = r->time});
    assert_int_equal(ntr_classifier_enter(r->classifier, &code), NTR_OK);
}

static void reference_finish(reference *r, uint64_t next, unsigned evcode) {
    uint64_t follows;

    assert_int_equal(ntr_classifier_finish(r->classifier, &follows), NTR_OK);
    if (next == NTR_ADDRESS_UNKNOWN) next = follows;
    assert_int_equal(ntr_encoder_stop(r->encoder, next, evcode), NTR_OK);
    assert_int_equal(ntr_encoder_flush(r->encoder), NTR_OK);
}

static void reference_close(reference *r) {
    ntr_classifier_free(r->classifier);
    ntr_encoder_free(r->encoder);
    free(r->bytes);
}

/* Complete both; they must be equal. */
static void compare(engine *e, reference *r, uint64_t next, bool by_fault, const char *what) {
    size_t size;
    uint8_t *bytes = engine_finish(e, by_fault, &size);

    reference_finish(r, next, e->config.stop_evcode);
    if (size != r->size || memcmp(bytes, r->bytes, size) != 0) {
        size_t at = 0;
        while (at < size && at < r->size && bytes[at] == r->bytes[at]) at++;
        fail_msg("%s: byte %zu differs; %zu bytes expected, %zu found", what, at, r->size, size);
    }
    free(bytes);
    reference_close(r);
    engine_close(e);
}

/* ---- a program of small functions ----------------------------------------------------------------------------------
 */

/* entry: nops, branch to `loop`; middle: nops; loop: nop, branch to itself; end: nops, jump to any function.
 * call: calls `entry`, by JAL or by AUIPC and JALR; after: where the call returns to, jump to any function. */
typedef struct function {
    uint32_t entry, middle, loop, end, call, after;
    bool returns; /* `end` is a return */
} function;

static uint32_t add_block(fake_plugin *plugin, uint64_t *address, unsigned nops, uint32_t last, unsigned flags) {
    uint32_t code[64];
    unsigned count = nops;

    for (unsigned i = 0; i < nops; i++) code[i] = NOP;
    if (last) code[count++] = last;
    uint32_t number = fake_block(plugin, *address, code, count, flags);
    *address += 4u * count;
    return number;
}

static void add_call(fake_plugin *plugin, function *f, uint64_t entry, bool sequential) {
    uint64_t address = entry + CALL_OFFSET;
    uint32_t code[2] = {NOP, jal(-CALL_OFFSET - 4) | RA << 7};
    if (sequential) {
        code[0] = 0x17 | RA << 7; /* auipc ra, 0 */
        code[1] = 0x67 | RA << 7 | RA << 15 | (uint32_t)-CALL_OFFSET << 20;
    }
    f->call = fake_block(plugin, address, code, 2, 0);
    address += 8;
    f->after = add_block(plugin, &address, 1, JUMP, 0);
}

static void add_functions(fake_plugin *plugin, function *functions, uint32_t *random) {
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        uint64_t address = BASE + i * FUNCTION_SIZE;
        unsigned middle = 1 + next_random(random) % 5;
        functions[i].entry = add_block(plugin, &address, next_random(random) % 4, beq(4 * (int32_t)middle + 4), 0);
        functions[i].middle = add_block(plugin, &address, middle, 0, 0);
        functions[i].loop = add_block(plugin, &address, 1, beq(-4), CHANNEL_BLOCK_LOOP);
        functions[i].end = add_block(plugin, &address, next_random(random) % 3, i % 2 ? JUMP : RET, 0);
        functions[i].returns = i % 2 == 0;
        add_call(plugin, &functions[i], BASE + i * FUNCTION_SIZE, i % 4 == 0);
    }
}

static void execute(engine *e, reference *r, uint32_t number) {
    while (!fake_has_room(&e->plugin)) ntr_capture_harts_drain(&e->harts, false);
    fake_put(&e->plugin, number);
    reference_enter(r, number, 0);
}

static void execute_loop(engine *e, reference *r, uint32_t number, unsigned count, bool counted) {
    for (unsigned i = 0; i < count && !counted; i++) execute(e, r, number);
    if (!counted) return;
    while (!fake_has_room(&e->plugin)) ntr_capture_harts_drain(&e->harts, false);
    fake_count_loop(&e->plugin, number, count);
    fake_report_loop(&e->plugin, number);
    for (unsigned i = 0; i < count; i++) reference_enter(r, number, 0);
}

/* A few functions are favourites, so that paths repeat. */
static const function *choose(const function *functions, uint32_t *random) {
    return &functions[next_random(random) % 8 ? next_random(random) % 4 : next_random(random) % FUNCTIONS];
}

static void walk(engine *e, reference *r, const function *functions, unsigned calls, uint32_t *random) {
    for (unsigned i = 0; i < calls; i++) {
        const function *f = choose(functions, random);
        unsigned into = next_random(random) % 8; /* jumps lead into the middle of functions, too */
        bool called = into > 3;
        if (called) execute(e, r, f->call);
        if (into > 1) execute(e, r, f->entry);
        if (into == 1 || next_random(random) % 4 == 0) execute(e, r, f->middle);
        unsigned count = next_random(random) % 16 ? 1 + next_random(random) % 3 : next_random(random) % 500 + 1;
        execute_loop(e, r, f->loop, count, next_random(random) % 8 == 0);
        execute(e, r, f->end);
        if (called && f->returns && next_random(random) % 8) execute(e, r, f->after);
        if (next_random(random) % 64 == 0) ntr_capture_harts_drain(&e->harts, true);
    }
}

static void streams_are_those_of_the_classifier(void **state) {
    static const struct {
        const char *name;
        const char *options[9];
    } cases[] = {
        {"htm", {NULL}},
        {"src", {"src-bits", "8", NULL}},
        {"timestamps", {"timestamps", "on", NULL}},
        {"btm", {"mode", "btm", NULL}},
        {"periodic sync by messages", {"sync-mode", "messages", "sync-max", "2", NULL}},
        {"periodic sync by halfwords", {"sync-mode", "halfwords", "sync-max", "12", NULL}},
        {"implicit return", {"implicit-return", "full", NULL}},
        {"implicit return by count", {"implicit-return", "count", NULL}},
        {"implicit return, shallow", {"implicit-return", "full", "return-stack", "1", NULL}},
        {"implicit return, btm", {"implicit-return", "full", "mode", "btm", NULL}},
        {"implicit return and sync", {"implicit-return", "full", "sync-mode", "messages", "sync-max", "1", NULL}},
        {"sequential jumps", {"sequential-jump", "on", NULL}},
        {"repeated history", {"repeated-history", "on", NULL}},
        {"small",
         {"implicit-return", "full", "sequential-jump", "on", "repeated-history", "on", "history-repeats", "quick",
          NULL}},
        {"small with timestamps", {"implicit-return", "full", "sequential-jump", "on", "timestamps", "on", NULL}},
        {"best", {"best", NULL}},
        {"filter: no runs", {"filter", "addr=0x10000-0xffffff", NULL}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (uint32_t seed = 1; seed <= 2; seed++) {
            static engine e;
            function functions[FUNCTIONS];
            reference r;
            uint32_t random = seed;
            engine_open(&e, cases[i].options);
            add_functions(&e.plugin, functions, &random);
            reference_open(&r, &e);
            walk(&e, &r, functions, 10000, &random);
            execute(&e, &r, functions[0].entry); /* ends in a branch */
            compare(&e, &r, NTR_ADDRESS_UNKNOWN, false, cases[i].name);
        }
    }
}

/* Blocks that have led to each other before extend the run without being looked at again. */
static void chains_are_followed(void **state) {
    static engine e;
    function f[FUNCTIONS];
    reference r;
    uint32_t random = 5;

    (void)state;
    engine_open(&e, NULL);
    add_functions(&e.plugin, f, &random);
    reference_open(&r, &e);
    for (unsigned i = 0; i < 3; i++) {
        execute(&e, &r, f[0].entry);
        execute(&e, &r, f[0].middle);
        execute(&e, &r, f[0].loop);
        execute(&e, &r, f[0].end);
    }
    execute(&e, &r, f[0].entry);
    ntr_capture_harts_drain(&e.harts, true);
    struct ntr_capture_hart *hart = &e.harts.harts[0];
    const uint32_t known[] = {f[0].middle, f[0].loop, f[0].end, f[0].entry, f[0].loop};
    assert_ptr_equal(ntr_capture_chain_follow(&e.harts, hart, known, known + 5), known + 4);
    assert_int_equal(hart->last, f[0].entry);
    for (unsigned i = 0; i < 4; i++) reference_enter(&r, known[i], 0);
    compare(&e, &r, NTR_ADDRESS_UNKNOWN, false, "chains");
}

/* No branch fills the run: it ends because of its size. */
static void chains_without_branches(void **state) {
    static engine e;
    reference r;
    uint64_t address = BASE;

    (void)state;
    engine_open(&e, (const char *const[]){"implicit-return", "full", NULL});
    uint32_t there = add_block(&e.plugin, &address, 60, jal(4), 0),
             back = add_block(&e.plugin, &address, 0, jal(-4 * 61), 0);
    reference_open(&r, &e);
    for (unsigned i = 0; i < 5000; i++) {
        execute(&e, &r, there);
        execute(&e, &r, back);
    }
    compare(&e, &r, NTR_ADDRESS_UNKNOWN, false, "no branches");
}

/* A loop is encoded while it runs, one poll late, and what the guest reports then is the rest. */
static void polls_take_what_the_poll_before_saw(void **state) {
    static engine e;
    function functions[FUNCTIONS];
    reference r;
    uint32_t random = 7;

    (void)state;
    engine_open(&e, NULL);
    add_functions(&e.plugin, functions, &random);
    reference_open(&r, &e);
    execute(&e, &r, functions[0].entry);
    ntr_capture_harts_drain(&e.harts, true);
    ntr_capture_harts_poll(&e.harts);
    fake_count_loop(&e.plugin, functions[0].loop, 100);
    ntr_capture_harts_poll(&e.harts); /* no loop ran at the poll before: nothing is known about this one */
    assert_int_equal(e.harts.poll.encoded, 0);
    execute(&e, &r, functions[0].middle); /* any word makes the poll begin anew */
    ntr_capture_harts_poll(&e.harts);     /* and words that are not drained keep it from doing so */
    assert_int_equal(e.harts.poll.number, 0);
    ntr_capture_harts_drain(&e.harts, true);
    ntr_capture_harts_poll(&e.harts);
    assert_int_equal(e.harts.poll.count, 100);
    fake_count_loop(&e.plugin, functions[0].loop, 150);
    ntr_capture_harts_poll(&e.harts);
    assert_int_equal(e.harts.poll.encoded, 100);
    assert_int_equal(e.harts.poll.count, 150);
    fake_count_loop(&e.plugin, functions[0].loop, 50);
    /* The guest sets `seen` before it writes the words of its report. */
    struct channel_block *loop = &e.plugin.channel->blocks[functions[0].loop];
    const uint64_t seen = loop->seen;
    loop->seen += 300;
    ntr_capture_harts_poll(&e.harts);
    assert_int_equal(e.harts.poll.encoded, 250);
    assert_int_equal(e.harts.poll.count, 0);
    loop->seen = seen;
    fake_report_loop(&e.plugin, functions[0].loop);
    for (unsigned i = 0; i < 300; i++) reference_enter(&r, functions[0].loop, 0);
    execute(&e, &r, functions[0].end);
    execute(&e, &r, functions[1].entry);
    compare(&e, &r, NTR_ADDRESS_UNKNOWN, false, "polled loop");
}

/* The guest ends inside a loop that it has not reported. */
static void a_loop_at_the_end(void **state) {
    static engine e;
    function functions[FUNCTIONS];
    reference r;
    uint32_t random = 3;

    (void)state;
    engine_open(&e, NULL);
    add_functions(&e.plugin, functions, &random);
    reference_open(&r, &e);
    execute(&e, &r, functions[2].entry);
    fake_count_loop(&e.plugin, functions[2].loop, 77);
    for (unsigned i = 0; i < 77; i++) reference_enter(&r, functions[2].loop, 0);
    compare(&e, &r, NTR_ADDRESS_UNKNOWN, false, "loop at the end");
}

/* Another thread ends the program: no message can say that a register jump retired whose target is not known. Trace
 * ends in front of it. */
static void a_jump_at_the_end(void **state) {
    static const uint32_t jumps[] = {JUMP, RET};
    static engine e;

    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        unsigned nops = i % 3;
        uint64_t address = BASE;
        reference r;
        engine_open(&e, (const char *const[]){"implicit-return", "full", NULL});
        uint32_t before = add_block(&e.plugin, &address, 2, JUMP, 0);
        uint64_t jump = address + 4 * nops;
        uint32_t last = add_block(&e.plugin, &address, nops, jumps[i / 3], 0);
        reference_open(&r, &e);
        execute(&e, &r, before);
        fake_put(&e.plugin, last);
        if (nops) reference_enter(&r, last, nops);
        compare(&e, &r, jump, false, "jump at the end");
    }
}

/* Nothing explains why the second block does not follow the first one: a defect of the capture, which is counted. */
static void a_block_that_does_not_follow(void **state) {
    static engine e;
    uint64_t address = BASE;

    (void)state;
    for (unsigned machine = 0; machine < 2; machine++) {
        engine_open(&e, NULL);
        if (machine) {
            e.plugin.channel->head.machine = 1;
            assert_int_equal(ntr_capture_machine_init(&e.harts, true), NTR_OK);
        }
        const uint32_t first = add_block(&e.plugin, &address, 3, 0, 0);
        const uint64_t expected = address;
        address += 0x100;
        const uint64_t found = address;
        const uint32_t second = add_block(&e.plugin, &address, 2, RET, 0);
        fake_put(&e.plugin, first);
        fake_put(&e.plugin, second);
        fake_put(&e.plugin, first);
        size_t size;
        uint8_t *bytes = engine_finish(&e, false, &size);
        free(bytes);
        assert_int_equal(e.harts.discontinuities, 1);
        assert_int_equal(e.harts.expected, expected);
        assert_int_equal(e.harts.found, found);
        engine_close(&e);
    }
}

/* The last instruction of the last block raised the signal that killed the guest: it did not retire. */
static void a_fault_at_the_end(void **state) {
    static const uint32_t code[] = {NOP, NOP, 0x00000003 /* lb x0, 0(x0) */};
    static engine e;
    reference r;

    (void)state;
    engine_open(&e, NULL);
    uint32_t number = fake_block(&e.plugin, BASE, code, 3, CHANNEL_BLOCK_LAST_TRAPS);
    reference_open(&r, &e);
    fake_put(&e.plugin, number);
    reference_enter(&r, number, 2);
    compare(&e, &r, BASE + 8, true, "fault");
}

/* The machine ends when a hart has taken an interrupt and its handler has not begun: the branches before it are traced.
 */
static void a_trap_at_the_end(void **state) {
    const uint32_t code[] = {NOP, beq(-4)};
    static const uint32_t trap[] = {CHANNEL_TRAP | CHANNEL_TRAP_INTERRUPT | CHANNEL_ALL, 7, 0, BASE, 0, 0, 0};
    static engine e;
    reference r;

    (void)state;
    engine_open(&e, NULL);
    e.plugin.channel->head.machine = 1;
    assert_int_equal(ntr_capture_machine_init(&e.harts, true), NTR_OK);
    uint32_t number = fake_block(&e.plugin, BASE, code, 2, 0);
    e.plugin.channel->blocks[number].privilege = 3;
    reference_open(&r, &e);
    ntr_classifier_set_state(r.classifier, &(ntr_hart_state){.priv = NTR_PRIV_M});
    for (unsigned i = 0; i < 20; i++) {
        fake_put(&e.plugin, number);
        reference_enter(&r, number, 0);
    }
    for (size_t i = 0; i < sizeof trap / sizeof *trap; i++) fake_put(&e.plugin, trap[i]);
    assert_int_equal(ntr_classifier_trap(r.classifier, NTR_ITYPE_INTERRUPT, BASE, 7, 0), NTR_OK);
    compare(&e, &r, NTR_ADDRESS_UNKNOWN, false, "trap at the end");
}

/* QEMU told code that another hart had just changed, and executed what was there before: `jump` over one instruction
 * for two that do not jump, and the other way round. A caller jumps to the code, which jumps back. */
enum { ROUTINE = BASE + 0x100, TAIL = ROUTINE + 8 };

typedef struct torn {
    uint32_t caller, straight, over, tail, told_over, told_straight;
} torn;

static void open_torn(engine *e, reference *r, torn *t) {
    const uint32_t call = jal(ROUTINE - BASE), back = jal(BASE - TAIL), over = jal(TAIL - ROUTINE);
    fake_plugin *plugin = &e->plugin;

    engine_open(e, NULL);
    plugin->channel->head.machine = 1;
    assert_int_equal(ntr_capture_machine_init(&e->harts, true), NTR_OK);
    t->caller = fake_block(plugin, BASE, &call, 1, 0);
    t->straight = fake_block(plugin, ROUTINE, (uint32_t[]){NOP, NOP, back}, 3, 0);
    t->over = fake_block(plugin, ROUTINE, &over, 1, 0);
    t->tail = fake_block(plugin, TAIL, &back, 1, 0);
    t->told_over = fake_block(plugin, ROUTINE, (uint32_t[]){over, NOP, back}, 3, 0);
    t->told_straight = fake_block(plugin, ROUTINE, (uint32_t[]){NOP}, 1, 0);
    for (uint32_t i = t->caller; i <= t->told_straight; i++) plugin->channel->blocks[i].privilege = 3;
    reference_open(r, e);
    ntr_classifier_set_state(r->classifier, &(ntr_hart_state){.priv = NTR_PRIV_M});
}

static void execute_told(engine *e, reference *r, uint32_t told, uint32_t executed) {
    fake_put(&e->plugin, told);
    reference_enter(r, executed, 0);
}

static void code_that_is_told_torn(void **state) {
    static engine e;
    reference r;
    torn t;

    (void)state;
    open_torn(&e, &r, &t);
    for (unsigned i = 0; i < 40; i++) {
        execute_told(&e, &r, t.caller, t.caller);
        execute_told(&e, &r, i % 4 == 2 ? t.told_over : t.straight, t.straight);
    }
    fake_put(&e.plugin, t.caller); /* the machine ends in it */
    ntr_capture_harts_drain(&e.harts, true);
    assert_false(e.harts.unknown);
    compare(&e, &r, NTR_ADDRESS_UNKNOWN, false, "a jump was told");
    open_torn(&e, &r, &t);
    for (unsigned i = 0; i < 40; i++) {
        execute_told(&e, &r, t.caller, t.caller);
        execute_told(&e, &r, i % 4 == 2 ? t.told_straight : t.over, t.over);
        execute_told(&e, &r, t.tail, t.tail);
    }
    fake_put(&e.plugin, t.caller);
    compare(&e, &r, NTR_ADDRESS_UNKNOWN, false, "a jump was not told");
}

/* What was executed was never told: it is left out, and the loss is known. */
static void code_that_is_only_told_torn(void **state) {
    static engine e;
    reference r;
    torn t;

    (void)state;
    open_torn(&e, &r, &t);
    for (unsigned i = 0; i < 3; i++) {
        execute_told(&e, &r, t.caller, t.caller);
        fake_put(&e.plugin, t.told_over);
        assert_int_equal(ntr_classifier_finish(r.classifier, NULL), NTR_OK);
        assert_int_equal(ntr_encoder_stop(r.encoder, ROUTINE, e.config.stop_evcode), NTR_OK);
    }
    fake_put(&e.plugin, t.caller); /* the machine ends in it */
    ntr_capture_harts_drain(&e.harts, true);
    assert_true(e.harts.unknown);
    compare(&e, &r, NTR_ADDRESS_UNKNOWN, false, "only a jump was told");
}

/* Code is written anew at one address: the stream is cut there, and both versions are kept. */
static void code_that_changes(void **state) {
    static const uint32_t first[] = {NOP, NOP, RET}, second[] = {NOP, 0x00100093 /* li ra, 1 */, RET};
    static engine e;
    size_t size;

    (void)state;
    engine_open(&e, NULL);
    uint32_t one = fake_block(&e.plugin, BASE, first, 3, 0), other = fake_block(&e.plugin, BASE, second, 3, 0);
    for (unsigned i = 0; i < 50; i++) fake_put(&e.plugin, one);
    ntr_capture_harts_drain(&e.harts, true);
    assert_int_equal(e.harts.code.generation, 1);
    for (unsigned i = 0; i < 50; i++) fake_put(&e.plugin, other);
    ntr_capture_harts_drain(&e.harts, true);
    assert_int_equal(e.harts.code.generation, 2);
    for (unsigned i = 0; i < 50; i++) fake_put(&e.plugin, one); /* known blocks, but not of this code */
    ntr_capture_harts_drain(&e.harts, true);
    assert_int_equal(e.harts.code.generation, 3);
    free(engine_finish(&e, false, &size));
    assert_true(ntr_capture_code_finish(&e.harts.code));
    assert_int_equal(e.harts.code.range_count, 3);
    const struct ntr_capture_code_range *old = &e.harts.code.ranges[0], *new = &e.harts.code.ranges[1];
    assert_int_equal(old->from, 0);
    assert_int_equal(old->until, new->from);
    assert_true(new->from > 0 && new->from < size);
    assert_int_equal(new->until, new[1].from);
    assert_int_equal(new[1].until, 0);
    assert_memory_equal(e.harts.code.bytes + old->place, first, sizeof first);
    assert_memory_equal(e.harts.code.bytes + new->place, second, sizeof second);
    engine_close(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(streams_are_those_of_the_classifier),
                                       TEST(chains_are_followed),
                                       TEST(chains_without_branches),
                                       TEST(polls_take_what_the_poll_before_saw),
                                       TEST(a_loop_at_the_end),
                                       TEST(a_jump_at_the_end),
                                       TEST(a_fault_at_the_end),
                                       TEST(a_trap_at_the_end),
                                       TEST(a_block_that_does_not_follow),
                                       TEST(code_that_is_told_torn),
                                       TEST(code_that_is_only_told_torn),
                                       TEST(code_that_changes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
