/* Options by name, and the limits of a configuration. */
#include "../test.h"

#include <ntrace/encoder.h>
#include <ntrace/encoder_hardware.h>
#include <stdio.h>
#include <string.h>

static ntr_status drop(void *user, const uint8_t *bytes, size_t size) {
    (void)user, (void)bytes, (void)size;
    return NTR_OK;
}

/* Each option takes back the text it gives, and its limits hold. */
static void every_option(void **state) {
    (void)state;
    ntr_encoder_config config;
    ntr_encoder_config_init(&config);
    size_t count = 0;
    for (const ntr_encoder_option *o; (o = ntr_encoder_option_at(count)); count++) {
        char text[128], again[128];
        assert_true(strlen(o->help) > 0);
        int length = ntr_encoder_option_get(&config, o->name, text, sizeof text);
        if (length == NTR_E_NAME) continue; /* best, filter */
        if (length < 0) fail_msg("%s: %d", o->name, length);
        assert_int_equal(ntr_encoder_option_set(&config, o->name, text), NTR_OK);
        ntr_encoder_option_get(&config, o->name, again, sizeof again);
        assert_string_equal(text, again);
        assert_int_equal(ntr_encoder_option_get(&config, o->name, again, 1), NTR_E_SPACE);
        if (!o->numeric) assert_int_equal(ntr_encoder_option_set(&config, o->name, "nonsense"), NTR_E_SYNTAX);
        if (!o->numeric) continue;
        snprintf(text, sizeof text, "%llu", (unsigned long long)o->most + 1);
        assert_int_equal(ntr_encoder_option_set(&config, o->name, text), NTR_E_RANGE);
        assert_int_equal(ntr_encoder_option_set(&config, o->name, "1x"), NTR_E_SYNTAX);
        snprintf(text, sizeof text, "%llu", (unsigned long long)o->most);
        assert_int_equal(ntr_encoder_option_set(&config, o->name, text), NTR_OK);
        ntr_encoder_option_get(&config, o->name, again, sizeof again);
        assert_string_equal(text, again);
    }
    assert_true(count > 40);
    assert_int_equal(ntr_encoder_option_set(&config, "no-such", "1"), NTR_E_NAME);
    assert_int_equal(ntr_encoder_option_set(&config, "mode", NULL), NTR_E_SYNTAX);
}

static void options_reach_the_configuration(void **state) {
    (void)state;
    ntr_encoder_config c;
    ntr_encoder_config_init(&c);
    static const char *const SET[][2] = {
        {"mode", "btm"},
        {"implicit-return", "partial"},
        {"repeated-history", NULL},
        {"context", NULL},
        {"src-id", "0x123"},
        {"ts-messages", "branch+error"},
        {"drain", "3/7"},
        {"fifo", "100000"},
        {"filter", "addr=2-4"},
        {"timestamps", "on"},
        {"btype-detail", "off"},
        {"sync-mode", "halfwords"},
    };
    for (size_t i = 0; i < sizeof SET / sizeof *SET; i++)
        assert_int_equal(ntr_encoder_option_set(&c, SET[i][0], SET[i][1]), NTR_OK);
    assert_true(c.mode == NTR_INST_MODE_BTM && c.params.implicit_return == NTR_RETURN_PARTIAL && c.repeated_history);
    assert_true(c.ownership == NTR_OWNERSHIP_SCONTEXT && c.src_id == 0x123 &&
                c.ts_messages == (NTR_TS_MESSAGE_BRANCH | NTR_TS_MESSAGE_ERROR));
    assert_true(c.drain_bytes == 3 && c.drain_cycles == 7 && c.fifo_bytes == 100000 && c.filter_count == 1);
    assert_true(c.params.timestamps == NTR_TIMESTAMPS_ON && !c.btype_detail && c.sync_mode == NTR_SYNC_MODE_HALFWORDS);
    for (unsigned i = 1; i < NTR_FILTERS_MAX; i++)
        assert_int_equal(ntr_encoder_option_set(&c, "filter", "priv=m"), NTR_OK);
    assert_int_equal(ntr_encoder_option_set(&c, "filter", "priv=m"), NTR_E_LIMIT);
    assert_int_equal(ntr_encoder_option_set(&c, "drain", "1/0"), NTR_E_RANGE);
    assert_int_equal(ntr_encoder_option_set(&c, "fifo", "16777217"), NTR_E_RANGE);
    char text[8];
    c.params.timestamps = NTR_TIMESTAMPS_OFF; /* as a stream without TSTAMP has it; the option has two values */
    assert_int_equal(ntr_encoder_option_get(&c, "timestamps", text, sizeof text), 3);
    assert_string_equal(text, "off");
    assert_int_equal(ntr_encoder_option_set(&c, "best", NULL), NTR_OK);
    assert_true(c.mode == NTR_INST_MODE_HTM && c.params.implicit_return == NTR_RETURN_FULL && !c.repeat_branch);
}

