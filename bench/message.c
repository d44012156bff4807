/* bench/message: speed of framing, decoding and checking of messages, on one core, in processor time.
 *
 *   bench_message [--src-bits N] [--dialect NAME] [--megabytes N] TRACE...
 *
 * Each TRACE (a raw stream, or .zst) is repeated to a buffer of that size (default 64 MB) and read five times;
 * the median counts. */
#include <ntrace/ntrace.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 5 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Read the stream and repeat it up to `size` bytes; returns the number of bytes. */
static size_t load(const char *path, uint8_t *out, size_t size) {
    FILE *pipe = setenv("NTRACE_STREAM", path, 1) == 0 ? popen("zstd -dcfq \"$NTRACE_STREAM\"", "r") : NULL;
    size_t once = pipe ? fread(out, 1, size, pipe) : 0, total = once;
    if (pipe) pclose(pipe);
    while (once && total + once <= size) {
        memcpy(out + total, out, once);
        total += once;
    }
    return total;
}

typedef struct reading {
    uint64_t messages, defects;
} reading;

static reading read_all(const ntr_params *params, const uint8_t *bytes, size_t size) {
    static ntr_reader reader;
    static ntr_message message;
    reading r = {0};
    ntr_reader_init(&reader, params);
    ntr_reader_feed(&reader, bytes, size, true);
    while (ntr_reader_next(&reader, &message) == NTR_OK) {
        r.messages++;
        r.defects += message.defect != NTR_OK;
    }
    return r;
}

static reading check_all(const ntr_params *params, const uint8_t *bytes, size_t size) {
    static ntr_reader reader;
    static ntr_message message;
    ntr_message_mix mix = {0};
    reading r = {0};
    ntr_reader_init(&reader, params);
    ntr_reader_feed(&reader, bytes, size, true);
    while (ntr_reader_check(&reader, &mix, &message) == NTR_OK) r.defects++;
    r.messages = reader.number;
    return r;
}

static reading format_all(const ntr_params *params, const uint8_t *bytes, size_t size) {
    static ntr_reader reader;
    static ntr_message message;
    static char line[NTR_MESSAGE_TEXT_MAX];
    reading r = {0};
    ntr_reader_init(&reader, params);
    ntr_reader_feed(&reader, bytes, size, true);
    while (ntr_reader_next(&reader, &message) == NTR_OK) {
        r.messages++;
        r.defects += ntr_message_format(params, &message, line, sizeof line) < 0;
    }
    return r;
}

typedef reading (*work)(const ntr_params *params, const uint8_t *bytes, size_t size);

static void measure(const char *what, work run, const ntr_params *params, const uint8_t *bytes, size_t size) {
    double times[RUNS];
    reading r = {0};
    for (int i = 0; i < RUNS; i++) {
        double start = now();
        r = run(params, bytes, size);
        times[i] = now() - start;
    }
    qsort(times, RUNS, sizeof times[0], by_value);
    double median = times[RUNS / 2];
    printf("  %-8s %8.1f MB/s %7.2f ns/message  (%llu messages, %.2f bytes each, %llu defects)\n", what,
           (double)size / median * 1e-6, median * 1e9 / (double)r.messages, (unsigned long long)r.messages,
           (double)size / (double)r.messages, (unsigned long long)r.defects);
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"src-bits", required_argument, NULL, 's'},
        {"dialect", required_argument, NULL, 'd'},
        {"megabytes", required_argument, NULL, 'm'},
        {0},
    };
    ntr_params params;
    ntr_params_init(&params, NULL);
    size_t capacity = 64u << 20;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 's')
            params.src_bits = (uint8_t)strtoul(optarg, NULL, 10);
        else if (c == 'd')
            ntr_params_init(&params, ntr_dialect_find(optarg));
        else if (c == 'm')
            capacity = strtoul(optarg, NULL, 10) << 20;
        else
            return 2;
    }
    uint8_t *bytes = malloc(capacity);
    for (int i = optind; bytes && i < argc; i++) {
        size_t size = load(argv[i], bytes, capacity);
        printf("%s\n", argv[i]);
        if (!size) continue;
        measure("check", check_all, &params, bytes, size);
        measure("decode", read_all, &params, bytes, size);
        measure("text", format_all, &params, bytes, size);
    }
    free(bytes);
    return 0;
}
