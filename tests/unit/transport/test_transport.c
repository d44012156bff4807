/* Transports: the specification's wire examples, and every transport there and back. */
#include "../test.h"
#include "player.h"

enum { SEEDS = 1000, MESSAGES = 36, MESSAGE_MAX = 30 };

/* ---- section 8.7: the message 0C 0F on the wires */

static const uint8_t example[] = {0x0c, 0x0f};

typedef struct wire_case {
    const char *transport;
    const char *beats; /* one hexadecimal number a beat */
} wire_case;

static const wire_case wires[] = {
    {"pib1", "0 0 1 1 0 0 0 0 1 1 1 1 0 0 0 0"},
    {"pib2", "0 3 0 0 3 3 0 0"},
    {"pib4", "c 0 f 0"},
    {"pib8", "c f"},
    {"pib16", "f0c"},
    {"swt-uart", "0 0 0 1 1 0 0 0 0 1 0 1 1 1 1 0 0 0 0 1"},
    {"swt-manchester", "1 0  0 1 0 1 1 0 1 0 0 1 0 1 0 1 0 1  1 0 1 0 1 0 1 0 0 1 0 1 0 1 0 1  0 0"},
};

static size_t parse_beats(const char *text, uint16_t *out) {
    size_t count = 0;
    for (char *end; *text; text = end) {
        out[count++] = (uint16_t)strtoul(text, &end, 16);
        while (*end == ' ') end++;
    }
    return count;
}

/* NT-078, NT-081 */
static void wire_example(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wires / sizeof wires[0]; i++) {
        const ntr_transport *transport = ntr_transport_find(wires[i].transport);
        const uint16_t rest = (uint16_t)(transport->idle_level ? (1u << transport->beat_bits) - 1 : 0);
        uint16_t expected[64];
        const size_t count = parse_beats(wires[i].beats, expected);
        beats all = {0};
        ntr_transport_writer *writer = new_writer(wires[i].transport, &all);
        assert_int_equal(ntr_transport_writer_put(writer, 0, example, sizeof example), NTR_OK);
        assert_int_equal(ntr_transport_writer_finish(writer), NTR_OK);
        ntr_transport_writer_free(writer);

        /* nothing but idle before it */
        const size_t idle_byte = strcmp(wires[i].transport, "swt-uart") == 0 ? 10 : 0;
        assert_true(all.count >= count + idle_byte);
        for (size_t at = 0; at < all.count - count - idle_byte; at++) assert_int_equal(all.data[at], rest);
        assert_memory_equal(all.data + all.count - count, expected, count * sizeof expected[0]);

        ntr_transport_reader *reader = new_reader(wires[i].transport, NTR_BEGIN_ALIGNED, NULL);
        uint64_t seed = i + 1;
        read_beats(reader, expected, count, &seed);
        assert_int_equal(got->size[0], sizeof example);
        assert_memory_equal(got->data[0], example, sizeof example);
        free(all.data);
    }
}

/* On 1, 2 and 4 pins an idle byte comes before each synchronizing message, so that a probe finds the first bit; none is
 * needed on 8 and 16 pins, and messages in between follow each other without a gap. NT-080, NT-085, NT-086, NT-087,
 * NT-088, CI-212, CI-214 */
