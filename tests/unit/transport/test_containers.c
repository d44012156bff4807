/* Containers of producers' tools: accepted and refused headers, by hand from their layout. */
#include "../test.h"

#include <ntrace/container.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAM "24 0D 00 0B 84 00 07"

static size_t from_hex(const char *text, uint8_t *out, size_t capacity) {
    size_t size = 0;
    for (char *end; size < capacity; text = end) {
        unsigned long byte = strtoul(text, &end, 16);
        if (end == text) break;
        out[size++] = (uint8_t)byte;
    }
    return size;
}

typedef struct container_case {
    const char *what, *bytes;
    ntr_status status;
    const char *name; /* NTR_OK */
    uint8_t src_bits, addr_bits;
    bool no_addr_diff;
    const char *facts; /* a part of them; NULL: any */
} container_case;

static const container_case cases[] = {
    {"version 1, SRC on", "06 01 27 01 " STREAM, NTR_OK, "andes", 6, 39, true},
    {"version 1, 32-bit addresses", "00 00 20 01 " STREAM, NTR_OK, "andes", 0, 32, false},
    {"version 1, 64-bit addresses", "00 00 40 01 " STREAM, NTR_OK, "andes", 0, 64, false},
    {"version 2 as it is written today", "0D 00 00 02 01 01 06 02 01 00 03 01 30 04 01 00 " STREAM, NTR_OK, "andes", 6,
     48, false},
    {"version 2 without the optional value", "0A 00 00 02 01 01 00 02 01 01 03 01 39 " STREAM, NTR_OK, "andes", 0, 57,
     true},
    {"version 2 with padding", "10 00 00 02 FE 01 00 01 01 00 02 01 00 03 01 27 FE 01 00 " STREAM, NTR_OK, "andes", 0,
     39, false},
    {"version 2 with an unknown value of 3 bytes", "0F 00 00 02 01 01 00 77 03 AA BB CC 02 01 00 03 01 27 " STREAM,
     NTR_OK, "andes", 0, 39, false},
    {"version 2, early: three values", "04 00 00 02 06 01 40 " STREAM, NTR_OK, "andes", 6, 64, true},
    {"a known value with the wrong length", "0B 00 00 02 01 02 06 00 02 01 00 03 01 27", NTR_E_SYNTAX},
    {"a value over the end", "0A 00 00 02 01 01 06 02 01 00 03 05 27", NTR_E_SYNTAX},
    {"VALEN missing", "07 00 00 02 01 01 06 02 01 00", NTR_E_SYNTAX},
    {"no such width", "0A 00 00 02 01 01 06 02 01 00 03 01 28", NTR_E_SYNTAX},
    {"flag that is neither 0 nor 1", "0A 00 00 02 01 01 06 02 01 02 03 01 27", NTR_E_SYNTAX},
    {"the file ends inside the header", "0D 00 00 02 01 01 06 02", NTR_E_SYNTAX},
    {"the length is no header's", "41 01 00 02 01 01 06", NTR_END},
    {"version 1 with an odd width", "06 01 28 01 " STREAM, NTR_END},
    {"version 1 with 13 bits of SRC", "0D 01 27 01 " STREAM, NTR_END},
    {"plain", STREAM, NTR_END},
    {"empty", "", NTR_END},
    {"XuanTie, HTM", "18 00 00 00 06 00 00 00 02 00 00 00 28 00 00 00 00 00 00 00 00 00 00 00 " STREAM, NTR_OK,
     "xuantie", 2, 0, false},
    {"XuanTie, BTM, wrapped",
     "18 00 00 00 03 00 00 00 00 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 11 21 0B " STREAM, NTR_OK, "xuantie", 0,
     0, false},
    {"version 2, timestamp compression mode 1", "0D 00 00 02 01 01 06 02 01 00 03 01 30 04 01 01 " STREAM, NTR_OK,
     "andes", 6, 48, false, "compression mode 1"},
    {"version 2, timestamp compression mode 2", "0D 00 00 02 01 01 06 02 01 00 03 01 30 04 01 02 " STREAM,
     NTR_E_SYNTAX},
    {"XuanTie, another size of the header",
     "1C 00 00 00 06 00 00 00 02 00 00 00 28 00 00 00 00 00 00 00 00 00 00 00 " STREAM, NTR_END},
    {"XuanTie, big-endian", "00 00 00 18 00 00 00 06 00 00 00 02 00 00 00 28 00 00 00 00 00 00 00 00 " STREAM, NTR_END},
    {"XuanTie, no such mode", "18 00 00 00 05 00 00 00 02 00 00 00 28 00 00 00 00 00 00 00 00 00 00 00 " STREAM,
     NTR_END},
    {"XuanTie, 13 bits of SRC", "18 00 00 00 06 00 00 00 0D 00 00 00 28 00 00 00 00 00 00 00 00 00 00 00 " STREAM,
     NTR_END},
    {"XuanTie, 65-bit times", "18 00 00 00 06 00 00 00 02 00 00 00 41 00 00 00 00 00 00 00 00 00 00 00 " STREAM,
     NTR_END},
    {"XuanTie, wrap 2", "18 00 00 00 06 00 00 00 02 00 00 00 28 00 00 00 02 00 00 00 00 00 00 00 " STREAM, NTR_END},
    {"XuanTie, align 1", "18 00 00 00 06 00 00 00 02 00 00 00 28 00 00 00 00 00 00 00 01 00 00 00 " STREAM, NTR_END},
};

