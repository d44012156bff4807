/* Recognition of CoreSight frames at the beginning of a file. Frames are made here, each with its trace ID first. */
#include "../test.h"

#include <ntrace/frames.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 80 << 10, ID = 0x11, DATA = NTR_FRAME_BYTES - 2 };

struct file {
    size_t size;
    uint8_t bytes[FILE_MAX];
};

static struct file *payload, *file;

static void add(struct file *f, const void *bytes, size_t size) {
    assert_true(size <= sizeof f->bytes - f->size);
    memcpy(f->bytes + f->size, bytes, size);
    f->size += size;
}

/* A synchronizing message, then `messages` branches. In `bad` of 1000 the MSEO code is a reserved one. */
static void make_payload(unsigned messages, unsigned bad) {
    static const uint8_t sync[] = {0x24, 0x0d, 0x00, 0x0b}, branch[] = {0x0c, 0x0f}, damage[] = {0x02, 0x03};

    payload->size = 0;
    add(payload, sync, sizeof sync);
    for (unsigned i = 0; i < messages; i++)
        add(payload, (i + 1) * bad / 1000 != i * bad / 1000 ? damage : branch, sizeof branch);
}

static void add_frames(void) {
    for (size_t at = 0; at + DATA <= payload->size; at += DATA) {
        uint8_t frame[NTR_FRAME_BYTES] = {ID << 1 | 1};
        for (unsigned i = 1; i <= DATA; i++) {
            const uint8_t byte = payload->bytes[at + i - 1];
            frame[i] = i % 2 ? byte : byte & 0xfe;
            if (i % 2 == 0) frame[NTR_FRAME_BYTES - 1] |= (uint8_t)((byte & 1) << i / 2);
        }
        add(file, frame, sizeof frame);
    }
}

/* `frames` frames, `before` bytes before them and `after` bytes after them. */
static bool seen(unsigned frames, unsigned bad, unsigned before, unsigned after, unsigned *skip) {
    static const uint8_t part[NTR_FRAME_BYTES] = {0};

    make_payload((frames * DATA - 4) / 2, bad);
    file->size = 0;
    add(file, part, before);
    add_frames();
    assert_int_equal(file->size, before + frames * NTR_FRAME_BYTES);
    add(file, part, after);
    return ntr_frames_seen((ntr_bytes){file->bytes, file->size}, skip);
}

static void many_frames_are_seen(void **state) {
    (void)state;
    static const unsigned numbers[] = {16, 17, 255, 256, 257, 4096, 5000};
    unsigned skip;

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        assert_true(seen(numbers[i], 0, 0, 0, &skip));
        assert_int_equal(skip, 0);
        assert_true(seen(numbers[i], 0, 0, 7, &skip));
        assert_int_equal(skip, 0);
    }
    assert_true(seen(20, 0, 5, 3, &skip)); /* of the frame before, the end is there */
    assert_int_equal(skip, 5);
}

static void damage_inside_of_many_frames(void **state) {
    (void)state;
    unsigned skip;

    assert_true(seen(1000, 50, 0, 0, &skip));
    assert_true(seen(1000, 90, 0, 0, &skip));
    assert_false(seen(1000, 110, 0, 0, &skip)); /* a tenth: it may be chance */
    assert_false(seen(1000, 200, 0, 0, &skip));
}

static void few_frames_must_be_whole_and_good(void **state) {
    (void)state;
    unsigned skip;

    assert_true(seen(2, 0, 0, 0, &skip));
    assert_true(seen(15, 0, 0, 0, &skip));
    assert_false(seen(1, 0, 0, 0, &skip));   /* one frame shows nothing */
    assert_false(seen(14, 0, 0, 3, &skip));  /* frames are whole */
    assert_false(seen(14, 0, 3, 13, &skip)); /* and at the beginning */
    assert_false(seen(15, 20, 0, 0, &skip)); /* two messages are damaged */
}

/* Messages with bytes that look like trace IDs. In damaged ones, what is inside of "frames" is no better. */
static void messages_are_not_frames(void **state) {
    (void)state;
    unsigned skip;

    for (unsigned messages = 20; messages < 40000; messages = messages * 2 + 1) {
        for (unsigned bad = 0; bad <= 400; bad += 40) {
            make_payload(messages, bad);
            assert_false(ntr_frames_seen((ntr_bytes){payload->bytes, payload->size}, &skip));
        }
    }
}

