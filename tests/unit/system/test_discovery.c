/* Discovery as a tool does it, by writing and reading back, finds exactly what the topology says is implemented. */
#include "../test.h"
#include "machine.h"
#include "topologies.h"

enum { TE = 0x0000, FUNNEL = 0x1000, RAM = 0x2000, PIB = 0x3000, ATB = 0x4000, RANDOM_SYSTEMS = 200 };

/* ---- what a tool finds */

static void activate(ntr_system *s, uint64_t base) {
    write32(s, base, 0);
    assert_int_equal(read32(s, base) & 3, 0);
    write32(s, base, 1);
    assert_int_equal(read32(s, base) & 3, 1);
}

/* Bits of a register that can be both 0 and 1. */
static uint32_t writable(ntr_system *s, uint64_t address, uint32_t keep) {
    write32(s, address, 0xffffffff & ~2u); /* never Enable */
    const uint32_t ones = read32(s, address);
    write32(s, address, keep);
    const uint32_t zeros = read32(s, address);
    return ones & ~zeros;
}

/* Values of a field that read back. */
static uint32_t legal(ntr_system *s, uint64_t address, unsigned low, unsigned width, uint32_t keep) {
    uint32_t set = 0;
    const uint32_t mask = ((1u << width) - 1) << low;
    for (uint32_t value = 0; value < 1u << width; value++) {
        write32(s, address, (keep & ~mask) | value << low);
        if ((read32(s, address) & mask) >> low == value) set |= 1u << value;
    }
    return set;
}

/* ---- what was said: options as a test's own numbers */

typedef struct said {
    unsigned modes, sync_modes, sync_max, returns, src_bits, filters, comparators, comp_inputs, inputs, outputs;
    unsigned ts_width, ts_modes, ts_prescale, funnel_inputs, sram, access, pib_modes, divider_bits, vendor;
    bool context, triggers, stall, inhibit, jump, history, all_jumps, extend, privilege, ecause, interrupt, impdef;
    bool secondary, notify, dis_input, smem, stop, center, calibrate, ts_reset;
} said;

static const said minimal = {.modes = 1 << 3,
                             .sync_modes = 1 << 2,
                             .sync_max = 1 << 8,
                             .returns = 1,
                             .src_bits = 1,
                             .funnel_inputs = 2,
                             .sram = 4096,
                             .access = 4,
                             .pib_modes = 1 << 10,
                             .divider_bits = 4,
                             .ts_modes = 1,
                             .ts_prescale = 1};
static const said typical = {.modes = 0x48,
                             .sync_modes = 0xd,
                             .sync_max = 0xffff,
                             .returns = 9,
                             .src_bits = 0x1f,
                             .filters = 2,
                             .comparators = 2,
                             .comp_inputs = 3,
                             .inputs = 2,
                             .outputs = 1,
                             .ts_width = 40,
                             .ts_modes = 0x15,
                             .ts_prescale = 0xf,
                             .funnel_inputs = 8,
                             .sram = 65536,
                             .access = 4,
                             .pib_modes = 0x1f01,
                             .divider_bits = 8,
                             .context = true,
                             .triggers = true,
                             .stall = true,
                             .jump = true,
                             .history = true,
                             .extend = true,
                             .privilege = true,
                             .secondary = true,
                             .dis_input = true,
                             .stop = true,
                             .center = true,
                             .calibrate = true};
static const said maximal = {.modes = 0x48,
                             .sync_modes = 0xf,
                             .sync_max = 0xffff,
                             .returns = 0xf,
                             .src_bits = 0x1fff,
                             .filters = 16,
                             .comparators = 8,
                             .comp_inputs = 7,
                             .inputs = 8,
                             .outputs = 8,
                             .ts_width = 63,
                             .ts_modes = 0x1f,
                             .ts_prescale = 0xf,
                             .funnel_inputs = 16,
                             .sram = 65536,
                             .access = 8,
                             .pib_modes = 0x1f31,
                             .divider_bits = 16,
                             .vendor = 0xa5,
                             .context = true,
                             .triggers = true,
                             .stall = true,
                             .inhibit = true,
                             .jump = true,
                             .history = true,
                             .all_jumps = true,
                             .extend = true,
                             .privilege = true,
                             .ecause = true,
                             .interrupt = true,
                             .impdef = true,
                             .secondary = true,
                             .notify = true,
                             .dis_input = true,
                             .smem = true,
                             .stop = true,
                             .center = true,
                             .calibrate = true,
                             .ts_reset = true};

