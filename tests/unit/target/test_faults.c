/* Each fault that trace hardware or a connection can have gives its sentence, and leaves nothing enabled. */
#include "rig.h"

static void contains(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("expected \"%s\" in \"%s\"", part, text);
}

typedef struct fault_case {
    defect defect;
    bool hides;
    ntr_status status;
    const char *sentence, *more;
} fault_case;

static const fault_case cases[] = {
    {{.base = RAM, .dead = true},
     false,
     NTR_E_IO,
     "ram at 0x10020000: write of trRamControl failed (sysbus=failed): is this its base? Is system bus access there?",
     ""},
    {{.base = TE0, .open = true},
     false,
     NTR_E_STATE,
     "te0 at 0x10000000: reads 0xffffffff everywhere in its page: no component, or its power domain is off",
     ""},
    {{.base = TE0, .zero = true}, false, NTR_E_STATE, "te0 at 0x10000000: reads 0 everywhere in its page", "no clock"},
    {{.base = TE0, .zero = true}, true, NTR_E_STATE, "reads 0: OpenOCD reports failed reads as 0", "use --openocd"},
    {{.base = TE1, .read_and = {~1u, 0}},
     false,
     NTR_E_STATE,
     "te1 at 0x10001000: trTeActive does not become 1 (0x01000008 after 5 ms): clock gated or powered down?",
     "run the hart first"},
    {{.base = TE1, .read_or = {1, 0}}, false, NTR_E_STATE, "te1 at 0x10001000: trTeActive does not become 0", "reset"},
    {{.base = TE0, .read_and = {0, ~0xf00u}, .read_or = {0, 0x800}},
     false,
     NTR_E_STATE,
     "te0 at 0x10000000: type 8 (funnel), expected 1 (encoder): check the topology; this base would fit f",
     ""},
    {{.base = TE0, .read_and = {0, ~0xf00u}, .read_or = {0, 0x300}},
     false,
     NTR_E_STATE,
     "type 3 (unknown)",
     "check the topology"},
    {{.base = TE0, .read_and = {0, ~0xfu}}, false, NTR_E_STATE, "version 0.0 (Impl 0x00010100)", "--dialect"},
    {{.base = TE0, .read_and = {0, ~0xfu}, .read_or = {0, 2}}, false, NTR_E_STATE, "version 2.0", "not compatible"},
    {{.base = TE0, .read_and = {0, ~0xf0000u}, .read_or = {0, 0x20000}},
     false,
     NTR_E_STATE,
     "te0 at 0x10000000: trace protocol 2.0 (Impl 0x00020101), expected N-Trace 1.x",
     "cannot be decoded as N-Trace 1.0"},
    {{.base = TE0, .read_and = {~0x7000000u, 0}},
     false,
     NTR_E_INVALID,
     "te0 at 0x10000000: trTeFormat stays 0 (E-Trace) after 1: the encoder does not make N-Trace",
     ""},
    {{.base = TE0, .deaf = true},
     false,
     NTR_E_INVALID,
     "trTeInstMode stays 0 after 3 and 6: writes have no effect",
     "PhyMemMode"},
    {{.base = RAM, .read_and = {~2u, 0}},
     false,
     NTR_E_STATE,
     "ram at 0x10020000: trRamEnable stays 0: Start 0x0 Limit 0xffc",
     ""},
    {{.base = FUNNEL_BASE, .read_and = {~2u, 0}}, false, NTR_E_STATE, "f at 0x10010000: trFunnelEnable stays 0", ""},
    {{.base = RAM, .read_and = {~8u, 0}}, false, NTR_E_STATE, "trRamEmpty", ""},
};

static void check_case(const fault_case *one) {
    static target_rig r;
    r = (target_rig){.defect = one->defect, .hides = one->hides};
    rig_open(&r, rig_topology, rig_topology);
    if (one->defect.deaf) { /* hardware whose trTeInstMode has no reset value */
        r.defect.read_and[0] = ~0x70u;
    }
    assert_int_equal(ntr_target_start(r.target), one->status);
    contains(ntr_target_error(r.target), one->sentence);
    contains(ntr_target_error(r.target), one->more);
    ntr_target_stop(r.target);
    rig_all_disabled(&r, one->sentence);
    rig_close(&r);
}

