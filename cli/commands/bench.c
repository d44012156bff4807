#include "options/options.h"
#include "io/output.h"
#include "options/diagnostics.h"
#include "text/rows.h"
#include "io/trace.h"

#include <inttypes.h>
#include <ntrace/decoder.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BENCH_EVENTS 256 /* small enough for the L1 data cache */
#define ROUNDS_MOST  99

struct bench_options {
    struct cli_stream stream;
    struct cli_images images;
    struct cli_result result;
    int64_t rounds, size;
};

#define S struct bench_options
static const struct cli_option bench_table[] = {
    CLI_NUMBER(0, "rounds", "N", S, rounds, 1, ROUNDS_MOST, 5,
               "measure each stage N times and show the median (default 5)"),
    CLI_NUMBER(0, "size", "MIB", S, size, 1, 4096, 64, "use only the first MIB mebibytes of the trace (default 64)"),
    CLI_CHOICE(0, "format", "text|jsonl", S, result.format, CLI_FORMAT_TEXT,
               "output format: tables (default) or JSON lines"),
    {0},
};
#undef S

static const struct cli_group groups[] = {
    CLI_OWN("options", bench_table),
    CLI_GROUP("program", cli_image_options, struct bench_options, images),
    CLI_GROUP("output", cli_path_options, struct bench_options, result),
    CLI_GROUP("the stream", cli_stream_options, struct bench_options, stream),
    {0},
};

struct bench {
    const struct bench_options *options;
    struct cli_trace trace;
    ntr_bytes stream;
    ntr_counts counts;
    ntr_status status;
};

/* ---- stages */

static ntr_reader open_reader(struct bench *b) {
    ntr_reader reader;

    b->status = ntr_reader_init(&reader, &b->trace.params);
    if (b->status == NTR_OK) b->status = ntr_reader_feed(&reader, b->stream.data, b->stream.size, true);
    return reader;
}

static void check_messages(struct bench *b) {
    ntr_message_mix mix = {0};
    ntr_message message;
    ntr_reader reader = open_reader(b);

    while (b->status == NTR_OK) b->status = ntr_reader_check(&reader, &mix, &message);
}

static void read_messages(struct bench *b) {
    ntr_message message;
    ntr_reader reader = open_reader(b);

    while (b->status == NTR_OK) b->status = ntr_reader_next(&reader, &message);
}

static ntr_decoder *open_decoder(struct bench *b) {
    ntr_decoder_config config;

    ntr_decoder_config_init(&config);
    config.params = b->trace.params;
    config.program = b->trace.program;
    ntr_decoder *decoder = ntr_decoder_new(&config, &b->status);

    if (decoder) b->status = ntr_decoder_feed(decoder, b->stream.data, b->stream.size, true);
    return decoder;
}

static void count_instructions(struct bench *b) {
    ntr_decoder *decoder = open_decoder(b);

    b->counts = (ntr_counts){0};
    if (b->status == NTR_OK) b->status = ntr_decoder_count(decoder, &b->counts);
    ntr_decoder_free(decoder);
}

static void read_events(struct bench *b) {
    static ntr_event events[BENCH_EVENTS];
    ntr_decoder *decoder = open_decoder(b);
    size_t count;

    while (b->status == NTR_OK) b->status = ntr_decoder_read(decoder, events, BENCH_EVENTS, &count);
    ntr_decoder_free(decoder);
}

static const struct stage {
    const char *name;
    void (*run)(struct bench *b);
    bool executes; /* reads program code */
} stages[] = {
    {"check", check_messages, false},
    {"read", read_messages, false},
    {"count", count_instructions, true},
    {"events", read_events, true},
};
enum { STAGE_CHECK, STAGE_READ, STAGE_COUNT, STAGE_EVENTS, STAGE_TOTAL };

/* ---- measuring */

/* Returns the processor time of this thread in seconds. */
static double seconds(void) {
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int by_value(const void *a, const void *b) {
    double one = *(const double *)a, other = *(const double *)b;

    return (one > other) - (one < other);
}

/* Returns the median time of a stage in seconds, or -1 after an error (b->status). */
static double measure(struct bench *b, const struct stage *stage) {
    double times[ROUNDS_MOST];
    size_t rounds = (size_t)b->options->rounds;

    for (size_t i = 0; i < rounds; i++) {
        double start = seconds();
        stage->run(b);
        times[i] = seconds() - start;
        if (b->status < 0) return -1;
    }
    qsort(times, rounds, sizeof times[0], by_value);
    return times[rounds / 2];
}

/* ---- output */

static double rate(double what, double per) {
    return per > 0 ? what / per : 0;
}

static void write_stage(struct bench *b, struct cli_rows *rows, const struct stage *stage, double time) {
    struct cli_row row = {
        .kind = stage->executes ? "execution" : "messages",
        .label = stage->name,
        .cells = {CLI_REAL("ms", time * 1e3, 3), CLI_REAL("MB/s", rate((double)b->stream.size / 1e6, time), 1),
                  CLI_REAL("ns/message", rate(time * 1e9, (double)b->counts.messages), 2)},
    };

    if (stage->executes)
        row.cells[3] = (struct cli_cell)CLI_REAL("M instr/s", rate((double)b->counts.instructions / 1e6, time), 1);
    cli_row_write(rows, &row);
}

/* Writes how the time of reading events divides into reading messages and everything after it. */
static void write_shares(struct cli_rows *rows, const double *times) {
    const double rest = times[STAGE_EVENTS] - times[STAGE_READ];
    const struct {
        const char *name;
        double time;
    } shares[] = {
        {"messages", times[STAGE_READ]},
        {"walks and events", rest > 0 ? rest : 0},
    };

    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        const struct cli_row row = {
            .kind = "time",
            .label = shares[i].name,
            .cells = {CLI_REAL("ms", shares[i].time * 1e3, 3),
                      CLI_REAL("%", 100 * rate(shares[i].time, times[STAGE_EVENTS]), 1)},
        };
        cli_row_write(rows, &row);
    }
}

