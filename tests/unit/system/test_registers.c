/* The register map, typed from Trace Control sections 1 to 9, against the tables and against the model; and what the
 * bits that all components have do: Active, Enable, Empty, Impl. */
#include "../test.h"
#include "machine.h"
#include "rig.h"

#include <ntrace/params.h>

enum { RAM = 0x3000, PIB = 0x4000, PAGES = 5, EMPTY = 8, OVERFLOW = 1 << 12 };

static const uint64_t pages[PAGES] = {TE, FUNNEL, ATB, RAM, PIB};

/* An encoder that reaches a funnel, and behind it one of each sink. */
static ntr_system *all_components(const char *preset, ntr_system_config *config) {
    char json[1024];
    snprintf(
        json, sizeof json,
        "{\"components\":[{\"name\":\"te\",\"type\":\"encoder\",\"base\":0,\"hart\":0,\"preset\":\"%s\",\"to\":\"f\"},"
        "{\"name\":\"f\",\"type\":\"funnel\",\"base\":4096,\"preset\":\"%s\",\"to\":[\"a\",\"r\",\"p\"]},"
        "{\"name\":\"a\",\"type\":\"atb\",\"base\":8192,\"preset\":\"%s\"},"
        "{\"name\":\"r\",\"type\":\"ram\",\"base\":12288,\"preset\":\"%s\"},"
        "{\"name\":\"p\",\"type\":\"pib\",\"base\":16384,\"preset\":\"%s\"}]}",
        preset, preset, preset, preset, preset);
    return new_system(json, config);
}

/* ---- the map */

typedef struct typed_register {
    uint32_t offset;
    unsigned count; /* repeated every 0x20 bytes */
    uint32_t fields; /* bits that the specification defines; all others are reserved and 0 */
    bool required;
} typed_register;

typedef struct typed_component {
    uint64_t page;
    ntr_component kind;
    unsigned type;
    const char *prefix;
    typed_register registers[24];
} typed_component;

static const typed_component typed[] = {
    {TE,
     NTR_COMPONENT_ENCODER,
     0x1,
     "trTe",
     {{0x000, 1, 0x07f3ba7f, true},   {0x004, 1, 0xffff0fff, true},   {0x008, 1, 0xffff07ff, false},
      {0x00c, 1, 0x0000ffff, false},  {0x010, 1, 0x000f007f, false},  {0x01c, 1, 0x0000ffff, false},
      {0x040, 1, 0x3fff837f, false},  {0x048, 1, 0xffffffff, false},  {0x04c, 1, 0xffffffff, false},
      {0x050, 1, 0xffffffff, false},  {0x054, 1, 0xffffffff, false},  {0x058, 1, 0xffffffff, false},
      {0x400, 16, 0x0301ffff, false}, {0x404, 16, 0x000001ff, false}, {0x408, 16, 0xffffffff, false},
      {0x40c, 16, 0xffffffff, false}, {0x410, 16, 0xffffffff, false}, {0x414, 16, 0xffffffff, false},
      {0x418, 16, 0x00ffffff, false}, {0x600, 8, 0x0000f77f, false},  {0x610, 8, 0xffffffff, false},
      {0x614, 8, 0xffffffff, false},  {0x618, 8, 0xffffffff, false},  {0x61c, 8, 0xffffffff, false}}},
    {FUNNEL,
     NTR_COMPONENT_FUNNEL,
     0x8,
     "trFunnel",
     {{0x000, 1, 0x0000000b, true},
      {0x004, 1, 0xff000fff, true},
      {0x008, 1, 0x0000ffff, false},
      {0x040, 1, 0x3fff837f, false},
      {0x048, 1, 0xffffffff, false},
      {0x04c, 1, 0xffffffff, false}}},
    {RAM,
     NTR_COMPONENT_RAM,
     0x9,
     "trRam",
     {{0x000, 1, 0x0000771b, true},
      {0x004, 1, 0xff003fff, true},
      {0x010, 1, 0xfffffffc, true},
      {0x014, 1, 0xffffffff, false},
      {0x018, 1, 0xfffffffc, true},
      {0x01c, 1, 0xffffffff, false},
      {0x020, 1, 0xfffffffd, true},
      {0x024, 1, 0xffffffff, false},
      {0x028, 1, 0xfffffffc, false},
      {0x02c, 1, 0xffffffff, false},
      {0x040, 1, 0xffffffff, false}}},
    {PIB, NTR_COMPONENT_PIB, 0xa, "trPib", {{0x000, 1, 0xffff73fb, true}, {0x004, 1, 0xff000fff, true}}},
    {ATB, NTR_COMPONENT_ATB, 0xe, "trAtbBridge", {{0x000, 1, 0x00007f0b, true}, {0x004, 1, 0xff007fff, true}}},
};

