/* Index points: from each of them the rest of a stream is decoded as if everything before had been decoded. */
#include "scene.h"

#include <ntrace/export.h>
#include <ntrace/index.h>
#include <ntrace/index_build.h>

enum { EVENTS = 64 };

/* Two sources in turn. Idle bytes are between the stop of one and the synchronizing message of the other. */
static void start(scene *s, stream *in) {
    scene_start(s, "ntrace-1.0");
    s->config.params.src_bits = 2;
    code(s, 0x1000, ADD, branch(-4), jal(0, -8));
    *in = (stream){.size = 0};
    assemble(in, &s->config.params,
             "ProgTraceSync SRC=0 SYNC=5 ICNT=0 FADDR=0x800\n"
             "ProgTraceSync SRC=1 SYNC=5 ICNT=0 FADDR=0x800\n"
             "DirectBranch SRC=0 ICNT=4\n"
             "ProgTraceCorrelation SRC=1 EVCODE=4 CDF=0 ICNT=2\n"
             "raw ff ff ff\n"
             "DirectBranchSync SRC=0 SYNC=2 ICNT=4 FADDR=0x800\n"
             "DirectBranch SRC=0 ICNT=4\n"
             "raw ff ff\n"
             "ProgTraceSync SRC=1 SYNC=5 ICNT=0 FADDR=0x800\n"
             "ProgTraceCorrelation SRC=1 EVCODE=4 CDF=0 ICNT=4\n"
             "ProgTraceCorrelation SRC=0 EVCODE=4 CDF=0 ICNT=2\n");
}

static ntr_index *index_of(const scene *s, const stream *in) {
    ntr_index *index;
    ntr_index_new(&s->config.params, 0, NULL, &index);
    ntr_reader reader;
    ntr_message m;
    ntr_reader_init(&reader, &s->config.params);
    assert_int_equal(ntr_reader_feed(&reader, in->bytes, in->size, true), NTR_OK);
    while (ntr_reader_next(&reader, &m) == NTR_OK) assert_int_equal(ntr_index_message(index, &m), NTR_OK);
    assert_int_equal(ntr_index_finish(index), NTR_OK);
    return index;
}

/* Returns the events of messages from `first` on, decoded from these points (none: from the beginning). */
static size_t events_from(const scene *s, const stream *in, const ntr_point *points, size_t count, uint64_t first,
                          ntr_event *out) {
    ntr_decoder *d;
    ntr_decoder_new(&s->config, &d);
    uint64_t offset = count ? UINT64_MAX : 0;
    for (size_t i = 0; i < count; i++)
        if (points[i].offset < offset) offset = points[i].offset;
    if (count) assert_int_equal(ntr_decoder_begin(d, points, count), NTR_OK);
    assert_int_equal(ntr_decoder_feed(d, in->bytes + offset, in->size - offset, true), NTR_OK);
    size_t all = 0, kept = 0;
    assert_int_equal(ntr_decoder_read(d, out, EVENTS, &all), NTR_END);
    for (size_t i = 0; i < all; i++)
        if (out[i].message >= first) out[kept++] = out[i];
    ntr_decoder_free(d);
    return kept;
}

/* Decoding from a point gives the same events as decoding from the beginning. Returns how many of the starting places
 * are after the beginning. */
static size_t compare_all_places(const scene *s, const stream *in, uint64_t last) {
    ntr_index *index = index_of(s, in);
    size_t begun_later = 0;
    for (uint64_t first = 1; first <= last; first++) {
        static ntr_event whole[EVENTS], part[EVENTS];
        const ntr_point *points;
        size_t count;
        if (ntr_index_find(index, NTR_UNIT_MESSAGE, first, NULL, &points, &count) != NTR_OK) continue;
        size_t expected = events_from(s, in, NULL, 0, first, whole);
        size_t found = events_from(s, in, points, count, first, part);
        assert_int_equal(found, expected);
        for (size_t i = 0; i < found; i++) {
            char one[NTR_EVENT_TEXT_MAX], other[NTR_EVENT_TEXT_MAX];
            size_t size = ntr_event_json(&whole[i], one, sizeof one);
            assert_int_equal(ntr_event_json(&part[i], other, sizeof other), size);
            assert_memory_equal(one, other, size);
            assert_true(ntr_context_equal(&whole[i].context, &part[i].context));
        }
        begun_later += points[0].offset > 0;
    }
    ntr_index_free(index);
    return begun_later;
}

static void every_place_decodes_as_from_the_beginning(void **state) {
    (void)state;
    scene s;
    stream in;
    start(&s, &in);
    assert_true(compare_all_places(&s, &in, 9) > 3);
    scene_end(&s);
}

