/* RAM sink: pointers, wrap bit, read-back, and stopping when the buffer is full (Trace Control section 6). */
#include "../test.h"
#include "machine.h"
#include "topologies.h"

enum { TE = 0, RAM = 0x1000, BYTES = 256 };
enum { CONTROL = RAM, START = RAM + 0x10, LIMIT = RAM + 0x18, WP = RAM + 0x20, RP = RAM + 0x28, DATA = RAM + 0x40 };
enum { ACTIVE = 1, ENABLE = 2, EMPTY = 8, STOP_ON_WRAP = 1 << 8 };

typedef struct memory {
    uint64_t base;
    uint8_t bytes[4096];
    unsigned strange; /* accesses outside of it */
} memory;

static bool write_memory(void *user, uint64_t address, const uint8_t *bytes, size_t size) {
    memory *m = user;
    if (address < m->base || address + size > m->base + sizeof m->bytes) return m->strange++, false;
    memcpy(m->bytes + (address - m->base), bytes, size);
    return true;
}

static bool read_memory(void *user, uint64_t address, uint8_t *out, size_t size) {
    const memory *m = user;
    memcpy(out, m->bytes + (address - m->base), size);
    return true;
}

/* One encoder, one sink; `options` of the sink as JSON. */
static ntr_system *make(const char *options, memory *m) {
    char json[512];
    ntr_system_config config = {.memory_read = read_memory, .memory_write = write_memory, .user = m};
    snprintf(json, sizeof json,
             "{\"components\":[{\"name\":\"te\",\"type\":\"encoder\",\"base\":0,\"hart\":0,\"to\":\"ram\"},"
             "{\"name\":\"ram\",\"type\":\"ram\",\"base\":4096,%s}]}",
             options);
    ntr_system *s = new_system(json, &config);
    write32(s, RAM, ACTIVE);
    write32(s, TE, ACTIVE);
    return s;
}

static void begin(ntr_system *s) {
    write32(s, TE, ACTIVE | 3 << 4);
    write32(s, TE, ACTIVE | 3 << 4 | ENABLE);
    write32(s, TE, ACTIVE | 3 << 4 | ENABLE | 4);
}

static void end(ntr_system *s) {
    write32(s, TE, ACTIVE | 3 << 4);
    ntr_system_step(s, 100);
}

static uint64_t made(ntr_system *s) {
    ntr_system_component te;
    assert_int_equal(ntr_system_component_get(s, 0, &te), NTR_OK);
    return te.counts.bytes + te.counts.lost_bytes;
}

/* Jumps until `bytes` of messages were made. */
static void make_trace(ntr_system *s, uint64_t bytes) {
    uint64_t seed = bytes + 1;
    for (const uint64_t last = made(s) + bytes; made(s) < last;) {
        const ntr_ingress b = {.iaddr = 2 * random_below(&seed, 1 << 20),
                               .iretire = 1,
                               .itype = NTR_ITYPE_OTHER_INDIRECT,
                               .cycle = true,
                               .priv = NTR_PRIV_M};
        assert_int_equal(ntr_system_push(s, 0, &b), NTR_OK);
    }
}

/* ---- the wrap bit */

/* CI-158, CI-171, CI-172 */
static void wrap_bit(void **state) {
    (void)state;
    ntr_system *s = make("\"sram\":256", NULL);
    write32(s, RAM, ACTIVE | ENABLE);
    begin(s);
    assert_int_equal(read32(s, WP) & 1, 0);
    make_trace(s, BYTES - 32);
    const uint32_t before = read32(s, WP);
    assert_true(before && !(before & 1) && before < BYTES);
    make_trace(s, 64);
    assert_int_equal(read32(s, WP) & 3, 1); /* and bit 1 is always 0 */
    assert_true((read32(s, WP) & ~3u) < before);
    write32(s, WP, 0); /* not while it is at work */
    assert_int_equal(read32(s, WP) & 1, 1);
    end(s);
    write32(s, RAM, ACTIVE);
    assert_int_equal(read32(s, RAM) & 0xf, ACTIVE | EMPTY);
    const uint32_t last = read32(s, WP);
    assert_int_equal(last & 1, 1);
    write32(s, RP, 0);
    write32(s, RAM, ACTIVE | ENABLE); /* enabling never changes pointers, nor does disabling */
    write32(s, RAM, ACTIVE);
    assert_int_equal(read32(s, WP), last);
    write32(s, WP, last); /* kept as written */
    assert_int_equal(read32(s, WP), last);
    write32(s, WP, last & ~3u);
    assert_int_equal(read32(s, WP), last & ~3u);
    write32(s, WP, 0x43);
    assert_int_equal(read32(s, WP), 0x41);
    write32(s, RAM, 0); /* a reset clears it */
    write32(s, RAM, ACTIVE);
    assert_int_equal(read32(s, WP), 0);
    ntr_system_free(s);
}

