/* The order in which a capture accesses registers (Trace Control sections 6.4, 8.1 and 10): every access is recorded.
 */
#include "rig.h"

enum { LOG = 1 << 16, SMEM = 0x10030000, PIB_SINK = 0x10040000, CONTROL_ENABLE = 2 };

static struct rig_access accesses[LOG];

/* A funnel in front of a RAM sink in SMEM mode and of a PIB sink; one funnel input has a sender that is not used. */
static const char topology[] =
    "{\"components\": ["
    "{\"name\": \"te0\", \"type\": \"encoder\", \"base\": \"0x10000000\", \"hart\": 0, \"preset\": \"maximal\","
    " \"to\": \"f\", \"ts_source\": \"f\"},"
    "{\"name\": \"te1\", \"type\": \"encoder\", \"base\": \"0x10001000\", \"hart\": 1, \"preset\": \"maximal\","
    " \"to\": \"f\", \"ts_source\": \"f\"},"
    "{\"name\": \"f\", \"type\": \"funnel\", \"base\": \"0x10010000\", \"preset\": \"maximal\","
    " \"to\": [\"ram\", \"pib\"]},"
    "{\"name\": \"ram\", \"type\": \"ram\", \"base\": \"0x10030000\", \"sram\": 0, \"smem\": true,"
    " \"address_bits\": 40, \"stop_on_wrap\": true, \"start_align\": 4096, \"limit_fixed\": false,"
    " \"set\": {\"trRamStopOnWrap\": 1}},"
    "{\"name\": \"pib\", \"type\": \"pib\", \"base\": \"0x10040000\", \"preset\": \"maximal\"}]}";

static void begin(target_rig *r) {
    *r = (target_rig){.log = accesses, .log_size = LOG};
    rig_open(r, topology, topology);
}

/* The first access from `from` on that fits; fails when there is none. `mask`: of the bits that must be `value`. */
static size_t find(const target_rig *r, size_t from, bool wrote, uint64_t address, uint32_t mask, uint32_t value) {
    for (size_t i = from; i < r->logged; i++)
        if (accesses[i].wrote == wrote && accesses[i].address == address && (accesses[i].value & mask) == value)
            return i;
    fail_msg("no %s of 0x%llx with 0x%x in 0x%x", wrote ? "write" : "read", (unsigned long long)address, value, mask);
    return 0;
}

static size_t written(const target_rig *r, uint64_t address, uint32_t mask, uint32_t value) {
    return find(r, 0, true, address, mask, value);
}

static bool is_enabled_by(const struct rig_access *one, uint64_t base) {
    return one->wrote && one->address == base && one->value & CONTROL_ENABLE;
}

/* Active is written 0 and read as 0, then written 1 and read as 1, before anything else of a component is accessed.
 * CI-038, CI-064, CI-235, CI-237, CI-238, CI-239 */
static void reset_comes_first(void **state) {
    static const uint64_t bases[] = {TE0, TE1, FUNNEL_BASE, SMEM, PIB_SINK};
    static target_rig r;
    (void)state;
    begin(&r);
    assert_int_equal(ntr_target_set_buffer(r.target, 3, 0x80000000, 0x10000), NTR_OK);
    assert_int_equal(ntr_target_start(r.target), NTR_OK);
    for (size_t b = 0; b < 5; b++) {
        const size_t off = find(&r, 0, true, bases[b], ~0u, 0), is_off = find(&r, off, false, bases[b], 1, 0);
        const size_t on = find(&r, is_off, true, bases[b], ~0u, 1), is_on = find(&r, on, false, bases[b], 1, 1);
        const size_t type = find(&r, is_on, false, bases[b] + 4, 0, 0);
        for (size_t i = 0; i < r.logged; i++) {
            if (accesses[i].address <= bases[b] || accesses[i].address - bases[b] >= RIG_PAGE) continue;
            assert_true(i > is_on);
            if (accesses[i].wrote) assert_true(i > type); /* version and type are known before */
        }
    }
    assert_int_equal(ntr_target_stop(r.target), NTR_OK);
    rig_close(&r);
}

/* Registers that a reset may leave as they were are written with 0, and only then with settings.
 * CI-007, CI-054, CI-098, CI-241 */
