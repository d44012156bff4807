/* Text, JSON and CSV forms, and text and JSON back into bytes. */
#include "../test.h"
#include "stream.h"
#include "vectors.h"

#include <ntrace/message_layout.h>
#include <stdio.h>

static char line[NTR_MESSAGE_TEXT_MAX];

/* Decode hexadecimal bytes into a message that says it is number 12 at 0x1f. */
static ntr_message message_of(const ntr_params *params, const char *hex, uint8_t *bytes) {
    ntr_message m;
    ntr_message_decode(params, (ntr_bytes){bytes, from_hex(hex, bytes, 64)}, &m);
    m.number = 12;
    m.offset = 0x1f;
    return m;
}

static ntr_params plain(uint8_t src_bits) {
    ntr_params params;
    ntr_params_init(&params, NULL);
    params.src_bits = src_bits;
    return params;
}

static void assemble_to(const ntr_params *params, const char *text, const uint8_t *want, size_t size) {
    uint8_t got[2048];
    size_t column = 0;
    if (!can_assemble(text)) return;
    int length = assemble_line(params, text, got, sizeof got, &column);
    if (length != (int)size) fail_msg("%s: %d at column %zu", text, length, column);
    assert_memory_equal(got, want, size);
}

static void vectors_print_and_assemble(void **state) {
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        ntr_params params = vector_params(&vectors[i]);
        uint8_t bytes[64];
        ntr_message m = message_of(&params, vectors[i].bytes, bytes);
        int length = ntr_message_format(&params, &m, line, sizeof line);
        assert_int_equal(length, strlen(line));
        assert_memory_equal(line, "#12 @0x1f ", 10);
        assert_string_equal(line + 10, vectors[i].text);
        assemble_to(&params, line, bytes, m.raw.size);
        assemble_to(&params, vectors[i].text, bytes, m.raw.size);
        assert_int_equal(ntr_message_format(&params, &m, line, (size_t)length + 1), length);
        assert_int_equal(ntr_message_format(&params, &m, line, (size_t)length), NTR_E_SPACE);
        assert_true(ntr_message_format_json(&params, &m, line, sizeof line) > 0);
        assemble_to(&params, line, bytes, m.raw.size);
    }
}

typedef struct text_case {
    const char *bytes, *text; /* after number and offset */
    uint8_t src_bits;
} text_case;

static const text_case texts[] = {
    {"0C 0C 03", "DirectBranch ICNT=3:12"},
    {"0C 0D 1C 00 03", "DirectBranch ICNT=3 TSTAMP=7:18"},
    {"08 FC FC FC FC FC FC FC FC FC FC 3C 00 00 03", "Ownership PROCESS=0xffffffffffffffff:84"},
    {"70 D0 1D 1C 01 F8 FF", "IndirectBranchHist BTYPE=0 ICNT=125 UADDR=0x7:12 HIST=0xffe"},
    {"20 03", "Error SRC=0 ETYPE=0", .src_bits = 2},
    {"20 01 07", "Error SRC=0 ETYPE=0 TSTAMP=1", .src_bits = 2},
    {"E0 7C 01 03", "Vendor56 DATA=0x1f:12,0x0:6"},
    {"E0 7C 01 03", "Vendor56 SRC=3 DATA=0x7:10,0x0:6", .src_bits = 2},
    {"E0 87", "Vendor56 SRC=33", .src_bits = 6},
    {"E0 85 07", "Vendor56 SRC=33 DATA=0x0:0,0x1:6", .src_bits = 6},
    {"04 7C 01 03", "Reserved1 DATA=0x1f:12,0x0:6"},
    {"FC 0F", "Reserved63 DATA=0x3:6"},
    {"E0 FC FC FC FC FC FC FC FC FC FC FC FC 07", "Vendor56 DATA=0x1ffffffffffffffffff:78"},
    {"70 D0 1F", "IndirectBranchHist BTYPE=0 ICNT=125 BYTES=70d01f !UADDR: message ends before this mandatory field"},
    {"84 80 13", "ProgTraceCorrelation EVCODE=0 CDF=2 BYTES=848013 !CDF: field has a reserved or impossible value"},
    {"E0 7E 01 03", "Vendor56 BYTES=e07e0103 !reserved MSEO code 10"},
};

