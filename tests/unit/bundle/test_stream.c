/* The stream reader: plain and compressed bytes from a callback, in any portions. */
#include "../test.h"

#include <ntrace/stream_reader.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A file in memory that is read in portions of `step` bytes. */
struct file {
    const uint8_t *bytes;
    size_t size, at, step;
    size_t stop_at, fail_at; /* 0: never */
    unsigned seeks, closes;
};

static ntr_status read_file(void *user, uint8_t *to, size_t room, size_t *got) {
    struct file *file = user;
    size_t size = file->size - file->at;

    if (file->stop_at && file->at >= file->stop_at) return NTR_END;
    if (file->fail_at && file->at >= file->fail_at) {
        errno = EISDIR;
        return NTR_E_IO;
    }
    if (size > file->step) size = file->step;
    if (size > room) size = room;
    if (size) memcpy(to, file->bytes + file->at, size);
    file->at += size;
    *got = size;
    return NTR_OK;
}

static bool seek_file(void *user, uint64_t offset) {
    struct file *file = user;

    file->seeks++;
    if (offset > file->size) return false;
    file->at = (size_t)offset;
    return true;
}

static void close_file(void *user) {
    ((struct file *)user)->closes++;
}

static ntr_stream_reader *reader_of(struct file *file) {
    ntr_stream_reader_config config;
    ntr_stream_reader_config_init(&config);
    config.read = read_file;
    config.seek = seek_file;
    config.close = close_file;
    config.user = file;
    config.buffer_size = 100;
    ntr_stream_reader *reader;
    ntr_stream_reader_new(&config, &reader);
    assert_non_null(reader);
    return reader;
}

static enum { SPANS, COPIES, BOTH, WAYS } way; /* how streams are read */

static int by_spans(void **state) {
    (void)state;
    way = SPANS;
    return 0;
}

static int by_copies(void **state) {
    (void)state;
    way = COPIES;
    return 0;
}

static int by_both(void **state) {
    (void)state;
    way = BOTH;
    return 0;
}

/* Reads a piece, or into `text`. */
static ntr_status read_some(ntr_stream_reader *reader, char *text, bool copy, ntr_bytes *piece, bool *last) {
    enum { COPIED = 40 }; /* the step of the files that fail */
    if (!copy) return ntr_stream_reader_next(reader, piece, last);
    *piece = (ntr_bytes){(const uint8_t *)text, 0};
    return ntr_stream_reader_read(reader, (uint8_t *)text, COPIED, &piece->size, last);
}

/* Read to the end or to the first error. */
static ntr_status read_all(ntr_stream_reader *reader, char *text, size_t *size) {
    ntr_bytes piece;
    bool last = false;

    *size = 0;
    for (unsigned turn = 0; !last; turn++) {
        const bool copy = way == COPIES || (way == BOTH && turn % 2);
        ntr_status status = read_some(reader, text + *size, copy, &piece, &last);
        if (status != NTR_OK) {
            assert_int_equal(piece.size, 0);
            assert_true(last);
            return status;
        }
        if (piece.size) memmove(text + *size, piece.data, piece.size);
        *size += piece.size;
    }
    return NTR_OK;
}

static char plain[461]; /* 20 lines of 23 characters */

static int make_plain(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) snprintf(plain + 23 * i, 24, "line %03d of the stream\n", i);
    return 0;
}
#define PLAIN_SIZE 460u