/* ---- comparison */

/* NT-094, NT-095, NT-104, NT-097, NT-099, NT-102, NT-103, CI-082, CI-085, CI-087, CI-088, CI-091
 * NT-105, CI-100 */
static void check_encoder(ntr_system *s, const said *c) {
    activate(s, TE);
    assert_int_equal(read32(s, TE + 4), 0x00010101 | c->vendor << 24);
    const uint32_t keep = 1;
    assert_int_equal(legal(s, TE, 4, 3, keep), c->modes | 1);
    for (unsigned mode = 1; mode < 8; mode++) { /* an unsupported mode becomes a supported one other than 0 (TC-8) */
        write32(s, TE, keep);
        write32(s, TE, keep | mode << 4);
        const uint32_t got = read32(s, TE) >> 4 & 7;
        assert_true(got && (c->modes >> got & 1));
    }
    assert_int_equal(legal(s, TE, 16, 2, keep), c->sync_modes);
    assert_int_equal(legal(s, TE, 20, 4, keep), c->sync_max);
    assert_int_equal(read32(s, TE) >> 24 & 7, 1);
    const uint32_t flags = writable(s, TE, keep);
    assert_int_equal(flags >> 9 & 1, c->context);
    assert_int_equal(flags >> 11 & 1, c->triggers);
    assert_int_equal(flags >> 13 & 1, c->stall);
    assert_int_equal(flags >> 15 & 1, c->inhibit);

    const uint32_t features = writable(s, TE + 8, 0);
    assert_int_equal(features & 0x33, 0); /* not for N-Trace */
    assert_int_equal(features >> 2 & 1, c->jump);
    assert_int_equal(features >> 3 & 1, c->returns != 1);
    assert_int_equal(features >> 8 & 1, c->history);
    assert_int_equal(features >> 9 & 1, c->all_jumps);
    assert_int_equal(features >> 10 & 1, c->extend);
    assert_int_equal(features >> 16 & 0xfff, c->src_bits == 1 ? 0 : 0xfff);
    assert_int_equal(legal(s, TE + 8, 6, 2, 0), c->returns);
    assert_int_equal(legal(s, TE + 8, 28, 4, 0), c->src_bits);
    assert_int_equal(writable(s, TE + 0x10, 0), 0); /* data trace */
    assert_int_equal(writable(s, TE + 0x1c, 0), 0);
}

/* CI-136, CI-137 */
static void check_filters(ntr_system *s, const said *c) {
    assert_int_equal(writable(s, TE + 0xc, 0) | (c->filters > 1 ? 2 : 0), (1u << c->filters) - 1);
    for (unsigned i = 0; i < 16; i++) {
        const uint64_t at = TE + 0x400 + 0x20 * i;
        const bool there = i < c->filters;
        uint32_t control = 0;
        if (there) control |= 1 | (uint32_t)c->ecause << 2 | (uint32_t)c->interrupt << 3 | (uint32_t)c->impdef << 16;
        if (there && c->comparators) control |= 0x1110;
        assert_int_equal(writable(s, at, 0) & 0xffff111f & ~2u, control);
        if (there && c->comparators) assert_int_equal(legal(s, at, 5, 3, 0), (1u << c->comparators) - 1);
        write32(s, at, 2);
        assert_int_equal(read32(s, at), there && c->privilege ? 2 : 0);
        assert_int_equal(writable(s, at + 4, 0) | 2,
                         2 | (there && c->privilege ? 0xff : 0) | (there && c->interrupt) << 8);
        assert_int_equal(writable(s, at + 0xc, 0) | 2, 2 | (there && c->ecause ? 0xffffffff : 0));
        assert_int_equal(writable(s, at + 0x14, 0) | 2, 2 | (there && c->impdef ? 0xffffffff : 0));
        assert_int_equal(writable(s, at + 0x18, 0), 0);
    }
    for (unsigned j = 0; j < 8; j++) {
        const uint64_t at = TE + 0x600 + 0x20 * j;
        const bool there = j < c->comparators, two = there && c->secondary;
        if (there) assert_int_equal(legal(s, at, 0, 2, 0), c->comp_inputs);
        assert_int_equal(legal(s, at, 4, 3, 0), there ? 0xff : 1);
        assert_int_equal(legal(s, at, 8, 3, 0), two ? 0xff : 1);
        assert_int_equal(legal(s, at, 12, 2, 0), two ? 0xf : 1);
        assert_int_equal(legal(s, at, 14, 2, 0), there && c->notify ? (two ? 0xf : 3) : 1);
        assert_int_equal(writable(s, at + 0x14, 0) | 2, there ? 0xffffffff : 2);
        assert_int_equal(writable(s, at + 0x1c, 0) | 2, two ? 0xffffffff : 2);
        assert_int_equal(writable(s, at + 4, 0), 0);
    }
}

