/* Encodes a list of program counters from memory; prints the speed and the size of the stream.
 *
 *   encode_pcs ELF [--NAME=VALUE ...] [-o STREAM] [-n TIMES] < LIST
 *
 * LIST has one 0x... on each line. Prints: instructions, bytes, messages, median processor seconds of TIMES runs, and
 * the peak of the memory allocated by encoder and classifier. */
#include <ntrace/ingress.h>
#include <ntrace/ntrace.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct encode_totals {
    uint64_t bytes;
    FILE *out;
} encode_totals;

static ntr_status take(void *user, const uint8_t *bytes, size_t size) {
    encode_totals *t = user;
    t->bytes += size;
    return t->out && fwrite(bytes, 1, size, t->out) != size ? NTR_E_IO : NTR_OK;
}

__attribute__((noreturn)) static void fail(const char *what, const char *why) {
    fprintf(stderr, "encode_pcs: %s: %s\n", what, why);
    exit(2);
}

/* An allocator that counts the allocated bytes. */
typedef union block {
    size_t size;
    max_align_t align;
} block;

typedef struct account {
    size_t held, peak;
} account;

static void *counted(void *user, void *old, size_t size) {
    account *a = user;
    block *b = old ? (block *)old - 1 : NULL;
    size_t before = b ? b->size : 0;
    if (!size) {
        a->held -= before;
        free(b);
        return NULL;
    }
    block *grown = realloc(b, sizeof *grown + size);
    if (!grown) return NULL;
    grown->size = size;
    a->held += size - before;
    if (a->held > a->peak) a->peak = a->held;
    return grown + 1;
}

static uint64_t *read_list(size_t *count) {
    size_t capacity = 1 << 16;
    uint64_t *pcs = malloc(capacity * sizeof *pcs);
    char line[64];
    for (*count = 0; fgets(line, sizeof line, stdin); ++*count) {
        if (*count == capacity) pcs = realloc(pcs, (capacity *= 2) * sizeof *pcs);
        if (!pcs) fail("list", "out of memory");
        pcs[*count] = strtoull(line, NULL, 16);
    }
    return pcs;
}

static void set_option(ntr_encoder_config *config, const char *text) {
    char name[64];
    const char *value = strchr(text, '=');
    size_t length = value ? (size_t)(value - text) : strlen(text);
    if (length >= sizeof name) fail(text, "unknown option");
    memcpy(name, text, length);
    name[length] = 0;
    ntr_status status = ntr_encoder_option_set(config, name, value ? value + 1 : NULL);
    if (status != NTR_OK) fail(text, ntr_status_text(status));
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* independent of other load */
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* One complete run with a new classifier and encoder. */
static double run(const ntr_program *program, const ntr_encoder_config *config, const uint64_t *pcs, size_t count,
                  ntr_encoder_status *done) {
    ntr_encoder *encoder;
    ntr_status status = ntr_encoder_new(config, &encoder);
    const char *why = "";
    if (!encoder) ntr_encoder_config_check(config, &why);
    if (!encoder) fail(why, ntr_status_text(status));
    ntr_classifier_config how;
    ntr_classifier_config_init(&how);
    how.program = program;
    how.encoder = encoder;
    how.itype_width = config->itype_width;
    how.allocator = config->allocator;
    ntr_classifier *classifier;
    status = ntr_classifier_new(&how, &classifier);
    if (!classifier) fail("classifier", ntr_status_text(status));
    double start = now();
    uint64_t next = NTR_ADDRESS_UNKNOWN;
    status = ntr_classifier_push_many(classifier, pcs, count);
    if (status == NTR_OK) status = ntr_classifier_finish(classifier, &next);
    if (status == NTR_OK) status = ntr_encoder_stop(encoder, next, config->stop_evcode);
    if (status == NTR_OK) status = ntr_encoder_flush(encoder);
    double seconds = now() - start;
    if (status != NTR_OK) {
        const char *detail = ntr_classifier_error(classifier);
        fail(ntr_status_text(status), *detail ? detail : ntr_encoder_error(encoder));
    }
    ntr_encoder_status_get(encoder, done);
    ntr_classifier_free(classifier);
    ntr_encoder_free(encoder);
    return seconds;
}

static int by_size(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv) {
    enum { TIMES_MAX = 1000 };
    encode_totals all = {0};
    account memory = {0};
    const ntr_allocator allocator = {counted, &memory};
    double seconds[TIMES_MAX];
    ntr_encoder_config config;
    ntr_encoder_config_init(&config);
    config.sink = take;
    config.sink_user = &all;
    config.allocator = &allocator;
    const char *elf = NULL;
    int times = 1;
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "--", 2))
            set_option(&config, argv[i] + 2);
        else if (!strcmp(argv[i], "-o") && i + 1 < argc)
            all.out = fopen(argv[++i], "wb");
        else if (!strcmp(argv[i], "-n") && i + 1 < argc)
            times = (int)strtol(argv[++i], NULL, 10);
        else
            elf = argv[i];
    }
    if (!elf) fail("usage", "encode_pcs ELF [--NAME=VALUE ...] [-o STREAM] [-n TIMES] < LIST");
    ntr_program *program;
    ntr_program_new(NULL, &program);
    if (!program || ntr_program_add_elf(program, elf, NULL) != NTR_OK)
        fail(elf, program ? ntr_program_error(program) : "");
    size_t count;
    uint64_t *pcs = read_list(&count);
    ntr_encoder_status done = {0};
    if (times < 1 || times > TIMES_MAX) fail("-n", "1 to 1000");
    for (int i = 0; i < times; i++) {
        seconds[i] = run(program, &config, pcs, count, &done);
        if (all.out) fclose(all.out);
        all.out = NULL;
    }
    qsort(seconds, (size_t)times, sizeof *seconds, by_size);
    printf("%zu %llu %llu %.6f %zu\n", count, (unsigned long long)done.bytes, (unsigned long long)done.messages,
           seconds[times / 2], memory.peak);
    free(pcs);
    ntr_program_free(program);
    return 0;
}
