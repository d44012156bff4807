/* Decoding and encoding of single messages. */
#include "../test.h"
#include "vectors.h"

#include <stdio.h>

/* The vector's text, read by this test alone: name, then FIELD=value[:bits]. */
static ntr_field field_called(const char *name, size_t length) {
    for (unsigned f = 0; f < NTR_FIELD_COUNT; f++) {
        const char *text = ntr_field_name((ntr_field)f);
        if (strlen(text) == length && !strncmp(text, name, length)) return (ntr_field)f;
    }
    fail_msg("no field %s", name);
    return NTR_FIELD_NONE;
}

static ntr_message expected_of(const vector *v, const ntr_params *params) {
    ntr_message m = {.tcode = NTR_TCODE_NONE};
    const char *at = strchr(v->text, ' ');
    for (unsigned t = 0; t < 64; t++) {
        const char *name = ntr_tcode_name(params->dialect, t);
        if (strlen(name) == (size_t)(at - v->text) && !strncmp(name, v->text, strlen(name))) m.tcode = (uint8_t)t;
    }
    while (at && *at) {
        at++;
        const char *equals = strchr(at, '=');
        char *end;
        ntr_field f = field_called(at, (size_t)(equals - at));
        m.value[f] = strtoull(equals + 1, &end, 0);
        m.width[f] = *end == ':' ? (uint16_t)strtoul(end + 1, &end, 10) : 0;
        m.present |= (ntr_fields)1 << f;
        at = strchr(at, ' ');
    }
    return m;
}

/* NT-089, NT-090, NT-003, NT-217 */
static void vectors_decode_to_their_fields(void **state) {
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        const vector *v = &vectors[i];
        ntr_params params = vector_params(v);
        ntr_message want = expected_of(v, &params), got;
        uint8_t bytes[64];
        ntr_bytes raw = {bytes, from_hex(v->bytes, bytes, sizeof bytes)};
        print_message("# %s: %s\n", v->bytes, v->text);
        assert_int_equal(ntr_message_decode(&params, raw, &got), NTR_OK);
        assert_int_equal(got.tcode, want.tcode);
        assert_int_equal(got.present, want.present);
        for (unsigned f = 0; f < NTR_FIELD_COUNT; f++)
            if (want.present >> f & 1) assert_int_equal(got.value[f], want.value[f]);
    }
}

/* NT-333, NT-217 */
static void vectors_encode_to_their_bytes(void **state) {
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        const vector *v = &vectors[i];
        ntr_params params = vector_params(v);
        ntr_message m = expected_of(v, &params);
        uint8_t want[64], got[64];
        size_t size = from_hex(v->bytes, want, sizeof want);
        print_message("# %s: %s\n", v->text, v->bytes);
        assert_int_equal(ntr_message_encode(&params, &m, got, sizeof got), (int)size);
        assert_memory_equal(got, want, size);
        assert_int_equal(ntr_message_encode(&params, &m, got, size - 1), NTR_E_SPACE);
    }
}

/* ---- addresses (N-Trace 1.0 sections 7.1, 15.3, 15.7; docs/dialects.md section 1)
 * ------------------------------------- */

typedef struct address_case {
    const char *field_bytes; /* of F-ADDR alone, MSEO 01 */
    bool extend_addr;
    uint8_t xlen;
    uint64_t sent, address;
} address_case;

static const address_case addresses[] = {
    {"FC FC FC FC FC 7D", false, 64, 0x7FFFFFFFF, 0xFFFFFFFFE},
    {"FC FC FC FC 7C F1", true, 64, 0xF1FFFFFFF, 0xFFFFFFFE3FFFFFFE},
    {"FC FC FC FC FC FC 01", false, 64, 0xFFFFFFFFF, 0x1FFFFFFFFE},
    {"FC FC FC FC FC FC 01", true, 64, 0xFFFFFFFFF, 0x1FFFFFFFFE},
    {"FC FC FC FC FC FC FC FC FC FC 15", false, 64, 0x5FFFFFFFFFFFFFFF, 0xBFFFFFFFFFFFFFFE},
    {"E8 8C 04 00 00 FC FC FC FC FC 1D", false, 64, 0x7FFFFFFFC00018FA, 0xFFFFFFFF800031F4},
    {"E8 8C 04 00 00 FC FC FC FC FC 1D", true, 64, 0x7FFFFFFFC00018FA, 0xFFFFFFFF800031F4},
    {"E8 8C 04 00 00 FD", true, 64, 0xFC00018FA, 0xFFFFFFFF800031F4},
    {"E8 8C 04 00 00 FD", false, 64, 0xFC00018FA, 0x1F800031F4},
    {"E8 8C FD", true, 32, 0x3F8FA, 0xFFFFF1F4},
};

