/* Errors in a topology are reported with position, what was expected and what was found. */
#include "../test.h"
#include "topologies.h"

#define RAM         "{\"name\":\"r\",\"type\":\"ram\",\"base\":4096}"
#define TE(more)    "{\"name\":\"t\",\"type\":\"encoder\",\"base\":0,\"hart\":0" more "}"
#define LIST(items) "{\"components\":[" items "]}"

static const struct {
    const char *json, *error;
} wrong[] = {
    {"", "line 1, column 0: '[' or '{' expected near end of file"},
    {"[]", "expected an object"},
    {"{}", "components: expected a list of at least one component"},
    {"{\"component\":[]}", "expected only the keys components and about"},
    {LIST("5"), "components[0]: expected an object"},
    {LIST("{}"), "components[0].name: is required"},
    {LIST("{\"name\":5}"), "components[0].name: expected text, found 5"},
    {LIST("{\"name\":\"a:b\"}"),
     "components[0].name: expected letters, digits and _ . - (at most 64, first no -), found \"a:b\""},
    {LIST("{\"name\":\"a\",\"type\":\"sink\"}"),
     "components[0].type: expected encoder, funnel, ram, pib, atb, csfunnel, etb, etf, etr or tmc, found \"sink\""},
    {LIST("{\"name\":\"a\",\"type\":\"ram\"}"), "components[0].base: is required"},
    {LIST("{\"name\":\"a\",\"type\":\"ram\",\"base\":\"0x1004\"}"),
     "components[0].base: expected a multiple of 0x1000, found \"0x1004\""},
    {LIST(RAM "," RAM), "components[1].name: \"r\" is already in use"},
    {LIST(RAM ",{\"name\":\"a\",\"type\":\"pib\",\"base\":4096}"),
     "components[1].base: 0x1000 is already the base of \"r\""},
    {LIST("{\"name\":\"a\",\"type\":\"ram\",\"base\":0,\"fiffo\":1}"),
     "components[0].fiffo: no such key for a component of type \"ram\""},
    {LIST("{\"name\":\"a\",\"type\":\"ram\",\"base\":0,\"fifo\":12}"),
     "components[0].fifo: expected a number from 128 to 16777216, found 12"},
    {LIST("{\"name\":\"a\",\"type\":\"ram\",\"base\":0,\"fifo\":\"1x\"}"),
     "components[0].fifo: expected a number from 128 to 16777216, found \"1x\""},
    {LIST("{\"name\":\"a\",\"type\":\"ram\",\"base\":0,\"smem\":1}"),
     "components[0].smem: expected true or false, found 1"},
    {LIST("{\"name\":\"a\",\"type\":\"ram\",\"base\":0,\"sram\":100}"),
     "components[0].sram: expected 0 or a power of two of at least 64"},
    {LIST(
         "{\"name\":\"a\",\"type\":\"ram\",\"base\":0,\"sram\":256,\"smem\":false,\"smem_start\":4096,\"smem_size\":4096}"),
     "components[0].smem_size: smem_start and smem_size need SMEM mode (smem)"},
    {LIST("{\"name\":\"a\",\"type\":\"ram\",\"base\":0,\"smem_start\":\"0xffffffff90000000\",\"smem_size\":4096}"),
     "components[0].smem_start: expected an address of at most `address_bits` bits, also at the end of the buffer"},
    {LIST("{\"name\":\"a\",\"type\":\"ram\",\"base\":0,\"smem_start\":\"0xfffff000\",\"smem_size\":8192}"),
     "components[0].smem_start: expected an address of at most `address_bits` bits, also at the end of the buffer"},
    {LIST("{\"name\":\"a\",\"type\":\"ram\",\"base\":0,\"preset\":\"huge\"}"),
     "components[0].preset: expected minimal, typical or maximal, found \"huge\""},
    {LIST("{\"name\":\"a\",\"type\":\"ram\",\"base\":0,\"to\":\"x\"}"), "components[0].to: a sink has no output"},
    {LIST("{\"name\":\"a\",\"type\":\"atb\",\"base\":0,\"width\":3}"), "components[0].width: expected a power of two"},
    {LIST("{\"name\":\"a\",\"type\":\"atb\",\"base\":0,\"width\":32}"),
     "components[0].width: expected a number from 1 to 16, found 32"},
    {LIST(TE()), "components[0].to: is required: the receiver of the trace"},
    {LIST(TE(",\"to\":[]")), "components[0].to: is required: the receiver of the trace"},
    {LIST(TE(",\"to\":5")), "components[0].to: expected the name of a component, found 5"},
    {LIST(TE(",\"to\":\"x\"")), "components[0].to: no component \"x\""},
    {LIST(TE(",\"to\":\"t\"")), "components[0].to: \"t\" is an encoder and has no input"},
    {LIST(RAM "," TE(",\"to\":\"r:1\"")), "components[1].to: \"r:1\": expected an input from 0 to 0"},
    {LIST(RAM "," TE(",\"to\":\"r\"") ",{\"name\":\"u\",\"type\":\"encoder\",\"base\":8192,\"hart\":1,\"to\":\"r\"}"),
     "components[2].to: \"r\": input 0 is already connected; several senders need a funnel"},
    {LIST(RAM "," TE(",\"to\":\"r\"") ",{\"name\":\"u\",\"type\":\"encoder\",\"base\":8192,\"hart\":0,\"to\":\"r\"}"),
     "components[2].hart: hart 0 is already traced by \"t\""},
    {LIST(RAM ",{\"name\":\"u\",\"type\":\"encoder\",\"base\":8192,\"to\":\"r\"}"),
     "components[1].hart: an encoder needs its hart"},
    {LIST(TE(",\"modes\":[5],\"to\":\"r\"")), "components[0].modes: expected 3, 6 or both"},
    {LIST(TE(",\"modes\":[9],\"to\":\"r\"")), "components[0].modes: expected a number from 3 to 6, found 9"},
    {LIST(TE(",\"modes\":3,\"to\":\"r\"")), "components[0].modes: expected a list of numbers, found 3"},
    {LIST(TE(",\"itype_width\":3,\"to\":\"r\"")), "components[0].itype_width: implicit_return needs itype_width 4"},
    {LIST(
         "{\"name\":\"a\",\"type\":\"funnel\",\"base\":0,\"to\":\"b\"},{\"name\":\"b\",\"type\":\"funnel\",\"base\":4096,\"to\":\"a\"}"),
     "the connections form a cycle"},
    {LIST(RAM "," TE(",\"to\":\"r\",\"ts_source\":\"r\"")),
     "components[1].ts_source: expected the name of an encoder or funnel with a timestamp unit"},
    {LIST(RAM "," TE(",\"to\":\"r\",\"ts_source\":\"t\"")), "components[1].ts_source: circular timestamp source"},
    {LIST(RAM "," TE(",\"to\":\"r\",\"set\":{\"trPibMode\":1}")),
     "components[1].set: \"trPibMode\" is not a field of this component"},
    {LIST(RAM "," TE(",\"to\":\"r\",\"set\":{\"trTeInstMode\":8}")),
     "components[1].set: trTeInstMode: expected a number from 0 to 7, found 8"},
};