static const typed_register *typed_at(const typed_component *component, uint32_t offset) {
    for (const typed_register *r = component->registers; r < component->registers + 24 && r->count; r++)
        for (unsigned n = 0; n < r->count; n++)
            if (r->offset + 0x20 * n == offset) return r;
    return NULL;
}

/* Every word of each page of registers.def has the fields, and the compliance, of the specification.
 * CI-018, CI-021, CI-035, CI-037, CI-040 to CI-047, CI-049, CI-083, CI-098, CI-119, CI-138, CI-165, CI-198, CI-207,
 * CI-223 */
static void map_is_the_specification(void **state) {
    (void)state;
    assert_int_equal(NTR_COMPONENT_BYTES, 4096);
    for (size_t i = 0; i < sizeof typed / sizeof typed[0]; i++) {
        const typed_component *component = &typed[i];
        assert_int_equal(ntr_component_get(component->kind)->type, component->type);
        assert_string_equal(ntr_component_get(component->kind)->prefix, component->prefix);
        for (uint32_t offset = 0; offset < NTR_COMPONENT_BYTES; offset += 4) {
            const typed_register *one = typed_at(component, offset);
            unsigned number;
            const ntr_register reg = ntr_register_at(component->kind, offset, &number);
            uint32_t fields = 0;
            bool required = false;
            for (size_t b = 0; b < NTR_BITS_COUNT; b++) {
                const ntr_bits_info *bits = ntr_bits_get(b);
                if (reg == NTR_REGISTER_COUNT || bits->reg != reg) continue;
                assert_int_equal(fields & ntr_bits_mask(bits), 0);
                fields |= ntr_bits_mask(bits);
                required = required || ntr_register_get(reg)->compliance == NTR_REQUIRED;
            }
            if (fields != (one ? one->fields : 0) || required != (one && one->required))
                fail_msg("%s + 0x%x: fields 0x%x, required %d", component->prefix, offset, fields, required);
        }
    }
}

/* All ones, then zeros, into every word of a page of a model that has all there is: a bit that the specification does
 * not define stays 0, and so do registers that do not exist. CI-008, CI-036, CI-043 */
static void reserved_bits_are_zero(void **state) {
    static const char *const presets[] = {"minimal", "typical", "maximal"};
    (void)state;
    for (size_t p = 0; p < 3; p++) {
        ntr_system_config config = {0};
        ntr_system *s = all_components(presets[p], &config);
        for (size_t i = 0; i < sizeof typed / sizeof typed[0]; i++) {
            const typed_component *component = &typed[i];
            write32(s, component->page, 1);
            for (uint32_t offset = 0; offset < NTR_COMPONENT_BYTES; offset += 4) {
                const typed_register *one = typed_at(component, offset);
                const uint32_t fields = one ? one->fields : 0;
                write32(s, component->page + offset, offset ? UINT32_MAX : UINT32_MAX & ~2u);
                const uint32_t ones = read32(s, component->page + offset);
                write32(s, component->page + offset, offset ? 0 : 1);
                const uint32_t zeros = read32(s, component->page + offset);
                if ((ones | zeros) & ~fields) fail_msg("%s + 0x%x: 0x%x", component->prefix, offset, ones | zeros);
            }
            uint32_t word = 0; /* registers are 32 bits wide */
            assert_int_equal(ntr_system_read32(s, component->page + 2, &word), NTR_E_INVALID);
            assert_int_equal(ntr_system_write32(s, component->page + 1, 1), NTR_E_INVALID);
        }
        ntr_system_free(s);
    }
}

/* Name, lowest bit and width of each field of an encoder's Control and InstFeatures register, and of the other Control
 * registers; access and reset where they are not WARL and undefined. */
