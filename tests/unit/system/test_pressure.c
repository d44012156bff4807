/* Back-pressure: what a sink, a funnel or the FIFO's own rate does not let through is lost by the encoder, and told
 * exactly; or the hart is stalled, and nothing is lost. Switching components in any order loses nothing complete. */
#include "../test.h"
#include "machine.h"
#include "topologies.h"

enum { TE0 = 0, TE1 = 0x1000, FUNNEL = 0x2000, SINK = 0x3000, STREAM = 1 << 22 };

typedef struct stream {
    uint8_t *bytes;
    size_t size;
} stream;

static ntr_status keep(void *user, unsigned id, const uint8_t *bytes, size_t size) {
    stream *st = user;
    (void)id;
    assert_true(st->size + size <= STREAM);
    memcpy(st->bytes + st->size, bytes, size);
    st->size += size;
    return NTR_OK;
}

static void keep_message(void *user, unsigned component, const uint8_t *bytes, size_t size) {
    (void)component;
    keep(user, 0, bytes, size);
}

static bool take_transfer(void *user, unsigned component, unsigned id, const uint8_t *bytes, size_t size) {
    (void)user;
    (void)component;
    (void)id;
    (void)bytes;
    (void)size;
    return true;
}

/* Where the narrow place is. */
typedef enum narrow { NARROW_ENCODER, NARROW_FUNNEL, NARROW_SINK, NARROW_PLACES } narrow;

static ntr_system *make_system(narrow place, unsigned cycles, bool stall, ntr_system_config *config) {
    char json[2048], rates[NARROW_PLACES][64];
    for (unsigned i = 0; i < NARROW_PLACES; i++)
        snprintf(rates[i], sizeof rates[i], "\"rate\":%u,\"rate_cycles\":%u", i == place, i == place ? cycles : 1);
    snprintf(
        json, sizeof json,
        "{\"components\":[{\"name\":\"t0\",\"type\":\"encoder\",\"base\":0,\"hart\":0,\"to\":\"f\",\"fifo\":160,%s,"
        "\"fifo_restart\":40,\"set\":{\"trTeInstStallEna\":%u,\"trTeSrcBits\":1}},"
        "{\"name\":\"t1\",\"type\":\"encoder\",\"base\":4096,\"hart\":1,\"to\":\"f\",\"fifo\":200,%s,"
        "\"fifo_restart\":0,\"set\":{\"trTeInstStallEna\":%u}},"
        "{\"name\":\"f\",\"type\":\"funnel\",\"base\":8192,\"to\":\"s\",\"fifo\":128,%s},"
        "{\"name\":\"s\",\"type\":\"atb\",\"base\":12288,\"fifo\":128,%s}]}",
        rates[NARROW_ENCODER], stall, rates[NARROW_ENCODER], stall, rates[NARROW_FUNNEL], rates[NARROW_SINK]);
    return new_system(json, config);
}

/* The decoded instructions are the executed ones, in order, with as many left out as were lost; and that happened
 * at gaps only. */
static void check_losses(ntr_system *s, const traced_hart *t, const stream *st, bool stall) {
    ntr_params params;
    ntr_system_component info;
    assert_int_equal(ntr_system_params(s, t->number, &params), NTR_OK);
    assert_int_equal(ntr_system_component_get(s, t->number, &info), NTR_OK);
    decoded d = decode(st->bytes, st->size, &params, t->hart.program, t->number, false);
    assert_int_equal(info.encoder.lost_halfwords, 2 * (t->hart.count - d.count));
    assert_int_equal(d.gaps, info.encoder.overflows);
    if (stall) assert_int_equal(d.count, t->hart.count);
    if (d.count == t->hart.count) assert_memory_equal(d.pcs, t->hart.pcs, d.count * sizeof d.pcs[0]);
    size_t at = 0; /* in order: each decoded instruction is found behind the one before */
    for (size_t i = 0; i < d.count; i++) {
        while (at < t->hart.count && t->hart.pcs[at] != d.pcs[i]) at++;
        assert_true(at++ < t->hart.count);
    }
    free(d.pcs);
}

