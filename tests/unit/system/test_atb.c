/* ATB bridge: transfers of its width with its ID, and a receiver that is not always ready. */
#include "../test.h"
#include "machine.h"
#include "topologies.h"

enum { TE = 0, ATB = 0x1000, BYTES = 1 << 16, ACTIVE = 1, ENABLE = 2, EMPTY = 8 };

typedef struct receiver {
    uint64_t seed;
    unsigned ready; /* in percent */
    unsigned width, id;
    unsigned refused;
    bool waiting; /* the last transfer was refused, and must come again */
    uint8_t offer[16];
    size_t offer_size;
    uint8_t bytes[BYTES], messages[BYTES];
    size_t size, message_size;
} receiver;

static bool take_transfer(void *user, unsigned component, unsigned id, const uint8_t *bytes, size_t size) {
    receiver *r = user;
    assert_int_equal(component, 1);
    assert_int_equal(id, r->id);
    assert_in_range(size, 1, r->width);
    if (r->waiting) {
        assert_int_equal(size, r->offer_size);
        assert_memory_equal(bytes, r->offer, size);
    }
    r->waiting = random_below(&r->seed, 100) >= r->ready;
    memcpy(r->offer, bytes, size);
    r->offer_size = size;
    r->refused += r->waiting;
    if (r->waiting) return false;
    assert_true(r->size + size <= BYTES);
    memcpy(r->bytes + r->size, bytes, size);
    r->size += size;
    return true;
}

static void take_message(void *user, unsigned component, const uint8_t *bytes, size_t size) {
    receiver *r = user;
    (void)component;
    assert_true(r->message_size + size <= BYTES);
    memcpy(r->messages + r->message_size, bytes, size);
    r->message_size += size;
}

static ntr_system *make(receiver *r, unsigned width, unsigned ready, bool stall) {
    static ntr_system_config config;
    char json[512];
    config = (ntr_system_config){.user = r, .outputs = {.transfer = take_transfer, .message = take_message}};
    *r = (receiver){.seed = width + ready, .ready = ready, .width = width, .id = 0x2a};
    snprintf(
        json, sizeof json,
        "{\"components\":[{\"name\":\"te\",\"type\":\"encoder\",\"base\":0,\"hart\":0,\"to\":\"atb\",\"fifo\":256},"
        "{\"name\":\"atb\",\"type\":\"atb\",\"base\":4096,\"width\":%u,\"fifo\":128}]}",
        width);
    ntr_system *s = new_system(json, &config);
    write32(s, ATB, ACTIVE);
    write32(s, ATB, ACTIVE | ENABLE | 0x2a << 8);
    write32(s, TE, ACTIVE);
    write32(s, TE, ACTIVE | 3 << 4 | (uint32_t)stall << 13);
    write32(s, TE, ACTIVE | 3 << 4 | (uint32_t)stall << 13 | ENABLE);
    write32(s, TE, ACTIVE | 3 << 4 | (uint32_t)stall << 13 | ENABLE | 4);
    return s;
}

/* How many of the blocks the encoder took; it stops at the first it does not. */
static unsigned trace(ntr_system *s, unsigned blocks) {
    uint64_t seed = blocks;
    for (unsigned n = 0; n < blocks; n++) {
        const ntr_ingress b = {.iaddr = 2 * random_below(&seed, 1 << 20),
                               .iretire = 1,
                               .itype = NTR_ITYPE_OTHER_INDIRECT,
                               .cycle = true,
                               .priv = NTR_PRIV_M};
        const ntr_status status = ntr_system_push(s, 0, &b);
        if (status == NTR_NEED_MORE) return n;
        assert_int_equal(status, NTR_OK);
        ntr_system_step(s, 1);
    }
    return blocks;
}

static ntr_system_component info(ntr_system *s, size_t index) {
    ntr_system_component one;
    assert_int_equal(ntr_system_component_get(s, index, &one), NTR_OK);
    return one;
}

static void check_bytes(ntr_system *s, const receiver *r) {
    assert_int_equal(r->size, info(s, 0).counts.bytes);
    assert_int_equal(r->size, r->message_size);
    assert_memory_equal(r->bytes, r->messages, r->size);
    assert_int_equal(info(s, 1).counts.lost_bytes, 0);
}

