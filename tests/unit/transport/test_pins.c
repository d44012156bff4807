/* Pin recordings: VCD written here is read back, and recordings with the faults of real ones are read too. */
#include "../test.h"
#include "recorder.h"

#include <ntrace/pins.h>

#include <stdio.h>

static const char *const line_transports[] = {"pib1", "pib2", "pib4", "pib8", "pib16", "swt-uart", "swt-manchester"};

typedef struct text {
    char data[1 << 20];
    size_t size;
} text;

static text *vcd;
static streams *got;

static ntr_status take_text(void *user, const char *data, size_t size) {
    text *all = user;
    assert_true(all->size + size < sizeof all->data);
    memcpy(all->data + all->size, data, size);
    all->size += size;
    return NTR_OK;
}

static beats random_beats(const char *name, uint64_t *seed, uint8_t *bytes, size_t *size) {
    beats all = {0};
    ntr_writer_options options = {.size = sizeof options, .sink = take_beats, .user = &all};
    ntr_transport_writer *writer;
    ntr_transport_writer_new(ntr_transport_find(name), &options, &writer);
    assert_non_null(writer);
    *size = 0;
    for (unsigned i = 0; i < 40; i++) {
        const size_t one = random_message(seed, bytes + *size, 20);
        if (random_below(seed, 3) == 0) ntr_transport_writer_idle(writer, random_below(seed, 30));
        assert_int_equal(ntr_transport_writer_put(writer, 0, bytes + *size, one), NTR_OK);
        *size += one;
    }
    assert_int_equal(ntr_transport_writer_finish(writer), NTR_OK);
    ntr_transport_writer_free(writer);
    return all;
}

static void write_vcd(const char *name, const beats *all, bool center, uint32_t beat_time) {
    ntr_vcd_writer_options options = {.size = sizeof options, .sink = take_text, .user = vcd};
    options.clock_center = center;
    options.beat_time = beat_time;
    vcd->size = 0;
    ntr_vcd_writer *writer;
    ntr_vcd_writer_new(ntr_transport_find(name), &options, &writer);
    assert_non_null(writer);
    assert_int_equal(ntr_vcd_writer_put(writer, all->data, all->count), NTR_OK);
    assert_int_equal(ntr_vcd_writer_finish(writer), NTR_OK);
    ntr_vcd_writer_free(writer);
}

static ntr_pin_options reading(beats *out, bool center) {
    ntr_pin_options options = {.size = sizeof options, .sink = take_beats, .user = out};
    options.clock_center = center;
    return options;
}

static void read_pins(const char *name, const ntr_pin_options *options, const void *data, size_t size, uint64_t *seed) {
    ntr_pin_reader *reader;
    ntr_pin_reader_new(ntr_transport_find(name), options, &reader);
    assert_non_null(reader);
    for (size_t at = 0; at < size;) {
        size_t part = 1 + random_below(seed, 500);
        if (part > size - at) part = size - at;
        const ntr_status status = ntr_pin_reader_feed(reader, (const uint8_t *)data + at, part);
        if (status != NTR_OK) fail_msg("%s: %s", name, ntr_pin_reader_error(reader));
        at += part;
    }
    assert_int_equal(ntr_pin_reader_finish(reader), NTR_OK);
    ntr_pin_reader_free(reader);
}

/* The messages that the beats hold are `bytes`. */
static void check_messages(const char *name, const beats *all, const uint8_t *bytes, size_t size) {
    ntr_reader_options options = {.size = sizeof options, .sink = take_bytes, .note = take_note, .user = got};
    streams_clear(got);
    ntr_transport_reader *reader;
    ntr_transport_reader_new(ntr_transport_find(name), &options, &reader);
    assert_non_null(reader);
    assert_int_equal(ntr_transport_reader_feed(reader, all->data, all->count), NTR_OK);
    assert_int_equal(ntr_transport_reader_finish(reader), NTR_OK);
    ntr_transport_reader_free(reader);
    assert_int_equal(got->size[0], size);
    assert_memory_equal(got->data[0], bytes, size);
}

static void there_and_back(void **state) {
    (void)state;
    for (size_t t = 0; t < sizeof line_transports / sizeof line_transports[0]; t++)
        for (uint64_t seed = 1; seed <= 40; seed++) {
            uint64_t random = seed;
            uint8_t bytes[4096];
            size_t size;
            const bool center = seed & 1;
            beats all = random_beats(line_transports[t], &random, bytes, &size), back = {0};
            write_vcd(line_transports[t], &all, center, seed % 4 ? 0 : 2 * (1 + random_below(&random, 700)));
            const ntr_pin_options options = reading(&back, center);
            read_pins(line_transports[t], &options, vcd->data, vcd->size, &random);
            if (ntr_transport_find(line_transports[t])->lines == NTR_LINES_CLOCKED) {
                assert_int_equal(back.count, all.count);
                assert_memory_equal(back.data, all.data, all.count * sizeof all.data[0]);
            }
            check_messages(line_transports[t], &back, bytes, size);
            free(all.data);
            free(back.data);
        }
}