/* The same lines as two zstd frames of 250 and 210 bytes, with checksums. */
static const uint8_t compressed[] = {
    0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x68, 0xd5, 0x01, 0x00, 0x24, 0x02, 0x6c, 0x69, 0x6e, 0x65, 0x20, 0x30,
    0x30, 0x30, 0x20, 0x6f, 0x66, 0x20, 0x74, 0x68, 0x65, 0x20, 0x73, 0x74, 0x72, 0x65, 0x61, 0x6d, 0x0a,
    0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x31, 0x30, 0x0b, 0x20, 0xe0, 0xe5, 0x01, 0x1c,
    0x7e, 0x4c, 0x11, 0xe5, 0x14, 0xa6, 0x88, 0x72, 0x14, 0xa6, 0x48, 0xd5, 0xad, 0x99, 0x6c, 0x02, 0x0a,
    0x67, 0xed, 0x85, 0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x68, 0x95, 0x01, 0x00, 0xf8, 0x61, 0x6d, 0x0a, 0x6c,
    0x69, 0x6e, 0x65, 0x20, 0x30, 0x31, 0x31, 0x20, 0x6f, 0x66, 0x20, 0x74, 0x68, 0x65, 0x20, 0x73, 0x74,
    0x72, 0x65, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x09, 0x20, 0xd0, 0xf3, 0x9d, 0x28, 0xa7,
    0x30, 0x45, 0x28, 0xa7, 0x30, 0x45, 0xa6, 0x6e, 0xdd, 0x52, 0x13, 0x7c, 0x44, 0x0c, 0xa8,
};
#define FIRST_FRAME 71u

static void plain_bytes_come_unchanged(void **state) {
    (void)state;
    for (size_t step = 1; step < 130; step++) {
        struct file file = {.bytes = (const uint8_t *)plain, .size = PLAIN_SIZE, .step = step};
        ntr_stream_reader *reader = reader_of(&file);
        char text[1000];
        size_t size;
        assert_int_equal(read_all(reader, text, &size), NTR_OK);
        assert_int_equal(size, PLAIN_SIZE);
        assert_memory_equal(text, plain, PLAIN_SIZE);
        assert_int_equal(ntr_stream_reader_position(reader), PLAIN_SIZE);
        assert_string_equal(ntr_stream_reader_error(reader), "");
        assert_int_equal(file.closes, 0);
        ntr_stream_reader_free(reader);
        assert_int_equal(file.closes, 1);
    }
}

static void an_empty_file_is_an_empty_stream(void **state) {
    (void)state;
    struct file file = {.bytes = (const uint8_t *)plain, .step = 9};
    ntr_stream_reader *reader = reader_of(&file);
    ntr_bytes piece;
    bool last = false;
    assert_int_equal(ntr_stream_reader_next(reader, &piece, &last), NTR_OK);
    assert_true(last);
    assert_int_equal(piece.size, 0);
    ntr_stream_reader_free(reader);
}

static void bytes_are_skipped_by_a_seek(void **state) {
    (void)state;
    for (size_t skip = 0; skip <= PLAIN_SIZE; skip++) {
        struct file file = {.bytes = (const uint8_t *)plain, .size = PLAIN_SIZE, .step = 50};
        ntr_stream_reader *reader = reader_of(&file);
        char text[1000];
        size_t size;
        ntr_stream_reader_skip(reader, skip);
        assert_int_equal(file.seeks, skip != 0);
        assert_int_equal(read_all(reader, text, &size), NTR_OK);
        assert_int_equal(size, PLAIN_SIZE - skip);
        if (size) assert_memory_equal(text, plain + skip, size);
        assert_int_equal(ntr_stream_reader_position(reader), PLAIN_SIZE);
        ntr_stream_reader_free(reader);
    }
}

/* Where the seek fails, the bytes are read and dropped; twice, and between spans. */
static void bytes_are_skipped_by_reading(void **state) {
    (void)state;
    struct file file = {.bytes = (const uint8_t *)plain, .size = PLAIN_SIZE, .step = 50};
    ntr_stream_reader *reader = reader_of(&file);
    char text[1000];
    size_t size;
    ntr_bytes piece;
    bool last;
    assert_int_equal(ntr_stream_reader_next(reader, &piece, &last), NTR_OK);
    assert_int_equal(piece.size, 54); /* four to see what it is, then one portion */
    ntr_stream_reader_skip(reader, 100);
    assert_int_equal(file.seeks, 1);
    assert_int_equal(read_all(reader, text, &size), NTR_OK);
    assert_int_equal(size, PLAIN_SIZE - 154);
    assert_memory_equal(text, plain + 154, size);
    ntr_stream_reader_free(reader);

    file = (struct file){.bytes = (const uint8_t *)plain, .size = PLAIN_SIZE, .step = 50};
    reader = reader_of(&file);
    ntr_stream_reader_skip(reader, 10000);
    ntr_stream_reader_skip(reader, UINT64_MAX);
    assert_int_equal(read_all(reader, text, &size), NTR_OK);
    assert_int_equal(size, 0);
    ntr_stream_reader_free(reader);
}