/* Every byte once and in order, however often the receiver was not ready. CI-220 */
static void handshake(void **state) {
    static const unsigned readiness[] = {100, 60, 20, 5};
    static receiver r;
    (void)state;
    for (unsigned width = 1; width <= 16; width *= 2) {
        for (size_t i = 0; i < 4; i++) {
            ntr_system *s = make(&r, width, readiness[i], false);
            assert_int_equal(trace(s, 1000), 1000);
            write32(s, TE, ACTIVE | 3 << 4);
            for (unsigned n = 0; n < 100000 && !(read32(s, TE) & EMPTY); n++) ntr_system_step(s, 1);
            write32(s, ATB, ACTIVE | 0x2a << 8);
            for (unsigned n = 0; n < 100000 && !(read32(s, ATB) & EMPTY); n++) ntr_system_step(s, 1);
            assert_int_equal(read32(s, ATB) & 0xf, ACTIVE | EMPTY);
            check_bytes(s, &r);
            assert_int_equal(r.refused != 0, readiness[i] != 100);
            if (readiness[i] == 100) assert_int_equal(info(s, 0).encoder.overflows, 0);
            ntr_system_free(s);
        }
    }
}

/* A receiver that is never ready: first the bridge, then the encoder is full, and overflows; later all goes on. */
static void overflow(void **state) {
    static receiver r;
    (void)state;
    ntr_system *s = make(&r, 4, 0, false);
    assert_int_equal(trace(s, 500), 500);
    assert_int_equal(r.size, 0);
    assert_true(info(s, 0).encoder.losing);
    assert_int_equal(read32(s, TE) >> 12 & 1, 1);
    assert_int_equal(read32(s, ATB) & EMPTY, 0);
    write32(s, ATB, ACTIVE | 0x2a << 8); /* a flush that cannot end */
    ntr_system_step(s, 1000);
    assert_int_equal(read32(s, ATB) & 0xf, ACTIVE);
    write32(s, ATB, ACTIVE | ENABLE | 0x2a << 8);
    r.ready = 100;
    assert_int_equal(trace(s, 50), 50);
    assert_false(info(s, 0).encoder.losing);
    assert_int_equal(info(s, 0).encoder.overflows, 1);
    write32(s, TE, ACTIVE | 3 << 4);
    ntr_system_step(s, 100);
    check_bytes(s, &r);
    ntr_system_free(s);
}

static void stall(void **state) {
    static receiver r;
    (void)state;
    ntr_system *s = make(&r, 4, 0, true);
    const unsigned taken = trace(s, 500);
    assert_in_range(taken, 40, 200);
    assert_int_equal(trace(s, 500), 0); /* and it stays so */
    ntr_system_step(s, 1000);
    assert_int_equal(trace(s, 500), 0);
    r.ready = 100;
    ntr_system_step(s, 1);
    assert_int_equal(trace(s, 500), 500);
    assert_int_equal(info(s, 0).encoder.overflows, 0);
    write32(s, TE, ACTIVE | 3 << 4);
    ntr_system_step(s, 100);
    check_bytes(s, &r);
    ntr_system_free(s);
}

/* 0 and 0x70 to 0x7f mean other things on an ATB: nothing leaves under them. CI-222 */
static void reserved_ids(void **state) {
    static receiver r;
    (void)state;
    for (unsigned id = 0; id < 128; id++) {
        const bool reserved = !id || id >= 0x70;
        ntr_system *s = make(&r, 4, 100, false);
        write32(s, ATB, ACTIVE | ENABLE | id << 8);
        r.id = id;
        trace(s, 20);
        assert_int_equal(r.size != 0, !reserved);
        assert_int_equal(read32(s, ATB) & EMPTY, reserved ? 0 : EMPTY);
        r.id = 5;
        write32(s, ATB, ACTIVE | ENABLE | 5 << 8);
        ntr_system_step(s, 10);
        assert_true(r.size > 0);
        write32(s, TE, ACTIVE | 3 << 4);
        ntr_system_step(s, 100);
        check_bytes(s, &r);
        ntr_system_free(s);
    }
}