static void what_is_unusual_is_shown_and_comes_back(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ntr_params params = plain(texts[i].src_bits);
        uint8_t bytes[64];
        ntr_message m = message_of(&params, texts[i].bytes, bytes);
        assert_true(ntr_message_format(&params, &m, line, sizeof line) > 0);
        assert_string_equal(line + 10, texts[i].text);
        assemble_to(&params, line, bytes, m.raw.size);
        assert_true(ntr_message_format_json(&params, &m, line, sizeof line) > 0);
        assemble_to(&params, line, bytes, m.raw.size);
    }
}

/* NT-059 */
static void too_long_a_message_shows_its_size(void **state) {
    (void)state;
    static const uint8_t zeros[NTR_MESSAGE_BYTES_MAX];
    ntr_params params = plain(0);
    ntr_message m = {.number = 1,
                     .raw = {zeros, sizeof zeros},
                     .size = 100000,
                     .defect = NTR_E_MESSAGE_LONG,
                     .defect_field = NTR_FIELD_NONE};
    uint8_t out[64];
    size_t column;
    ntr_message_format(&params, &m, line, sizeof line);
    assert_string_equal(line, "#1 @0x0 Reserved0 SIZE=100000 !message exceeds the maximum length");
    assert_int_equal(assemble_line(&params, line, out, sizeof out, &column), NTR_E_MESSAGE_LONG);
    assert_int_equal(column, 18);
    ntr_message_format_json(&params, &m, line, sizeof line);
    if (can_assemble(line)) assert_int_equal(assemble_line(&params, line, out, sizeof out, NULL), NTR_E_MESSAGE_LONG);
}

/* The longest lines there are fit into NTR_MESSAGE_TEXT_MAX. */
static void the_longest_lines_fit(void **state) {
    (void)state;
    static uint8_t bytes[NTR_MESSAGE_BYTES_MAX];
    ntr_params params = plain(0);
    ntr_message m;
    memset(bytes, 0xfd, sizeof bytes);
    bytes[0] = 0xE0;
    bytes[sizeof bytes - 1] = 0xff;
    assert_int_equal(ntr_message_decode(&params, (ntr_bytes){bytes, sizeof bytes}, &m), NTR_OK);
    m.number = m.offset = UINT64_MAX;
    assert_true(ntr_message_format(&params, &m, line, sizeof line) > 7000);
    assemble_to(&params, strchr(line, 'V'), bytes, sizeof bytes);
    assert_true(ntr_message_format_json(&params, &m, line, sizeof line) > 7000);
    assert_true(ntr_message_format_csv(&params, &m, line, sizeof line) > 7000);
}

/* ---- what people may write --------------------------------------------------------------------- */

typedef struct spelling {
    const char *text, *bytes;
} spelling;

static const spelling spellings[] = {
    {"directbranch icnt=0X3", "0C 0F"},
    {"  DIRECTBRANCH\tI-CNT=3 \r\n", "0C 0F"},
    {"@0x99 DirectBranch ICNT=3", "0C 0F"},
    {"#7 DirectBranch ICNT=3 ! whatever = follows", "0C 0F"},
    {"DirectBranch TSTAMP=7 ICNT=3", "0C 0D 1F"},
    {"ResourceFull RCODE=2 RDATA=0x5 HREPEAT=150", "6C 48 05 58 0B"},
    {"resourcefull rcode=2 rdata0=5 rdata1=0x96", "6C 48 05 58 0B"},
    {"ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=4 HIST=0x3", "84 40 11 0F"},
    {"vendor56 data=31:12,0x0:6", "E0 7C 01 03"},
    {"Error ETYPE=0", "20 03"},
    {"Malformed BYTES=0F", "0F"},
    {"DirectBranch ICNT=9 BYTES=0c0F", "0C 0F"},
    {"{\"name\":\"directBranch\",\"fields\":{\"I-CNT\":\"0x3\"}}", "0C 0F"},
    {"{\"tcode\":3,\"name\":\"ignored\",\"fields\":{\"ICNT\":3,\"TSTAMP\":7},\"note\":[1]}", "0C 0D 1F"},
    {"{\"tcode\":null,\"name\":\"Malformed\",\"bytes\":\"0f\"}", "0F"},
    {"", ""},
    {"   \t", ""},
    {"# a comment", ""},
    {"#", ""},
    {"#!shebang", ""},
};

