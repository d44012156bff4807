/* The GDB server: any bytes of a debugger, over any stream and program. */
#include "fuzz.h"

#include <ntrace/gdb.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A hostile count can stand for any number of instructions: reading is interrupted after so many looks. */
enum { LOOKS = 300 };

struct conversation {
    ntr_bytes stream;
    size_t piece; /* bytes of a read; 0: as many as are wanted */
    size_t looks;
};

struct memory_stream {
    ntr_bytes stream;
    size_t at, piece;
};

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    return fuzz_behind_program(data, size, FUZZ_HEAD);
}

static ntr_status read_some(void *user, uint8_t *to, size_t capacity, size_t *got) {
    struct memory_stream *source = user;
    size_t left = source->stream.size - source->at;
    *got = left < capacity ? left : capacity;
    if (source->piece && *got > source->piece) *got = source->piece;
    if (*got) memcpy(to, source->stream.data + source->at, *got);
    source->at += *got;
    return NTR_OK;
}

static ntr_status open_stream(void *user, ntr_stream_reader **out) {
    struct memory_stream *source = calloc(1, sizeof *source);
    ntr_stream_reader_config config;
    *out = NULL;
    if (!source) return NTR_E_MEMORY;
    source->stream = ((struct conversation *)user)->stream;
    source->piece = ((struct conversation *)user)->piece;
    ntr_stream_reader_config_init(&config);
    config.read = read_some;
    config.close = free;
    config.user = source;
    const ntr_status status = ntr_stream_reader_new(&config, out);
    if (!*out) free(source);
    return status;
}

static bool proceed(void *user, uint64_t done) {
    (void)done;
    return ((struct conversation *)user)->looks++ < LOOKS;
}

static ntr_status write_nothing(void *user, const void *bytes, size_t size) {
    (void)user;
    fuzz_must(bytes && size, "an answer has bytes");
    return NTR_OK;
}

static char temporary[] = "/tmp/ntrace-fuzz-XXXXXX";

static void remove_folder(void) {
    rmdir(temporary);
}

/* For symbol files, without which no stack has return places. */
static const char *folder(void) {
    static bool made;
    if (!made && mkdtemp(temporary)) made = atexit(remove_folder) == 0;
    return made ? temporary : NULL;
}

static void converse(ntr_replay *replay, const ntr_program *program, ntr_debug_info *debug, ntr_bytes spoken) {
    ntr_gdb_config config;
    bool complete;
    ntr_gdb_config_init(&config);
    config.replay = replay;
    config.program = program;
    config.debug = debug;
    config.write = write_nothing;
    config.folder = folder();
    ntr_gdb *gdb;
    ntr_gdb_new(&config, &gdb);
    if (gdb) ntr_gdb_feed(gdb, spoken.data, spoken.size);
    fuzz_must(ntr_replay_position(replay) <= ntr_replay_known(replay, &complete), "a position is in the trace");
    ntr_gdb_free(gdb);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_tape tape = {data, size, 0};
    ntr_decoder_config decoder = {.size = sizeof decoder, .params = fuzz_params(&tape)};
    ntr_replay_config config;
    struct conversation session = {.looks = 0};
    size_t spoken_size = fuzz_number(&tape, 2);
    const bool is_wide = fuzz_byte(&tape) & 1;
    session.piece = fuzz_byte(&tape);
    ntr_program *program = fuzz_program(&tape, decoder.params.xlen);
    ntr_bytes rest = fuzz_rest(&tape), spoken;
    if (spoken_size > rest.size) spoken_size = rest.size;
    session.stream = (ntr_bytes){rest.data, rest.size - spoken_size};
    fuzz_bytes sources = {0};
    if (is_wide) sources = fuzz_many_sources(&decoder.params, size > FUZZ_HEAD ? data[FUZZ_HEAD] : 0, session.stream);
    spoken = (ntr_bytes){rest.size ? rest.data + session.stream.size : NULL, spoken_size};
    if (is_wide) session.stream = (ntr_bytes){sources.data, sources.size};
    ntr_debug_info *debug;
    ntr_debug_info_new(program, NULL, &debug);
    ntr_functions *functions = NULL;
    if (debug) ntr_functions_new(debug, NULL, &functions);
    ntr_replay_config_init(&config);
    decoder.program = program;
    config.decoder = &decoder;
    config.functions = functions;
    config.open = open_stream;
    config.proceed = proceed;
    config.user = &session;
    ntr_replay *replay = NULL;
    if (functions) ntr_replay_new(&config, &replay);
    if (replay) converse(replay, program, debug, spoken);
    ntr_replay_free(replay);
    ntr_functions_free(functions);
    ntr_debug_info_free(debug);
    ntr_program_free(program);
    free(sources.data);
    return 0;
}