static void write_trace(const struct bench *b, struct cli_rows *rows) {
    const struct cli_row row = {
        .kind = "trace",
        .label = b->trace.input.name,
        .alone = true,
        .cells = {CLI_COUNT("bytes", b->stream.size), CLI_COUNT("messages", b->counts.messages),
                  CLI_COUNT("instructions", b->counts.instructions), CLI_COUNT("gaps", b->counts.gaps)},
    };

    cli_row_write(rows, &row);
}

static int bench_all(struct bench *b, struct cli_rows *rows) {
    double times[STAGE_TOTAL];

    count_instructions(b); /* sets b->counts, and warms the caches */
    for (size_t i = 0; i < STAGE_TOTAL && b->status >= 0; i++) times[i] = measure(b, &stages[i]);
    if (b->status < 0) return cli_fail("%s: %s", b->trace.input.name, ntr_status_text(b->status));
    write_trace(b, rows);
    for (size_t i = 0; i < STAGE_TOTAL; i++) write_stage(b, rows, &stages[i], times[i]);
    write_shares(rows, times);
    return cli_trace_totals(&b->trace, &b->counts);
}

/* ---- */

/* Cuts an incomplete message off the end of a prefix of the stream. */
static void drop_part_of_message(ntr_bytes *stream) {
    size_t size = stream->size;

    while (size && !ntr_ends_message(stream->data[size - 1])) size--;
    if (size) stream->size = size;
}

/* Loads the beginning of the stream into memory, so that file access is not measured. */
static int load(struct bench *b) {
    size_t most = (size_t)b->options->size << 20;
    uint8_t *data = NULL;
    bool last = false;

    while (!last && b->stream.size < most) {
        ntr_bytes span;
        if (!cli_trace_feed(&b->trace, &span, &last)) return CLI_FAILED;
        if (span.size > most - b->stream.size) span.size = most - b->stream.size;
        data = realloc((void *)(uintptr_t)b->stream.data, b->stream.size + span.size + 1);
        if (!data) return cli_fail("%s: out of memory", b->trace.input.name);
        if (span.size) memcpy(data + b->stream.size, span.data, span.size);
        b->stream = (ntr_bytes){data, b->stream.size + span.size};
    }
    if (!last) drop_part_of_message(&b->stream);
    return CLI_OK;
}

static int bench_trace(struct bench *b) {
    struct cli_output out;

    if (cli_trace_program(&b->trace, &b->options->images, &b->options->stream, true) != CLI_OK) return CLI_FAILED;
    if (load(b) != CLI_OK) return CLI_FAILED;
    if (cli_output_open(&out, b->options->result.path) != CLI_OK) return CLI_FAILED;
    struct cli_rows rows = {&out, (enum cli_format)b->options->result.format, NULL};
    int status = bench_all(b, &rows);
    return cli_output_close(&out, cli_trace_status(&b->trace, b->counts.messages != 0, status));
}

static int bench_run(const void *options, char **operands) {
    struct bench b = {.options = options};

    if (cli_trace_open(&b.trace, operands[0], &b.options->stream, &b.options->images) != CLI_OK) return CLI_FAILED;
    int status = bench_trace(&b);
    free((void *)(uintptr_t)b.stream.data);
    cli_trace_close(&b.trace);
    return status;
}

const struct cli_command cli_bench = {
    .operands = "TRACE",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .size = sizeof(struct bench_options),
    .run = bench_run,
    .about = "Measures the decoding speed of a trace on this machine.\n"
             "\n"
             "The beginning of the trace is loaded into memory. Then one thread runs four stages: 'check' validates\n"
             "the messages, 'read' reads them, 'count' counts the execution, 'events' reads every event. 'count'\n"
             "reuses the results of messages it has seen before; 'events' walks the program for every message. Times\n"
             "are processor times of the thread; other load on the machine has little influence.",
    .examples = "  ntrace bench trace.nex -e program.elf\n"
                "  ntrace bench --rounds 11 --format jsonl capture.ntrace",
};