/* Passes the file through in steps. Returns the number of bytes of the stream. */
static size_t pass(const ntr_container *found, ntr_bytes file, size_t step, uint8_t *out) {
    ntr_container c = *found;
    size_t size = 0;
    for (size_t at = 0; at < file.size; at += step) {
        size_t here = step < file.size - at ? step : file.size - at;
        size += ntr_container_read(&c, (ntr_bytes){file.data + at, here}, out + size);
    }
    return size;
}

static void check_stream(const ntr_container *c, ntr_bytes file) {
    uint8_t want[16], out[1024];
    size_t size = from_hex(STREAM, want, sizeof want);
    for (size_t step = 1; step <= file.size; step++) {
        assert_int_equal(pass(c, file, step, out), size);
        assert_memory_equal(out, want, size);
    }
}

static void headers_are_read(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const container_case *t = &cases[i];
        uint8_t bytes[128];
        ntr_container c;
        ntr_bytes file = {bytes, from_hex(t->bytes, bytes, sizeof bytes)};
        if (ntr_container_find(file, &c) != t->status) fail_msg("%s: %s", t->what, c.facts);
        if (t->status == NTR_E_SYNTAX) assert_true(strlen(c.facts) > strlen("header: "));
        if (t->status != NTR_OK) continue;
        if (strcmp(c.name, t->name) || c.params.src_bits != t->src_bits || c.params.addr_bits != t->addr_bits ||
            c.params.no_addr_diff != t->no_addr_diff)
            fail_msg("%s: %s", t->what, c.facts);
        if (t->facts && !strstr(c.facts, t->facts)) fail_msg("%s: %s", t->what, c.facts);
        check_stream(&c, file);
    }
}

/* The file as 32-bit words in hexadecimal. `stale`: records of 32 bytes, with a NUL and old bytes after the line. */
static size_t as_text(const char *hex, bool stale, uint8_t *text) {
    uint8_t bytes[128];
    size_t size = from_hex(hex, bytes, sizeof bytes), at = 0;
    while (size % 4) bytes[size++] = 0xff;
    for (size_t i = 0; i < size; i += 4) {
        uint32_t word =
            bytes[i] | (uint32_t)bytes[i + 1] << 8 | (uint32_t)bytes[i + 2] << 16 | (uint32_t)bytes[i + 3] << 24;
        char line[16];
        snprintf(line, sizeof line, "%08x\n", (unsigned)word);
        memcpy(text + at, line, 9);
        at += 9;
        if (!stale) continue;
        memset(text + at, 'f', 23); /* old digits do not count */
        text[at] = 0;
        at += 23;
    }
    return at;
}

static void the_text_twin_has_the_same_bytes(void **state) {
    (void)state;
    for (unsigned stale = 0; stale < 2; stale++) {
        uint8_t text[1024];
        ntr_container c;
        /* the stream ends in 0xff here, which fills the last word */
        ntr_bytes file = {text, as_text("0D 00 00 02 01 01 06 02 01 00 03 01 30 04 01 01 " STREAM, stale, text)};
        assert_int_equal(ntr_container_find(file, &c), NTR_OK);
        assert_string_equal(c.name, "andes-text");
        assert_int_equal(c.params.src_bits, 6);
        uint8_t out[1024], want[16];
        size_t size = from_hex(STREAM, want, sizeof want);
        for (size_t step = 1; step < 70; step++) {
            assert_int_equal(pass(&c, file, step, out), size + 1);
            assert_memory_equal(out, want, size);
        }
    }
}

/* A stream that begins with the rest of a session, idle bytes and DeviceID; the Config behind them has the parameters.
 */
static void a_bad_header_in_the_text_twin_is_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t text[1024];
        ntr_container c;
        if (cases[i].status != NTR_E_SYNTAX) continue;
        ntr_bytes file = {text, as_text(cases[i].bytes, i & 1, text)};
        const ntr_status status = ntr_container_find(file, &c);
        /* as_text fills the last word, so a header that ends early has values here, which are wrong */
        if (status != NTR_E_SYNTAX) fail_msg("%s as text: %s", cases[i].what, c.facts);
    }
}