static void idle_before_synchronization(void **state) {
    static const uint8_t sync[] = {0x24, 0x0d, 0x00, 0x0b}, branch[] = {0x0c, 0x0f};
    static const struct {
        const char *name;
        unsigned bits, idle;
    } pins[] = {{"pib1", 1, 8}, {"pib2", 2, 4}, {"pib4", 4, 2}, {"pib8", 8, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof pins / sizeof pins[0]; i++) {
        beats all = {0};
        ntr_transport_writer *writer = new_writer(pins[i].name, &all);
        assert_int_equal(ntr_transport_writer_put(writer, 0, branch, sizeof branch), NTR_OK);
        const size_t first = all.count;
        assert_int_equal(ntr_transport_writer_put(writer, 0, branch, sizeof branch), NTR_OK);
        assert_int_equal(all.count - first, 8 * sizeof branch / pins[i].bits);
        const size_t second = all.count;
        assert_int_equal(ntr_transport_writer_put(writer, 0, sync, sizeof sync), NTR_OK);
        assert_int_equal(all.count - second, 8 * sizeof sync / pins[i].bits + pins[i].idle);
        for (size_t at = second; at < second + pins[i].idle; at++)
            assert_int_equal(all.data[at], (1u << pins[i].bits) - 1);
        assert_int_equal(ntr_transport_writer_finish(writer), NTR_OK);
        ntr_transport_writer_free(writer);
        free(all.data);
    }
}

/* The odd byte of a 16-bit beat: the next message, or idle. NT-079 */
static void pib16_odd_message(void **state) {
    (void)state;
    static const uint8_t two[] = {0x20, 0x00, 0x07, 0x0c, 0x0f};
    static const uint16_t expected[] = {0x0020, 0x0c07, 0xff0f};
    beats all = {0};
    ntr_transport_writer *writer = new_writer("pib16", &all);
    assert_int_equal(ntr_transport_writer_put(writer, 0, two, sizeof two), NTR_OK);
    assert_int_equal(ntr_transport_writer_finish(writer), NTR_OK);
    ntr_transport_writer_free(writer);
    assert_memory_equal(all.data + all.count - 3, expected, sizeof expected);
    free(all.data);
}

/* ---- MDO of 14 and 30 bits, by hand. The first message has TCODE 9, SRC 1, SYNC 5, I-CNT 2: these bits are 0x9449.
 * Its F-ADDR is 0x40. The second one has TCODE 33, SRC 1, EVCODE 4, CDF 0, I-CNT 3: 0x31061. */

static const struct {
    const char *transport, *beats;
    size_t size;
    uint8_t bytes[16]; /* the zero bits of a group stay */
} wide[] = {
    {"mdo14",
     "24 51 09 00 03 01 84 41 33 00",
     13,
     {0x24, 0x44, 0x24, 0x00, 0x01, 0x00, 0x04, 0x03, 0x84, 0x04, 0xc4, 0x00, 0x03}},
    {"mdo30",
     "25 51 02 00 03 01 00 00 87 41 0c 00",
     15,
     {0x24, 0x44, 0x24, 0x00, 0x01, 0x00, 0x04, 0x00, 0x00, 0x03, 0x84, 0x04, 0xc4, 0x00, 0x03}},
};

static void wide_groups(void **state) {
    (void)state;
    static const uint8_t narrow[] = {0x24, 0x44, 0x25, 0x00, 0x07, 0x84, 0x04, 0xc7};
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) {
        uint16_t expected[64];
        uint64_t seed = i + 1;
        const size_t count = parse_beats(wide[i].beats, expected);
        beats all = {0};
        ntr_transport_writer *writer = new_writer(wide[i].transport, &all);
        assert_int_equal(ntr_transport_writer_put(writer, 0, narrow, sizeof narrow), NTR_OK);
        assert_int_equal(ntr_transport_writer_finish(writer), NTR_OK);
        ntr_transport_writer_free(writer);
        assert_int_equal(all.count, count);
        assert_memory_equal(all.data, expected, count * sizeof *expected);
        free(all.data);

        ntr_transport_reader *reader = new_reader(wide[i].transport, NTR_BEGIN_ALIGNED, NULL);
        read_beats(reader, expected, count, &seed);
        assert_int_equal(got->size[0], wide[i].size);
        assert_memory_equal(got->data[0], wide[i].bytes, wide[i].size);
    }
}

/* Groups of ones between messages are idle; an odd byte at the end is said. */
static void wide_idle(void **state) {
    (void)state;
    uint16_t some[64];
    uint64_t seed = 1;
    size_t count = parse_beats("ff ff ff ff 84 41 33 00 ff ff 84 41 33 00 ff", some);
    ntr_transport_reader *reader = new_reader("mdo14", NTR_BEGIN_ALIGNED, NULL);
    read_beats(reader, some, count, &seed);
    assert_int_equal(got->size[0], 10);
    assert_memory_equal(got->data[0], wide[0].bytes + 8, 5);
    assert_memory_equal(got->data[0] + 5, wide[0].bytes + 8, 5);
    assert_int_equal(count_notes(got, NTR_NOTE_LOST), 1);
}