/* CI-129 */
static void check_triggers(ntr_system *s, const said *c) {
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(legal(s, TE + 0x54, 4 * i, 4, 0), i < c->inputs ? 0x1d : 1);
        assert_int_equal(legal(s, TE + 0x58, 4 * i, 4, 0), i < c->outputs ? 0xf : 1);
    }
    assert_int_equal(writable(s, TE + 0x50, 0), 0);
}

/* The funnel is the source of shared time for the encoder. CI-116, CI-120 */
static void check_timestamps(ntr_system *s, const said *c) {
    activate(s, FUNNEL);
    const uint64_t bases[] = {TE, FUNNEL};
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t at = bases[i] + 0x40;
        unsigned modes = c->ts_modes & (i ? ~0x18u : ~0u); /* a funnel has no core, and no component above it here */
        const uint32_t keep = 1;
        if (!c->ts_width) modes = 1;
        assert_int_equal(legal(s, at, 4, 3, keep), modes);
        assert_int_equal(read32(s, at) >> 24, c->ts_width);
        assert_int_equal(legal(s, at, 8, 2, keep), modes & 0xc ? c->ts_prescale : 1);
        write32(s, at, 0);
        assert_int_equal(read32(s, at) & 1, c->ts_width && !c->ts_reset);
        write32(s, at, 1 << 15 | 1);
        assert_int_equal(read32(s, at) >> 15 & 1, c->ts_width && i == 0);
        write32(s, at, 4);
        assert_int_equal(read32(s, at) & 4, 0); /* W1 reads 0 */
    }
}

/* CI-195, CI-197, CI-199 */
static void check_funnel(ntr_system *s, const said *c) {
    activate(s, FUNNEL);
    assert_int_equal(read32(s, FUNNEL + 4), 0x801 | c->vendor << 24);
    write32(s, FUNNEL + 8, 0xffff);
    assert_int_equal(read32(s, FUNNEL + 8), c->dis_input ? (1u << c->funnel_inputs) - 1 : 0);
}

/* CI-160, CI-166 */
static void check_ram(ntr_system *s, const said *c) {
    activate(s, RAM);
    assert_int_equal(read32(s, RAM + 4), 0x1901u | (unsigned)c->smem << 13 | c->vendor << 24);
    assert_int_equal(legal(s, RAM, 4, 1, 1), c->smem ? 3 : 1);
    write32(s, RAM, 1);
    assert_int_equal(writable(s, RAM, 1) >> 8 & 1, c->stop);
    write32(s, RAM, 1); /* SRAM mode */
    const uint32_t last = c->sram - c->access;
    const struct {
        unsigned at;
        uint32_t lowest, highest;
    } ranges[] = {
        {0x10, 0, 0},           {0x14, 0, 0},        {0x18, c == &minimal ? last : 0, last},
        {0x1c, 0, 0},           {0x20, 0, last | 1}, {0x24, 0, 0},
        {0x28, 0, c->sram - 4}, {0x2c, 0, 0},
    };
    for (unsigned i = 0; i < 8; i++) {
        write32(s, RAM + ranges[i].at, 0);
        assert_int_equal(read32(s, RAM + ranges[i].at), ranges[i].lowest);
        write32(s, RAM + ranges[i].at, 0xffffffff);
        assert_int_equal(read32(s, RAM + ranges[i].at), ranges[i].highest);
    }
    write32(s, RAM + 0x20, 2); /* bit 1 is fixed, bit 0 is the wrap bit */
    assert_int_equal(read32(s, RAM + 0x20), 0);
}