static void spellings_are_understood(void **state) {
    (void)state;
    ntr_params params = plain(0);
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        uint8_t want[64];
        assemble_to(&params, spellings[i].text, want, from_hex(spellings[i].bytes, want, sizeof want));
    }
}

typedef struct mistake {
    const char *text;
    ntr_status status;
    size_t column;
    uint8_t src_bits;
} mistake;

static const mistake mistakes[] = {
    {"#12", NTR_E_SYNTAX, 3},
    {"#12x DirectBranch ICNT=3", NTR_E_SYNTAX, 0},
    {"#1 @y DirectBranch ICNT=3", NTR_E_SYNTAX, 3},
    {"DirectBrunch ICNT=3", NTR_E_NAME, 0},
    {"DataAcquisition IDTAG=0 DQDATA=1", NTR_E_NAME, 0}, /* not in N-Trace 1.0 */
    {"DirectBranch COUNT=3", NTR_E_NAME, 13},
    {"DirectBranch ICNT", NTR_E_SYNTAX, 13},
    {"DirectBranch ICNT=", NTR_E_SYNTAX, 18},
    {"DirectBranch ICNT=3x", NTR_E_SYNTAX, 18},
    {"DirectBranch ICNT=0x", NTR_E_SYNTAX, 18},
    {"DirectBranch ICNT=-3", NTR_E_SYNTAX, 18},
    {"DirectBranch ICNT=3:", NTR_E_SYNTAX, 18},
    {"DirectBranch ICNT=3:99999", NTR_E_RANGE, 18},
    {"DirectBranch ICNT=3 ICNT=4", NTR_E_SYNTAX, 20},
    {"DirectBranch ICNT=0x10000000000000000", NTR_E_RANGE, 18},
    {"DirectBranch ICNT=18446744073709551616", NTR_E_RANGE, 18},
    {"DirectBranch", NTR_E_FIELD_MISSING, 12},
    {"DirectBranch ICNT=3 UADDR=4", NTR_E_FIELD_NAME, 26},
    {"DirectBranch ICNT=3 DATA=0x1:6", NTR_E_FIELD_NAME, 25},
    {"IndirectBranch BTYPE=4 ICNT=3 UADDR=4", NTR_E_FIELD_VALUE, 21},
    {"ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=1 HIST=3", NTR_E_FIELD_NAME, 48},
    {"ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=1", NTR_E_FIELD_MISSING, 20},
    {"DirectBranch ICNT=3", NTR_E_FIELD_MISSING, 12, .src_bits = 2},
    {"DirectBranch SRC=4 ICNT=3", NTR_E_FIELD_VALUE, 17, .src_bits = 2},
    {"DirectBranch SRC=1 ICNT=3", NTR_E_FIELD_NAME, 17},
    {"Vendor56 DATA=0x1f", NTR_E_SYNTAX, 14},
    {"Vendor56 DATA=0x1:6,", NTR_E_SYNTAX, 20},
    {"Vendor56 DATA=0x1:6,0x40:6", NTR_E_FIELD_VALUE, 20},
    {"Vendor56 DATA=0x1:6,64:6", NTR_E_FIELD_VALUE, 20},
    {"Vendor56 DATA=0xg:6", NTR_E_SYNTAX, 14},
    {"Vendor56 DATA=0x1:9999999", NTR_E_RANGE, 14},
    {"Vendor56 ICNT=3", NTR_E_FIELD_NAME, 14},
    {"Malformed", NTR_E_FIELD_MISSING, 9},
    {"Malformed BYTES=0", NTR_E_SYNTAX, 16},
    {"Malformed BYTES=0c0g", NTR_E_SYNTAX, 18},
    {"{", NTR_E_SYNTAX, 0},
    {"{}", NTR_E_SYNTAX, 0},
    {"{\"name\":\"DirectBranch\",\"fields\":{\"ICNT\":3,\"COUNT\":1}}", NTR_E_NAME, 42},
    {"{\"name\":\"DirectBranch\",\"fields\":{\"ICNT\":3.5}}", NTR_E_SYNTAX, 33},
    {"{\"name\":\"DirectBranch\",\"fields\":{\"ICNT\":-1}}", NTR_E_RANGE, 33},
    {"{\"name\":\"DirectBranch\",\"fields\":{\"ICNT\":3,\"RDATA\":3}}", NTR_E_FIELD_NAME, 42},
    {"{\"name\":\"DirectBranch\",\"fields\":{}}", NTR_E_FIELD_MISSING, 23},
    {"{\"tcode\":64,\"fields\":{}}", NTR_E_NAME, 1},
    {"{\"name\":\"DirectBranch\",\"fields\":{\"BYTES\":12}}", NTR_E_NAME, 33},
    {"{\"name\":\"Vendor56\",\"fields\":{\"data\":1}}", NTR_E_NAME, 29},
};