/* NT-207, NT-264: reserved codes are sent only when asked for; values 14 and 15 are the vendors'. */
static void reserved_codes(void **state) {
    (void)state;
    ntr_encoder_config c;
    ntr_encoder_config_init(&c);
    c.sink = drop;
    for (unsigned value = 0; value < 16; value++) {
        const bool sync = value == 8 || (value >= 10 && value <= 13),
                   evcode = value == 2 || value == 3 || (value >= 5 && value <= 7);
        for (unsigned allowed = 0; allowed < 2; allowed++) {
            c.reserved_codes = allowed;
            c.start_sync = (uint8_t)value;
            c.stop_evcode = NTR_EVCODE_DISABLED;
            assert_int_equal(ntr_encoder_config_check(&c, NULL), sync && !allowed ? NTR_E_INVALID : NTR_OK);
            c.start_sync = NTR_SYNC_TRACE_ENABLE;
            c.stop_evcode = (uint8_t)value;
            assert_int_equal(ntr_encoder_config_check(&c, NULL), evcode && !allowed ? NTR_E_INVALID : NTR_OK);
        }
    }
}

static void limits_and_conflicts_are_told(void **state) {
    ntr_encoder *none;
    (void)state;
    static const struct {
        const char *name, *value, *name2, *value2;
        ntr_status status;
        const char *why;
    } BAD[] = {
        {"fifo", "75", NULL, NULL, NTR_E_RANGE, "fifo must be 0, or 76 bytes to 16 MiB"},
        {"src-bits", "2", "src-id", "4", NTR_E_INVALID, "src-id does not fit into src-bits"},
        {"itype-width", "3", "implicit-return", "full", NTR_E_INVALID, "implicit-return needs itype-width 4"},
        {"start-sync", "8", NULL, NULL, NTR_E_INVALID, "start-sync is reserved; reserved-codes sends it all the same"},
        {"stop-evcode", "5", NULL, NULL, NTR_E_INVALID,
         "stop-evcode is reserved; reserved-codes sends it all the same"},
        {"icnt-full", "sync", NULL, NULL, NTR_E_INVALID, "icnt-full sync needs mode btm"},
        {"fifo", "100", "fifo-restart", "101", NTR_E_RANGE, "fifo-restart must be at most the FIFO's size"},
    };
    ntr_encoder_config c;
    const char *why;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        ntr_encoder_config_init(&c);
        c.sink = drop;
        assert_int_equal(ntr_encoder_config_check(&c, &why), NTR_OK);
        assert_int_equal(ntr_encoder_option_set(&c, BAD[i].name, BAD[i].value), NTR_OK);
        if (BAD[i].name2) assert_int_equal(ntr_encoder_option_set(&c, BAD[i].name2, BAD[i].value2), NTR_OK);
        assert_int_equal(ntr_encoder_config_check(&c, &why), BAD[i].status);
        assert_string_equal(why, BAD[i].why);
        assert_int_equal(ntr_encoder_new(&c, &none), BAD[i].status);
    }
    ntr_encoder_config_init(&c);
    assert_int_equal(ntr_encoder_option_set(&c, "xlen", "48"), NTR_E_RANGE); /* the option takes 32 and 64 */
    c.params.xlen = 48;
    assert_int_equal(ntr_encoder_config_check(&c, &why), NTR_E_RANGE);
    assert_string_equal(why, "a stream parameter is outside its limits");
}

/* A zero-filled configuration with its size set has the specification's widths. NT-297, CI-011 */
static void zero_stands_for_the_default(void **state) {
    ntr_encoder *none;
    (void)state;
    ntr_encoder_config c = {.size = sizeof c, .mode = NTR_INST_MODE_HTM, .sink = drop};
    c.params.size = sizeof c.params;
    ntr_encoder *e;
    ntr_status status = ntr_encoder_new(&c, &e);
    assert_int_equal(status, NTR_OK);
    ntr_encoder_free(e);
    c.size = sizeof c.size - 1;
    assert_int_equal(ntr_encoder_new(&c, &none), NTR_E_INVALID);
}

static void reconfigured_while_disabled(void **state) {
    (void)state;
    ntr_encoder_config c;
    ntr_encoder_config_init(&c);
    c.sink = drop;
    ntr_encoder *e;
    ntr_encoder_new(&c, &e);
    ntr_ingress b = {.iaddr = 0x100, .iretire = 2, .ilastsize = 1, .itype = NTR_ITYPE_TAKEN, .cycle = true};
    assert_int_equal(ntr_encoder_push(e, &b), NTR_OK);
    c.mode = NTR_INST_MODE_BTM;
    assert_int_equal(ntr_encoder_reconfigure(e, &c), NTR_E_STATE);
    assert_int_equal(ntr_encoder_set_enable(e, false), NTR_OK);
    assert_int_equal(ntr_encoder_set_tracing(e, true), NTR_E_STATE);
    assert_int_equal(ntr_encoder_reconfigure(e, &c), NTR_OK);
    assert_int_equal(ntr_encoder_set_enable(e, true), NTR_OK);
    ntr_encoder_status s;
    ntr_encoder_status_get(e, &s);
    assert_true(s.enabled && !s.tracing && s.messages == 2);
    assert_int_equal(ntr_encoder_set_tracing(e, true), NTR_OK);
    for (int i = 0; i < 3; i++) assert_int_equal(ntr_encoder_push(e, &b), NTR_OK);
    ntr_encoder_status_get(e, &s);
    assert_int_equal(s.messages, 5); /* BTM now: start, two branches */
    ntr_encoder_free(e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_option),   TEST(options_reach_the_configuration), TEST(limits_and_conflicts_are_told),
        TEST(reserved_codes), TEST(zero_stands_for_the_default),     TEST(reconfigured_while_disabled),
    };
    return cmocka_run_group_tests_name("encoder options", tests, NULL, NULL);
}