static void check_pins_and_atb(ntr_system *s, const said *c) {
    activate(s, PIB);
    assert_int_equal(read32(s, PIB + 4), 0xa01 | c->vendor << 24);
    assert_int_equal(legal(s, PIB, 4, 4, 1), c->pib_modes);
    const bool parallel_only = !(c->pib_modes & 0x31);
    write32(s, PIB, 11 << 4 | 0x301); /* a parallel mode, or what there is */
    assert_int_equal(read32(s, PIB) >> 8 & 3, (unsigned)c->center | (unsigned)c->calibrate << 1);
    if (!parallel_only) {
        write32(s, PIB, 1);
        write32(s, PIB, 0x101);
        assert_int_equal(read32(s, PIB) >> 8 & 1, 0); /* no clock to center without a parallel mode */
    }
    write32(s, PIB, 0xffff0001);
    assert_int_equal(read32(s, PIB) >> 16, (1u << c->divider_bits) - 1);
    activate(s, ATB);
    assert_int_equal(read32(s, ATB + 4), 0xe01 | c->vendor << 24);
    assert_int_equal(legal(s, ATB, 8, 4, 1), 0xffff);
    write32(s, ATB, 0x6f01);
    assert_int_equal(read32(s, ATB) & ~8u, 0x6f01);
}

static void check_all(ntr_system *s, const said *c) {
    check_encoder(s, c);
    check_filters(s, c);
    check_triggers(s, c);
    check_timestamps(s, c);
    check_funnel(s, c);
    check_ram(s, c);
    check_pins_and_atb(s, c);
}

/* ---- systems */

#define SYSTEM(te, funnel, ram, pib, atb)                                                                              \
    "{\"components\":["                                                                                                \
    "{\"name\":\"t\",\"type\":\"encoder\",\"base\":0,\"hart\":0,\"to\":[\"f\",\"p\",\"a\"]," te "},"                   \
    "{\"name\":\"f\",\"type\":\"funnel\",\"base\":4096,\"to\":\"r\"," funnel "},"                                      \
    "{\"name\":\"r\",\"type\":\"ram\",\"base\":8192," ram "},"                                                         \
    "{\"name\":\"p\",\"type\":\"pib\",\"base\":12288," pib "},"                                                        \
    "{\"name\":\"a\",\"type\":\"atb\",\"base\":16384," atb "}]}"
#define SHARED_TIME "\"ts_source\":\"f\","
#define PRESET(name, time)                                                                                             \
    SYSTEM(time "\"preset\":\"" name "\"", "\"preset\":\"" name "\"", "\"preset\":\"" name "\"",                       \
           "\"preset\":\"" name "\"", "\"preset\":\"" name "\"")

/* CI-110, CI-127, CI-133, CI-167, CI-181, CI-182, CI-229, CI-232, CI-234 */
static void presets(void **state) {
    (void)state;
    const struct {
        const char *json;
        const said *said;
    } systems[] = {{PRESET("minimal", ""), &minimal},
                   {PRESET("typical", SHARED_TIME), &typical},
                   {PRESET("maximal", SHARED_TIME), &maximal}};
    for (unsigned i = 0; i < 3; i++) {
        ntr_system_config config = {0};
        ntr_system *s = new_system(systems[i].json, &config);
        check_all(s, systems[i].said);
        ntr_system_free(s);
    }
}

static void list_text(char *out, unsigned set) {
    const char *between = "[";
    for (unsigned i = 0; i < 16; i++) {
        if (!(set >> i & 1)) continue;
        out += snprintf(out, 8, "%s%u", between, i);
        between = ",";
    }
    snprintf(out, 8, "]");
}