/* NT-327, NT-328, NT-334, NT-335, NT-330, NT-331 */
static void addresses_are_extended(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        const address_case *a = &addresses[i];
        ntr_params params;
        ntr_params_init(&params, NULL);
        params.extend_addr = a->extend_addr;
        params.xlen = a->xlen;
        uint8_t bytes[64] = {0x2C, 0xC9}; /* DirectBranchSync SYNC=2 ICNT=3 */
        size_t size = 2 + from_hex(a->field_bytes, bytes + 2, sizeof bytes - 2);
        bytes[size - 1] |= 3;
        ntr_message m;
        print_message("# %s\n", a->field_bytes);
        assert_int_equal(ntr_message_decode(&params, (ntr_bytes){bytes, size}, &m), NTR_OK);
        assert_int_equal(m.faddr, a->sent);
        assert_int_equal(m.width[NTR_FIELD_FADDR], 6 * (size - 2));
        assert_int_equal(ntr_message_address(&params, &m, NTR_FIELD_FADDR), a->address);
        uint8_t again[64];
        assert_int_equal(ntr_message_encode(&params, &m, again, sizeof again), (int)size);
        assert_memory_equal(again, bytes, size);
    }
}

/* Encoding an address and reading it back is the identity, and never takes more than plain plus one byte. NT-326 */
static void extension_reads_back(void **state) {
    (void)state;
    static const uint64_t samples[] = {0,
                                       0x80,
                                       0x1f,
                                       0x20,
                                       0x3f,
                                       0x7fffffffc00018fa,
                                       0xfc00018fa,
                                       0x7fffffffffffffff,
                                       0x4000000000000000,
                                       0x20000000,
                                       0x5fffffffffffffff,
                                       0x40000000};
    for (unsigned xlen = 32; xlen <= 64; xlen += 32) {
        for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
            ntr_params params;
            ntr_params_init(&params, NULL);
            params.extend_addr = true;
            params.xlen = (uint8_t)xlen;
            uint64_t value = xlen == 32 ? samples[i] & 0x7fffffff : samples[i];
            ntr_message m = {.tcode = NTR_TCODE_DIRECT_BRANCH_SYNC, .sync = 2, .icnt = 3, .faddr = value}, back;
            m.present = 1u << NTR_FIELD_SYNC | 1u << NTR_FIELD_ICNT | 1u << NTR_FIELD_FADDR;
            uint8_t bytes[64];
            int size = ntr_message_encode(&params, &m, bytes, sizeof bytes);
            assert_true(size > 0);
            assert_int_equal(ntr_message_decode(&params, (ntr_bytes){bytes, (size_t)size}, &back), NTR_OK);
            assert_int_equal(ntr_message_address(&params, &back, NTR_FIELD_FADDR), value << 1);
        }
    }
}

static void sifive_addresses_are_sign_extended(void **state) {
    (void)state;
    static const char *const dialects[] = {"p550", "sifive-pre1.0"};
    for (size_t i = 0; i < 2; i++) {
        ntr_params params;
        ntr_params_init(&params, ntr_dialect_find(dialects[i]));
        ntr_message m = {.faddr = 0xFFFFC0015E6B, .uaddr = 0xC00007E82AA2};
        assert_int_equal(ntr_message_address(&params, &m, NTR_FIELD_FADDR), 0xFFFFFFFF8002BCD6);
        assert_int_equal(ntr_message_address(&params, &m, NTR_FIELD_UADDR) ^ 0x7FFF8FD0608C, 0xFFFFFFFF800035C8);
        m.faddr = 0x2AAAC3FE8BA8;
        assert_int_equal(ntr_message_address(&params, &m, NTR_FIELD_FADDR), 0x555587FD1750);
    }
}

/* ---- defects ----------------------------------------------------------------------------------- */