/* Also those that were read to detect compression. */
static void bytes_are_copied_one_by_one(void **state) {
    (void)state;
    struct file file = {.bytes = (const uint8_t *)plain, .size = PLAIN_SIZE, .step = 9};
    ntr_stream_reader *reader = reader_of(&file);
    char text[PLAIN_SIZE + 1];
    size_t size = 0, got;
    for (bool last = false; !last; size += got)
        assert_int_equal(ntr_stream_reader_read(reader, (uint8_t *)text + size, 1, &got, &last), NTR_OK);
    assert_int_equal(size, PLAIN_SIZE);
    assert_memory_equal(text, plain, PLAIN_SIZE);
    ntr_stream_reader_free(reader);
}

static void a_failure_to_read_is_told_with_its_place(void **state) {
    (void)state;
    struct file file = {.bytes = (const uint8_t *)plain, .size = PLAIN_SIZE, .step = 40, .fail_at = 120};
    ntr_stream_reader *reader = reader_of(&file);
    char text[1000];
    size_t size;
    assert_int_equal(read_all(reader, text, &size), NTR_E_IO);
    assert_int_equal(size, 124);
    assert_string_equal(ntr_stream_reader_error(reader), "byte 0x7c: cannot be read: Is a directory");
    file.fail_at = 0;
    assert_int_equal(read_all(reader, text, &size), NTR_E_IO);
    assert_int_equal(size, 0);
    ntr_stream_reader_free(reader);
}

static void a_reader_can_be_stopped(void **state) {
    (void)state;
    struct file file = {.bytes = (const uint8_t *)plain, .size = PLAIN_SIZE, .step = 40, .stop_at = 120};
    ntr_stream_reader *reader = reader_of(&file);
    char text[1000];
    size_t size;
    assert_int_equal(read_all(reader, text, &size), NTR_OK);
    assert_int_equal(size, 124);
    ntr_stream_reader_free(reader);
}

static void configs_of_other_versions_are_taken(void **state) {
    ntr_stream_reader *none;
    (void)state;
    struct {
        ntr_stream_reader_config config;
        char later[64]; /* members of a version to come */
    } large;
    struct file file = {.bytes = (const uint8_t *)plain, .size = PLAIN_SIZE, .step = 40};
    ntr_status status;

    memset(&large, 0xff, sizeof large);
    ntr_stream_reader_config_init(&large.config);
    large.config.size = sizeof large;
    large.config.read = read_file;
    large.config.user = &file;
    ntr_stream_reader *reader;
    status = ntr_stream_reader_new(&large.config, &reader);
    assert_int_equal(status, NTR_OK);
    ntr_stream_reader_free(reader);
    /* A version without the members behind `user`. */
    large.config.size = offsetof(ntr_stream_reader_config, buffer_size);
    large.config.buffer_size = SIZE_MAX;
    large.config.allocator = (const ntr_allocator *)&file;
    status = ntr_stream_reader_new(&large.config, &reader);
    assert_int_equal(status, NTR_OK);
    ntr_stream_reader_free(reader);
    large.config.size = offsetof(ntr_stream_reader_config, read);
    assert_int_equal(ntr_stream_reader_new(&large.config, &none), NTR_E_INVALID);
    large.config.size = 0;
    assert_int_equal(ntr_stream_reader_new(&large.config, &none), NTR_E_INVALID);
    assert_int_equal(ntr_stream_reader_new(NULL, &none), NTR_E_INVALID);
}