static const struct typed_field {
    const char *name;
    uint8_t low, width;
    ntr_access access;
    int reset; /* -1: undefined; -2: system dependent */
} typed_fields[] = {
    {"trTeActive", 0, 1, NTR_ACCESS_RW, 0},
    {"trTeEnable", 1, 1, NTR_ACCESS_RW, 0},
    {"trTeInstTracing", 2, 1, NTR_ACCESS_RW, -1},
    {"trTeEmpty", 3, 1, NTR_ACCESS_RO, 1},
    {"trTeInstMode", 4, 3, NTR_ACCESS_WARL, -1},
    {"trTeContext", 9, 1, NTR_ACCESS_WARL, -1},
    {"trTeInstTrigEnable", 11, 1, NTR_ACCESS_WARL, -1},
    {"trTeInstStallOrOverflow", 12, 1, NTR_ACCESS_RW1C, -1},
    {"trTeInstStallEna", 13, 1, NTR_ACCESS_WARL, -1},
    {"trTeInhibitSrc", 15, 1, NTR_ACCESS_WARL, -1},
    {"trTeInstSyncMode", 16, 2, NTR_ACCESS_WARL, -1},
    {"trTeInstSyncMax", 20, 4, NTR_ACCESS_WARL, -1},
    {"trTeFormat", 24, 3, NTR_ACCESS_WARL, -1},
    {"trTeProtocolMajor", 16, 4, NTR_ACCESS_RO, -2},
    {"trTeProtocolMinor", 20, 4, NTR_ACCESS_RO, -2},
    {"trTeInstEnSequentialJump", 2, 1, NTR_ACCESS_WARL, -1},
    {"trTeInstEnImplicitReturn", 3, 1, NTR_ACCESS_WARL, -1},
    {"trTeInstImplicitReturnMode", 6, 2, NTR_ACCESS_WARL, -1},
    {"trTeInstEnRepeatedHistory", 8, 1, NTR_ACCESS_WARL, -1},
    {"trTeInstEnAllJumps", 9, 1, NTR_ACCESS_WARL, -1},
    {"trTeInstExtendAddrMSB", 10, 1, NTR_ACCESS_WARL, -1},
    {"trTeSrcID", 16, 12, NTR_ACCESS_WARL, -1},
    {"trTeSrcBits", 28, 4, NTR_ACCESS_WARL, -1},
    {"trTsActive", 0, 1, NTR_ACCESS_WARL, -2},
    {"trTsCounterLow", 0, 32, NTR_ACCESS_RO, 0},
    {"trTsCounterHigh", 0, 32, NTR_ACCESS_RO, 0},
    {"trTeTrigDbgControl", 0, 32, NTR_ACCESS_WARL, -1},
    {"trTeFilterMatchDtype", 24, 1, NTR_ACCESS_WARL, -1},
    {"trTeFilterMatchDsize", 25, 1, NTR_ACCESS_WARL, -1},
    {"trTeCompPNotify", 14, 1, NTR_ACCESS_WARL, -1},
    {"trTeCompSNotify", 15, 1, NTR_ACCESS_WARL, -1},
    {"trRamActive", 0, 1, NTR_ACCESS_RW, 0},
    {"trRamEnable", 1, 1, NTR_ACCESS_RW, 0},
    {"trRamEmpty", 3, 1, NTR_ACCESS_RO, 1},
    {"trRamMode", 4, 1, NTR_ACCESS_WARL, -1},
    {"trRamMemFormat", 9, 2, NTR_ACCESS_WARL, -1},
    {"trRamAsyncFreq", 12, 3, NTR_ACCESS_WARL, -1},
    {"trRamStartLow", 2, 30, NTR_ACCESS_WARL, -1},
    {"trRamStartHigh", 0, 32, NTR_ACCESS_WARL, -1},
    {"trRamLimitLow", 2, 30, NTR_ACCESS_WARL, -1},
    {"trRamLimitHigh", 0, 32, NTR_ACCESS_WARL, -1},
    {"trFunnelActive", 0, 1, NTR_ACCESS_RW, 0},
    {"trFunnelEnable", 1, 1, NTR_ACCESS_RW, 0},
    {"trFunnelEmpty", 3, 1, NTR_ACCESS_RO, 1},
    {"trFunnelDisInput", 0, 16, NTR_ACCESS_WARL, -1},
    {"trPibAsyncFreq", 12, 3, NTR_ACCESS_WARL, -1},
    {"trAtbBridgeActive", 0, 1, NTR_ACCESS_RW, 0},
    {"trAtbBridgeEnable", 1, 1, NTR_ACCESS_RW, 0},
    {"trAtbBridgeEmpty", 3, 1, NTR_ACCESS_RO, 1},
    {"trAtbBridgeAsyncFreq", 12, 3, NTR_ACCESS_WARL, -1},
};