/* ---- read-back */

/* RP moves on with every access, from the word at Limit to Start; nothing moves while the sink is at work.
 * CI-174, CI-175, CI-189, CI-191, CI-153, CI-154, CI-230 */
static void read_back(void **state) {
    (void)state;
    ntr_system *s = make("\"sram\":256", NULL);
    for (uint32_t at = 0; at < BYTES; at += 4) {
        assert_int_equal(read32(s, RP), at);
        write32(s, DATA, 0x1000 + at); /* for tests */
    }
    assert_int_equal(read32(s, RP), 0);
    write32(s, RP, BYTES - 8 + 3); /* low bits are 0 */
    assert_int_equal(read32(s, RP), BYTES - 8);
    assert_int_equal(read32(s, DATA), 0x1000 + BYTES - 8);
    assert_int_equal(read32(s, DATA), 0x1000 + BYTES - 4);
    assert_int_equal(read32(s, RP), 0);
    assert_int_equal(read32(s, DATA), 0x1000);
    write32(s, LIMIT, 0x20); /* a trimmed buffer */
    write32(s, RP, 0x20);
    assert_int_equal(read32(s, DATA), 0x1020);
    assert_int_equal(read32(s, RP), 0);
    write32(s, RAM, ACTIVE | ENABLE);
    write32(s, RP, 0x10); /* ignored */
    assert_int_equal(read32(s, RP), 0);
    assert_int_equal(read32(s, DATA), 0);
    assert_int_equal(read32(s, RP), 0);
    write32(s, LIMIT, 0x80);
    write32(s, WP, 0x10);
    write32(s, RAM, ACTIVE);
    assert_int_equal(read32(s, LIMIT), 0x20);
    assert_int_equal(read32(s, WP), 0);
    ntr_system_free(s);
    s = make("\"sram\":256,\"read_active\":true", NULL);
    write32(s, DATA, 0xabcd);
    write32(s, RAM, ACTIVE | ENABLE);
    write32(s, RP, 0);
    assert_int_equal(read32(s, DATA), 0xabcd);
    assert_int_equal(read32(s, RP), 4);
    ntr_system_free(s);
}

/* ---- stop on wrap */

/* Full: Enable falls, WP is Start, Wrap is 1, and the rest of the trace finds no taker. Switched on again it fills
 * the same buffer anew: from Start, until it is full again. CI-015, CI-170 */
static void stop_and_go_on(void **state) {
    (void)state;
    ntr_system *s = make("\"sram\":256,\"stop_on_wrap\":true", NULL);
    uint32_t words[2][BYTES / 4];
    write32(s, RAM, ACTIVE | STOP_ON_WRAP);
    for (unsigned round = 0; round < 2; round++) {
        write32(s, RAM, ACTIVE | STOP_ON_WRAP | ENABLE);
        assert_int_equal(read32(s, RAM) & ENABLE, ENABLE);
        begin(s);
        make_trace(s, BYTES - 30);
        assert_int_equal(read32(s, RAM) & ENABLE, ENABLE);
        if (!round) assert_int_equal(read32(s, WP) & 1, 0);
        make_trace(s, 100);
        assert_int_equal(read32(s, RAM) & 0xf, ACTIVE | EMPTY);
        assert_int_equal(read32(s, WP), 1);
        make_trace(s, 1000); /* lost or stuck, but not in the buffer */
        assert_int_equal(read32(s, WP), 1);
        write32(s, RP, 0);
        for (unsigned i = 0; i < BYTES / 4; i++) words[round][i] = read32(s, DATA);
        write32(s, TE, 0);
        write32(s, TE, ACTIVE);
    }
    assert_int_equal(words[0][0] & 0xff, 9 << 2); /* both begin with ProgTraceSync */
    assert_int_equal(words[1][0] & 0xff, 9 << 2);
    /* from another place, Wrap cleared: the buffer is full when the word at Limit is written */
    write32(s, WP, 0xc0);
    assert_int_equal(read32(s, WP), 0xc0);
    write32(s, RAM, ACTIVE | STOP_ON_WRAP | ENABLE);
    begin(s);
    make_trace(s, 100);
    assert_int_equal(read32(s, RAM) & ENABLE, 0);
    assert_int_equal(read32(s, WP), 1);
    write32(s, RP, 0);
    for (unsigned i = 0; i < 0xc0 / 4; i++) assert_int_equal(read32(s, DATA), words[1][i]);
    assert_int_equal(read32(s, DATA) & 0xff, 9 << 2);
    ntr_system_free(s);
}