static void a_config_describes_its_stream(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        int src_bits;
        unsigned predictor, cache, depth, xlen, width, implicit;
    } streams[] = {
        /* CAPS ffffff, ENAB 8a8031, SRC inhibited: P1 0x886, TsWidth 40, P3 0x1096 */
        {"FF FF 6C 11 04 E0 64 14 34 4B E8 C4 FC FC FC 3D C4 00 A0 89 D1 18 89 04 A1 58 08 07", 0, 9, 6, 16, 64, 40, 3},
        /* the same with SRC on: P0 says 4 bits, but the message has none */
        {"E8 C4 FC FC FC 3D C4 00 A0 89 D1 18 09 04 A1 58 08 07", -1, 0, 0, 0, 0, 0, 0},
        {"E8 4C 01 01 D1 19 01 03", 4, 0, 0, 16, 32, 0, 0},
        {"E8 4C 01 01 D1 15 01 03", -1, 0, 0, 0, 0, 0, 0}, /* mode 5 */
        {"E8 0C 01 01 D1 19 01 03", -1, 0, 0, 0, 0, 0, 0}, /* CFGVER 0 */
        {"E8 48 01 01 D1 19 01 03", -1, 0, 0, 0, 0, 0, 0}, /* SRC 2, but SrcID 3 */
        /* CFGVER 2 with two fields more; CAPS 800021, ENAB 21, P1 806, P2 a00, P3 1090 */
        {"E8 48 20 00 00 21 85 01 18 81 00 A1 40 08 05 54 15 0F", 0, 9, 0, 16, 64, 40, 3},
    };
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        uint8_t bytes[128];
        ntr_container c;
        ntr_bytes file = {bytes, from_hex(streams[i].bytes, bytes, sizeof bytes)};
        ntr_status status = ntr_container_find(file, &c);
        assert_int_equal(status, streams[i].src_bits < 0 ? NTR_END : NTR_OK);
        if (status == NTR_END) continue;
        assert_string_equal(c.params.dialect->name, "ctte");
        assert_int_equal(c.params.src_bits, streams[i].src_bits);
        assert_int_equal(c.params.branch_predictor, streams[i].predictor);
        assert_int_equal(c.params.jump_cache, streams[i].cache);
        assert_int_equal(c.params.return_stack, streams[i].depth);
        assert_int_equal(c.params.xlen, streams[i].xlen);
        assert_int_equal(c.params.ts_width, streams[i].width);
        assert_int_equal(c.params.implicit_return, streams[i].implicit);
        assert_true(ntr_container_is_plain(&c));
    }
}

/* Frames of tt-dfd. Every message is RepeatBranch (30) with SRC 0, of 3 bytes, the second of which is `inner`; 0x03 is
 * a stray byte. */
static size_t make_frames(uint8_t *out, size_t frame, unsigned frames, uint8_t fill, uint8_t inner) {
    size_t size = 0;
    for (unsigned i = 0; i < frames; i++) {
        const size_t end = (i + 1) * frame, tail = 3 + (i * 5 + 2) % 11;
        while (end - size >= tail + 3) {
            const uint8_t message[] = {0x78, inner, (uint8_t)(0x0f + 16 * (size % 4))};
            memcpy(out + size, message, sizeof message);
            size += sizeof message;
        }
        out[size++] = 0x03;
        while (size < end) out[size++] = fill;
    }
    return size;
}

static void frames_may_have_another_fill_byte(void **state) {
    (void)state;
    static const struct {
        size_t frame;
        unsigned frames;
        uint8_t fill;
        const char *facts; /* NULL: not found */
    } files[] = {
        {64, 16, 0x80, "filled with 0x80"},
        {64, 2, 0x00, "filled with 0x00"},
        {192, 5, 0x81, "filled with 0x81"},
        {64, 16, 0xff, NULL}, /* idle */
        {64, 16, 0x03, NULL}, /* MSEO 11: idle in this dialect */
        {64, 16, 0x70, NULL}, /* TCODE 28: cannot be told from a message */
        {60, 16, 0x80, NULL}, /* no such frames */
        {64, 1, 0x80, NULL},  /* one frame shows nothing */
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        uint8_t bytes[1024], out[1024 + NTR_CONTAINER_MORE];
        ntr_container c;
        const size_t size = make_frames(bytes, files[i].frame, files[i].frames, files[i].fill, files[i].fill);
        const ntr_status status = ntr_container_find((ntr_bytes){bytes, size}, &c);
        assert_int_equal(status, files[i].facts ? NTR_OK : NTR_END);
        if (!files[i].facts) continue;
        assert_string_equal(c.params.dialect->name, "tt-dfd");
        assert_string_equal(c.facts, files[i].facts);
        uint8_t want[1024];
        make_frames(want, files[i].frame, files[i].frames, 0xff, files[i].fill);
        for (size_t step = 1; step <= size; step += 1 + step / 3) {
            assert_int_equal(pass(&c, (ntr_bytes){bytes, size}, step, out), size);
            assert_memory_equal(out, want, size);
        }
    }
}

static void other_text_is_plain(void **state) {
    (void)state;
    static const char *const texts[] = {"0d00000\n", "0d00000g\n", "0d000002\n", "#1 @0x0 DirectBranch\n", "00000000 "};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ntr_container c;
        assert_int_equal(ntr_container_find((ntr_bytes){(const uint8_t *)texts[i], strlen(texts[i])}, &c), NTR_END);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(headers_are_read),
        TEST(the_text_twin_has_the_same_bytes),
        TEST(a_bad_header_in_the_text_twin_is_refused),
        TEST(a_config_describes_its_stream),
        TEST(frames_may_have_another_fill_byte),
        TEST(other_text_is_plain),
    };
    return cmocka_run_group_tests_name("containers", tests, NULL, NULL);
}
