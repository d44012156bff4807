/* messages.def and values.def against lists that are typed here from the specification. */
#include "../test.h"
#include "message/sets.h"
#include "message/table.h"
#include "message/values.h"

#include <stdio.h>
#include <string.h>

static uint64_t tcodes(const int *list) {
    uint64_t set = 0;
    for (; *list >= 0; list++) set |= UINT64_C(1) << *list;
    return set;
}
#define TCODES(...) tcodes((const int[]){__VA_ARGS__, -1})

/* N-Trace 1.0 section 3; docs/dialects.md section 2. */
static void roles_are_those_of_the_specification(void **state) {
    (void)state;
    assert_int_equal(ntr_tcodes_of_role(NTR_ROLE_SYNC), TCODES(9, 11, 12, 29));
    assert_int_equal(ntr_tcodes_of_role(NTR_ROLE_BRANCH), TCODES(3, 4, 28));
    assert_int_equal(ntr_tcodes_of_role(NTR_ROLE_REPEAT), TCODES(30));
    assert_int_equal(ntr_tcodes_of_role(NTR_ROLE_RESOURCE), TCODES(27));
    assert_int_equal(ntr_tcodes_of_role(NTR_ROLE_STOP), TCODES(33));
    assert_int_equal(ntr_tcodes_of_role(NTR_ROLE_LOSS), TCODES(8));
    assert_int_equal(ntr_tcodes_of_role(NTR_ROLE_CONTEXT), TCODES(2));
    assert_int_equal(ntr_tcodes_of_role(NTR_ROLE_DATA), TCODES(7, 23));
    assert_int_equal(ntr_tcodes_of_role(NTR_ROLE_EVENT), TCODES(34, 35));
    assert_int_equal(ntr_tcodes_of_role(NTR_ROLE_ACCESS), TCODES(5, 6, 13, 14));
    assert_int_equal(ntr_tcodes_of_role(NTR_ROLE_WATCHPOINT), TCODES(15));
    assert_int_equal(ntr_tcodes_of_role(NTR_ROLE_TRAP_VALUE), TCODES(56));
    assert_int_equal(ntr_tcodes_of_role(NTR_ROLE_ACQUISITION), TCODES(7));
    assert_int_equal(ntr_tcodes_of_role(NTR_ROLE_SELF_LOOP), TCODES(31, 32));
    assert_int_equal(ntr_tcodes_of_role(NTR_ROLE_PREDICTION), TCODES(56));
    assert_int_equal(ntr_tcodes_of_role(NTR_ROLE_CACHED_BRANCH), TCODES(57));
    assert_int_equal(ntr_tcodes_of_role(NTR_ROLE_FIELDS), TCODES(1, 58));
}

static void flags_are_those_of_the_specification(void **state) {
    (void)state;
    assert_int_equal(ntr_tcodes_with(NTR_FLAG_ABSOLUTE),
                     TCODES(9, 11, 12, 13, 14, 29, 32, 35)); /* 7.4, 8; data, ICT-WS */
    assert_int_equal(ntr_tcodes_with(NTR_FLAG_STORE), TCODES(5, 13));
    assert_int_equal(ntr_tcodes_with(NTR_FLAG_DIRECT), TCODES(3, 11));               /* sections 6.2, 6.6: BTM only */
    assert_int_equal(ntr_tcodes_with(NTR_FLAG_HISTORY_END),
                     TCODES(4, 12, 28, 29, 31, 32, 33, 57)); /* 9 carries no HIST, 6.5 */
    assert_int_equal(ntr_tcodes_with(NTR_FLAG_CACHED), TCODES(28));
    assert_int_equal(ntr_tcodes_of_dialects(NTR_MESSAGES_SIFIVE), TCODES(7, 23, 34, 35));
    assert_int_equal(ntr_tcodes_of_dialects(NTR_MESSAGES_DATA), TCODES(5, 6, 13, 14, 15));
    assert_int_equal(ntr_tcodes_of_dialects(NTR_MESSAGES_TTDFD), TCODES(56));
    assert_int_equal(ntr_tcodes_of_dialects(NTR_MESSAGES_CTTE), TCODES(1, 7, 31, 32, 56, 57, 58));
}