static void run(narrow place, unsigned cycles, bool stall, uint64_t *lost, uint64_t *stalls) {
    static uint8_t bytes[STREAM];
    stream st = {bytes, 0};
    ntr_system_config config = {.user = &st, .outputs = {.message = keep_message, .transfer = take_transfer}};
    ntr_system *s = make_system(place, cycles, stall, &config);
    traced_hart harts[2];
    if (ntr_system_start(s) != NTR_OK) fail_msg("%s", ntr_system_error(s));
    for (unsigned h = 0; h < 2; h++) traced_init(&harts[h], s, h, 77 + h + place, 4);
    for (unsigned turn = 0; turn < 1500; turn++) {
        for (unsigned h = 0; h < 2; h++) traced_run(&harts[h], 1, false);
        ntr_system_step(s, 1);
    }
    for (unsigned h = 0; h < 2; h++) traced_halt(&harts[h]);
    if (ntr_system_stop(s) != NTR_OK) fail_msg("%s", ntr_system_error(s));
    for (unsigned h = 0; h < 2; h++) {
        ntr_system_component info;
        ntr_system_component_get(s, h, &info);
        *lost += info.encoder.lost_halfwords;
        *stalls += harts[h].stalls + info.counts.stall_cycles;
        check_losses(s, &harts[h], &st, stall);
        traced_release(&harts[h]);
    }
    ntr_system_free(s);
}

/* From ample to starving: nothing is lost at one end, most at the other. */
static void rates(void **state) {
    static const unsigned cycles[] = {1, 2, 3, 5, 8, 20, 100};
    (void)state;
    for (narrow place = 0; place < NARROW_PLACES; place++) {
        uint64_t before = 0;
        for (size_t i = 0; i < sizeof cycles / sizeof cycles[0]; i++) {
            uint64_t lost = 0, stalls = 0;
            run(place, cycles[i], false, &lost, &stalls);
            assert_int_equal(stalls, 0);
            assert_true(lost + 600 >= before); /* slower, more is lost (the harts differ a little) */
            before = lost;
            uint64_t none = 0, waited = 0;
            run(place, cycles[i], true, &none, &waited);
            assert_int_equal(none, 0);
            if (lost) assert_true(waited > 0);
        }
        assert_true(before > 2 * 2 * 1500 / 2); /* 1 byte in 100 cycles: more than half of it */
    }
}

/* ---- orders of switching */

static uint64_t made_by_encoders(ntr_system *s) {
    ntr_system_component one, two;
    ntr_system_component_get(s, 0, &one);
    ntr_system_component_get(s, 1, &two);
    return one.counts.messages + two.counts.messages;
}

static void count_message(void *user, unsigned component, const uint8_t *bytes, size_t size) {
    uint64_t *count = user;
    (void)component;
    assert_true(size >= 2 && (bytes[0] & 3) == 0 && (bytes[size - 1] & 3) == 3);
    ++*count;
}

static void set_enable(ntr_system *s, uint64_t base, bool on) {
    const uint32_t control = read32(s, base);
    write32(s, base, on ? control | 2 : control & ~2u);
    if (on && base <= TE1) write32(s, base, read32(s, base) | 4);
}