static void known_values(void **state) {
    static const uint64_t cleared[] = {TE0 + NTR_TE_INST_FEATURES,        TE0 + NTR_TE_INST_FILTERS,
                                       TE0 + NTR_TE_DATA_CONTROL,         TE0 + NTR_TE_DATA_FILTERS,
                                       TE0 + NTR_TE_TRIG_DBG_CONTROL,     TE0 + NTR_TE_TRIG_EXT_IN_CONTROL,
                                       TE0 + NTR_TE_TRIG_EXT_OUT_CONTROL, TE0 + NTR_TS_CONTROL,
                                       FUNNEL_BASE + NTR_TS_CONTROL,      FUNNEL_BASE + NTR_FUNNEL_DIS_INPUT};
    static target_rig r;
    (void)state;
    begin(&r);
    assert_int_equal(ntr_target_set_buffer(r.target, 3, 0x80000000, 0x10000), NTR_OK);
    assert_int_equal(ntr_target_start(r.target), NTR_OK);
    for (size_t i = 0; i < sizeof cleared / sizeof cleared[0]; i++) {
        const uint64_t control = cleared[i] & ~(uint64_t)(RIG_PAGE - 1);
        const size_t at = find(&r, find(&r, 0, true, control, ~0u, 1), true, cleared[i], ~0u, 0);
        for (size_t k = 0; k < at; k++) assert_false(accesses[k].wrote && accesses[k].address == cleared[i]);
        for (size_t k = 0; k < at; k++) assert_false(is_enabled_by(&accesses[k], control));
    }
    for (size_t i = 0; i < r.logged; i++) { /* reserved bits of encoder and sink are 0 in whatever is written */
        if (accesses[i].wrote && accesses[i].address == TE0) assert_int_equal(accesses[i].value & 0xf80c4580, 0);
        if (accesses[i].wrote && accesses[i].address == SMEM) assert_int_equal(accesses[i].value & 0xffff88e4, 0);
    }
    assert_int_equal(ntr_target_stop(r.target), NTR_OK);
    rig_close(&r);
}

/* trRamMode, then Start, then Limit, then the write pointer, then Enable; nothing of them while the sink works; nothing
 * outside of the buffer that was given. CI-180, CI-183, CI-184, CI-185, CI-187, CI-188 */
static void ram_sink(void **state) {
    static target_rig r;
    (void)state;
    begin(&r);
    assert_int_equal(ntr_target_set_buffer(r.target, 3, 0x123450000, 0x10000), NTR_OK);
    assert_int_equal(ntr_target_start(r.target), NTR_OK);
    const size_t empty = find(&r, 0, false, SMEM, 9, 9), type = find(&r, 0, false, SMEM + NTR_RAM_IMPL, 0, 0);
    const size_t mode = written(&r, SMEM, 0x10, 0x10), stop = written(&r, SMEM, 0x100, 0x100);
    const size_t start = written(&r, SMEM + NTR_RAM_START_LOW, ~3u, 0x23450000);
    const size_t limit = written(&r, SMEM + NTR_RAM_LIMIT_LOW, ~3u, 0x2345fffc);
    const size_t pointer = written(&r, SMEM + NTR_RAM_WP_LOW, ~0u, 0x23450000);
    const size_t enable = written(&r, SMEM, CONTROL_ENABLE, CONTROL_ENABLE);
    assert_true(empty < mode && type < mode && mode < stop && mode < start && start < limit);
    assert_true(written(&r, SMEM + NTR_RAM_START_HIGH, ~0u, 1) < limit && limit < pointer && pointer < enable);
    for (size_t i = 0; i < r.logged; i++) {
        const uint64_t offset = accesses[i].address - SMEM;
        if (!accesses[i].wrote || offset < NTR_RAM_START_LOW || offset > NTR_RAM_WP_HIGH) continue;
        assert_true(i > mode && i < enable);
        if (offset == NTR_RAM_START_LOW || offset == NTR_RAM_LIMIT_LOW)
            assert_true((accesses[i].value & ~3u) == 0x23450000 || (accesses[i].value & ~3u) == 0x2345fffc);
    }
    find(&r, limit, false, SMEM + NTR_RAM_LIMIT_LOW, ~0u, 0x2345fffc); /* read back */
    rig_execute(&r, 10);
    assert_int_equal(ntr_target_stop(r.target), NTR_OK);
    rig_close(&r);
}