static void fields_are_those_of_the_specification(void **state) {
    (void)state;
    assert_int_equal(ntr_tcodes_with_field(NTR_FIELD_ICNT), TCODES(3, 4, 9, 11, 12, 28, 29, 31, 32, 33, 57));
    assert_int_equal(ntr_tcodes_with_field(NTR_FIELD_HIST), TCODES(28, 29, 31, 32, 33, 57));
    assert_int_equal(ntr_tcodes_with_field(NTR_FIELD_UADDR), TCODES(4, 28));
    assert_int_equal(ntr_tcodes_with_field(NTR_FIELD_FADDR), TCODES(9, 11, 12, 29, 32));
    assert_int_equal(ntr_tcodes_with_field(NTR_FIELD_BTYPE), TCODES(4, 12, 28, 29, 57));
}

/* The layout of each message of N-Trace 1.0, typed from section 3: TCODE[6] and SRC before, TSTAMP behind. */
static const char *const layouts[64] = {
    [2] = "PROCESS",
    [3] = "ICNT",
    [4] = "BTYPE ICNT UADDR",
    [8] = "ETYPE ECODE?",
    [9] = "SYNC ICNT FADDR",
    [11] = "SYNC ICNT FADDR",
    [12] = "SYNC BTYPE ICNT FADDR",
    [27] = "RCODE RDATA0 RDATA1=2",
    [28] = "BTYPE ICNT UADDR HIST",
    [29] = "SYNC BTYPE ICNT FADDR HIST",
    [30] = "BCNT",
    [33] = "EVCODE CDF ICNT? HIST=1",
};

/* NT-002, NT-006, NT-122, NT-123, NT-124, NT-137, NT-138, NT-158, NT-165, NT-249 */
static void layouts_are_those_of_the_specification(void **state) {
    static const struct {
        const char *name;
        unsigned bits; /* of a fixed field */
    } fixed[] = {{"SYNC", 4}, {"EVCODE", 4}, {"CDF", 2}, {"BTYPE", 2}, {"ETYPE", 4}, {"RCODE", 4}};
    static const char *const kinds[] = {"indirect", "exception or interrupt", "exception", "interrupt"};
    const ntr_message_info *row;
    unsigned found = 0;
    (void)state;
    for (size_t i = 0; (row = ntr_message_at(i)); i++) {
        char text[128] = "";
        if (!(row->messages & NTR_MESSAGES_1_0)) continue;
        for (const ntr_message_field *f = row->fields; f->field != NTR_FIELD_NONE; f++) {
            const ntr_field_info *field = ntr_field_get(f->field);
            const size_t length = strlen(text);
            snprintf(text + length, sizeof text - length, "%s%s", length ? " " : "", ntr_field_name(f->field));
            if (f->optional) strcat(text, "?");
            if (f->condition != NTR_FIELD_NONE) {
                const size_t end = strlen(text);
                snprintf(text + end, sizeof text - end, "=%u", f->when);
            }
            assert_true(field->bits <= 64);
            unsigned expected = 0;
            for (size_t k = 0; k < sizeof fixed / sizeof fixed[0]; k++)
                if (strcmp(fixed[k].name, ntr_field_name(f->field)) == 0) expected = fixed[k].bits;
            assert_int_equal(field->shape == NTR_SHAPE_FIXED ? field->bits : 0, expected);
        }
        assert_non_null(layouts[row->tcode]);
        assert_string_equal(text, layouts[row->tcode]);
        found++;
    }
    assert_int_equal(found, 12);
    for (unsigned value = 0; value < 4; value++)
        assert_non_null(strstr(ntr_value_name(NULL, NTR_FIELD_BTYPE, value), kinds[value]));
}