/* ---- compressed ---------------------------------------------------------------------------------- */

/* A reader of the first `size` compressed bytes; in a build without zstd it is refused, and the test ends. */
static ntr_stream_reader *compressed_reader(struct file *file, size_t size, size_t step) {
    *file = (struct file){.bytes = compressed, .size = size, .step = step};
    ntr_stream_reader *reader = reader_of(file);
    ntr_status status = ntr_stream_reader_start(reader);

    if (status == NTR_E_UNSUPPORTED) {
        assert_non_null(strstr(ntr_stream_reader_error(reader), "built without zstd"));
        ntr_stream_reader_free(reader);
        SKIP_TEST("build-zstd");
    }
    assert_int_equal(status, NTR_OK);
    assert_true(ntr_stream_reader_is_compressed(reader));
    return reader;
}

static void compressed_bytes_are_decompressed(void **state) {
    (void)state;
    for (size_t step = 1; step < 130; step++) {
        struct file file;
        ntr_stream_reader *reader = compressed_reader(&file, sizeof compressed, step);
        char text[1000];
        size_t size;
        assert_int_equal(read_all(reader, text, &size), NTR_OK);
        assert_int_equal(size, PLAIN_SIZE);
        assert_memory_equal(text, plain, PLAIN_SIZE);
        assert_int_equal(ntr_stream_reader_position(reader), sizeof compressed);
        ntr_stream_reader_free(reader);
    }
}

static void compressed_bytes_are_skipped_by_reading(void **state) {
    (void)state;
    for (size_t skip = 0; skip <= PLAIN_SIZE; skip += 10) {
        struct file file;
        ntr_stream_reader *reader = compressed_reader(&file, sizeof compressed, 30);
        char text[1000];
        size_t size;
        ntr_stream_reader_skip(reader, skip);
        assert_int_equal(read_all(reader, text, &size), NTR_OK);
        assert_int_equal(size, PLAIN_SIZE - skip);
        if (size) assert_memory_equal(text, plain + skip, size);
        ntr_stream_reader_free(reader);
    }
}

/* A file that ends anywhere but between frames is incomplete; what came out before is right. */
static void a_frame_that_is_cut_is_told(void **state) {
    (void)state;
    for (size_t cut = 4; cut < sizeof compressed; cut++) {
        struct file file;
        ntr_stream_reader *reader = compressed_reader(&file, cut, 30);
        char text[1000];
        size_t size;
        ntr_status status = read_all(reader, text, &size);
        assert_int_equal(status, cut == FIRST_FRAME ? NTR_OK : NTR_E_DECOMPRESS);
        assert_true(size <= PLAIN_SIZE && (cut < FIRST_FRAME || size >= 250));
        if (size) assert_memory_equal(text, plain, size);
        if (status != NTR_OK) {
            char expected[128];
            snprintf(expected, sizeof expected,
                     "compressed byte 0x%zx: expected the rest of a zstd frame, found the end of the file", cut);
            assert_string_equal(ntr_stream_reader_error(reader), expected);
        }
        ntr_stream_reader_free(reader);
    }
}

static void an_incomplete_frame_of_a_stopped_reader_is_no_error(void **state) {
    (void)state;
    struct file file;
    ntr_stream_reader *reader = compressed_reader(&file, sizeof compressed, 10);
    char text[1000];
    size_t size;
    file.stop_at = FIRST_FRAME + 10;
    assert_int_equal(read_all(reader, text, &size), NTR_OK);
    assert_true(size >= 250 && size < PLAIN_SIZE);
    ntr_stream_reader_free(reader);
}