/* Hardware that keeps less than what the topology says is named. CI-184 */
static void trimmed_buffer(void **state) {
    static target_rig r;
    (void)state;
    r = (target_rig){0};
    static char smaller[sizeof rig_topology];
    memcpy(smaller, rig_topology, sizeof smaller);
    memcpy(strstr(smaller, "4096"), "1024", 4);
    rig_open(&r, rig_topology, smaller);
    assert_int_equal(ntr_target_start(r.target), NTR_OK);
    assert_string_equal(r.notes,
                        "ram at 0x10020000: the buffer is not that of the topology: Start 0x0 Limit 0x3fc, not "
                        "0x0 and 0xffc\n");
    assert_int_equal(ntr_target_stop(r.target), NTR_OK);
    rig_close(&r);
}

/* Sinks before the funnel, the funnel before encoders, when they are activated and when they are enabled; each Enable
 * is read back; all settings of an encoder come before its Enable, trTeInstTracing is set by a write of its own behind
 * it. CI-067, CI-084, CI-111, CI-210, CI-243, CI-244, CI-245, CI-246, and CI-233: 4 pins are preferred */
static void from_the_sinks_to_the_encoders(void **state) {
    static const uint64_t bases[] = {SMEM, PIB_SINK, FUNNEL_BASE, TE0, TE1};
    static target_rig r;
    size_t on[5], enabled[5];
    (void)state;
    begin(&r);
    assert_int_equal(ntr_target_set_buffer(r.target, 3, 0x80000000, 0x10000), NTR_OK);
    assert_int_equal(ntr_target_set_option(r.target, "filter", "addr=0x80000000-0x80000fff,priv=m"), NTR_OK);
    assert_int_equal(ntr_target_start(r.target), NTR_OK);
    for (size_t b = 0; b < 5; b++) {
        on[b] = written(&r, bases[b], ~0u, 1);
        enabled[b] = written(&r, bases[b], CONTROL_ENABLE, CONTROL_ENABLE);
        find(&r, enabled[b], false, bases[b], CONTROL_ENABLE, CONTROL_ENABLE);
    }
    for (size_t b = 0; b < 5; b++) assert_true(on[b] < enabled[0] && on[b] < enabled[1]);
    assert_true(on[0] < on[2] && on[1] < on[2] && on[2] < on[3] && on[2] < on[4]);
    assert_true(enabled[0] < enabled[2] && enabled[1] < enabled[2] && enabled[2] < enabled[3] &&
                enabled[2] < enabled[4]);
    const size_t tracing = find(&r, enabled[3], true, TE0, 4, 4);
    assert_true(tracing > enabled[3]);
    for (size_t i = 0; i < r.logged; i++) { /* settings: before Enable; Control: not again after tracing began */
        const bool of_encoder = accesses[i].wrote && accesses[i].address - TE0 < RIG_PAGE;
        if (of_encoder && accesses[i].address != TE0) assert_true(i < enabled[3]);
        if (of_encoder && accesses[i].address == TE0) assert_true(i <= tracing);
        if (of_encoder && i < enabled[3]) assert_int_equal(accesses[i].address == TE0 && accesses[i].value & 6, 0);
    }
    const size_t mode = written(&r, PIB_SINK, 0xf0, 10 << 4); /* the pins are set before they carry anything */
    assert_true(on[1] < mode && mode < enabled[1]);
    assert_int_equal(ntr_target_stop(r.target), NTR_OK);
    rig_close(&r);
}

/* A filter's match values are written before the bits that use them. CI-134 */
static void match_values_first(void **state) {
    static target_rig r;
    (void)state;
    begin(&r);
    assert_int_equal(ntr_target_set_buffer(r.target, 3, 0x80000000, 0x10000), NTR_OK);
    assert_int_equal(ntr_target_set_option(r.target, "filter", "addr=0x80000000-0x80000fff,priv=m"), NTR_OK);
    assert_int_equal(ntr_target_start(r.target), NTR_OK);
    const size_t on = written(&r, TE0 + 0x400, 1, 1), selected = written(&r, TE0 + NTR_TE_INST_FILTERS, 1, 1);
    const size_t matches = written(&r, TE0 + 0x400, 0x10, 0x10), privilege = written(&r, TE0 + 0x400, 2, 2);
    assert_true(written(&r, TE0 + 0x610, ~0u, 0x80000000) < matches);
    assert_true(written(&r, TE0 + 0x618, ~0u, 0x80000fff) < matches);
    assert_true(written(&r, TE0 + 0x404, 0xff, 1 << 3) < privilege);
    assert_true(written(&r, TE0 + 0x600, 0x3000, 0x1000) < matches && privilege < selected && on < selected);
    assert_int_equal(ntr_target_stop(r.target), NTR_OK);
    rig_close(&r);
}