static void mistakes_are_told_with_their_column(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        const mistake *m = &mistakes[i];
        if (!can_assemble(m->text)) continue;
        ntr_params params = plain(m->src_bits);
        uint8_t out[64];
        size_t column = 999;
        int status = assemble_line(&params, m->text, out, sizeof out, &column);
        if (status != m->status || column != m->column)
            fail_msg("%s: %d (%s) at %zu", m->text, status, ntr_status_name((ntr_status)status), column);
    }
}

static void assembling_needs_room(void **state) {
    (void)state;
    static const char *const lines[] = {"DirectBranch ICNT=3", "Vendor56 DATA=0x3:6", "Malformed BYTES=0c0f",
                                        "{\"name\":\"DirectBranch\",\"fields\":{\"ICNT\":3}}"};
    ntr_params params = plain(0);
    for (size_t i = 0; i < 4; i++) {
        uint8_t out[2];
        if (!can_assemble(lines[i])) continue;
        assert_int_equal(assemble_line(&params, lines[i], out, 1, NULL), NTR_E_SPACE);
        assert_int_equal(assemble_line(&params, lines[i], out, 2, NULL), 2);
    }
}

/* ---- JSON and CSV, character by character ------------------------------------------------------ */

typedef struct form_case {
    const char *bytes, *json, *csv;
} form_case;

static const form_case forms[] = {
    {"70 D0 1D 1D F8 FF",
     "{\"number\":12,\"offset\":31,\"size\":6,\"name\":\"IndirectBranchHist\",\"tcode\":28,"
     "\"fields\":{\"BTYPE\":0,\"ICNT\":125,\"UADDR\":7,\"HIST\":4094},\"defect\":null}",
     "12,31,6,28,IndirectBranchHist,,,,,0,,125,,0x7,,0xffe,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,"},
    {"24 15 E8 8C 04 00 00 FC FC FC FC FC 1F",
     "{\"number\":12,\"offset\":31,\"size\":13,\"name\":\"ProgTraceSync\",\"tcode\":9,"
     "\"fields\":{\"SYNC\":5,\"ICNT\":0,\"FADDR\":\"0x7fffffffc00018fa\"},\"defect\":null}",
     NULL},
    {"08 FC FC FC FC FC FC FC FC 7F",
     "{\"number\":12,\"offset\":31,\"size\":10,\"name\":\"Ownership\",\"tcode\":2,"
     "\"fields\":{\"PROCESS\":9007199254740991},\"defect\":null}",
     NULL},
    {"08 00 00 00 00 00 00 00 00 83",
     "{\"number\":12,\"offset\":31,\"size\":10,\"name\":\"Ownership\",\"tcode\":2,"
     "\"fields\":{\"PROCESS\":\"0x20000000000000\"},\"defect\":null}",
     NULL},
    {"0C 0C 03",
     "{\"number\":12,\"offset\":31,\"size\":3,\"name\":\"DirectBranch\",\"tcode\":3,\"fields\":{\"ICNT\":3},"
     "\"widths\":{\"ICNT\":12},\"defect\":null}",
     NULL},
    {"E0 7C 01 03",
     "{\"number\":12,\"offset\":31,\"size\":4,\"name\":\"Vendor56\",\"tcode\":56,\"fields\":{},"
     "\"data\":\"0x1f:12,0x0:6\",\"defect\":null}",
     NULL},
    {"70 D0 1F",
     "{\"number\":12,\"offset\":31,\"size\":3,\"name\":\"IndirectBranchHist\",\"tcode\":28,"
     "\"fields\":{\"BTYPE\":0,\"ICNT\":125},\"bytes\":\"70d01f\",\"defect\":{\"code\":\"NTR_E_FIELD_MISSING\","
     "\"field\":\"UADDR\",\"text\":\"message ends before this mandatory field\"}}",
     NULL},
};