/* CI-161, CI-162, CI-250: while encoders run, a full sink takes nothing. When they are disabled, they become empty. */
static void full_sink_lets_encoders_stop(void **state) {
    (void)state;
    ntr_system *s = make("\"sram\":64,\"stop_on_wrap\":true", NULL);
    write32(s, RAM, ACTIVE | STOP_ON_WRAP);
    write32(s, RAM, ACTIVE | STOP_ON_WRAP | ENABLE);
    begin(s);
    make_trace(s, 2000);
    assert_int_equal(read32(s, RAM) & 0xf, ACTIVE | EMPTY);
    assert_int_equal(read32(s, TE) & EMPTY, 0);
    assert_int_equal(read32(s, TE) >> 12 & 1, 1); /* trTeInstStallOrOverflow */
    end(s);
    assert_int_equal(read32(s, TE) & (ENABLE | EMPTY), EMPTY);
    ntr_system_free(s);
}

/* A message that does not fit keeps its beginning, and what is missing is counted. CI-177 */
static void cut_message(void **state) {
    (void)state;
    for (unsigned size = 64; size <= 256; size *= 2) {
        char options[64];
        snprintf(options, sizeof options, "\"sram\":%u,\"stop_on_wrap\":true", size);
        ntr_system *s = make(options, NULL);
        ntr_system_component te, ram;
        write32(s, RAM, ACTIVE | STOP_ON_WRAP);
        write32(s, RAM, ACTIVE | STOP_ON_WRAP | ENABLE);
        begin(s);
        make_trace(s, 2 * size);
        ntr_system_component_get(s, 0, &te);
        ntr_system_component_get(s, 1, &ram);
        assert_int_equal(ram.counts.bytes - ram.counts.lost_bytes, size);
        assert_true(ram.counts.lost_bytes < 38);
        ntr_system_free(s);
    }
}

/* ---- SMEM */

/* The window that software set, and not a byte outside of it. CI-153, CI-178, CI-179, CI-231 */
static void system_memory(void **state) {
    static memory m;
    (void)state;
    m = (memory){.base = 0x123450000};
    ntr_system *s = make("\"sram\":0,\"smem\":true,\"address_bits\":40,\"start_align\":256,\"limit_fixed\":false,"
                         "\"access\":16",
                         &m);
    write32(s, RAM, ACTIVE | 1 << 4);
    write32(s, START + 4, 1);
    write32(s, START, 0x234500ff); /* aligned down */
    write32(s, LIMIT + 4, 1);
    write32(s, LIMIT, 0x23450ff7);
    write32(s, WP + 4, 1);
    write32(s, WP, 0x2345000f);
    assert_int_equal(read32(s, START), 0x23450000);
    assert_int_equal(read32(s, LIMIT), 0x23450ff0); /* of the last access */
    assert_int_equal(read32(s, WP), 0x23450001);    /* the wrap bit is stored as written */
    write32(s, WP, 0x23450000);
    write32(s, RAM, ACTIVE | 1 << 4 | ENABLE);
    begin(s);
    make_trace(s, 4000);
    assert_int_equal(read32(s, WP) & 1, 0);
    make_trace(s, 200);
    assert_int_equal(read32(s, WP) & 1, 1);
    assert_int_equal(read32(s, WP + 4), 1);
    end(s);
    write32(s, RAM, ACTIVE | 1 << 4);
    assert_int_equal(m.strange, 0);
    const uint32_t wp = read32(s, WP) & 0xffe;
    assert_int_equal(wp % 16, 0);
    assert_int_equal(m.bytes[wp - 1] & 3, 3); /* padded with idle behind the last message */
    write32(s, START, 0x23450800);            /* Start behind WP: refused */
    write32(s, RAM, ACTIVE | 1 << 4 | ENABLE);
    assert_int_equal(read32(s, RAM) & ENABLE, 0);
    ntr_system_free(s);
}

/* A fixed buffer makes it the only memory of the sink, unless the topology has others. */
static void fixed_system_memory(void **state) {
    static const struct {
        const char *options;
        uint32_t mode, start;
    } cases[] = {
        {"\"smem_start\":\"0x23450000\",\"smem_size\":4096", 1 << 4, 0x23450000},
        {"\"sram\":256,\"smem_start\":\"0x23450000\",\"smem_size\":4096", 0, 0},
        {"\"sram\":256", 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static memory m;
        ntr_system *s = make(cases[i].options, &m);
        write32(s, RAM, ACTIVE);
        assert_int_equal(read32(s, RAM) & 1 << 4, cases[i].mode);
        assert_int_equal(read32(s, START), cases[i].start);
        ntr_system_free(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(wrap_bit),           TEST(read_back),   TEST(full_sink_lets_encoders_stop),
                                       TEST(stop_and_go_on),     TEST(cut_message), TEST(system_memory),
                                       TEST(fixed_system_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