/* No message between the point and the window reports the context. */
static void contexts_are_known_where_decoding_begins(void **state) {
    (void)state;
    scene s;
    stream in = {.size = 0};
    scene_start(&s, "ntrace-1.0");
    code(&s, 0x1000, ADD, branch(-4), jal(0, -8));
    assemble(&in, &s.config.params,
             "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x800\n"
             "Ownership PROCESS=0x22\n"
             "DirectBranch ICNT=4\n"
             "DirectBranchSync SYNC=2 ICNT=4 FADDR=0x800\n"
             "DirectBranch ICNT=4\n"
             "DirectBranchSync SYNC=2 ICNT=4 FADDR=0x800\n"
             "DirectBranch ICNT=4\n");
    assert_true(compare_all_places(&s, &in, 7) > 1);
    scene_end(&s);
}

/* The point after a stop and the point of the next message have the same message number, but different offsets. */
static void the_least_offset_is_the_beginning(void **state) {
    (void)state;
    scene s;
    stream in;
    start(&s, &in);
    ntr_index *index = index_of(&s, &in);
    const ntr_point *points;
    size_t count;
    assert_int_equal(ntr_index_find(index, NTR_UNIT_MESSAGE, 6, NULL, &points, &count), NTR_OK);
    assert_int_equal(count, 2);
    assert_int_equal(points[0].message, points[1].message);
    assert_int_equal(points[0].offset, points[1].offset + 3);
    ntr_index_free(index);
    scene_end(&s);
}

/* Bytes of an unknown source: no time is certain, and there is no point after a stop behind them. */
static void behind_damage_only_synchronizing_messages_are_points(void **state) {
    (void)state;
    scene s;
    stream in = {.size = 0};
    scene_start(&s, "ntrace-1.0");
    s.config.params.src_bits = 2;
    assemble(&in, &s.config.params,
             "ProgTraceSync SRC=0 SYNC=5 ICNT=0 FADDR=0x800\n"
             "DirectBranch SRC=0 ICNT=4\n"
             "raw 67\n" /* neither idle nor the start of a message */
             "DirectBranch SRC=0 ICNT=4\n"
             "ProgTraceCorrelation SRC=0 EVCODE=4 CDF=0 ICNT=2\n"
             "DirectBranch SRC=1 ICNT=4\n"
             "ProgTraceSync SRC=1 SYNC=5 ICNT=0 FADDR=0x800\n"
             "ProgTraceSync SRC=0 SYNC=5 ICNT=0 FADDR=0x800\n");
    ntr_index *index = index_of(&s, &in);
    size_t count;
    const ntr_point *points = ntr_index_points(index, &count);
    assert_false(ntr_index_is_timed(index));
    assert_true(count > 1);
    for (size_t i = 0; i < count; i++)
        assert_true(points[i].kind == NTR_POINT_FIRST || (points[i].kind == NTR_POINT_SYNC && points[i].message > 6));
    ntr_index_free(index);
    scene_end(&s);
}

/* ---- spans of the stream */

static uint32_t seed;

static unsigned chance(unsigned below) {
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

/* A message of a source, often of flow in one mode; `times`: of 100 messages that many have a time. */
static void add_random(stream *out, const ntr_params *params, unsigned times) {
    static const char *const rare[] = {
        "ProgTraceSync SRC=%u SYNC=5 ICNT=0 FADDR=0x800",
        "ProgTraceCorrelation SRC=%u EVCODE=4 CDF=0 ICNT=2",
        "Ownership SRC=%u PROCESS=0x22",
        "ResourceFull SRC=%u RCODE=0 RDATA=9",
        "Error SRC=%u ETYPE=0 ECODE=1",
        "RepeatBranch SRC=%u BCNT=3",
        "DirectBranchSync SRC=%u SYNC=2 ICNT=4 FADDR=0x800",
        "raw 67",
        "raw ff ff",
        "raw 0c 02 03",
        "raw 0d 07",
        "DirectBranch SRC=%u ICNT=4",
        "IndirectBranchHist SRC=%u BTYPE=0 ICNT=3 UADDR=0x10 HIST=0x5",
        "IndirectBranch SRC=%u BTYPE=0 ICNT=3 UADDR=0x12345678",
    };
    static const char *const flow[] = {"DirectBranch SRC=%u ICNT=4",
                                       "IndirectBranchHist SRC=%u BTYPE=0 ICNT=3 UADDR=0x10 HIST=0x5",
                                       "ResourceFull SRC=%u RCODE=1 RDATA=0x155555555555555"};
    const unsigned src = chance(1u << params->src_bits), kind = chance(80);
    const char *format = kind < sizeof rare / sizeof *rare ? rare[kind] : flow[src % 3];
    char line[128] = "", text[160];

    for (size_t i = 0; *format; i++, format++) {
        if (strncmp(format, " SRC=%u", 7) != 0) {
            line[i] = *format;
            continue;
        }
        if (params->src_bits) i += (size_t)snprintf(line + i, sizeof line - i, " SRC=%u", src);
        format += 6;
        i--;
    }
    snprintf(text, sizeof text, "%s%s", line, *line == 'r' || chance(100) >= times ? "" : " TSTAMP=9");
    add_line(out, params, text);
}

static ntr_index *index_of_spans(const ntr_params *params, const stream *in, size_t size) {
    ntr_index *index;
    ntr_index_new(params, 0, NULL, &index);
    ntr_reader reader;
    ntr_status status = NTR_NEED_MORE;

    ntr_reader_init(&reader, params);
    for (size_t at = 0; at < in->size; at += size) {
        const bool last = in->size - at <= size;
        assert_int_equal(status, NTR_NEED_MORE);
        assert_int_equal(ntr_reader_feed(&reader, in->bytes + at, last ? in->size - at : size, last), NTR_OK);
        status = ntr_index_messages(index, &reader);
    }
    assert_int_equal(status, NTR_END);
    assert_int_equal(ntr_index_finish(index), NTR_OK);
    return index;
}

static void check_same(const ntr_index *expected, const ntr_index *found) {
    size_t count, other;
    const ntr_point *a = ntr_index_points(expected, &count), *b = ntr_index_points(found, &other);

    assert_int_equal(count, other);
    assert_int_equal(ntr_index_is_timed(expected), ntr_index_is_timed(found));
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(a[i].kind, b[i].kind);
        assert_int_equal(a[i].src, b[i].src);
        assert_int_equal(a[i].offset, b[i].offset);
        assert_int_equal(a[i].message, b[i].message);
        assert_int_equal(a[i].address, b[i].address);
        assert_int_equal(a[i].mode, b[i].mode);
        assert_int_equal(a[i].clock.time, b[i].clock.time);
        assert_int_equal(a[i].clock.known, b[i].clock.known);
        assert_true(ntr_context_equal(&a[i].context, &b[i].context));
    }
}