/* What the written file looks like, to the letter. */
static void written_text(void **state) {
    (void)state;
    static const uint16_t two[] = {1, 2};
    const beats all = {.data = (uint16_t *)(uintptr_t)two, .count = 2};
    write_vcd("pib2", &all, false, 0);
    vcd->data[vcd->size] = 0;
    assert_string_equal(vcd->data, "$version ntrace $end\n$timescale 10 ns $end\n$scope module trace $end\n"
                                   "$var wire 1 1 TRC_CLK $end\n$var wire 1 ! TRC_DATA[0] $end\n"
                                   "$var wire 1 \" TRC_DATA[1] $end\n$upscope $end\n$enddefinitions $end\n"
                                   "#0\n$dumpvars\n01\n1!\n1\"\n$end\n"
                                   "#2\n11\n0\"\n#4\n01\n0!\n1\"\n#6\n");
    write_vcd("pib2", &all, true, 6);
    vcd->data[vcd->size] = 0;
    assert_non_null(strstr(vcd->data, "$timescale 1 ns $end"));
    assert_non_null(strstr(vcd->data, "#6\n0\"\n#9\n11\n#12\n0!\n1\"\n#15\n01\n#18\n"));
}

/* What simulators write: vectors, x and z, comments, other wires, names in two tokens. */
static void simulator_text(void **state) {
    (void)state;
    static const char file[] = "$date\n  today\n$end $timescale 1ps $end\n$scope module top $end\n"
                               "$var reg 4 a TRC_DATA [3:0] $end $var wire 1 b TRC_CLK $end\n"
                               "$var real 64 r temperature $end $var integer 32 i count $end\n"
                               "$upscope $end $enddefinitions $end\n"
                               "$dumpvars bx a 0b r1.5 r b101 i $end\n"
                               "#10 b1111 a #15 1b #20 0b b1100 a $comment 1b is nothing $end #30 1b b0 a\n"
                               "#40 0b bz a #50";
    beats back = {0};
    const ntr_pin_options options = reading(&back, false);
    uint64_t seed = 1;
    read_pins("pib4", &options, file, sizeof file - 1, &seed);
    static const uint16_t expected[] = {15, 12, 0, 0};
    assert_int_equal(back.count, 4);
    assert_memory_equal(back.data, expected, sizeof expected);
    free(back.data);
}

/* ---- samples of a logic analyser: not in step with the clock, edges of pins a little apart */

typedef struct analyser {
    const beats *all;
    double beat_samples; /* samples per beat, not a whole number */
    double phase;
    double skew[NTR_PINS_MAX + 1]; /* of each pin, in beats */
    bool center;
} analyser;

static unsigned level_at(const analyser *a, unsigned pin, double beat) {
    const double at = beat - a->skew[pin];
    if (pin == NTR_PINS_MAX) return (unsigned)(at + (a->center ? 0.5 : 0)) & 1;
    const size_t index = at < 0 ? 0 : (size_t)at;
    return a->all->data[index < a->all->count ? index : a->all->count - 1] >> pin & 1;
}

static size_t sample(const analyser *a, unsigned pins, bool clocked, uint8_t *out, size_t capacity) {
    const unsigned channels = pins + clocked, unit = (channels + 7) / 8;
    size_t size = 0;
    for (double at = a->phase; at < (double)a->all->count + 1; at += 1 / a->beat_samples) {
        uint32_t levels = 0;
        for (unsigned pin = 0; pin < pins; pin++) levels |= level_at(a, pin, at) << pin;
        if (clocked) levels |= level_at(a, NTR_PINS_MAX, at) << pins;
        assert_true(size + unit <= capacity);
        for (unsigned byte = 0; byte < unit; byte++) out[size++] = (uint8_t)(levels >> 8 * byte);
    }
    return size;
}

static double random_part(uint64_t *seed, double size) {
    return size * (random_below(seed, 1000) / 1000.0 - 0.5);
}