typedef struct defect_case {
    const char *bytes;
    ntr_status defect;
    uint8_t field;
    ntr_fields present;
    uint8_t src_bits;
    const char *dialect;
    uint8_t ts_width; /* not 0: TSTAMP has exactly this width */
} defect_case;

#define HAS(x) ((ntr_fields)1 << NTR_FIELD_##x)

static const defect_case defects[] = {
    {"", NTR_E_TRUNCATED, NTR_FIELD_NONE, 0},
    {"70", NTR_E_TRUNCATED, NTR_FIELD_BTYPE, 0},
    {"70 D0", NTR_E_TRUNCATED, NTR_FIELD_ICNT, HAS(BTYPE)},
    {"70 D0 1D", NTR_E_TRUNCATED, NTR_FIELD_UADDR, HAS(BTYPE) | HAS(ICNT)},
    {"70 D0 1D 1D F8", NTR_E_TRUNCATED, NTR_FIELD_HIST, HAS(BTYPE) | HAS(ICNT) | HAS(UADDR)},
    {"0C 0D 1C", NTR_E_TRUNCATED, NTR_FIELD_TSTAMP, HAS(ICNT)},
    {"70", NTR_E_TRUNCATED, NTR_FIELD_SRC, 0, .src_bits = 2},
    {"70 D2 1D 1D F8 FF", NTR_E_MSEO_RESERVED, NTR_FIELD_ICNT, HAS(BTYPE)},
    {"70 D0 1D 1E F8 FF", NTR_E_MSEO_RESERVED, NTR_FIELD_UADDR, HAS(BTYPE) | HAS(ICNT)},
    {"73", NTR_E_FIELD_MISSING, NTR_FIELD_BTYPE, 0},
    {"70 D0 1F", NTR_E_FIELD_MISSING, NTR_FIELD_UADDR, HAS(BTYPE) | HAS(ICNT)},
    {"24 37", NTR_E_FIELD_MISSING, NTR_FIELD_ICNT, HAS(SRC) | HAS(SYNC), .src_bits = 2},
    {"84 40 13", NTR_E_FIELD_MISSING, NTR_FIELD_HIST, HAS(EVCODE) | HAS(CDF) | HAS(ICNT)},
    {"6C 48 57", NTR_E_FIELD_MISSING, NTR_FIELD_RDATA1, HAS(RCODE) | HAS(RDATA0)},
    {"71 D3", NTR_E_FIELD_SPLIT, NTR_FIELD_BTYPE, 0},
    {"24 35 0B", NTR_E_FIELD_SPLIT, NTR_FIELD_ICNT, HAS(SRC) | HAS(SYNC), .src_bits = 2},
    {"E0 03", NTR_E_FIELD_SPLIT, NTR_FIELD_SRC, 0, .src_bits = 8},
    {"0C 0D 1D 03", NTR_E_FIELD_EXTRA, NTR_FIELD_NONE, HAS(ICNT) | HAS(TSTAMP)},
    {"0C 0F 0F", NTR_E_FIELD_EXTRA, NTR_FIELD_NONE, HAS(ICNT)},
    {"84 80 13", NTR_E_FIELD_VALUE, NTR_FIELD_CDF, HAS(EVCODE) | HAS(CDF)},
    {"84 C0 13", NTR_E_FIELD_VALUE, NTR_FIELD_CDF, HAS(EVCODE) | HAS(CDF)},
    {"84 40 11 03", NTR_E_HIST_STOP_BIT, NTR_FIELD_HIST, HAS(EVCODE) | HAS(CDF) | HAS(ICNT) | HAS(HIST)},
    {"6C 04 03", NTR_E_HIST_STOP_BIT, NTR_FIELD_RDATA0, HAS(RCODE) | HAS(RDATA0)},
    {"6C 08 01 03", NTR_E_HIST_STOP_BIT, NTR_FIELD_RDATA0, HAS(RCODE) | HAS(RDATA0)},
    {"6C 48 55 03", NTR_E_FIELD_VALUE, NTR_FIELD_RDATA1, HAS(RCODE) | HAS(RDATA0) | HAS(RDATA1)},
    {"6C 20 03", NTR_E_FIELD_VALUE, NTR_FIELD_RDATA0, HAS(RCODE) | HAS(RDATA0), .dialect = "sifive-pre1.0"},
    {"6C 20 03", NTR_OK, NTR_FIELD_NONE, HAS(RCODE) | HAS(RDATA0)},
    {"6C 00 03", NTR_OK, NTR_FIELD_NONE, HAS(RCODE) | HAS(RDATA0)},
    {"6C 0C 05 0B", NTR_OK, NTR_FIELD_NONE, HAS(RCODE) | HAS(RDATA0) | HAS(TSTAMP)},
    {"88 BC 2B", NTR_E_FIELD_VALUE, NTR_FIELD_CKDF, HAS(CKSRC) | HAS(CKDF), .dialect = "sifive-pre1.0"},
    {"88 BC 2B", NTR_OK, NTR_FIELD_NONE, 0}, /* reserved in 1.0 */
    {"08 FC FC FC FC FC FC FC FC FC FC FF", NTR_E_FIELD_LONG, NTR_FIELD_PROCESS, HAS(PROCESS)},
    {"08 FC FC FC FC FC FC FC FC FC FC 00 00 00 00 00 00 00 00 00 00 00 00 00 00 05 07", NTR_E_FIELD_LONG,
     NTR_FIELD_PROCESS, HAS(PROCESS) | HAS(TSTAMP)},
    {"08 FC FC FC FC FC FC FC FC FC FC 3C 00 00 00 00 00 00 00 00 00 00 00 00 00 00 03", NTR_OK, NTR_FIELD_NONE,
     HAS(PROCESS)},
    {"E0 00 01 54 05 03", NTR_OK, NTR_FIELD_NONE, 0},
    {"E0 00 01 56 05 03", NTR_E_MSEO_RESERVED, NTR_FIELD_NONE, 0},
    {"E0 00 01 54 05", NTR_E_TRUNCATED, NTR_FIELD_NONE, 0},
    {"E0 03", NTR_OK, NTR_FIELD_NONE, HAS(SRC), .src_bits = 6},
    /* docs/dialects.md section 7: SRC of 6 bits ends at a byte boundary */
    {"84 17", NTR_E_FIELD_MISSING, NTR_FIELD_EVCODE, HAS(SRC), .src_bits = 6, .dialect = "andes"},
    {"84 15 54 25 17", NTR_E_FIELD_SPLIT, NTR_FIELD_EVCODE, HAS(SRC), .src_bits = 6, .dialect = "andes"},
    {"84 FC A0 0B", NTR_E_FIELD_VALUE, NTR_FIELD_CDF, HAS(SRC) | HAS(EVCODE) | HAS(CDF), .src_bits = 6,
     .dialect = "andes"},
    {"70 14 31 8D 2F", NTR_OK, NTR_FIELD_NONE, HAS(SRC) | HAS(BTYPE) | HAS(ICNT) | HAS(UADDR) | HAS(HIST),
     .src_bits = 6, .dialect = "andes"},
    {"70 14 31 8F", NTR_E_FIELD_MISSING, NTR_FIELD_HIST, HAS(SRC) | HAS(BTYPE) | HAS(ICNT) | HAS(UADDR), .src_bits = 6,
     .dialect = "andes"},
    /* section 8: TSTAMP of a fixed width, complete, too short, too long, and with bits above its width */
    {"0C 0D 14 00 03", NTR_OK, NTR_FIELD_NONE, HAS(ICNT) | HAS(TSTAMP), .dialect = "xuantie", .ts_width = 16},
    {"0C 0D 14 03", NTR_E_FIELD_SPLIT, NTR_FIELD_TSTAMP, HAS(ICNT) | HAS(TSTAMP), .dialect = "xuantie", .ts_width = 16},
    {"0C 0D 14 00 00 03", NTR_E_FIELD_SPLIT, NTR_FIELD_TSTAMP, HAS(ICNT) | HAS(TSTAMP), .dialect = "xuantie",
     .ts_width = 16},
    {"0C 0F", NTR_OK, NTR_FIELD_NONE, HAS(ICNT), .dialect = "xuantie", .ts_width = 16},
    /* section 9: messages of the other producers are not this one's */
    {"78 4C 0F", NTR_OK, NTR_FIELD_NONE, HAS(SRC) | HAS(BCNT), .src_bits = 2, .dialect = "microblaze-v"},
    {"10 0B", NTR_E_FIELD_MISSING, NTR_FIELD_UADDR, HAS(SRC) | HAS(BTYPE) | HAS(ICNT), .src_bits = 2,
     .dialect = "microblaze-v"},
    {"11 08 05 00 1B", NTR_E_FIELD_SPLIT, NTR_FIELD_SRC, 0, .src_bits = 2, .dialect = "microblaze-v"},
    {"20 03", NTR_OK, NTR_FIELD_NONE, HAS(ETYPE) | HAS(SRC), .src_bits = 2},                 /* ECODE left out */
    {"20 01 07", NTR_OK, NTR_FIELD_NONE, HAS(ETYPE) | HAS(SRC) | HAS(TSTAMP), .src_bits = 2}, /* the same, TSTAMP */
};