static void spans_and_messages_have_the_same_points(void **state) {
    (void)state;
    static const size_t sizes[] = {SIZE_MAX, 1, 50, 333};
    for (seed = 1; seed < TEST_ROUNDS(100);) {
        const uint32_t first = seed;
        scene s;
        stream in = {.size = 0};
        scene_start(&s, "ntrace-1.0");
        s.config.params.src_bits = (uint8_t)(first % 4 * 3); /* 0, 3, 6, 9 */
        const unsigned times = first % 3 * 50;
        while (in.size + 40 < sizeof in.bytes) add_random(&in, &s.config.params, times);
        ntr_index *expected = index_of(&s, &in);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            ntr_index *found = index_of_spans(&s.config.params, &in, sizes[i]);
            check_same(expected, found);
            ntr_index_free(found);
        }
        ntr_index_free(expected);
        scene_end(&s);
        seed = first + 1;
    }
}

/* Of a long stream, points of all parts of it remain. */
static void the_number_of_points_is_limited(void **state) {
    (void)state;
    enum { MESSAGES = 1000000, SIZE = 10, LIMIT = 131072 };
    scene s;
    stream in = {.size = 0};
    scene_start(&s, "ntrace-1.0");
    s.config.params.src_bits = 1;
    assemble(&in, &s.config.params, "ProgTraceSync SRC=0 SYNC=5 ICNT=0 FADDR=0x800\n");
    for (unsigned spacing = 0; spacing < 100; spacing += 50) {
        ntr_index *index;
        ntr_index_new(&s.config.params, spacing, NULL, &index);
        ntr_message m;
        const ntr_point *found;
        size_t count;

        assert_int_equal(ntr_message_decode(&s.config.params, (ntr_bytes){in.bytes, in.size}, &m), NTR_OK);
        for (uint64_t i = 0; i < MESSAGES; i++) {
            m.number = i + 1;
            m.offset = SIZE * i;
            m.src = i >= MESSAGES / 2 && i % 8 == 0;
            assert_int_equal(ntr_index_message(index, &m), NTR_OK);
        }
        assert_int_equal(ntr_index_finish(index), NTR_OK);
        const ntr_point *points = ntr_index_points(index, &count);
        assert_in_range(count, LIMIT / 2, LIMIT);
        uint64_t last[2] = {0};
        for (size_t i = 0; i < count; i++) {
            assert_true(points[i].offset >= last[points[i].src]);
            last[points[i].src] = points[i].offset;
        }
        assert_int_equal(points[0].kind, NTR_POINT_FIRST);
        for (uint64_t at = 0; at < MESSAGES; at += 777) {
            assert_int_equal(ntr_index_find(index, NTR_UNIT_OFFSET, SIZE * at + 1, NULL, &found, &count), NTR_OK);
            assert_int_equal(count, 2);
            assert_in_range(SIZE * at - found[0].offset, 0, 320);
            if (at < MESSAGES / 2)
                assert_int_equal(found[1].offset, SIZE * MESSAGES / 2); /* the first of its source */
            else
                assert_in_range(SIZE * at - found[1].offset, 0, 1600);
        }
        ntr_index_free(index);
    }
    scene_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_place_decodes_as_from_the_beginning), TEST(contexts_are_known_where_decoding_begins),
        TEST(the_least_offset_is_the_beginning),         TEST(behind_damage_only_synchronizing_messages_are_points),
        TEST(spans_and_messages_have_the_same_points),   TEST(the_number_of_points_is_limited),
    };
    return cmocka_run_group_tests_name("index", tests, NULL, NULL);
}