/* Components switched on and off at random while harts run: in the end every message made has arrived. */
static void any_order(void **state) {
    static const uint64_t bases[] = {TE0, TE1, FUNNEL, SINK};
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        uint64_t random = seed, arrived = 0;
        ntr_system_config config = {.user = &arrived, .outputs = {.message = count_message}};
        ntr_system *s = make_system(random_below(&random, NARROW_PLACES), 1 + random_below(&random, 4), false, &config);
        traced_hart harts[2];
        assert_int_equal(ntr_system_start(s), NTR_OK);
        for (unsigned h = 0; h < 2; h++) traced_init(&harts[h], s, h, seed * 3 + h, 4);
        for (unsigned turn = 0; turn < 300; turn++) {
            for (unsigned h = 0; h < 2; h++) traced_run(&harts[h], random_below(&random, 3), false);
            ntr_system_step(s, random_below(&random, 4));
            if (random_below(&random, 5) == 0) set_enable(s, bases[random_below(&random, 4)], random_below(&random, 2));
        }
        for (unsigned h = 0; h < 2; h++) traced_halt(&harts[h]);
        set_enable(s, SINK, true);
        set_enable(s, FUNNEL, true);
        if (ntr_system_stop(s) != NTR_OK) fail_msg("seed %d: %s", (int)seed, ntr_system_error(s));
        assert_int_equal(arrived, made_by_encoders(s));
        ntr_system_component info;
        for (size_t i = 2; ntr_system_component_get(s, i, &info) == NTR_OK; i++)
            assert_int_equal(info.counts.lost_messages, 0);
        for (unsigned h = 0; h < 2; h++) traced_release(&harts[h]);
        ntr_system_free(s);
    }
}

/* The wrong order of section 10.3: the sink first. What is queued waits until the sink is enabled again. */
static void sink_first(void **state) {
    (void)state;
    uint64_t arrived = 0;
    ntr_system_config config = {.user = &arrived, .outputs = {.message = count_message}};
    ntr_system *s = make_system(NARROW_PLACES, 1, false, &config);
    traced_hart t;
    assert_int_equal(ntr_system_start(s), NTR_OK);
    traced_init(&t, s, 0, 1, 4);
    traced_run(&t, 50, true);
    set_enable(s, SINK, false);
    assert_int_equal(read32(s, SINK) & 0xa, 8);
    traced_run(&t, 400, true);
    traced_halt(&t);
    set_enable(s, TE0, false);
    set_enable(s, FUNNEL, false);
    ntr_system_step(s, 1000);
    assert_int_equal(read32(s, TE0) & 0xa, 0);    /* not enabled, not empty */
    assert_int_equal(read32(s, FUNNEL) & 0xa, 0);
    assert_true(arrived < made_by_encoders(s));
    set_enable(s, SINK, true);
    assert_int_equal(read32(s, FUNNEL) & 8, 8);   /* the funnel's own messages flow on, flushing goes on */
    assert_int_equal(read32(s, TE0) & 8, 0);      /* but a disabled funnel takes nothing new */
    set_enable(s, FUNNEL, true);
    assert_int_equal(read32(s, TE0) & 8, 8);
    set_enable(s, FUNNEL, false);
    assert_int_equal(arrived, made_by_encoders(s));
    traced_release(&t);
    ntr_system_free(s);
}

/* Reset is the one thing that discards, and it is counted. */
static void reset_discards(void **state) {
    (void)state;
    uint64_t arrived = 0;
    ntr_system_config config = {.user = &arrived, .outputs = {.message = count_message}};
    ntr_system *s = make_system(NARROW_PLACES, 1, false, &config);
    ntr_system_component funnel;
    traced_hart t;
    assert_int_equal(ntr_system_start(s), NTR_OK);
    traced_init(&t, s, 0, 1, 4);
    set_enable(s, SINK, false);
    traced_run(&t, 60, true);
    write32(s, TE0, 0);
    write32(s, FUNNEL, 0);
    assert_int_equal(read32(s, TE0) & 0xf, 8);
    assert_int_equal(read32(s, FUNNEL), 8);
    ntr_system_component_get(s, 2, &funnel);
    assert_true(funnel.counts.lost_messages > 0);
    assert_int_equal(funnel.counts.lost_messages, funnel.counts.messages);
    assert_int_equal(ntr_system_start(s), NTR_OK); /* and everything goes on */
    traced_release(&t);
    ntr_system_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(rates), TEST(any_order), TEST(sink_first), TEST(reset_discards)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
