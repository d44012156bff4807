/* One reader or writer of a transport, and what comes out of it. */
#ifndef TEST_PLAYER_H
#define TEST_PLAYER_H

#include "recorder.h"

static streams *got; /* large: one for all tests */

static inline ntr_transport_writer *new_writer(const char *name, beats *out) {
    ntr_writer_options options = {.size = sizeof options, .sink = take_beats, .user = out};
    options.ram = (ntr_ram_window){.limit = 0x1ffc};
    options.sync_every = 5;
    ntr_transport_writer *writer;
    ntr_transport_writer_new(ntr_transport_find(name), &options, &writer);
    assert_non_null(writer);
    return writer;
}

static inline ntr_transport_reader *new_reader(const char *name, ntr_begin begin, const ntr_ram_window *ram) {
    ntr_reader_options options = {.size = sizeof options, .begin = (uint8_t)begin, .user = got};
    options.sink = take_bytes;
    options.note = take_note;
    if (ram) options.ram = *ram;
    streams_clear(got);
    ntr_transport_reader *reader;
    ntr_transport_reader_new(ntr_transport_find(name), &options, &reader);
    assert_non_null(reader);
    return reader;
}

/* Read all, in pushes of random size. */
static inline void read_beats(ntr_transport_reader *reader, const uint16_t *data, size_t count, uint64_t *seed) {
    for (size_t at = 0; at < count;) {
        size_t part = 1 + random_below(seed, 300);
        if (part > count - at) part = count - at;
        assert_int_equal(ntr_transport_reader_feed(reader, data + at, part), NTR_OK);
        at += part;
    }
    assert_int_equal(ntr_transport_reader_finish(reader), NTR_OK);
    ntr_transport_reader_free(reader);
}

static inline int player_setup(void **state) {
    (void)state;
    got = malloc(sizeof *got);
    return got ? 0 : -1;
}

static inline int player_teardown(void **state) {
    (void)state;
    free(got);
    return 0;
}

#endif