static void defects_are_told_with_their_field(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof defects / sizeof defects[0]; i++) {
        const defect_case *d = &defects[i];
        ntr_params params;
        ntr_params_init(&params, d->dialect ? ntr_dialect_find(d->dialect) : NULL);
        params.src_bits = d->src_bits;
        params.ts_fixed = d->ts_width != 0;
        if (d->ts_width) params.ts_width = d->ts_width;
        uint8_t bytes[64];
        ntr_message m;
        print_message("# %s\n", d->bytes);
        ntr_bytes raw = {bytes, from_hex(d->bytes, bytes, sizeof bytes)};
        assert_int_equal(ntr_message_decode(&params, raw, &m), d->defect);
        assert_int_equal(m.defect, d->defect);
        assert_int_equal(m.defect_field, d->field);
        assert_int_equal(m.present, d->present);
    }
}

static void timestamps_off_means_none(void **state) {
    (void)state;
    ntr_params params;
    ntr_params_init(&params, NULL);
    params.timestamps = NTR_TIMESTAMPS_OFF;
    static const uint8_t with[] = {0x0C, 0x0D, 0x1F}, without[] = {0x0C, 0x0F};
    ntr_message m;
    assert_int_equal(ntr_message_decode(&params, (ntr_bytes){with, sizeof with}, &m), NTR_E_FIELD_EXTRA);
    assert_int_equal(m.defect_field, NTR_FIELD_TSTAMP);
    assert_int_equal(ntr_message_decode(&params, (ntr_bytes){without, sizeof without}, &m), NTR_OK);
}