/* The largest message of N-Trace 1.0 has at most 38 bytes, with SRC and TSTAMP. NT-054, NT-055 */
static void no_message_is_larger_than_38_bytes(void **state) {
    const ntr_message_info *row;
    int largest = 0;
    (void)state;
    ntr_params params;
    ntr_params_init(&params, NULL);
    params.src_bits = 12;
    params.timestamps = NTR_TIMESTAMPS_ON;
    for (size_t i = 0; (row = ntr_message_at(i)); i++) {
        uint8_t bytes[64];
        if (!(row->messages & NTR_MESSAGES_1_0)) continue;
        ntr_message m = {.tcode = row->tcode};
        for (unsigned f = 0; f < NTR_FIELD_COUNT; f++) {
            m.value[f] = UINT64_MAX >> (64 - ntr_field_get((ntr_field)f)->bits);
            m.present |= (ntr_fields)1 << f;
        }
        m.cdf = 1, m.rcode = 2; /* the forms with the most fields */
        const int size = ntr_message_encode(&params, &m, bytes, sizeof bytes);
        assert_true(size > 0 && size <= 38);
        if (size > largest) largest = size;
    }
    assert_true(largest >= 36);
}

static void derived_sets_are_those_of_the_specification(void **state) {
    (void)state;
    assert_int_equal(ntr_tcodes_of_flow(), TCODES(3, 4, 27, 28, 30));
    assert_int_equal(ntr_tcodes_not_counted(), TCODES(2, 9, 11, 12, 29)); /* TC-9 */
    for (unsigned tcode = 0; tcode < 64; tcode++) {
        const unsigned form = tcode == 3    ? 11
                              : tcode == 4  ? 12
                              : tcode == 28 ? 29
                              : tcode == 5  ? 13
                              : tcode == 6  ? 14
                                            : tcode;
        assert_int_equal(ntr_sync_form(tcode), form);
    }
    assert_false(ntr_tcode_in(UINT64_MAX >> 1, NTR_TCODE_NONE));
}

static void rows_tell_the_same_as_the_sets(void **state) {
    (void)state;
    const ntr_message_info *row;
    for (size_t i = 0; (row = ntr_message_at(i)); i++) {
        assert_true(ntr_has_role(row->tcode, row->role));
        const ntr_dialect alone = {.messages = row->messages};
        assert_int_equal(ntr_tcode_role(&alone, row->tcode), row->role);
        for (unsigned flag = 1; flag < 1u << NTR_MESSAGE_BITS; flag <<= 1)
            assert_int_equal(ntr_tcode_in(ntr_tcodes_with(flag), row->tcode), (row->flags & flag) != 0);
        for (const ntr_message_field *f = row->fields; f->field != NTR_FIELD_NONE; f++)
            assert_true(ntr_tcode_in(ntr_tcodes_with_field(f->field), row->tcode));
    }
}

/* The values of a field that have any of the flags. */
static uint32_t values_with(unsigned messages, ntr_field field, unsigned flags) {
    uint32_t set = 0;
    for (unsigned value = 0; value < 16; value++)
        if (ntr_value_flags(messages, field, value) & flags) set |= 1u << value;
    return set;
}

