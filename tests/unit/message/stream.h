/* Reading a whole stream, fed in pieces of `step` bytes, and checking what must hold for any stream. */
#ifndef NTR_TEST_STREAM_H
#define NTR_TEST_STREAM_H

#include <ntrace/export.h>
#include <ntrace/reader.h>
#include <string.h>

#include "../random.h"

typedef struct totals {
    uint64_t messages, defects, bytes, idle;
    uint64_t hash; /* of everything that was read */
} totals;

/* See each message; `user` is the caller's. */
typedef void (*on_message)(void *user, const ntr_params *params, const ntr_message *message);

static inline uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static inline uint64_t hash_message(uint64_t hash, const ntr_message *m) {
    hash = mix(hash, m->number);
    hash = mix(hash, m->offset);
    hash = mix(hash, m->size);
    hash = mix(hash, m->tcode | (uint64_t)(uint16_t)m->defect << 8 | (uint64_t)m->defect_field << 32);
    hash = mix(hash, m->present);
    for (unsigned f = 0; f < NTR_FIELD_COUNT; f++)
        if (m->present >> f & 1) hash = mix(mix(hash, m->value[f]), m->width[f]);
    for (size_t i = 0; i < m->raw.size; i++) hash = mix(hash, m->raw.data[i]);
    return hash;
}

/* ntr_reader_check reports the same for a stream as reading it. */
static inline void check_stream(const ntr_params *params, const uint8_t *bytes, size_t size, size_t step,
                                const totals *want) {
    static ntr_reader reader;
    static ntr_message message;
    ntr_message_mix mix = {0};
    uint64_t defects = 0, good = 0, good_bytes = 0;
    assert_int_equal(ntr_reader_init(&reader, params), NTR_OK);
    ntr_status status = NTR_NEED_MORE;
    for (size_t at = 0; status != NTR_END;) {
        size_t here = size - at < step ? size - at : step;
        assert_int_equal(ntr_reader_feed(&reader, bytes + at, here, at + here == size), NTR_OK);
        at += here;
        while ((status = ntr_reader_check(&reader, &mix, &message)) == NTR_OK) {
            assert_int_not_equal(message.defect, NTR_OK);
            defects++;
            good_bytes += message.size;
        }
    }
    for (unsigned t = 0; t < 64; t++) {
        good += mix.messages[t];
        good_bytes += mix.bytes[t];
    }
    assert_int_equal(defects, want->defects);
    assert_int_equal(good + defects, want->messages);
    assert_int_equal(good_bytes, want->bytes);
    assert_int_equal(reader.number, want->messages);
    assert_int_equal(ntr_reader_idle(&reader), want->idle);
}

static inline totals read_stream(const ntr_params *params, const uint8_t *bytes, size_t size, size_t step,
                                 on_message each, void *user) {
    static ntr_reader reader;
    static ntr_message message;
    totals t = {0};
    assert_int_equal(ntr_reader_init(&reader, params), NTR_OK);
    ntr_status status = NTR_NEED_MORE;
    for (size_t at = 0; status != NTR_END;) {
        size_t here = size - at < step ? size - at : step;
        assert_int_equal(ntr_reader_feed(&reader, bytes + at, here, at + here == size), NTR_OK);
        at += here;
        while ((status = ntr_reader_next(&reader, &message)) == NTR_OK) {
            assert_int_equal(message.number, ++t.messages);
            t.defects += message.defect != NTR_OK;
            t.bytes += message.size;
            t.hash = hash_message(t.hash, &message);
            if (each) each(user, params, &message);
        }
    }
    t.idle = ntr_reader_idle(&reader);
    assert_int_equal(t.bytes + t.idle, size);
    assert_int_equal(ntr_reader_offset(&reader), size);
    check_stream(params, bytes, size, step, &t);
    return t;
}

/* The JSON form is read by libntrace-tools, which a build of libntrace alone does not have. */
static inline bool can_assemble(const char *line) {
#ifdef TEST_TOOLS
    (void)line;
    return true;
#else
    return *line != '{';
#endif
}

/* Either form of a line to bytes. */
static inline int assemble_line(const ntr_params *params, const char *line, uint8_t *out, size_t capacity,
                                size_t *column) {
#ifdef TEST_TOOLS
    if (*line == '{') return ntr_message_assemble_json(params, line, out, capacity, column);
#endif
    return ntr_message_assemble(params, line, out, capacity, column);
}

/* The text and the JSON line of every message give its bytes back. */
static inline void check_round_trip(void *user, const ntr_params *params, const ntr_message *m) {
    static char line[NTR_MESSAGE_TEXT_MAX];
    static uint8_t bytes[NTR_MESSAGE_BYTES_MAX];
    (void)user;
    if (m->defect == NTR_E_MESSAGE_LONG) return;
    assert_true(ntr_message_format(params, m, line, sizeof line) > 0);
    int size = assemble_line(params, line, bytes, sizeof bytes, NULL);
    if (size != (int)m->raw.size || memcmp(bytes, m->raw.data, m->raw.size)) fail_msg("%s: %d", line, size);
    assert_true(ntr_message_format_json(params, m, line, sizeof line) > 0);
    if (can_assemble(line)) size = assemble_line(params, line, bytes, sizeof bytes, NULL);
    if (size != (int)m->raw.size || memcmp(bytes, m->raw.data, m->raw.size)) fail_msg("%s: %d", line, size);
    if (m->defect != NTR_OK || !ntr_message_get(params->dialect, m->tcode)) return;
    size = ntr_message_encode(params, m, bytes, sizeof bytes);
    if (size != (int)m->raw.size || memcmp(bytes, m->raw.data, m->raw.size)) fail_msg("encoding %s: %d", line, size);
}

#endif