/* CI-063, CI-065, CI-068, CI-069, CI-072, CI-074, CI-077, CI-078, CI-080, CI-086, CI-089, CI-090, CI-092 to CI-098,
 * CI-112, CI-121, CI-126, CI-138, CI-146, CI-151, CI-156, CI-157, CI-159, CI-163, CI-164, CI-168, CI-169, CI-173,
 * CI-194, CI-196, CI-204, CI-221, CI-225, NT-092, NT-093, NT-096 */
static void fields_are_the_specification(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof typed_fields / sizeof typed_fields[0]; i++) {
        const struct typed_field *one = &typed_fields[i];
        const ntr_bits bits = ntr_bits_find(one->name);
        if (bits == NTR_BITS_COUNT) fail_msg("%s", one->name);
        const ntr_bits_info *info = ntr_bits_get(bits);
        const uint32_t mask = (one->width == 32 ? UINT32_MAX : (1u << one->width) - 1) << one->low;
        const int reset = info->reset;
        if (ntr_bits_mask(info) != mask || info->access != one->access || reset != one->reset)
            fail_msg("%s: mask 0x%x, access %u, reset %d", one->name, ntr_bits_mask(info), info->access, reset);
    }
}

/* ---- Impl */

/* Version 1.0 and the type of the component; the encoder's protocol is N-Trace 1.0. Nothing of it can be written.
 * CI-001, CI-021, CI-050, CI-051, CI-055, CI-086, CI-209, CI-224, NT-096 */
static void impl(void **state) {
    static const uint32_t expected[PAGES] = {0xa5010101, 0xa5000801, 0xa5000e01, 0xa5003901, 0xa5000a01};
    ntr_system_config config = {0};
    (void)state;
    ntr_system *s = all_components("maximal", &config);
    for (size_t i = 0; i < PAGES; i++) {
        write32(s, pages[i], 1);
        assert_int_equal(read32(s, pages[i] + 4), expected[i]);
        write32(s, pages[i] + 4, 0);
        assert_int_equal(read32(s, pages[i] + 4), expected[i]);
    }
    write32(s, TE, ACTIVE | 1 << 24);
    assert_int_equal(read32(s, TE) >> 24 & 7, 1);
    ntr_system_free(s);
}

/* ---- Active and Enable */

/* Active and Enable are 0 at power-up and keep what is written; Active = 0 makes Enable 0, in this component alone, and
 * fields that a reset gives a value have the same one each time. CI-002, CI-006, CI-038, CI-063, CI-064, CI-156,
 * CI-194, CI-221, CI-226, CI-227, CI-235, CI-236, CI-238 */
static void active_resets_one_component(void **state) {
    ntr_system_config config = {0};
    (void)state;
    ntr_system *s = all_components("maximal", &config);
    for (size_t i = 0; i < PAGES; i++) assert_int_equal(read32(s, pages[i]) & 3, 0);
    for (size_t i = 0; i < PAGES; i++) {
        write32(s, pages[i], 1);
        if (pages[i] == PIB) write32(s, PIB, 1 | 10 << 4);
        if (pages[i] == ATB) write32(s, ATB, 1 | 1 << 8);
        const uint32_t fresh = read32(s, pages[i]);
        assert_int_equal(fresh & 0xb, 1 | EMPTY);
        write32(s, pages[i], (fresh & ~(uint32_t)EMPTY) | 2);
        assert_int_equal(read32(s, pages[i]) & 3, 3);
    }
    for (size_t i = 0; i < PAGES; i++) {
        write32(s, pages[i], 0);
        assert_int_equal(read32(s, pages[i]) & 3, 0);
        for (size_t other = 0; other < PAGES; other++)
            if (other != i) assert_int_equal(read32(s, pages[other]) & 3, other < i ? 1 : 3);
        write32(s, pages[i], 1);
        assert_int_equal(read32(s, pages[i]) & 3, 1);
        const uint32_t once = read32(s, pages[i]);
        write32(s, pages[i], 0);
        write32(s, pages[i], 1);
        assert_int_equal(read32(s, pages[i]), once);
    }
    ntr_system_free(s);
}

