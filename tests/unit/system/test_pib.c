/* PIB sink: what its pins do, beat by beat, in every mode and with every divider (Trace Control section 8). */
#include "../test.h"
#include "machine.h"
#include "topologies.h"

enum { TE = 0, PIB = 0x1000, BEATS = 1 << 20, BYTES = 1 << 16 };
enum {
    ACTIVE = 1,
    ENABLE = 2,
    EMPTY = 8,
    CENTER = 1 << 8,
    CALIBRATE = 1 << 9,
    MANCHESTER = 4,
    UART = 5,
    PARALLEL = 8,
    MODES = 13
};

typedef struct pins {
    uint16_t beats[BEATS];
    size_t beat_count;
    uint8_t bytes[BYTES]; /* of the messages that left */
    size_t size;
} pins;

static pins out;

static void take_beats(void *user, unsigned component, const uint16_t *beats, size_t count) {
    (void)user;
    (void)component;
    assert_true(out.beat_count + count <= BEATS);
    memcpy(out.beats + out.beat_count, beats, count * sizeof beats[0]);
    out.beat_count += count;
}

static void take_message(void *user, unsigned component, const uint8_t *bytes, size_t size) {
    (void)user;
    (void)component;
    assert_true(out.size + size <= BYTES);
    memcpy(out.bytes + out.size, bytes, size);
    out.size += size;
}

static ntr_system *make(void) {
    static ntr_system_config config;
    config = (ntr_system_config){.outputs = {.beats = take_beats, .message = take_message}};
    out.beat_count = out.size = 0;
    ntr_system *s =
        new_system("{\"components\":[{\"name\":\"te\",\"type\":\"encoder\",\"base\":0,\"hart\":0,\"to\":\"pib\"},"
                   "{\"name\":\"pib\",\"type\":\"pib\",\"base\":4096,\"preset\":\"maximal\"}]}",
                   &config);
    write32(s, PIB, ACTIVE);
    write32(s, TE, ACTIVE);
    return s;
}

static uint32_t setting(unsigned mode, bool center, unsigned divider) {
    return ACTIVE | mode << 4 | (center ? CENTER : 0) | divider << 16;
}

static void trace(ntr_system *s, unsigned blocks, unsigned cycles) {
    uint64_t seed = blocks + cycles + 1;
    write32(s, TE, ACTIVE | 3 << 4);
    write32(s, TE, ACTIVE | 3 << 4 | ENABLE);
    write32(s, TE, ACTIVE | 3 << 4 | ENABLE | 4);
    for (; blocks; blocks--) {
        const ntr_ingress b = {.iaddr = 2 * random_below(&seed, 1 << (1 + random_below(&seed, 20))),
                               .iretire = 1,
                               .itype = NTR_ITYPE_OTHER_INDIRECT,
                               .cycle = true,
                               .priv = NTR_PRIV_M};
        assert_int_equal(ntr_system_push(s, 0, &b), NTR_OK);
        ntr_system_step(s, cycles);
    }
}

/* ---- a receiver of each kind, made of section 8 alone */

typedef struct received {
    uint8_t bytes[BYTES];
    size_t size;
    bool inside; /* a message has begun and not ended */
} received;

static void take_byte(received *r, unsigned byte) {
    if (!r->inside && byte == 0xff) return; /* idle between messages */
    assert_true(r->size < BYTES);
    r->bytes[r->size++] = (uint8_t)byte;
    r->inside = (byte & 3) != 3;
}

static void receive_parallel(received *r, unsigned width) {
    unsigned byte = 0, bits = 0;
    for (size_t i = 0; i < out.beat_count; i++) {
        const unsigned beat = out.beats[i];
        assert_true(beat < 1u << width);
        if (width == 16) {
            take_byte(r, beat & 0xff);
            take_byte(r, beat >> 8);
            continue;
        }
        if (!r->inside && !bits && beat == (1u << width) - 1) continue; /* idle ends at any beat */
        byte |= beat << bits;
        bits += width;
        if (bits < 8) continue;
        take_byte(r, byte);
        byte = bits = 0;
    }
    assert_int_equal(bits, 0);
}

static void receive_uart(received *r) {
    for (size_t i = 0; i < out.beat_count; i++) {
        unsigned byte = 0;
        if (out.beats[i]) continue;
        assert_true(i + 9 < out.beat_count);
        for (unsigned bit = 0; bit < 8; bit++) byte |= (unsigned)out.beats[i + 1 + bit] << bit;
        assert_int_equal(out.beats[i + 9], 1);
        take_byte(r, byte);
        i += 9;
    }
}

static void receive_manchester(received *r) {
    for (size_t i = 0; i < out.beat_count; i++) {
        unsigned byte = 0, bits = 0;
        if (!out.beats[i]) continue;
        assert_int_equal(out.beats[i + 1], 0); /* the start bit: 1 0 */
        for (i += 2; out.beats[i] || out.beats[i + 1]; i += 2) {
            assert_int_not_equal(out.beats[i], out.beats[i + 1]);
            byte |= (unsigned)out.beats[i] << bits++;
            if (bits == 8) {
                take_byte(r, byte);
                byte = bits = 0;
            }
        }
        assert_int_equal(bits, 0); /* the stop bit behind the last byte, and behind a whole message */
        assert_false(r->inside);
        i++;
    }
}

static void check_received(unsigned mode) {
    static received r;
    r.size = 0;
    r.inside = false;
    if (mode == UART)
        receive_uart(&r);
    else if (mode == MANCHESTER)
        receive_manchester(&r);
    else
        receive_parallel(&r, 1u << (mode - PARALLEL));
    assert_true(out.size > 100);
    assert_int_equal(r.size, out.size);
    assert_memory_equal(r.bytes, out.bytes, out.size);
    assert_false(r.inside);
}

