/* Compressed streams that ntrace writes: frames of which each is followed by the length of its content. */
#include "../test.h"

#include "bundle/stream_write.h"
#include "bundle/zstd.h"

#include <ntrace/stream_reader.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORDS = 12 << 20, FRAME = 16 << 20 }; /* 48 MiB */

static FILE *file; /* the stream */
static uint64_t read_bytes;

/* Not all the same, and not random: it compresses to a third. */
static uint32_t word_at(uint64_t i) {
    return (uint32_t)(i * 2654435761u >> 13 & 0x3ffff);
}

static ntr_status read_some(void *user, uint8_t *to, size_t room, size_t *got) {
    (void)user;
    *got = fread(to, 1, room, file);
    read_bytes += *got;
    return NTR_OK;
}

static bool seek_to(void *user, uint64_t offset) {
    (void)user;
    return fseek(file, (long)offset, SEEK_SET) == 0;
}

static bool read_at(void *user, uint64_t at, uint8_t *to, size_t size) {
    return seek_to(user, at) && fread(to, 1, size, file) == size;
}

static void write_stream(const char *path) {
    struct ntr_bundle_writer *writer = calloc(1, sizeof *writer);
    assert_int_equal(ntr_bundle_writer_open(writer, path, true, NULL), NTR_OK);
    for (uint64_t i = 0; i < WORDS; i++) {
        const uint32_t word = word_at(i);
        uint8_t bytes[4];
        for (unsigned k = 0; k < 4; k++) bytes[k] = (uint8_t)(word >> 8 * k);
        ntr_bundle_writer_put(writer, bytes, sizeof bytes);
    }
    assert_int_equal(ntr_bundle_writer_close(writer), NTR_OK);
    ntr_bundle_writer_release(writer, NULL);
    free(writer);
}

static void check_rest(uint64_t skip, uint64_t most) {
    ntr_stream_reader_config config;
    ntr_stream_reader_config_init(&config);
    config.read = read_some;
    config.seek = seek_to;
    ntr_stream_reader *reader;
    ntr_stream_reader_new(&config, &reader);
    ntr_bytes piece;
    bool last = false;
    uint64_t at = skip;
    read_bytes = 0;
    rewind(file);
    ntr_stream_reader_skip(reader, skip);
    while (!last) {
        assert_int_equal(ntr_stream_reader_next(reader, &piece, &last), NTR_OK);
        for (size_t i = 0; i < piece.size; i++, at++)
            if (piece.data[i] != (uint8_t)(word_at(at / 4) >> 8 * (at % 4))) fail();
    }
    assert_int_equal(at, 4 * (uint64_t)WORDS);
    assert_in_range(read_bytes, 0, most);
    ntr_stream_reader_free(reader);
}

static void frames_that_are_written_can_be_skipped(void **state) {
    (void)state;
    char path[] = "/tmp/ntrace-frames.XXXXXX";
    if (!ntr_zstd_can_write()) SKIP_TEST("build-zstd");
    close(mkstemp(path));
    unlink(path);
    write_stream(path);
    file = fopen(path, "rb");
    assert_non_null(file);
    uint64_t at = 0, end, content, sum = 0, frames = 0;
    for (; ntr_zstd_frame_find(read_at, NULL, at, &end, &content); at = end, frames++) {
        assert_in_range(content, FRAME, FRAME + (1 << 20));
        sum += content;
    }
    assert_in_range(frames, 2, 3);
    fseek(file, 0, SEEK_END);
    const uint64_t size = (uint64_t)ftell(file);
    check_rest(0, 2 * size);
    check_rest(FRAME / 2, 2 * size);
    check_rest(sum - 1, size);
    check_rest(sum, size - at + (1 << 18)); /* behind all frames with a length: one buffer was read before */
    check_rest(4 * (uint64_t)WORDS - 7, size - at + (1 << 18));
    fclose(file);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(frames_that_are_written_can_be_skipped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
