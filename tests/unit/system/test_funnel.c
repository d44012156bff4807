/* Funnel: which messages leave, in which order, and what a disabled input does (Trace Control section 7). */
#include "../test.h"
#include "machine.h"
#include "topologies.h"

#include <ntrace/message.h>
#include <ntrace/params.h>

enum { TE = 0x1000, FUNNEL = 0x10000, ATB = 0x20000, HARTS = 4, BYTES = 1 << 18, EMPTY = 8 };

static uint8_t bytes[BYTES]; /* of the messages that left, each whole */
static size_t size, messages;
static unsigned sources[BYTES];

static void take(void *user, unsigned component, const uint8_t *message, size_t count) {
    const ntr_params *params = user;
    ntr_message m;
    (void)component;
    assert_true(size + count <= BYTES);
    for (size_t i = 0; i < count; i++) assert_int_equal((message[i] & 3) == 3, i + 1 == count); /* a whole message */
    assert_int_equal(ntr_message_decode(params, (ntr_bytes){message, count}, &m), NTR_OK);
    sources[messages++] = (unsigned)m.src;
    memcpy(bytes + size, message, count);
    size += count;
}

/* Four encoders, SRC = hart, in front of a funnel whose output takes `rate` bytes in 8 cycles (0: all). */
static ntr_system *make(ntr_system_config *config, unsigned rate) {
    static ntr_params params;
    char json[2048];
    int at = snprintf(json, sizeof json, "{\"components\":[");
    for (unsigned h = 0; h < HARTS; h++)
        at += snprintf(json + at, sizeof json - (size_t)at,
                       "{\"name\":\"t%u\",\"type\":\"encoder\",\"base\":%u,\"hart\":%u,\"preset\":\"maximal\","
                       "\"to\":\"f:%u\"},",
                       h, TE * h, h, h);
    snprintf(json + at, sizeof json - (size_t)at,
             "{\"name\":\"f\",\"type\":\"funnel\",\"base\":65536,\"preset\":\"maximal\",\"rate\":%u,\"rate_cycles\":8,"
             "\"to\":\"a\"},{\"name\":\"a\",\"type\":\"atb\",\"base\":131072}]}",
             rate);
    ntr_params_init(&params, NULL);
    params.src_bits = 2;
    *config = (ntr_system_config){.outputs = {.message = take}, .user = &params};
    size = messages = 0;
    ntr_system *s = new_system(json, config);
    write32(s, ATB, 1);
    write32(s, ATB, 3 | 1 << 8);
    write32(s, FUNNEL, 1);
    write32(s, FUNNEL, 3);
    for (unsigned h = 0; h < HARTS; h++) {
        write32(s, TE * h, 1);
        write32(s, TE * h + 8, 2u << 28 | h << 16);
        write32(s, TE * h, 1 | 3 << 4);
        write32(s, TE * h, 1 | 3 << 4 | 2);
        write32(s, TE * h, 1 | 3 << 4 | 6);
    }
    return s;
}

static void execute(ntr_system *s, unsigned blocks) {
    for (unsigned i = 0; i < blocks; i++)
        for (unsigned h = 0; h < HARTS; h++) {
            const ntr_ingress b = {.iaddr = 0x1000 + 0x100 * (i % 7),
                                   .iretire = 1,
                                   .itype = NTR_ITYPE_OTHER_INDIRECT,
                                   .cycle = true,
                                   .priv = NTR_PRIV_M};
            assert_int_equal(ntr_system_push(s, h, &b), NTR_OK);
        }
    ntr_system_step(s, 1);
}

static void close_all(ntr_system *s) {
    for (unsigned h = 0; h < HARTS; h++) write32(s, TE * h, 1);
    ntr_system_step(s, 100000);
    write32(s, FUNNEL, 1);
    ntr_system_step(s, 10);
    assert_int_equal(read32(s, FUNNEL) & 0xf, 1 | EMPTY);
    ntr_system_free(s);
}

/* Continuous traffic on all inputs, an output that is too slow: messages leave whole, in turn. The first message of
 * each input, ProgTraceSync, is longer than the others: they do not pass it. CI-020, CI-023, CI-024, CI-192, CI-193 */
static void inputs_take_turns(void **state) {
    ntr_system_config config;
    unsigned count[HARTS] = {0};
    (void)state;
    ntr_system *s = make(&config, 1);
    execute(s, 400);
    messages = size = 0; /* from here on all inputs wait */
    ntr_system_step(s, 4000);
    assert_true(messages > 100);
    for (size_t i = 0; i < messages; i++) count[sources[i]]++;
    for (size_t i = HARTS; i < messages; i++) assert_int_equal(sources[i], sources[i - HARTS]);
    for (unsigned h = 0; h < HARTS; h++) assert_true(count[h] + 1 >= messages / HARTS);
    close_all(s);
}

/* A disabled input takes its messages and discards them: the encoder is not held up, the others are complete. When it
 * is enabled again its messages leave. CI-031, CI-194, CI-196 */
static void a_disabled_input_discards(void **state) {
    ntr_system_config config;
    unsigned count[HARTS] = {0};
    ntr_system_component te, funnel;
    (void)state;
    ntr_system *s = make(&config, 0);
    write32(s, FUNNEL + NTR_FUNNEL_DIS_INPUT, 1 << 2);
    execute(s, 2000);
    for (size_t i = 0; i < messages; i++) count[sources[i]]++;
    assert_int_equal(count[2], 0);
    assert_true(count[0] >= 1999 && count[0] == count[1] && count[0] == count[3]);
    assert_int_equal(ntr_system_component_get(s, 2, &te), NTR_OK);
    assert_int_equal(ntr_system_component_get(s, HARTS, &funnel), NTR_OK);
    assert_int_equal(te.counts.lost_messages, 0);
    assert_int_equal(read32(s, TE * 2) >> 12 & 1, 0); /* no overflow */
    assert_int_equal(te.counts.messages, count[0]);
    assert_int_equal(funnel.counts.lost_messages, te.counts.messages);
    write32(s, FUNNEL + NTR_FUNNEL_DIS_INPUT, 0);
    messages = size = 0;
    execute(s, 10);
    for (size_t i = 0; i < messages; i++) count[sources[i]]++;
    assert_true(count[2] >= 9);
    close_all(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(inputs_take_turns), TEST(a_disabled_input_discards)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