/* Encoders are disabled first, each component when those before it are empty, although the harts are halted; then the
 * write pointer and its wrap bit are read, and nothing is read while Enable is 1. CI-066, CI-189, CI-247, CI-249,
 * CI-251 */
static void from_the_encoders_to_the_sinks(void **state) {
    static const uint64_t bases[] = {TE0, TE1, FUNNEL_BASE, RAM};
    static target_rig r;
    ntr_target_state now;
    ntr_target_content content;
    size_t size = 0;
    (void)state;
    r = (target_rig){.log = accesses, .log_size = LOG};
    rig_open(&r, rig_topology, rig_topology);
    assert_int_equal(ntr_target_start(r.target), NTR_OK);
    rig_execute(&r, 600);
    r.logged = 0;
    assert_int_equal(ntr_target_poll(r.target, &now), NTR_OK); /* looking changes nothing */
    for (size_t i = 0; i < r.logged; i++) assert_false(accesses[i].wrote);
    find(&r, 0, false, TE0, 4, 4);
    find(&r, 0, false, RAM, 0, 0);
    assert_int_equal(ntr_target_stop(r.target), NTR_OK);
    size_t before = 0, done[2];
    for (size_t b = 0; b < 2; b++) /* in any order */
        done[b] = find(&r, find(&r, 0, true, bases[b], CONTROL_ENABLE, 0), false, bases[b], CONTROL_ENABLE | 8, 8);
    before = done[0] > done[1] ? done[0] : done[1];
    for (size_t b = 2; b < 4; b++) {
        const size_t off = find(&r, 0, true, bases[b], CONTROL_ENABLE, 0);
        assert_true(off > before);
        before = find(&r, off, false, bases[b], CONTROL_ENABLE | 8, 8);
    }
    r.logged = 0;
    assert_int_equal(ntr_target_read(r.target, 3, rig_count, &size, &content), NTR_OK);
    assert_true(content.wrapped && content.cut && size == 4096);
    const size_t enable = find(&r, 0, false, RAM, CONTROL_ENABLE | 8, 8),
                 pointer = find(&r, enable, false, RAM + NTR_RAM_WP_LOW, 1, 1);
    assert_true(pointer < find(&r, 0, false, RAM + NTR_RAM_DATA, 0, 0));
    rig_close(&r);
}

/* The read pointer is written and read back: when it stays as it was, memory is read. CI-186, CI-190 */
static void read_pointer_decides(void **state) {
    static target_rig r;
    ntr_target_content content;
    size_t size = 0;
    (void)state;
    r = (target_rig){.log = accesses, .log_size = LOG};
    rig_open(&r, rig_topology, rig_topology);
    assert_int_equal(ntr_target_start(r.target), NTR_OK);
    rig_execute(&r, 20);
    assert_int_equal(ntr_target_stop(r.target), NTR_OK);
    r.logged = 0;
    assert_int_equal(ntr_target_read(r.target, 3, rig_count, &size, &content), NTR_OK);
    const size_t pointer = written(&r, RAM + NTR_RAM_RP_LOW, ~0u, 0);
    assert_true(pointer < find(&r, pointer, false, RAM + NTR_RAM_RP_LOW, ~0u, 0));
    assert_true(find(&r, pointer, false, RAM + NTR_RAM_DATA, 0, 0) && content.verified && size);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(reset_comes_first),
                                       TEST(known_values),
                                       TEST(ram_sink),
                                       TEST(trimmed_buffer),
                                       TEST(from_the_sinks_to_the_encoders),
                                       TEST(match_values_first),
                                       TEST(from_the_encoders_to_the_sinks),
                                       TEST(read_pointer_decides)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