/* trTeEnable becomes 1 by a write only: not by Active, and not by a trigger. CI-065, CI-067 */
static void only_a_write_enables(void **state) {
    static system_rig r;
    (void)state;
    rig_open(&r, "");
    write32(r.system, TE, ACTIVE | MODE_BTM | TRIG_ENABLE);
    write32(r.system, TE + 0x54, 2); /* input 0: trace on */
    assert_int_equal(ntr_system_trigger(r.system, 0, 0), NTR_OK);
    ntr_system_step(r.system, 10);
    assert_int_equal(read32(r.system, TE) & (ENABLE | TRACING), 0);
    rig_trace(&r, 0);
    write32(r.system, TE, 0);
    write32(r.system, TE, ACTIVE);
    assert_int_equal(read32(r.system, TE) & ENABLE, 0);
    rig_close(&r);
}

/* Queued trace leaves when Enable is written to 0, and Empty is 1 then; before, it is 0. CI-066, CI-069, CI-157,
 * CI-159, CI-194, CI-221, CI-226, CI-227, CI-249 */
static void disabling_flushes(void **state) {
    static system_rig r;
    (void)state;
    rig_open(&r, "\"rate\":1,\"rate_cycles\":4");
    rig_trace(&r, 0);
    for (unsigned i = 0; i < 20; i++) {
        ntr_ingress block = rig_block(0x1000 + 0x100 * i, 1);
        block.priv = i == 19 ? NTR_PRIV_D : NTR_PRIV_M; /* debug mode flushes nothing */
        block.cycle = true;
        rig_push(&r, &block);
    }
    const size_t before = r.size;
    assert_int_equal(read32(r.system, TE) & EMPTY, 0);
    write32(r.system, TE, ACTIVE | MODE_BTM);
    ntr_system_step(r.system, 4000);
    assert_int_equal(read32(r.system, TE) & EMPTY, EMPTY);
    assert_true(r.size > before);
    assert_int_equal(rig_status(&r).bytes, r.size);
    rig_close(&r);
}

/* A component in reset is silent: what its senders give it is gone, and nothing leaves. CI-242, CI-228 */
static void reset_is_silent(void **state) {
    static system_rig r;
    (void)state;
    rig_open(&r, "");
    write32(r.system, ATB, 0);
    rig_trace(&r, 0);
    for (unsigned i = 0; i < 50; i++) {
        const ntr_ingress block = rig_block(0x1000 + 0x100 * i, 1);
        rig_push(&r, &block);
    }
    ntr_system_step(r.system, 1000);
    assert_int_equal(r.size, 0);
    rig_close(&r);
}

/* Writing 0 to RW1C has no effect, writing 1 clears it; so do a reset and trTeEnable. CI-003, CI-005, CI-074 */
static void overflow_bit(void **state) {
    static system_rig r;
    (void)state;
    for (unsigned how = 0; how < 3; how++) {
        rig_open(&r, "\"fifo\":128,\"fifo_restart\":0,\"rate\":1,\"rate_cycles\":1000");
        rig_trace(&r, 0);
        for (unsigned i = 0; i < 200; i++) {
            const ntr_ingress block = rig_block(0x1000 + 0x1000 * i, 1);
            rig_push(&r, &block);
        }
        const uint32_t control = read32(r.system, TE);
        assert_int_equal(control & OVERFLOW, OVERFLOW);
        write32(r.system, TE, control & ~(uint32_t)(OVERFLOW | TRACING));
        assert_int_equal(read32(r.system, TE) & OVERFLOW, OVERFLOW);
        if (how == 0) write32(r.system, TE, control & ~(uint32_t)TRACING);
        if (how == 1) write32(r.system, TE, 0), write32(r.system, TE, ACTIVE);
        if (how == 2) {
            write32(r.system, TE, control & ~(uint32_t)(OVERFLOW | TRACING | ENABLE));
            assert_int_equal(read32(r.system, TE) & OVERFLOW, OVERFLOW);
            write32(r.system, TE, control & ~(uint32_t)(OVERFLOW | TRACING));
        }
        assert_int_equal(read32(r.system, TE) & OVERFLOW, 0);
        rig_close(&r);
    }
}