/* ---- tests */

static const uint8_t modes[] = {MANCHESTER, UART, 8, 9, 10, 11, 12};

/* One beat in divider + 1 cycles, twice as long with centered edges; and the messages are on the wires.
 * CI-205, CI-208, CI-211, CI-213, CI-215, CI-216, CI-217, CI-218, NT-082 */
static void every_mode(void **state) {
    static const unsigned dividers[] = {0, 1, 7, 100};
    (void)state;
    for (size_t m = 0; m < sizeof modes; m++) {
        for (size_t d = 0; d < sizeof dividers / sizeof dividers[0]; d++) {
            for (unsigned center = 0; center <= (modes[m] >= PARALLEL); center++) {
                const unsigned period = (dividers[d] + 1) << center;
                ntr_system *s = make();
                write32(s, PIB, setting(modes[m], center, dividers[d]));
                assert_int_equal(read32(s, PIB), setting(modes[m], center, dividers[d]) | EMPTY);
                ntr_system_step(s, 1000);
                assert_int_equal(out.beat_count, 0); /* held at rest */
                write32(s, PIB, setting(modes[m], center, dividers[d]) | ENABLE);
                trace(s, 100, 20 * period);
                write32(s, TE, 0);
                ntr_system_step(s, 9000ull * period);
                assert_int_equal(out.beat_count, 100 * 20 + 9000);
                ntr_system_step(s, period - 1);
                assert_int_equal(out.beat_count, 100 * 20 + 9000);
                ntr_system_step(s, 1);
                assert_int_equal(out.beat_count, 100 * 20 + 9000 + 1);
                assert_int_equal(read32(s, PIB) & 0xf, ACTIVE | ENABLE | EMPTY);
                check_received(modes[m]);
                ntr_system_free(s);
            }
        }
    }
}

/* Disabled in the middle of the trace, what was taken still leaves, whole. */
static void flush(void **state) {
    (void)state;
    for (size_t m = 0; m < sizeof modes; m++) {
        ntr_system *s = make();
        write32(s, PIB, setting(modes[m], false, 50));
        write32(s, PIB, setting(modes[m], false, 50) | ENABLE);
        trace(s, 40, 0);
        assert_int_equal(read32(s, PIB) & EMPTY, 0);
        write32(s, TE, ACTIVE | 3 << 4);
        ntr_system_step(s, 100);
        write32(s, PIB, setting(modes[m], false, 50));
        assert_int_equal(read32(s, PIB) & 0xf, ACTIVE | EMPTY);
        check_received(modes[m]);
        const size_t before = out.beat_count;
        ntr_system_step(s, 10000);
        assert_int_equal(out.beat_count, before);
        ntr_system_free(s);
    }
}

/* Section 8.6, repeated behind some rest; messages wait meanwhile. CI-203 */
static void calibration(void **state) {
    static const struct {
        unsigned mode, rest;
        uint16_t beats[32];
        size_t count;
    } patterns[] = {
        {8, 1, {0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}, 32},
        {9, 3, {2, 1, 2, 1, 2, 1, 2, 1, 0, 3, 0, 3, 3, 0, 3, 0}, 16},
        {10, 15, {0xa, 5, 0xa, 5, 0, 0xf, 0xf, 0}, 8},
        {11, 0xff, {0xaa, 0x55, 0, 0xff}, 4},
        {12, 0xffff, {0xaaaa, 0x5555, 0, 0xffff}, 4},
    };
    (void)state;
    for (size_t p = 0; p < sizeof patterns / sizeof patterns[0]; p++) {
        ntr_system *s = make();
        const uint32_t mode = setting(patterns[p].mode, false, 0);
        write32(s, PIB, mode | CALIBRATE);
        write32(s, PIB, mode | CALIBRATE | ENABLE);
        trace(s, 30, 0);
        ntr_system_step(s, 1000);
        assert_int_equal(out.size, 0);
        assert_int_equal(read32(s, PIB) & EMPTY, 0);
        assert_int_equal(out.beat_count, 1000);
        size_t first = 0;
        while (first < 200 && out.beats[first] == patterns[p].rest) first++;
        assert_true(first < 200);
        for (size_t i = 0; first + i < 1000; i++)
            assert_int_equal(out.beats[first + i], patterns[p].beats[i % patterns[p].count]);
        write32(s, PIB, mode | ENABLE);
        ntr_system_step(s, 5000);
        assert_true(out.size > 50);
        assert_int_equal(read32(s, PIB) & EMPTY, EMPTY);
        ntr_system_free(s);
    }
}

/* Mode 0 drives nothing, and cannot be enabled; serial modes have no clock; a mode in use stays. CI-201, CI-202 */
static void settings(void **state) {
    (void)state;
    ntr_system *s = make();
    write32(s, PIB, setting(0, false, 3) | ENABLE);
    assert_int_equal(read32(s, PIB), setting(0, false, 3) | EMPTY);
    for (unsigned mode = 0; mode < 16; mode++) {
        const bool exists = !mode || mode == MANCHESTER || mode == UART || (mode >= PARALLEL && mode < MODES);
        write32(s, PIB, setting(8, false, 0));
        write32(s, PIB, setting(mode, true, 0));
        if (exists)
            assert_int_equal(read32(s, PIB), setting(mode, mode >= PARALLEL, 0) | EMPTY);
        else
            assert_int_equal(read32(s, PIB) >> 4 & 15, 8);
    }
    write32(s, PIB, setting(11, false, 0) | ENABLE);
    write32(s, PIB, setting(9, false, 5) | ENABLE);
    assert_int_equal(read32(s, PIB), setting(11, false, 5) | ENABLE | EMPTY);
    ntr_system_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(every_mode), TEST(flush), TEST(calibration), TEST(settings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