/* N-Trace 1.0 sections 6.4, 6.8, 6.12 and 8. */
static void values_are_those_of_the_specification(void **state) {
    (void)state;
    enum { STANDARD = NTR_MESSAGES_1_0, SIFIVE = NTR_MESSAGES_1_0 | NTR_MESSAGES_SIFIVE };
    assert_int_equal(values_with(STANDARD, NTR_FIELD_SYNC, NTR_VALUE_RESTARTS), TCODES(1, 3, 5, 7, 9));
    assert_int_equal(values_with(STANDARD, NTR_FIELD_SYNC, NTR_VALUE_AFTER_LOSS), TCODES(7));
    assert_int_equal(values_with(STANDARD, NTR_FIELD_SYNC, NTR_VALUE_RESETS), TCODES(1, 9));
    assert_int_equal(values_with(STANDARD, NTR_FIELD_SYNC, NTR_VALUE_PERIODIC), TCODES(2));
    assert_int_equal(values_with(STANDARD, NTR_FIELD_SYNC, NTR_VALUE_BTM_ONLY), TCODES(4));
    assert_int_equal(values_with(STANDARD, NTR_FIELD_SYNC, NTR_VALUE_RESERVED), TCODES(8, 10, 11, 12, 13));
    assert_int_equal(values_with(STANDARD, NTR_FIELD_SYNC, NTR_VALUE_VENDOR), TCODES(14, 15));
    assert_int_equal(values_with(SIFIVE, NTR_FIELD_SYNC, NTR_VALUE_RESERVED), TCODES(8, 10, 12, 13));
    assert_int_equal(values_with(STANDARD, NTR_FIELD_RCODE, NTR_VALUE_RESERVED), TCODES(3, 4, 5, 6, 7));
    assert_int_equal(values_with(STANDARD, NTR_FIELD_RCODE, NTR_VALUE_HISTORY), TCODES(1, 2));
    assert_int_equal(values_with(STANDARD, NTR_FIELD_RCODE, NTR_VALUE_RUN), 0);
    assert_int_equal(values_with(SIFIVE, NTR_FIELD_RCODE, NTR_VALUE_RUN), TCODES(8, 9));
    assert_int_equal(values_with(STANDARD, NTR_FIELD_EVCODE, NTR_VALUE_RESERVED), TCODES(2, 3, 5, 6, 7));
    assert_int_equal(values_with(STANDARD, NTR_FIELD_ETYPE, NTR_VALUE_RESERVED), TCODES(1, 2, 3, 4, 5, 6, 7));
    assert_int_equal(values_with(STANDARD, NTR_FIELD_BTYPE, NTR_VALUE_TRAP), TCODES(1, 2, 3));
    assert_int_equal(values_with(STANDARD, NTR_FIELD_BTYPE, NTR_VALUE_DETAIL), TCODES(2, 3));
}

/* docs/dialects.md section 2.3: what CKSRC with CKDF 0 and with CKDF 1 has. */
static void events_are_those_of_older_silicon(void **state) {
    (void)state;
    enum { SIFIVE = NTR_MESSAGES_SIFIVE };
    assert_int_equal(values_with(SIFIVE, NTR_FIELD_CKSRC, NTR_VALUE_ADDRESS_0), TCODES(8, 9, 14, 15));
    assert_int_equal(values_with(SIFIVE, NTR_FIELD_CKSRC, NTR_VALUE_ADDRESS_1), TCODES(0, 8, 9, 10, 11, 13, 14));
    assert_int_equal(values_with(SIFIVE, NTR_FIELD_CKSRC, NTR_VALUE_DATA_0), TCODES(0, 12));
    assert_int_equal(values_with(SIFIVE, NTR_FIELD_CKSRC, NTR_VALUE_DATA_1), TCODES(12));
    assert_int_equal(values_with(SIFIVE, NTR_FIELD_CKSRC, NTR_VALUE_TARGET_1), TCODES(9));
}