/* ---- there and back */

static const char *const line_transports[] = {"pib1", "pib2", "pib4", "pib8", "pib16", "swt-uart", "swt-manchester"};

/* A stream of messages with random idle between them; where each message begins in beats and in bytes. */
typedef struct recording {
    beats beats;
    uint8_t bytes[MESSAGES * MESSAGE_MAX * 2];
    size_t size;
    size_t byte_at[MESSAGES + 1], beat_at[MESSAGES + 1];
    size_t idle_before[MESSAGES]; /* in beats */
} recording;

static void record(recording *made, const char *name, uint64_t *seed, unsigned idle_max) {
    memset(made, 0, sizeof *made);
    ntr_transport_writer *writer = new_writer(name, &made->beats);
    for (unsigned i = 0; i < MESSAGES; i++) {
        if (idle_max && random_below(seed, 3) == 0) {
            made->idle_before[i] = random_below(seed, idle_max);
            assert_int_equal(ntr_transport_writer_idle(writer, (uint32_t)made->idle_before[i]), NTR_OK);
        }
        made->byte_at[i] = made->size;
        made->beat_at[i] = made->beats.count;
        const size_t size = random_message(seed, made->bytes + made->size, MESSAGE_MAX);
        const size_t first = random_below(seed, (unsigned)size + 1); /* a call may end inside a message */
        assert_int_equal(ntr_transport_writer_put(writer, 0, made->bytes + made->size, first), NTR_OK);
        assert_int_equal(ntr_transport_writer_put(writer, 0, made->bytes + made->size + first, size - first), NTR_OK);
        made->size += size;
    }
    assert_int_equal(ntr_transport_writer_finish(writer), NTR_OK);
    ntr_transport_writer_free(writer);
    made->byte_at[MESSAGES] = made->size;
    made->beat_at[MESSAGES] = made->beats.count;
}

/* NT-083 */
static void whole_recording(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof line_transports / sizeof line_transports[0]; i++)
        for (uint64_t seed = 1; seed <= 50; seed++) {
            uint64_t random = seed;
            recording made;
            record(&made, line_transports[i], &random, 30);
            ntr_transport_reader *reader = new_reader(line_transports[i], NTR_BEGIN_DEFAULT, NULL);
            read_beats(reader, made.beats.data, made.beats.count, &random);
            assert_int_equal(got->size[0], made.size);
            assert_memory_equal(got->data[0], made.bytes, made.size);
            assert_int_equal(count_notes(got, NTR_NOTE_LOST), 0);
            assert_int_equal(count_notes(got, NTR_NOTE_ALIGNED), 1);
            free(made.beats.data);
        }
}

/* The number of the message that the last `size` bytes begin with; fails when they begin inside one. */
static size_t message_of_suffix(const recording *made, size_t size) {
    assert_true(size <= made->size);
    for (size_t i = 0; i <= MESSAGES; i++)
        if (made->byte_at[i] == made->size - size) return i;
    fail_msg("the bytes read do not begin with a message");
    return 0;
}

/* After a cut, messages are read from the first long idle on, at the latest. A UART's rest settles only the
 * bytes: there it is one message later. */
static size_t must_align_by(const recording *made, const char *name, size_t cut, unsigned settle) {
    const bool uart = strcmp(name, "swt-uart") == 0;
    for (size_t i = 0; i < MESSAGES; i++)
        if (made->beat_at[i] - made->idle_before[i] >= cut && made->idle_before[i] >= settle) return i + uart;
    return MESSAGES;
}