static void analyser_samples(void **state) {
    (void)state;
    enum { CAPACITY = 1 << 20 };
    uint8_t *samples = malloc(CAPACITY);
    assert_non_null(samples);
    for (size_t t = 0; t < sizeof line_transports / sizeof line_transports[0]; t++)
        for (uint64_t seed = 1; seed <= 40; seed++) {
            const ntr_transport *transport = ntr_transport_find(line_transports[t]);
            const bool clocked = transport->lines == NTR_LINES_CLOCKED;
            uint64_t random = seed;
            uint8_t bytes[4096];
            size_t size;
            beats all = random_beats(transport->name, &random, bytes, &size), back = {0};
            for (unsigned rest = 0; rest < 40; rest++) /* the recording goes on a little */
                beats_add(&all, (uint16_t)(transport->idle_level ? (1u << transport->beat_bits) - 1 : 0));
            analyser a = {.all = &all, .center = seed & 1};
            a.beat_samples = 6.1 + random_below(&random, 1000) / 100.0;
            a.phase = 0.5 + random_part(&random, 0.4);
            for (unsigned pin = 0; clocked && pin <= NTR_PINS_MAX; pin++) a.skew[pin] = random_part(&random, 0.2);
            const size_t count = sample(&a, transport->beat_bits, clocked, samples, CAPACITY);
            ntr_pin_options options = reading(&back, a.center);
            options.format = NTR_PINS_SAMPLES;
            options.channels = (uint8_t)(transport->beat_bits + clocked);
            read_pins(transport->name, &options, samples, count, &random);
            check_messages(transport->name, &back, bytes, size);
            free(all.data);
            free(back.data);
        }
    free(samples);
}

/* ---- errors are reported */

static void expect_error(const char *transport, const char *file, ntr_status expected, const char *message) {
    beats back = {0};
    const ntr_pin_options options = reading(&back, false);
    ntr_pin_reader *reader;
    ntr_pin_reader_new(ntr_transport_find(transport), &options, &reader);
    ntr_status status = ntr_pin_reader_feed(reader, (const uint8_t *)file, strlen(file));
    if (status == NTR_OK) status = ntr_pin_reader_finish(reader);
    assert_int_equal(status, expected);
    assert_string_equal(ntr_pin_reader_error(reader), message);
    ntr_pin_reader_free(reader);
    free(back.data);
}

static void errors(void **state) {
    (void)state;
    static const char two[] = "$var wire 1 ! TRC_CLK $end $var wire 1 a x $end $enddefinitions $end\n";
    expect_error("pib1", "\x0c\x0f\n", NTR_E_FORMAT, "line 1: not a VCD file");
    expect_error("pib1", two, NTR_E_NAME, "no wire TRC_DATA[0] in the recording");
    expect_error("pib1", "$var wire 1 a TRC_DATA0 $end $enddefinitions $end\n", NTR_E_NAME,
                 "no wire TRC_CLK in the recording");
    expect_error("swt-uart", "$var wire 1 a x $end $enddefinitions $end #5 #4 ", NTR_E_FORMAT,
                 "line 1: time #4 does not follow 5");
    expect_error("swt-uart", "$var wire 1 a x $end $enddefinitions $end\n#5\nhello", NTR_E_FORMAT,
                 "line 3: \"hello\" is not a value change");
    expect_error("swt-uart", "$var wire 1 a x", NTR_E_FORMAT, "line 1: the file ends before $enddefinitions");
    expect_error("swt-uart", "$var wire 1 $end", NTR_E_FORMAT, "line 1: $var without name");
}

/* Random bytes and random pieces of VCD never do harm. */
static void hostile(void **state) {
    (void)state;
    static const char *const pieces[] = {
        "$var ",  "$end ", "wire ", "1 ",   "! ",   "TRC_DATA ", "#18446744073709551615\n", "$enddefinitions $end\n",
        "b1111 ", "1! ",   "0!\n",  "#1\n", "#2\n", "$comment "};
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        uint64_t random = seed;
        beats back = {0};
        const ntr_pin_options options = reading(&back, false);
        ntr_pin_reader *reader;
        ntr_pin_reader_new(ntr_transport_find(line_transports[random_below(&random, 7)]), &options, &reader);
        static const char start[] = "$var wire 1 ! TRC_DATA[0] $end $enddefinitions $end ";
        ntr_status status = NTR_OK;
        if (seed & 1) status = ntr_pin_reader_feed(reader, (const uint8_t *)start, sizeof start - 1);
        for (unsigned i = 0; i < 60 && status == NTR_OK; i++) {
            const char *piece = pieces[random_below(&random, 14)];
            const uint8_t byte = (uint8_t)random_next(&random);
            status = random_below(&random, 30) ? ntr_pin_reader_feed(reader, (const uint8_t *)piece, strlen(piece))
                                               : ntr_pin_reader_feed(reader, &byte, 1);
        }
        if (status == NTR_OK) ntr_pin_reader_finish(reader);
        ntr_pin_reader_free(reader);
        free(back.data);
    }
}

static int setup(void **state) {
    (void)state;
    vcd = malloc(sizeof *vcd);
    got = malloc(sizeof *got);
    return vcd && got ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    free(vcd);
    free(got);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(there_and_back),   TEST(written_text), TEST(simulator_text),
        TEST(analyser_samples), TEST(errors),       TEST(hostile),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
