/* Register storms while harts run: nothing breaks, read-only fields stay, reserved bits read 0, and afterwards the
 * system traces as if nothing had been. */
#include "../test.h"
#include "machine.h"
#include "topologies.h"

enum { ACCESSES = 100000, HARTS = 2, BASES = 7 };

static const char topology[] =
    "{\"components\":["
    "{\"name\":\"t0\",\"type\":\"encoder\",\"preset\":\"maximal\",\"base\":0,\"hart\":0,\"to\":[\"f\",\"p\"],\"ts_source\":\"f\"},"
    "{\"name\":\"t1\",\"type\":\"encoder\",\"preset\":\"typical\",\"base\":4096,\"hart\":1,\"to\":\"f\",\"fifo\":128,"
    "\"fifo_restart\":0,\"rate\":1,\"rate_cycles\":3},"
    "{\"name\":\"f\",\"type\":\"funnel\",\"preset\":\"maximal\",\"base\":8192,\"to\":[\"r\",\"g\"],\"rate\":2},"
    "{\"name\":\"r\",\"type\":\"ram\",\"preset\":\"maximal\",\"base\":12288,\"sram\":4096,\"rate\":3},"
    "{\"name\":\"p\",\"type\":\"pib\",\"preset\":\"maximal\",\"base\":16384},"
    "{\"name\":\"g\",\"type\":\"funnel\",\"base\":20480,\"to\":\"a\"},"
    "{\"name\":\"a\",\"type\":\"atb\",\"preset\":\"maximal\",\"base\":24576,\"rate\":1}]}";

static uint64_t memory_words;

static bool memory_write(void *user, uint64_t address, const uint8_t *bytes, size_t size) {
    (void)user;
    (void)bytes;
    memory_words += size == 8;
    return address < 1ull << 40;
}

static bool memory_read(void *user, uint64_t address, uint8_t *out, size_t size) {
    (void)user;
    memset(out, 0x5a, size);
    return address < 1ull << 40;
}

static bool atb_ready(void *user, unsigned component, unsigned id, const uint8_t *bytes, size_t size) {
    uint64_t *random = user;
    (void)component;
    assert_true(id > 0 && id < 0x70 && bytes && size > 0 && size <= 16);
    return random_below(random, 2);
}

static void take_beats(void *user, unsigned component, const uint16_t *beats, size_t count) {
    (void)user;
    (void)component;
    assert_true(beats && count);
}

static const ntr_component kinds[BASES] = {NTR_COMPONENT_ENCODER, NTR_COMPONENT_ENCODER, NTR_COMPONENT_FUNNEL,
                                           NTR_COMPONENT_RAM,     NTR_COMPONENT_PIB,     NTR_COMPONENT_FUNNEL,
                                           NTR_COMPONENT_ATB};
static uint32_t impl[BASES];

static uint32_t known_bits(ntr_component kind, uint32_t offset) {
    unsigned number;
    uint32_t known = 0;
    const ntr_register reg = ntr_register_at(kind, offset, &number);
    for (unsigned bits = 0; bits < NTR_BITS_COUNT; bits++)
        if (ntr_bits_get(bits)->reg == reg) known |= ntr_bits_mask(ntr_bits_get(bits));
    return reg == NTR_REGISTER_COUNT ? 0 : known;
}

/* Offsets of registers often, any offset sometimes. */
static uint32_t random_offset(uint64_t *random, ntr_component kind) {
    if (random_below(random, 3) == 0) return 4 * random_below(random, 0x400);
    if (random_below(random, 3) == 0) return 0;
    const ntr_register_info *row;
    do row = ntr_register_get(random_below(random, NTR_REGISTER_COUNT));
    while (row->component != kind && row->component != NTR_COMPONENT_TIMESTAMP);
    return row->offset + row->stride * random_below(random, row->count);
}

/* Values that do something more often than random ones would. */
static uint32_t random_word(uint64_t *random) {
    switch (random_below(random, 4)) {
    case 0: return (uint32_t)random_next(random);
    case 1: return (uint32_t)random_next(random) | 3;
    case 2: return (uint32_t)random_next(random) | 7;
    default: return 1u << random_below(random, 32) | 1;
    }
}

static void access_once(ntr_system *s, uint64_t *random) {
    const unsigned index = random_below(random, BASES);
    const uint32_t offset = random_offset(random, kinds[index]);
    const uint64_t address = 0x1000ull * index + offset;
    if (random_below(random, 2)) {
        write32(s, address, random_word(random));
        return;
    }
    const uint32_t word = read32(s, address);
    assert_int_equal(word & ~known_bits(kinds[index], offset), 0);
    if (offset == 4) assert_true(word == 0 || word == impl[index]);
    if (random_below(random, 20)) return;
    uint32_t ignored;
    assert_int_equal(ntr_system_read32(s, address | 2, &ignored), NTR_E_INVALID);
    assert_int_equal(ntr_system_read32(s, 0x1000ull * BASES + offset, &ignored), NTR_E_RANGE);
    assert_int_equal(ntr_system_write32(s, 0xffffffffffff0000ull + offset, 1), NTR_E_RANGE);
}