static unsigned some(uint64_t *random, unsigned of) {
    unsigned set;
    do set = random_below(random, of + 1) & of;
    while (!set);
    return set;
}

/* Every option by itself at random, from one that has everything. */
static void random_systems(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= RANDOM_SYSTEMS; seed++) {
        uint64_t random = seed;
        said c = maximal;
        char te[2048], funnel[256], json[8192], modes[64], syncs[64], maxima[64], returns[64], src[64], inputs[64];
        c.modes = (unsigned[]){8, 64, 72}[random_below(&random, 3)];
        c.sync_modes = some(&random, 14) | random_below(&random, 2);
        c.sync_max = some(&random, 0xffff);
        c.returns = some(&random, 0xf) | 1;
        c.src_bits = some(&random, 0x1fff);
        c.filters = random_below(&random, 17);
        c.comparators = c.filters ? random_below(&random, 9) : 0;
        c.comp_inputs = some(&random, 7);
        c.inputs = random_below(&random, 9);
        c.outputs = random_below(&random, 9);
        c.funnel_inputs = 1 + random_below(&random, 16);
        bool *const flags[] = {&c.context, &c.triggers,  &c.stall,  &c.inhibit,   &c.jump,   &c.history,   &c.all_jumps,
                               &c.extend,  &c.privilege, &c.ecause, &c.interrupt, &c.impdef, &c.secondary, &c.notify};
        static const char *const names[] = {"context",
                                            "triggers",
                                            "stall",
                                            "inhibit_src",
                                            "sequential_jump",
                                            "repeated_history",
                                            "all_jumps",
                                            "extend_addr",
                                            "filter_privilege",
                                            "filter_ecause",
                                            "filter_interrupt",
                                            "filter_impdef",
                                            "comparator_secondary",
                                            "comparator_notify"};
        list_text(modes, c.modes);
        list_text(syncs, c.sync_modes);
        list_text(maxima, c.sync_max);
        list_text(returns, c.returns);
        list_text(src, c.src_bits);
        list_text(inputs, c.comp_inputs);
        size_t at = (size_t)snprintf(
            te, sizeof te,
            SHARED_TIME
            "\"preset\":\"maximal\",\"modes\":%s,\"sync_modes\":%s,\"sync_max\":%s,\"implicit_return\":%s,\"src_bits\":%s,"
            "\"filters\":%u,\"comparators\":%u,\"comparator_inputs\":%s,\"trigger_inputs\":%u,\"trigger_outputs\":%u",
            modes, syncs, maxima, returns, src, c.filters, c.comparators, inputs, c.inputs, c.outputs);
        for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
            *flags[i] = random_below(&random, 2);
            at += (size_t)snprintf(te + at, sizeof te - at, ",\"%s\":%s", names[i], *flags[i] ? "true" : "false");
        }
        snprintf(funnel, sizeof funnel, "\"preset\":\"maximal\",\"inputs\":%u", c.funnel_inputs);
        snprintf(json, sizeof json, SYSTEM("%s", "%s", "%s", "%s", "%s"), te, funnel, "\"preset\":\"maximal\"",
                 "\"preset\":\"maximal\"", "\"preset\":\"maximal\"");
        ntr_system_config config = {0};
        ntr_system *s = new_system(json, &config);
        check_all(s, &c);
        ntr_system_free(s);
    }
}

/* Registers other than Control cannot be reached while a component is in reset. */
static void inactive(void **state) {
    (void)state;
    ntr_system_config config = {0};
    ntr_system *s = new_system(PRESET("maximal", SHARED_TIME), &config);
    for (uint64_t base = 0; base <= ATB; base += 0x1000) {
        write32(s, base, 0);
        for (uint64_t offset = 4; offset < 0x1000; offset += 4) {
            write32(s, base + offset, 0xffffffff);
            assert_int_equal(read32(s, base + offset), 0);
        }
        assert_int_equal(read32(s, base) & 3, 0);
    }
    ntr_system_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(presets), TEST(random_systems), TEST(inactive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