/* Messages that end at odd bytes are as good with frames around them, but for one or two of each frame. */
static void frames_are_clearly_better(void **state) {
    (void)state;
    static const uint8_t sync[] = {0x24, 0x0d, 0x00, 0x0b}, odd[] = {0x0c, 0x00, 0x0f}, branch[] = {0x0c, 0x0f};
    static const uint8_t damage[] = {0x02, 0x03};
    unsigned skip;

    for (unsigned bad = 0; bad <= 80; bad += 80) {
        payload->size = file->size = 0;
        add(payload, sync, sizeof sync);
        add(payload, odd, sizeof odd);
        for (unsigned i = 0; i < 4000; i++)
            add(payload, (i + 1) * bad / 1000 != i * bad / 1000 ? damage : branch, sizeof branch);
        add_frames();
        assert_int_equal(ntr_frames_seen((ntr_bytes){file->bytes, file->size}, &skip), bad == 0);
    }
}

/* The bytes of these frames are good messages themselves, but for the first ones: each message ends at an odd place,
 * the last one of a frame at the next trace ID, and what it has in the next frame is idle there. So few frames may be
 * chance. */
static void few_good_messages_are_not_frames(void **state) {
    (void)state;
    static const uint8_t begin[] = {0x24, 0x0d, 0x00, 0x0b, 0x0c, 0x00, 0x0f}, branch[] = {0x0c, 0x0f};
    static const uint8_t last[] = {0x0c, 0xff};
    unsigned skip;

    for (unsigned frames = 8; frames <= 15; frames++) {
        payload->size = file->size = 0;
        add(payload, begin, sizeof begin);
        for (unsigned i = 3; i < 7 * frames; i++) add(payload, i % 7 == 6 ? last : branch, sizeof branch);
        payload->size--; /* the last message is cut */
        add_frames();
        assert_int_equal(file->size, frames * NTR_FRAME_BYTES);
        assert_false(ntr_frames_seen((ntr_bytes){file->bytes, file->size}, &skip));
    }
}

struct kept {
    size_t size;
    uint8_t bytes[64];
};

static ntr_status keep(void *user, const uint8_t *bytes, size_t size) {
    struct kept *kept = user;

    assert_true(size <= sizeof kept->bytes - kept->size);
    memcpy(kept->bytes + kept->size, bytes, size);
    kept->size += size;
    return NTR_OK;
}

/* A trace does not begin with InCircuitTrace, unless it is known that its first byte is that of a message. */
static void what_is_known_of_the_beginning(void **state) {
    ntr_frames *none;
    (void)state;
    static const uint8_t first[] = {0x84, 0x10, 0x01, 0x30, 0x14, 0x0b}, branch[] = {0x0c, 0x0f};
    static const struct {
        bool cut, whole;
        size_t kept;
    } cases[] = {{false, false, 8}, {true, false, 8}, {false, true, 14}};
    ntr_frames_options options;

    payload->size = file->size = 0;
    add(payload, first, sizeof first);
    for (unsigned i = 0; i < 4; i++) add(payload, branch, sizeof branch);
    add_frames();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kept kept = {0};
        ntr_frames_options_init(&options);
        options.cut = cases[i].cut;
        options.whole = cases[i].whole;
        ntr_frames *frames;
        ntr_frames_new(&options, &frames);
        assert_non_null(frames);
        assert_int_equal(ntr_frames_feed(frames, file->bytes, file->size, keep, &kept), NTR_OK);
        assert_int_equal(ntr_frames_finish(frames, keep, &kept), NTR_OK);
        assert_int_equal(kept.size, cases[i].kept);
        assert_memory_equal(kept.bytes, payload->bytes + payload->size - kept.size, kept.size);
        ntr_frames_free(frames);
    }
    options.cut = options.whole = true;
    assert_int_equal(ntr_frames_new(&options, &none), NTR_E_INVALID);
}

static void nothing_is_not_frames(void **state) {
    (void)state;
    unsigned skip = 1;

    assert_false(ntr_frames_seen((ntr_bytes){NULL, 0}, &skip));
    assert_int_equal(skip, 0);
}

static int setup(void **state) {
    (void)state;
    payload = malloc(sizeof *payload);
    file = malloc(sizeof *file);
    return payload && file ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    free(payload);
    free(file);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(many_frames_are_seen),
        TEST(damage_inside_of_many_frames),
        TEST(few_frames_must_be_whole_and_good),
        TEST(messages_are_not_frames),
        TEST(frames_are_clearly_better),
        TEST(nothing_is_not_frames),
        TEST(few_good_messages_are_not_frames),
        TEST(what_is_known_of_the_beginning),
    };
    return cmocka_run_group_tests_name("frames", tests, setup, teardown);
}