/* NT-096, NT-098, CI-056, CI-057, CI-060, CI-061, CI-237, CI-239, CI-240, CI-254 */
static void test_start(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) check_case(&cases[i]);
}

/* A newer minor version is used, and said; the other components have 1.0 and are used without a word. A newer minor
 * version of the trace protocol is compatible. NT-100, CI-052, CI-058, CI-059 */
static void test_minor(void **state) {
    static target_rig r;
    (void)state;
    r = (target_rig){.defect = {.base = TE0, .read_or = {0, 0x300030}}};
    rig_open(&r, rig_topology, rig_topology);
    assert_int_equal(ntr_target_start(r.target), NTR_OK);
    assert_string_equal(r.notes,
                        "te0 at 0x10000000: version 1.3 is newer than 1.0; only the features of 1.0 are used\n");
    ntr_target_stop(r.target);
    r.defect.read_or[1] = 0xf0;
    assert_int_equal(ntr_target_start(r.target), NTR_OK);
    contains(r.notes, "version 1.15 is experimental");
    ntr_target_stop(r.target);
    rig_close(&r);
}

/* Another version is used only if the caller wants it. */
static void test_any_version(void **state) {
    static target_rig r;
    (void)state;
    r = (target_rig){.defect = {.base = TE0, .read_and = {0, ~0xf000fu}, .read_or = {0, 0x70015}}, .any_version = true};
    rig_open(&r, rig_topology, rig_topology);
    assert_int_equal(ntr_target_start(r.target), NTR_OK);
    contains(r.notes, "te0 at 0x10000000: version 5.1 is used as 1.0");
    contains(r.notes, "te0 at 0x10000000: trace protocol 7.0 is used as N-Trace 1.0");
    ntr_target_stop(r.target);
    rig_close(&r);
}

/* What does not become empty is named with its receiver, and the others are disabled. */
static void test_not_empty(void **state) {
    static target_rig r;
    (void)state;
    r = (target_rig){0};
    rig_open(&r, rig_topology, rig_topology);
    assert_int_equal(ntr_target_start(r.target), NTR_OK);
    rig_execute(&r, 10);
    r.defect = (defect){.base = FUNNEL_BASE, .read_and = {~8u, 0}};
    assert_int_equal(ntr_target_stop(r.target), NTR_E_STATE);
    contains(r.notes, "f at 0x10010000: trFunnelEmpty stays 0 for 5 ms while ram has Enable=1: data cannot leave");
    rig_all_disabled(&r, "not empty");
    rig_close(&r);
}

/* Two encoders with the same SRC are refused before anything is enabled. NT-360 */
static void test_sources(void **state) {
    static target_rig r;
    (void)state;
    r = (target_rig){0};
    rig_open(&r, rig_topology, rig_topology);
    assert_int_equal(ntr_target_set(r.target, 0, "trTeSrcID", 0, 1), NTR_OK);
    assert_int_equal(ntr_target_start(r.target), NTR_E_INVALID);
    contains(ntr_target_error(r.target),
             "its messages cannot be told from those of te1: trTeSrcBits 1 and 1, trTeSrcID 1 and 1");
    rig_all_disabled(&r, "same SRC");
    assert_int_equal(ntr_target_set(r.target, 0, "trTeSrcID", 0, 0), NTR_OK);
    assert_int_equal(ntr_target_set_option(r.target, "src-bits", "0"), NTR_OK);
    assert_int_equal(ntr_target_start(r.target), NTR_E_INVALID);
    contains(ntr_target_error(r.target), "trTeSrcBits 0 and 0");
    rig_close(&r);
}

/* Options that the hardware does not have. */
static void test_options(void **state) {
    static target_rig r;
    (void)state;
    r = (target_rig){0};
    rig_open(&r, rig_topology, rig_topology);
    assert_int_equal(ntr_target_set_option(r.target, "icnt-bits", "8"), NTR_E_UNSUPPORTED);
    assert_int_equal(ntr_target_set_option(r.target, "mode", "etm"), NTR_E_SYNTAX);
    assert_int_equal(ntr_target_set(r.target, 3, "trTeInstMode", 0, 3), NTR_E_NAME);
    assert_int_equal(ntr_target_set(r.target, 0, "trTeInstMode", 0, 8), NTR_E_RANGE);
    assert_int_equal(ntr_target_set_option(r.target, "all-jumps", NULL), NTR_OK); /* the typical preset has none */
    assert_int_equal(ntr_target_start(r.target), NTR_E_STATE);
    contains(ntr_target_error(r.target), "trTeInstEnAllJumps rejects the value 1 (reads back 0)");
    ntr_target_stop(r.target);
    rig_all_disabled(&r, "rejected option");
    rig_close(&r);
}