static void ecode_left_out_reads_zero_and_stays_out(void **state) {
    (void)state;
    ntr_params params;
    ntr_params_init(&params, NULL);
    params.src_bits = 2;
    static const uint8_t bytes[] = {0x20, 0x01, 0x07};
    ntr_message m = {.ecode = 5};
    uint8_t again[8];
    assert_int_equal(ntr_message_decode(&params, (ntr_bytes){bytes, sizeof bytes}, &m), NTR_OK);
    assert_int_equal(m.ecode, 0);
    assert_int_equal(m.tstamp, 1);
    assert_int_equal(ntr_message_encode(&params, &m, again, sizeof again), 3);
    assert_memory_equal(again, bytes, 3);
}

static void encoding_refuses_what_cannot_be_sent(void **state) {
    (void)state;
    ntr_params params;
    ntr_params_init(&params, NULL);
    uint8_t out[64];
    ntr_message m = {.tcode = NTR_TCODE_INDIRECT_BRANCH, .btype = 4, .present = HAS(BTYPE) | HAS(ICNT) | HAS(UADDR)};
    assert_int_equal(ntr_message_encode(&params, &m, out, sizeof out), NTR_E_FIELD_VALUE);
    m.present = HAS(BTYPE) | HAS(ICNT);
    m.btype = 3;
    assert_int_equal(ntr_message_encode(&params, &m, out, sizeof out), NTR_E_FIELD_MISSING);
    m.tcode = 56;
    assert_int_equal(ntr_message_encode(&params, &m, out, sizeof out), NTR_E_INVALID);
    m = (ntr_message){.tcode = NTR_TCODE_DIRECT_BRANCH, .icnt = 1, .present = HAS(ICNT)};
    params.src_bits = 3;
    assert_int_equal(ntr_message_encode(&params, &m, out, sizeof out), NTR_E_FIELD_MISSING);
    m.present |= HAS(SRC);
    m.src = 8;
    assert_int_equal(ntr_message_encode(&params, &m, out, sizeof out), NTR_E_FIELD_VALUE);
}