/* Cut anywhere, what follows the alignment is the same; join two cut recordings, and the second is too. */
static void cut_and_join(const char *name, unsigned settle) {
    const ntr_transport *transport = ntr_transport_find(name);
    size_t aligned_late = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t random = seed * 77 + 5;
        recording one, two;
        record(&one, name, &random, 3 * settle);
        record(&two, name, &random, 3 * settle);
        const size_t cut = random_below(&random, (unsigned)two.beats.count);

        ntr_transport_reader *reader = new_reader(name, NTR_BEGIN_DEFAULT, NULL);
        read_beats(reader, two.beats.data + cut, two.beats.count - cut, &random);
        assert_memory_equal(got->data[0], two.bytes + two.size - got->size[0], got->size[0]);
        const size_t first = message_of_suffix(&two, got->size[0]);
        assert_true(first <= must_align_by(&two, name, cut, settle));
        aligned_late += first == MESSAGES;

        /* one whole, random idle, two without its beginning */
        beats joined = {0};
        take_beats(&joined, one.beats.data, one.beats.count);
        const uint16_t rest = (uint16_t)(transport->idle_level ? (1u << transport->beat_bits) - 1 : 0);
        for (unsigned idle = random_below(&random, 200); idle; idle--) beats_add(&joined, rest);
        take_beats(&joined, two.beats.data + cut, two.beats.count - cut);
        reader = new_reader(name, NTR_BEGIN_DEFAULT, NULL);
        read_beats(reader, joined.data, joined.count, &random);
        assert_true(got->size[0] >= one.size);
        assert_memory_equal(got->data[0], one.bytes, one.size);
        const size_t must = two.size - two.byte_at[must_align_by(&two, name, cut, settle)];
        assert_true(got->size[0] >= must);
        assert_memory_equal(got->data[0] + got->size[0] - must, two.bytes + two.size - must, must);
        free(joined.data);
        free(one.beats.data);
        free(two.beats.data);
    }
    assert_true(aligned_late < SEEDS / 4); /* most cuts leave something to read */
}

/* 64 bits are not believed after a loss, and 14 ones settle the place. */
static void pib1_cut(void **state) {
    (void)state;
    cut_and_join("pib1", 78);
}
static void pib2_cut(void **state) {
    (void)state;
    cut_and_join("pib2", 39);
}
static void pib4_cut(void **state) {
    (void)state;
    cut_and_join("pib4", 20);
}
static void pib8_cut(void **state) {
    (void)state;
    cut_and_join("pib8", 1);
}
static void pib16_cut(void **state) {
    (void)state;
    cut_and_join("pib16", 1);
}
static void uart_cut(void **state) {
    (void)state;
    cut_and_join("swt-uart", 10);
}
static void manchester_cut(void **state) {
    (void)state;
    cut_and_join("swt-manchester", 4);
}

/* Damage in the middle: everything before, and everything after the next long idle, is read. */
static void damage(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof line_transports / sizeof line_transports[0]; i++)
        for (uint64_t seed = 1; seed <= 200; seed++) {
            uint64_t random = seed;
            recording made;
            record(&made, line_transports[i], &random, 300);
            const size_t middle = MESSAGES / 2;
            const size_t at = made.beat_at[middle] + 1 + random_below(&random, 4);
            for (size_t k = 0; k < 40 && at + k < made.beats.count; k++)
                made.beats.data[at + k] = (uint16_t)random_next(&random);
            ntr_transport_reader *reader = new_reader(line_transports[i], NTR_BEGIN_DEFAULT, NULL);
            read_beats(reader, made.beats.data, made.beats.count, &random);
            assert_true(got->size[0] >= made.byte_at[middle]);
            assert_memory_equal(got->data[0], made.bytes, made.byte_at[middle]);
            const size_t must = made.size - made.byte_at[must_align_by(&made, line_transports[i], at + 40, 100)];
            assert_true(got->size[0] >= must);
            assert_memory_equal(got->data[0] + got->size[0] - must, made.bytes + made.size - must, must);
            free(made.beats.data);
        }
}

/* ---- calibration */