/* NT-001, NT-029, NT-057, NT-108, CI-012, CI-016, CI-019, CI-022, CI-029 */
static void errors(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char error[256];
        ntr_status status;
        const ntr_system_config config = {.size = sizeof config,
                                          .error = error,
                                          .error_size = sizeof error,
                                          .topology = {(const uint8_t *)wrong[i].json, strlen(wrong[i].json)}};
        ntr_system *none;
        status = ntr_system_new(&config, &none);
        if (none) fail_msg("accepted: %s", wrong[i].json);
        assert_string_equal(error, wrong[i].error);
        assert_true(status == NTR_E_FORMAT || status == NTR_E_SYNTAX);
    }
}

/* A value that the hardware does not accept is reported by ntr_system_start. */
static void settings(void **state) {
    (void)state;
    ntr_system_config config = {0};
    ntr_system *s =
        new_system(LIST(RAM "," TE(",\"preset\":\"minimal\",\"to\":\"r\",\"set\":{\"trTeInstMode\":6}")), &config);
    assert_int_equal(ntr_system_start(s), NTR_E_STATE);
    assert_string_equal(ntr_system_error(s), "t: trTeInstMode rejects the value 6");
    ntr_system_free(s);
    s = new_system(LIST(RAM "," TE(",\"to\":[\"r\"],\"set\":{\"trTeInstMode\":3,\"trTeInstSyncMax\":2}")), &config);
    assert_int_equal(ntr_system_start(s), NTR_OK);
    assert_int_equal(read32(s, 0) & 0x00f00077, 0x00200037);
    ntr_system_free(s);
}

/* Every byte of a good topology changed to others: a system or a reason, never more. */
static void damaged(void **state) {
    (void)state;
    static const char good[] =
        LIST(RAM "," TE(",\"to\":[\"r\"],\"modes\":[3,6],\"set\":{\"trTeInstMode\":3},\"fifo\":200"));
    static const char others[] = "\0\"{}[],:0-x";
    for (size_t at = 0; at < sizeof good - 1; at++)
        for (size_t k = 0; k < sizeof others; k++) {
            char text[sizeof good], error[256];
            memcpy(text, good, sizeof good);
            text[at] = others[k];
            const ntr_system_config config = {.size = sizeof config,
                                              .error = error,
                                              .error_size = sizeof error,
                                              .topology = {(const uint8_t *)text, sizeof good - 1}};
            ntr_system *system;
            ntr_system_new(&config, &system);
            assert_true(system || error[0]);
            ntr_system_free(system);
        }
}

/* The reader of JSON takes many times as much memory as the text: the text has a limit. */
static void too_long(void **state) {

    (void)state;
    static uint8_t text[(1 << 20) + 1];
    char error[256];
    ntr_system *none;
    const ntr_system_config config = {
        .size = sizeof config, .error = error, .error_size = sizeof error, .topology = {text, sizeof text}};
    memset(text, '[', sizeof text);
    assert_int_equal(ntr_system_new(&config, &none), NTR_E_LIMIT);
    assert_string_equal(error, "a topology has at most 1 MiB");
}

static void inventory(void **state) {
    (void)state;
    ntr_system_config config = {0};
    ntr_system_component info;
    ntr_system *s = new_system(LIST(RAM "," TE(",\"to\":\"r\"")), &config);
    assert_int_equal(ntr_system_component_get(s, 0, &info), NTR_OK);
    assert_string_equal(info.name, "r");
    assert_int_equal(info.kind, NTR_COMPONENT_RAM);
    assert_int_equal(info.base, 4096);
    assert_int_equal(info.hart, -1);
    assert_int_equal(ntr_system_component_get(s, 1, &info), NTR_OK);
    assert_int_equal(info.hart, 0);
    assert_int_equal(ntr_system_component_get(s, 2, &info), NTR_END);
    uint32_t word;
    assert_int_equal(ntr_system_read32(s, 0x2000, &word), NTR_E_RANGE);
    assert_int_equal(ntr_system_read32(s, 2, &word), NTR_E_INVALID);
    assert_int_equal(ntr_system_write32(s, 1ull << 40, 0), NTR_E_RANGE);
    ntr_system_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(errors), TEST(settings), TEST(damaged), TEST(too_long), TEST(inventory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