/* ---- pace, and several receivers */

typedef struct bridges {
    bool ready[3]; /* by component */
    size_t size[3];
    uint8_t bytes[3][BYTES];
} bridges;

static bool take_bytes(void *user, unsigned component, unsigned id, const uint8_t *bytes, size_t size) {
    bridges *b = user;
    (void)id;
    if (!b->ready[component]) return false;
    assert_true(b->size[component] + size <= BYTES);
    memcpy(b->bytes[component] + b->size[component], bytes, size);
    b->size[component] += size;
    return true;
}

/* An encoder that sends to two bridges; `options` are JSON of both. */
static ntr_system *make_two(bridges *b, const char *options) {
    static ntr_system_config config;
    char json[512];
    *b = (bridges){.ready = {true, true, true}};
    config = (ntr_system_config){.user = b, .outputs = {.transfer = take_bytes}};
    snprintf(json, sizeof json,
             "{\"components\":[{\"name\":\"te\",\"type\":\"encoder\",\"base\":0,\"hart\":0,\"to\":[\"a\",\"b\"]},"
             "{\"name\":\"a\",\"type\":\"atb\",\"base\":4096,%s},{\"name\":\"b\",\"type\":\"atb\",\"base\":8192,%s}]}",
             options, options);
    ntr_system *s = new_system(json, &config);
    assert_int_equal(ntr_system_start(s), NTR_OK);
    return s;
}

static void jump(ntr_system *s, unsigned blocks) {
    for (; blocks; blocks--) {
        const ntr_ingress b = {.iaddr = blocks % 2 ? 0x100 : 0x7ffffff0,
                               .iretire = 1,
                               .itype = NTR_ITYPE_OTHER_INDIRECT,
                               .cycle = true,
                               .priv = NTR_PRIV_M};
        assert_int_equal(ntr_system_push(s, 0, &b), NTR_OK);
    }
}

/* A byte in four cycles, however long there was nothing to send. */
static void rate(void **state) {
    static bridges b;
    (void)state;
    ntr_system *s = make_two(&b, "\"width\":1,\"rate\":1,\"rate_cycles\":4");
    ntr_system_step(s, 1000);
    jump(s, 20);
    assert_int_equal(b.size[1], 0);
    for (unsigned cycles = 1; cycles <= 200; cycles++) {
        ntr_system_step(s, 1);
        assert_int_equal(b.size[1], cycles / 4);
        assert_int_equal(b.size[2], cycles / 4);
    }
    ntr_system_free(s);
}

/* A stop waits for the last message, however slow its way is. */
static void stop_waits(void **state) {
    static bridges b;
    (void)state;
    ntr_system *s = make_two(&b, "\"width\":1,\"fifo\":128,\"rate\":1,\"rate_cycles\":5000");
    jump(s, 60);
    if (ntr_system_stop(s) != NTR_OK) fail_msg("%s", ntr_system_error(s));
    assert_true(b.size[1] > 128);
    assert_int_equal(b.size[1], info(s, 0).counts.bytes);
    ntr_system_free(s);
}

/* Both get every message: who is full keeps the other waiting. */
static void two_receivers(void **state) {
    static bridges b;
    (void)state;
    ntr_system *s = make_two(&b, "\"width\":4,\"fifo\":128");
    b.ready[2] = false;
    jump(s, 300);
    assert_in_range(b.size[1], 64, 128);
    assert_int_equal(b.size[2], 0);
    b.ready[2] = true;
    ntr_system_step(s, 1);
    jump(s, 300);
    assert_int_equal(ntr_system_stop(s), NTR_OK);
    assert_int_equal(b.size[1], info(s, 0).counts.bytes);
    assert_int_equal(b.size[2], b.size[1]);
    assert_memory_equal(b.bytes[2], b.bytes[1], b.size[1]);
    ntr_system_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(handshake), TEST(overflow),   TEST(stall),        TEST(reserved_ids),
                                       TEST(rate),      TEST(stop_waits), TEST(two_receivers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