/* CI-219 */
static void calibration_patterns(void **state) {
    (void)state;
    static const struct {
        const char *name, *beats;
    } patterns[] = {
        {"pib1", "0 1 0 1 0 1 0 1 1 0 1 0 1 0 1 0 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1"},
        {"pib2", "2 1 2 1 2 1 2 1 0 3 0 3 3 0 3 0"},
        {"pib4", "a 5 a 5 0 f f 0"},
        {"pib8", "aa 55 0 ff"},
        {"pib16", "aaaa 5555 0 ffff"},
    };
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        uint16_t expected[64];
        const size_t count = parse_beats(patterns[i].beats, expected);
        beats all = {0};
        ntr_transport_writer *writer = new_writer(patterns[i].name, &all);
        const size_t lead = 80; /* rest, which ended up in the sink with the first call */
        assert_int_equal(ntr_transport_writer_calibrate(writer, 1), NTR_OK);
        assert_true(all.count >= lead + count);
        assert_memory_equal(all.data + lead, expected, count * sizeof expected[0]);
        ntr_transport_writer_free(writer);
        free(all.data);
    }
}

static const unsigned periods[] = {32, 16, 8, 4, 4, 40, 68}; /* of line_transports, in beats */

/* Recognised wherever the recording begins; no message comes of it, and those after it are read. */
static void calibration_recognised(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof line_transports / sizeof line_transports[0]; i++)
        for (uint64_t seed = 1; seed <= 200; seed++) {
            uint64_t random = seed;
            beats all = {0};
            ntr_transport_writer *writer = new_writer(line_transports[i], &all);
            const unsigned times = 4 + random_below(&random, 20);
            assert_int_equal(ntr_transport_writer_idle(writer, 1), NTR_OK);
            const size_t before = all.count;
            assert_int_equal(ntr_transport_writer_calibrate(writer, times), NTR_OK);
            assert_int_equal(ntr_transport_writer_idle(writer, 100), NTR_OK);
            assert_int_equal(ntr_transport_writer_put(writer, 0, example, sizeof example), NTR_OK);
            assert_int_equal(ntr_transport_writer_finish(writer), NTR_OK);
            ntr_transport_writer_free(writer);

            const size_t cut = random_below(&random, (unsigned)(before + periods[i]));
            ntr_transport_reader *reader = new_reader(line_transports[i], NTR_BEGIN_DEFAULT, NULL);
            read_beats(reader, all.data + cut, all.count - cut, &random);
            assert_int_equal(got->size[0], sizeof example);
            assert_memory_equal(got->data[0], example, sizeof example);
            assert_int_equal(count_notes(got, NTR_NOTE_CALIBRATION), 1);
            for (size_t n = 0; n < got->note_count; n++)
                if (got->notes[n].kind == NTR_NOTE_CALIBRATION) assert_in_range(got->notes[n].value, times - 2, times);
            free(all.data);
        }
}

/* ---- RAM */

static void ram_window(void **state) {
    (void)state;
    ntr_ram_part parts[2];
    ntr_ram_window ram = {.start = 0x1000, .limit = 0x10fc, .wp = 0x1040};
    assert_int_equal(ntr_ram_parts(&ram, parts), NTR_OK);
    assert_int_equal(parts[0].offset, 0);
    assert_int_equal(parts[0].size, 0x40);
    assert_int_equal(parts[1].size, 0);
    ram.wrapped = true;
    assert_int_equal(ntr_ram_parts(&ram, parts), NTR_OK);
    assert_int_equal(parts[0].offset, 0x40);
    assert_int_equal(parts[0].size, 0xc0);
    assert_int_equal(parts[1].offset, 0);
    assert_int_equal(parts[1].size, 0x40);
    ram.limit = 1ull << 40; /* much room in system memory is fine, much of trace is not */
    assert_int_equal(ntr_ram_parts(&ram, parts), NTR_E_RANGE);
    ram.wrapped = false;
    assert_int_equal(ntr_ram_parts(&ram, parts), NTR_OK);
    assert_int_equal(parts[0].size, 0x40);
    ram.wp += 1ull << 32;
    assert_int_equal(ntr_ram_parts(&ram, parts), NTR_E_RANGE);
    ram.limit = 0x10fc;
    ram.wp = 0x1100;
    assert_int_equal(ntr_ram_parts(&ram, parts), NTR_E_RANGE);
    ram.wp = 0x1001;
    assert_int_equal(ntr_ram_parts(&ram, parts), NTR_E_RANGE);
}