static void constants_are_the_values(void **state) {
    (void)state;
    const struct {
        ntr_field field;
        unsigned constant, value;
        const char *name;
    } known[] = {
        {NTR_FIELD_SYNC, NTR_SYNC_EXTERNAL_TRIGGER, 0, "external trigger"},
        {NTR_FIELD_SYNC, NTR_SYNC_RESET, 1, "exit from reset"},
        {NTR_FIELD_SYNC, NTR_SYNC_PERIODIC, 2, "periodic"},
        {NTR_FIELD_SYNC, NTR_SYNC_DEBUG_EXIT, 3, "exit from debug"},
        {NTR_FIELD_SYNC, NTR_SYNC_ICNT_FULL, 4, "instruction counter"},
        {NTR_FIELD_SYNC, NTR_SYNC_TRACE_ENABLE, 5, "trace enable"},
        {NTR_FIELD_SYNC, NTR_SYNC_TRACE_EVENT, 6, "trace event"},
        {NTR_FIELD_SYNC, NTR_SYNC_OVERRUN, 7, "restart after loss"},
        {NTR_FIELD_SYNC, NTR_SYNC_POWER_DOWN, 9, "exit from power-down"},
        {NTR_FIELD_EVCODE, NTR_EVCODE_DEBUG, 0, "entry into debug"},
        {NTR_FIELD_EVCODE, NTR_EVCODE_LOW_POWER, 1, "entry into low power"},
        {NTR_FIELD_EVCODE, NTR_EVCODE_DISABLED, 4, "trace disabled"},
        {NTR_FIELD_BTYPE, NTR_BTYPE_TRAP, 1, "exception or interrupt"},
        {NTR_FIELD_BTYPE, NTR_BTYPE_EXCEPTION, 2, "exception"},
        {NTR_FIELD_BTYPE, NTR_BTYPE_INTERRUPT, 3, "interrupt"},
        {NTR_FIELD_RCODE, NTR_RCODE_ICNT, 0, "I-CNT"},
        {NTR_FIELD_RCODE, NTR_RCODE_HIST, 1, "HIST"},
        {NTR_FIELD_RCODE, NTR_RCODE_HIST_REPEATED, 2, "HIST, repeated"},
        {NTR_FIELD_CDF, NTR_CDF_HIST, 1, "I-CNT and HIST"},
        {NTR_FIELD_ETYPE, NTR_ETYPE_OVERRUN, 0, "FIFO overrun"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(known[i].constant, known[i].value);
        assert_string_equal(ntr_value_name(NULL, known[i].field, known[i].value), known[i].name);
    }
}

/* What `ntrace stat` and `ntrace decode` print. */
static void shown_names_stay(void **state) {
    (void)state;
    for (unsigned code = 0; code < 16; code++) {
        assert_string_equal(ntr_sync_name(code), ntr_value_name(NULL, NTR_FIELD_SYNC, code));
        assert_string_equal(ntr_evcode_name(code), ntr_value_name(NULL, NTR_FIELD_EVCODE, code));
    }
    assert_string_equal(ntr_sync_name(11), "reserved");
    assert_string_equal(ntr_sync_name(15), "vendor");
    assert_string_equal(ntr_evcode_name(8), "vendor");
    assert_string_equal(ntr_evcode_name(2), "reserved");
}

/* OQ-25. */
static void reasons_are_in_order_of_priority(void **state) {
    (void)state;
    static const uint8_t order[] = {7, 3, 1, 9, 5, 6, 0, 4, 2};
    const ntr_value_info *row;
    size_t found = 0;
    for (size_t i = 0; (row = ntr_value_at(i)) && found < sizeof order; i++)
        if (row->field == NTR_FIELD_SYNC) assert_int_equal(row->first, order[found++]);
    assert_int_equal(found, sizeof order);
}

static void rows_are_found_by_their_own_values(void **state) {
    (void)state;
    const ntr_value_info *row;
    for (size_t i = 0; (row = ntr_value_at(i)); i++) {
        assert_true(row->first <= row->last && *row->name && *row->about);
        if (row->flags & NTR_VALUE_VENDOR) continue; /* an earlier row may cover some of the range */
        assert_int_equal(ntr_value_flags(row->messages, row->field, row->first), row->flags);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roles_are_those_of_the_specification),
        cmocka_unit_test(flags_are_those_of_the_specification),
        cmocka_unit_test(fields_are_those_of_the_specification),
        cmocka_unit_test(layouts_are_those_of_the_specification),
        cmocka_unit_test(no_message_is_larger_than_38_bytes),
        cmocka_unit_test(derived_sets_are_those_of_the_specification),
        cmocka_unit_test(rows_tell_the_same_as_the_sets),
        cmocka_unit_test(values_are_those_of_the_specification),
        cmocka_unit_test(events_are_those_of_older_silicon),
        cmocka_unit_test(constants_are_the_values),
        cmocka_unit_test(shown_names_stay),
        cmocka_unit_test(reasons_are_in_order_of_priority),
        cmocka_unit_test(rows_are_found_by_their_own_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