/* A sink in SMEM mode without a buffer would write somewhere. */
static void test_buffer(void **state) {
    static target_rig r;
    static const char smem[] =
        "{\"components\": [{\"name\": \"te0\", \"type\": \"encoder\", \"base\": \"0x10000000\", \"hart\": 0, \"to\": \"ram\"},"
        "{\"name\": \"ram\", \"type\": \"ram\", \"base\": \"0x10020000\", \"sram\": 0, \"smem\": true}]}";
    uint32_t low;
    (void)state;
    r = (target_rig){0};
    rig_open(&r, smem, smem);
    assert_int_equal(ntr_target_start(r.target), NTR_E_INVALID);
    contains(ntr_target_error(r.target), "--buffer ADDRESS:SIZE");
    assert_int_equal(ntr_target_set_buffer(r.target, 0, 0x80000000, 4096), NTR_E_INVALID);
    assert_int_equal(ntr_target_set_buffer(r.target, 1, 0x80000002, 4096), NTR_E_RANGE);
    assert_int_equal(ntr_target_set_buffer(r.target, 1, UINT64_MAX - 3, 4096), NTR_E_RANGE);
    assert_int_equal(ntr_target_set_buffer(r.target, 1, 0x80000000, 4096), NTR_OK);
    assert_int_equal(ntr_target_start(r.target), NTR_OK);
    assert_int_equal(ntr_system_read32(r.model, RAM + NTR_RAM_LIMIT_LOW, &low), NTR_OK);
    assert_int_equal(low, 0x80000ffc);
    ntr_target_stop(r.target);
    rig_close(&r);
}

/* Lost trace and triggers are seen while trace runs; nothing stored is explained. */
static void test_state(void **state) {
    static target_rig r;
    ntr_target_state seen;
    ntr_target_content content;
    size_t bytes = 0;
    (void)state;
    r = (target_rig){0};
    rig_open(&r, rig_topology, rig_topology);
    assert_int_equal(ntr_target_start(r.target), NTR_OK);
    assert_int_equal(ntr_target_poll(r.target, &seen), NTR_OK);
    assert_int_equal(seen.tracing, 2);
    assert_int_equal(seen.capacity, 4096);
    assert_int_equal(seen.stored, 0);
    ntr_target_explain_empty(r.target);
    contains(r.notes, "te1 at 0x10001000: trTeInstMode 6, trTeInstFilters 0x0, trTeEmpty 1");
    contains(r.notes, "f at 0x10010000: trFunnelDisInput 0x0");
    r.defect = (defect){.base = TE0, .read_and = {~4u, 0}, .read_or = {1 << 12, 0}};
    assert_int_equal(ntr_target_poll(r.target, &seen), NTR_OK);
    assert_int_equal(seen.tracing, 1);
    assert_true(seen.lost);
    contains(r.notes, "te0 at 0x10000000: trTeInstTracing became 0 by itself");
    r.defect = (defect){0};
    rig_execute(&r, 20);
    assert_int_equal(ntr_target_stop(r.target), NTR_OK);
    contains(r.notes, "te0 at 0x10000000: lost trace or stalled its hart");
    assert_int_equal(ntr_target_read(r.target, 3, rig_count, &bytes, &content), NTR_OK);
    assert_true(bytes > 0 && content.verified && !content.cut);
    assert_int_equal(bytes, content.window.wp - content.window.start);
    assert_int_equal(ntr_target_read(r.target, 0, rig_count, &bytes, &content), NTR_E_INVALID);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_start),     TEST(test_minor),   TEST(test_any_version),
                                       TEST(test_not_empty), TEST(test_sources), TEST(test_options),
                                       TEST(test_buffer),    TEST(test_state)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