/* The bytes before the damage come first, then the error, again and again. */
static void damage_is_told_behind_what_came_before(void **state) {
    (void)state;
    static uint8_t damaged[sizeof compressed];
    struct file file;
    ntr_stream_reader *reader = compressed_reader(&file, sizeof compressed, 30);
    char text[1000];
    size_t size;
    memcpy(damaged, compressed, sizeof damaged);
    damaged[FIRST_FRAME] ^= 0xff; /* no frame begins like this */
    file.bytes = damaged;
    assert_int_equal(read_all(reader, text, &size), NTR_E_DECOMPRESS);
    assert_int_equal(size, 250);
    assert_memory_equal(text, plain, size);
    assert_non_null(strstr(ntr_stream_reader_error(reader), "expected zstd data, found damage"));
    assert_int_equal(read_all(reader, text, &size), NTR_E_DECOMPRESS);
    assert_int_equal(size, 0);
    ntr_stream_reader_free(reader);
}

/* The lines twice, as three frames whose headers have the lengths of their contents, with a skippable one behind the
 * first. */
static const uint8_t sized[] = {
    0x28, 0xb5, 0x2f, 0xfd, 0x24, 0xfa, 0xe5, 0x01, 0x00, 0x24, 0x02, 0x6c, 0x69, 0x6e, 0x65, 0x20, 0x30, 0x30,
    0x30, 0x20, 0x6f, 0x66, 0x20, 0x74, 0x68, 0x65, 0x20, 0x73, 0x74, 0x72, 0x65, 0x61, 0x6d, 0x0a, 0x31, 0x32,
    0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x31, 0x30, 0x0b, 0x00, 0x80, 0x43, 0xf0, 0x31, 0xa0, 0x08, 0x50,
    0x0e, 0x28, 0x0c, 0x28, 0x02, 0x94, 0x03, 0x0a, 0x03, 0x8a, 0x00, 0x75, 0x6b, 0x36, 0x9b, 0x0a, 0x67, 0xed,
    0x85, 0x5a, 0x2a, 0x4d, 0x18, 0x03, 0x00, 0x00, 0x00, 0x01, 0x02, 0x03, 0x28, 0xb5, 0x2f, 0xfd, 0x24, 0xd2,
    0xad, 0x01, 0x00, 0xf8, 0x61, 0x6d, 0x0a, 0x6c, 0x69, 0x6e, 0x65, 0x20, 0x30, 0x31, 0x31, 0x20, 0x6f, 0x66,
    0x20, 0x74, 0x68, 0x65, 0x20, 0x73, 0x74, 0x72, 0x65, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x09,
    0x00, 0xa0, 0x13, 0xa0, 0x1c, 0x50, 0x18, 0x50, 0x04, 0x28, 0x07, 0x14, 0x06, 0x14, 0x01, 0xea, 0xd6, 0x6d,
    0x36, 0x01, 0x7c, 0x44, 0x0c, 0xa8, 0x28, 0xb5, 0x2f, 0xfd, 0x64, 0xcc, 0x00, 0xbd, 0x02, 0x00, 0xb4, 0x02,
    0x6c, 0x69, 0x6e, 0x65, 0x20, 0x30, 0x30, 0x30, 0x20, 0x6f, 0x66, 0x20, 0x74, 0x68, 0x65, 0x20, 0x73, 0x74,
    0x72, 0x65, 0x61, 0x6d, 0x0a, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x31, 0x30, 0x31, 0x32,
    0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x14, 0x00, 0xa0, 0x13, 0xa0, 0x1c, 0x50, 0x18, 0x50, 0x04, 0x28,
    0x07, 0x14, 0x06, 0x14, 0x01, 0xca, 0x01, 0x85, 0x01, 0xa5, 0x81, 0x4f, 0x80, 0x72, 0x40, 0x61, 0x40, 0x11,
    0xa0, 0x1c, 0x50, 0x18, 0x50, 0x04, 0x28, 0x07, 0x14, 0xab, 0xd9, 0x14, 0x03, 0x38, 0x4b, 0xcd, 0xa6,
};
static const struct {
    size_t content, end; /* in the stream, in the file */
} sized_frames[] = {{250, 84}, {460, 150}, {920, 251}};