/* CI-014 */
static void ram_there_and_back(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t random = seed;
        uint8_t bytes[MESSAGES * MESSAGE_MAX];
        size_t size = 0, message_at[MESSAGES];
        const unsigned count = 1 + random_below(&random, MESSAGES);
        beats all = {0};
        ntr_writer_options options = {.size = sizeof options, .sink = take_beats, .user = &all};
        options.ram.start = 4 * random_below(&random, 1000);
        options.ram.limit = options.ram.start + 4 * random_below(&random, 400);
        options.ram.wp = options.ram.start;
        ntr_transport_writer *writer;
        ntr_transport_writer_new(ntr_transport_find("ram"), &options, &writer);
        assert_non_null(writer);
        for (unsigned i = 0; i < count; i++) {
            message_at[i] = size;
            const size_t one = random_message(&random, bytes + size, MESSAGE_MAX - 1);
            assert_int_equal(ntr_transport_writer_put(writer, 0, bytes + size, one), NTR_OK);
            size += one;
        }
        ntr_ram_window ram;
        assert_int_equal(ntr_transport_writer_finish(writer), NTR_OK);
        assert_int_equal(ntr_transport_writer_ram(writer, &ram), NTR_OK);
        ntr_transport_writer_free(writer);
        const size_t capacity = ram.limit - ram.start + 4, padded = (size + 3) / 4 * 4;
        assert_int_equal(all.count, capacity);
        assert_int_equal(ram.wp - ram.start, padded % capacity);
        assert_int_equal(ram.wrapped, padded >= capacity);

        read_beats(new_reader("ram", NTR_BEGIN_DEFAULT, &ram), all.data, all.count, &random);
        assert_true(got->size[0] <= size);
        assert_memory_equal(got->data[0], bytes + size - got->size[0], got->size[0]);
        if (!ram.wrapped) {
            assert_int_equal(got->size[0], size);
        } else { /* the oldest message that is there with the one before it */
            size_t expected = 0;
            for (unsigned i = count; i-- > 1;)
                if (padded - message_at[i] < capacity) expected = size - message_at[i];
            assert_int_equal(got->size[0], expected);
        }
        free(all.data);
    }
}

/* ---- losses are reported, with position and reason */

static void losses(void **state) {
    (void)state;
    static const uint16_t reserved[] = {0x0c, 0x0f, 0x0c, 0xaa, 0xff, 0x0c, 0x0f, 0x0c};
    uint64_t seed = 1;
    read_beats(new_reader("pib8", NTR_BEGIN_ALIGNED, NULL), reserved, 8, &seed);
    assert_int_equal(got->note_count, 4);
    assert_int_equal(got->notes[0].kind, NTR_NOTE_ALIGNED);
    assert_int_equal(got->notes[0].position, 0);
    assert_int_equal(got->notes[1].kind, NTR_NOTE_LOST);
    assert_int_equal(got->notes[1].reason, NTR_E_MSEO_RESERVED);
    assert_int_equal(got->notes[1].position, 3);
    assert_int_equal(got->notes[2].kind, NTR_NOTE_ALIGNED);
    assert_int_equal(got->notes[2].position, 5);
    assert_int_equal(got->notes[3].reason, NTR_E_TRUNCATED);
    assert_int_equal(got->notes[3].position, 7);
    assert_int_equal(got->size[0], 4);
}

/* ---- the rest */