/* What reads back depends on the written value and the state alone, and is legal: writing it again changes nothing.
 * CI-004, CI-039, CI-062, CI-248 */
static void warl_is_deterministic(void **state) {
    ntr_system_config config = {0};
    uint64_t seed = 1;
    (void)state;
    ntr_system *a = all_components("typical", &config), *b = all_components("typical", &config);
    for (size_t i = 0; i < PAGES; i++) write32(a, pages[i], 1), write32(b, pages[i], 1);
    for (unsigned round = 0; round < 20000; round++) {
        const typed_component *component = &typed[random_below(&seed, 5)];
        const typed_register *one = &component->registers[random_below(&seed, 24)];
        if (!one->count) continue;
        const uint64_t at = component->page + one->offset + 0x20 * random_below(&seed, one->count);
        uint32_t value = random_below(&seed, 1 << 16) << 16 | random_below(&seed, 1 << 16);
        if (!one->offset) value = (value & ~2u) | 1;
        write32(a, at, value);
        write32(b, at, value);
        const uint32_t found = read32(a, at);
        assert_int_equal(found, read32(b, at));
        if (one->offset == 0x40) continue; /* trRamData moves on, and trTsReset acts */
        write32(a, at, found);
        write32(b, at, found);
        if (read32(a, at) != found) fail_msg("0x%x: 0x%x stays 0x%x", (unsigned)at, found, read32(a, at));
    }
    ntr_system_free(a);
    ntr_system_free(b);
}

/* ---- what settings of the encoder do to its messages */

/* SRC has the value of trTeSrcID in trTeSrcBits bits, in every message, unless trTeInhibitSrc is 1.
 * CI-020, CI-077, CI-096, CI-097 */
static void source_of_each_message(void **state) {
    static system_rig r;
    (void)state;
    for (unsigned inhibit = 0; inhibit < 2; inhibit++) {
        rig_open(&r, "");
        write32(r.system, TE + 8, 5u << 28 | 0x15u << 16);
        rig_trace(&r, inhibit ? 1u << 15 : 0);
        for (unsigned i = 0; i < 9; i++) {
            const ntr_ingress block = rig_block(0x1000 + 0x100 * i, 1);
            rig_push(&r, &block);
        }
        rig_stop(&r);
        unsigned count = 0;
        ntr_message m;
        ntr_params params = rig_params(&r);
        assert_int_equal(params.src_bits, inhibit ? 0 : 5);
        params.src_bits = inhibit ? 0 : 5;
        for (size_t at = 0; rig_next(&r, &params, &at, &m); count++) {
            assert_int_equal(m.src, inhibit ? 0 : 0x15);
            assert_int_equal(m.tcode == NTR_TCODE_PROG_TRACE_SYNC && m.faddr << 1 != 0x1000, 0);
        }
        assert_true(count >= 9);
        rig_close(&r);
    }
}

/* A synchronization each 2^(trTeInstSyncMax + 4) messages, cycles or halfwords; none with mode 0.
 * NT-270, CI-078, CI-079, CI-080 */
static void synchronization_period(void **state) {
    static system_rig r;
    (void)state;
    for (uint32_t mode = 0; mode < 4; mode++) {
        for (uint32_t max = 0; max < 4; max++) {
            rig_open(&r, "");
            rig_trace(&r, mode << 16 | max << 20);
            for (unsigned i = 0; i < 1024; i++) { /* a message, a cycle and two halfwords for each block */
                const ntr_ingress block = rig_block(0x1000 + 0x100 * (i & 1), 2);
                rig_push(&r, &block);
            }
            const unsigned each = 16u << max, expected = !mode       ? 0
                                                         : mode == 3 ? 2048 / each
                                                                     : 1024 / (each + (mode == 1));
            const unsigned found = rig_syncs(&r, 2);
            if (found + 1 < expected || found > expected) fail_msg("mode %u, max %u: %u", mode, max, found);
            rig_close(&r);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(map_is_the_specification),
        TEST(reserved_bits_are_zero),
        TEST(fields_are_the_specification),
        TEST(impl),
        TEST(active_resets_one_component),
        TEST(only_a_write_enables),
        TEST(disabling_flushes),
        TEST(reset_is_silent),
        TEST(overflow_bit),
        TEST(warl_is_deterministic),
        TEST(source_of_each_message),
        TEST(synchronization_period),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