static void frames_are_skipped_without_their_blocks(void **state) {
    (void)state;
    for (size_t skip = 1; skip <= 2 * PLAIN_SIZE + 5; skip++) {
        struct file file;
        ntr_stream_reader *reader = compressed_reader(&file, sizeof compressed, 30);
        char text[1000];
        size_t size, passed = 0;
        file = (struct file){.bytes = sized, .size = sizeof sized, .step = 1000};
        ntr_stream_reader_free(reader);
        reader = reader_of(&file);
        ntr_stream_reader_skip(reader, skip);
        for (size_t i = 0; i < 3; i++)
            if (skip >= sized_frames[i].content) passed = sized_frames[i].end;
        assert_int_equal(file.at, passed);
        assert_int_equal(read_all(reader, text, &size), NTR_OK);
        assert_int_equal(size, skip < 2 * PLAIN_SIZE ? 2 * PLAIN_SIZE - skip : 0);
        for (size_t i = 0; i < size; i++) assert_int_equal(text[i], plain[(skip + i) % PLAIN_SIZE]);
        ntr_stream_reader_free(reader);
    }
}

/* Damaged frames are passed no further than they can be followed; bytes before the damage are returned. A wrong length
 * of a frame that is skipped does not show: its content is not read. */
static void damaged_frames_are_not_skipped(void **state) {
    (void)state;
    enum { SKIPPED = 500, MAGIC = 4, FIRST_LENGTH = 5, SECOND_LENGTH = 84 + 5 };
    static uint8_t damaged[sizeof sized];
    for (size_t at = MAGIC; at < sizeof sized; at++) {
        struct file file = {.bytes = damaged, .size = sizeof damaged, .step = 1000};
        char text[100000];
        size_t size;
        if (at == FIRST_LENGTH || at == SECOND_LENGTH) continue;
        memcpy(damaged, sized, sizeof damaged);
        damaged[at] ^= 0x10;
        ntr_stream_reader *reader = reader_of(&file);
        ntr_stream_reader_skip(reader, SKIPPED);
        const ntr_status status = read_all(reader, text, &size);
        assert_true(status == NTR_OK || *ntr_stream_reader_error(reader));
        if (status == NTR_OK) assert_int_equal(size, 2 * PLAIN_SIZE - SKIPPED);
        assert_in_range(size, 0, 2 * PLAIN_SIZE - SKIPPED);
        for (size_t i = 0; at < sized_frames[1].end && i < size; i++)
            assert_int_equal(text[i], plain[(SKIPPED + i) % PLAIN_SIZE]);
        ntr_stream_reader_free(reader);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(plain_bytes_come_unchanged),
        TEST(an_empty_file_is_an_empty_stream),
        TEST(bytes_are_skipped_by_a_seek),
        TEST(bytes_are_skipped_by_reading),
        TEST(bytes_are_copied_one_by_one),
        TEST(a_failure_to_read_is_told_with_its_place),
        TEST(a_reader_can_be_stopped),
        TEST(configs_of_other_versions_are_taken),
        TEST(compressed_bytes_are_decompressed),
        TEST(frames_are_skipped_without_their_blocks),
        TEST(damaged_frames_are_not_skipped),
        TEST(compressed_bytes_are_skipped_by_reading),
        TEST(a_frame_that_is_cut_is_told),
        TEST(an_incomplete_frame_of_a_stopped_reader_is_no_error),
        TEST(damage_is_told_behind_what_came_before),
    };
    const CMFixtureFunction ways[WAYS] = {by_spans, by_copies, by_both};
    struct CMUnitTest all[WAYS * (sizeof tests / sizeof *tests)];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        all[i] = tests[i / WAYS];
        all[i].setup_func = ways[i % WAYS];
    }
    return cmocka_run_group_tests_name("stream", all, make_plain, NULL);
}