static void raw_strips_idle(void **state) {
    (void)state;
    static const uint16_t bytes[] = {0xff, 0x78, 0xff, 0xff, 0xff, 0x0c, 0x0f, 0xff};
    static const uint8_t expected[] = {0x78, 0xff, 0x0c, 0x0f};
    uint64_t seed = 1;
    read_beats(new_reader("raw", NTR_BEGIN_DEFAULT, NULL), bytes, 8, &seed);
    assert_int_equal(got->size[0], sizeof expected);
    assert_memory_equal(got->data[0], expected, sizeof expected);
}

static void packing(void **state) {
    (void)state;
    static const unsigned widths[] = {1, 2, 4, 8, 16};
    for (size_t w = 0; w < 5; w++)
        for (uint64_t seed = 1; seed < 100; seed++) {
            uint64_t random = seed;
            uint16_t in[97], out[97 * 16 + 8];
            uint8_t bytes[2 * 97 + 1];
            for (size_t i = 0; i < 97; i++) in[i] = (uint16_t)(random_next(&random) & ((1u << widths[w]) - 1));
            unsigned held = 0, held_bits = 0;
            const size_t first = random_below(&random, 97);
            size_t size = ntr_beats_pack(widths[w], &held, &held_bits, in, first, bytes);
            size += ntr_beats_pack(widths[w], &held, &held_bits, in + first, 97 - first, bytes + size);
            if (held_bits) bytes[size++] = (uint8_t)held;
            int half = -1;
            const size_t cut = random_below(&random, (unsigned)size);
            size_t count = ntr_beats_unpack(widths[w], &half, bytes, cut, out);
            count += ntr_beats_unpack(widths[w], &half, bytes + cut, size - cut, out + count);
            assert_true(count >= 97);
            assert_memory_equal(in, out, sizeof in);
        }
}

static void misuse(void **state) {
    ntr_transport_reader *none;
    ntr_transport_writer *no_writer;
    (void)state;
    beats all = {0};
    assert_null(ntr_transport_find("pib3"));
    assert_null(ntr_transport_at(99));
    assert_int_equal(ntr_transport_reader_new(ntr_transport_at(0), NULL, &none), NTR_E_INVALID);
    ntr_transport_writer *writer = new_writer("pib4", &all);
    assert_int_equal(ntr_transport_writer_put(writer, 0, example, 1), NTR_OK);
    assert_int_equal(ntr_transport_writer_idle(writer, 1), NTR_E_STATE);
    assert_int_equal(ntr_transport_writer_calibrate(writer, 1), NTR_E_STATE);
    assert_int_equal(ntr_transport_writer_trigger(writer, 1), NTR_E_UNSUPPORTED);
    ntr_transport_writer_free(writer);
    writer = new_writer("atb", &all);
    assert_int_equal(ntr_transport_writer_put(writer, 0, example, 1), NTR_E_RANGE);
    assert_int_equal(ntr_transport_writer_put(writer, 0x70, example, 1), NTR_E_RANGE);
    assert_int_equal(ntr_transport_writer_calibrate(writer, 1), NTR_E_UNSUPPORTED);
    ntr_transport_writer_free(writer);
    ntr_writer_options options = {.size = sizeof options, .sink = take_beats, .user = &all, .atb_bytes = 3};
    assert_int_equal(ntr_transport_writer_new(ntr_transport_find("atb"), &options, &no_writer), NTR_E_RANGE);
    free(all.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(wire_example),
        TEST(idle_before_synchronization),
        TEST(pib16_odd_message),
        TEST(wide_groups),
        TEST(wide_idle),
        TEST(whole_recording),
        TEST(pib1_cut),
        TEST(pib2_cut),
        TEST(pib4_cut),
        TEST(pib8_cut),
        TEST(pib16_cut),
        TEST(uart_cut),
        TEST(manchester_cut),
        TEST(damage),
        TEST(calibration_patterns),
        TEST(calibration_recognised),
        TEST(losses),
        TEST(ram_window),
        TEST(ram_there_and_back),
        TEST(raw_strips_idle),
        TEST(packing),
        TEST(misuse),
    };
    return cmocka_run_group_tests(tests, player_setup, player_teardown);
}