/* A hart goes on, and leaves out what it is stalled for. */
static ntr_status push_or_drop(void *user, const ntr_ingress *block) {
    traced_hart *t = user;
    ntr_ingress random_block = *block;
    random_block.trigger = (uint8_t)(random_below(&t->hart.seed, 50) ? 0 : random_below(&t->hart.seed, 8));
    random_block.cycle = true;
    ntr_status status = ntr_system_push(t->system, t->number, &random_block);
    for (unsigned tries = 0; status == NTR_NEED_MORE && tries < 20; tries++) {
        ntr_system_step(t->system, 1 + random_below(&t->hart.seed, 3));
        status = ntr_system_push(t->system, t->number, &random_block);
    }
    assert_true(status == NTR_OK || status == NTR_NEED_MORE || status == NTR_E_INGRESS);
    return NTR_OK;
}

static void run_harts(traced_hart *harts, uint64_t *random) {
    for (unsigned h = 0; h < HARTS; h++)
        for (unsigned n = random_below(random, 6); n; n--)
            assert_int_equal(ntr_classifier_push(harts[h].classifier, hart_step(&harts[h].hart)), NTR_OK);
}

static void start_hart(traced_hart *t, ntr_system *s, unsigned number, uint64_t seed) {
    traced_init(t, s, number, seed, 4);
    ntr_classifier_free(t->classifier);
    ntr_classifier_config config;
    ntr_classifier_config_init(&config);
    config.program = t->hart.program;
    config.sink = push_or_drop;
    config.sink_user = t;
    ntr_classifier_new(&config, &t->classifier);
}

/* Afterwards: a clean start, and hart 0 is traced from its first instruction to its last. */
typedef struct stream {
    uint8_t bytes[4096];
    size_t size;
} stream;

static ntr_status keep(void *user, unsigned id, const uint8_t *bytes, size_t size) {
    stream *st = user;
    (void)id;
    memcpy(st->bytes + st->size, bytes, size);
    st->size += size;
    return NTR_OK;
}

static void traces_again(ntr_system *s) {
    traced_hart t;
    stream st = {0};
    ntr_params params;
    bool cut;
    const ntr_ingress idle = {.halted = true, .cycle = true, .priv = NTR_PRIV_M, .no_iaddr = true};
    for (unsigned h = 0; h < HARTS; h++) ntr_system_push(s, h, &idle);
    if (ntr_system_start(s) != NTR_OK) fail_msg("%s", ntr_system_error(s));
    traced_init(&t, s, 0, 5, 4);
    traced_run(&t, 200, true);
    traced_halt(&t);
    assert_int_equal(ntr_system_stop(s), NTR_OK);
    assert_int_equal(ntr_system_read_ram(s, 3, keep, &st, &cut), NTR_OK);
    assert_int_equal(ntr_system_params(s, 0, &params), NTR_OK);
    decoded d = decode(st.bytes, st.size, &params, t.hart.program, 0, cut);
    assert_int_equal(d.count, t.hart.count);
    assert_memory_equal(d.pcs, t.hart.pcs, d.count * sizeof d.pcs[0]);
    free(d.pcs);
    traced_release(&t);
}

static void storm(void **state) {
    (void)state;
    uint64_t random = 20240607;
    ntr_system_config config = {.memory_write = memory_write,
                                .memory_read = memory_read,
                                .user = &random,
                                .outputs = {.beats = take_beats, .transfer = atb_ready}};
    ntr_system *s = new_system(topology, &config);
    traced_hart harts[HARTS];
    for (unsigned i = 0; i < BASES; i++) {
        write32(s, 0x1000 * i, 1);
        impl[i] = read32(s, 0x1000 * i + 4);
    }
    for (unsigned h = 0; h < HARTS; h++) start_hart(&harts[h], s, h, h + 1);
    for (unsigned i = 0; i < ACCESSES; i++) {
        access_once(s, &random);
        if (i % 4 == 0) run_harts(harts, &random);
        if (i % 3 == 0) ntr_system_step(s, random_below(&random, 4));
        if (i % 97 == 0) ntr_system_trigger(s, random_below(&random, 3), random_below(&random, 9));
    }
    uint64_t messages = 0;
    ntr_system_component info;
    for (size_t i = 0; ntr_system_component_get(s, i, &info) == NTR_OK; i++) {
        if (info.hart < 0) assert_true(info.counts.messages > 0); /* the storm did something everywhere */
        messages += info.counts.messages;
    }
    assert_true(messages > 1000 && memory_words > 0);
    traces_again(s);
    for (unsigned h = 0; h < HARTS; h++) traced_release(&harts[h]);
    ntr_system_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(storm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