static unsigned commas(const char *text) {
    unsigned count = 0;
    bool quoted = false;
    for (; *text; text++) {
        quoted ^= *text == '"';
        count += *text == ',' && !quoted;
    }
    return count;
}

static void json_and_csv(void **state) {
    (void)state;
    ntr_params params = plain(0);
    assert_true(ntr_message_format_csv(&params, NULL, line, sizeof line) > 0);
    unsigned columns = commas(line);
    assert_memory_equal(line, "number,offset,size,tcode,name,SRC,SYNC,EVCODE,", 46);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        uint8_t bytes[64];
        ntr_message m = message_of(&params, forms[i].bytes, bytes);
        assert_int_equal(ntr_message_format_json(&params, &m, line, sizeof line), strlen(forms[i].json));
        assert_string_equal(line, forms[i].json);
        assert_true(ntr_message_format_csv(&params, &m, line, sizeof line) > 0);
        if (forms[i].csv) assert_string_equal(line, forms[i].csv);
        assert_int_equal(commas(line), columns);
    }
}

/* ---- bytes ------------------------------------------------------------------------------------- */

static void each_byte_tells_what_ends_in_it(void **state) {
    (void)state;
    /* 15.1 */
    static const ntr_message_byte want[] = {
        {.mdo = 0x1c, .mseo = 0, .tcode = true},
        {.mdo = 0x34, .mseo = 0, .ends = 1u << NTR_FIELD_BTYPE},
        {.mdo = 0x07, .mseo = 1, .ends = 1u << NTR_FIELD_ICNT},
        {.mdo = 0x07, .mseo = 1, .ends = 1u << NTR_FIELD_UADDR},
        {.mdo = 0x3e, .mseo = 0},
        {.mdo = 0x3f, .mseo = 3, .ends = 1u << NTR_FIELD_HIST},
    };
    ntr_params params = plain(0);
    uint8_t bytes[64];
    ntr_message m = message_of(&params, "70 D0 1D 1D F8 FF", bytes);
    ntr_message_byte got;
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(ntr_message_byte_at(&params, &m, i, &got), NTR_OK);
        assert_int_equal(got.mdo, want[i].mdo);
        assert_int_equal(got.mseo, want[i].mseo);
        assert_int_equal(got.tcode, want[i].tcode);
        assert_int_equal(got.ends, want[i].ends);
        assert_false(got.data);
    }
    assert_int_equal(ntr_message_byte_at(&params, &m, 6, &got), NTR_E_RANGE);

    m = message_of(&params, "84 50 01 07", bytes); /* EVCODE and CDF fill byte 1 */
    ntr_message_byte_at(&params, &m, 1, &got);
    assert_int_equal(got.ends, 1u << NTR_FIELD_EVCODE | 1u << NTR_FIELD_CDF);

    m = message_of(&params, "E0 7C 01 03", bytes);
    for (size_t i = 0; i < 4; i++) {
        ntr_message_byte_at(&params, &m, i, &got);
        assert_int_equal(got.data, i >= 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(vectors_print_and_assemble),
        TEST(what_is_unusual_is_shown_and_comes_back),
        TEST(too_long_a_message_shows_its_size),
        TEST(the_longest_lines_fit),
        TEST(spellings_are_understood),
        TEST(mistakes_are_told_with_their_column),
        TEST(assembling_needs_room),
        TEST(json_and_csv),
        TEST(each_byte_tells_what_ends_in_it),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