static void names_and_rows(void **state) {
    (void)state;
    assert_string_equal(ntr_tcode_name(NULL, 28), "IndirectBranchHist");
    assert_string_equal(ntr_tcode_name(NULL, 7), "Reserved7");
    assert_string_equal(ntr_tcode_name(ntr_dialect_find("p550"), 7), "DataAcquisition");
    assert_string_equal(ntr_tcode_name(NULL, 56), "Vendor56");
    assert_string_equal(ntr_tcode_name(NULL, 63), "Reserved63");
    assert_string_equal(ntr_tcode_name(NULL, NTR_TCODE_NONE), "Malformed");
    assert_true(ntr_tcode_is_reserved(NULL, 7) && !ntr_tcode_is_reserved(ntr_dialect_find("p550"), 7));
    assert_false(ntr_tcode_is_reserved(NULL, NTR_TCODE_NONE) || ntr_tcode_is_vendor(NULL, NTR_TCODE_NONE));
    for (unsigned t = 0; t < 64; t++) {
        char name[16];
        assert_int_equal(ntr_tcode_is_vendor(NULL, t), t >= 56 && t <= 62);
        assert_int_equal(ntr_tcode_is_vendor(NULL, t) + ntr_tcode_is_reserved(NULL, t), !ntr_message_get(NULL, t));
        snprintf(name, sizeof name, "%s%u", t >= 56 && t <= 62 ? "Vendor" : "Reserved", t);
        if (!ntr_message_get(NULL, t)) assert_string_equal(ntr_tcode_name(NULL, t), name);
        assert_int_equal(ntr_tcode_is_sync(t), t == 9 || t == 11 || t == 12 || t == 29);
    }
    size_t rows = 0;
    while (ntr_message_at(rows)) rows++;
    for (size_t i = 0; i < rows; i++) /* the order of fields.def is that of every message */
        for (const ntr_message_field *f = ntr_message_at(i)->fields; f[1].field != NTR_FIELD_NONE; f++)
            assert_true(f[0].field < f[1].field);
    assert_null(ntr_message_get(NULL, 35));
    assert_null(ntr_field_name(NTR_FIELD_NONE));
    assert_null(ntr_field_get(NTR_FIELD_NONE));
    assert_int_equal(ntr_field_get(NTR_FIELD_HIST)->bits, 32);
}

static void values_have_names(void **state) {
    (void)state;
    const ntr_dialect *sifive = ntr_dialect_find("sifive-pre1.0");
    assert_string_equal(ntr_value_name(NULL, NTR_FIELD_SYNC, 2), "periodic");
    assert_string_equal(ntr_value_name(NULL, NTR_FIELD_SYNC, 8), "reserved");
    assert_string_equal(ntr_value_name(NULL, NTR_FIELD_SYNC, 15), "vendor");
    assert_string_equal(ntr_value_name(sifive, NTR_FIELD_SYNC, 15), "PC sample");
    assert_string_equal(ntr_value_name(sifive, NTR_FIELD_SYNC, 2), "periodic");
    const ntr_dialect *andes = ntr_dialect_find("andes");
    assert_string_equal(ntr_value_name(andes, NTR_FIELD_EVCODE, 5), "process change");
    assert_string_equal(ntr_value_name(andes, NTR_FIELD_EVCODE, 8), "privilege change");
    assert_string_equal(ntr_value_name(andes, NTR_FIELD_EVCODE, 15), "prohibited region");
    assert_string_equal(ntr_value_name(NULL, NTR_FIELD_EVCODE, 5), "reserved");
    assert_string_equal(ntr_value_name(NULL, NTR_FIELD_RCODE, 9), "vendor");
    assert_string_equal(ntr_value_name(NULL, NTR_FIELD_CKSRC, 0), "reserved");
    assert_null(ntr_value_name(NULL, NTR_FIELD_ICNT, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(vectors_decode_to_their_fields),
        TEST(vectors_encode_to_their_bytes),
        TEST(addresses_are_extended),
        TEST(extension_reads_back),
        TEST(sifive_addresses_are_sign_extended),
        TEST(defects_are_told_with_their_field),
        TEST(timestamps_off_means_none),
        TEST(ecode_left_out_reads_zero_and_stays_out),
        TEST(encoding_refuses_what_cannot_be_sent),
        TEST(names_and_rows),
        TEST(values_have_names),
    };
    return cmocka_run_group_tests_name("codec", tests, NULL, NULL);
}
