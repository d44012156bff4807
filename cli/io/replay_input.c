#include "io/replay_input.h"
#include "io/debug_files.h"
#include "io/memory.h"
#include "options/diagnostics.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define S struct cli_replay_options
const struct cli_option cli_replay_options[] = {
    CLI_DEBUG_PATH(S, debug_path),
    {0},
};
#undef S

/* ---- the stream, from its beginning, any number of times */

struct file_place {
    int fd;
    uint64_t offset;
};

static ntr_status read_some(void *user, uint8_t *to, size_t size, size_t *got) {
    struct file_place *place = user;

    for (;;) {
        ssize_t n = pread(place->fd, to, size, (off_t)place->offset);
        *got = n > 0 ? (size_t)n : 0;
        place->offset += *got;
        if (n >= 0) return NTR_OK;
        if (errno != EINTR) return NTR_E_IO;
    }
}

static bool seek(void *user, uint64_t offset) {
    ((struct file_place *)user)->offset = offset;
    return true;
}

ntr_status cli_replay_stream(const struct cli_replay *r, ntr_stream_reader **out) {
    struct file_place *place = malloc(sizeof *place);
    ntr_stream_reader_config config;

    *out = NULL;
    if (!place) return NTR_E_MEMORY;
    *place = (struct file_place){.fd = r->stream_file};
    ntr_stream_reader_config_init(&config);
    config.read = read_some;
    config.seek = seek;
    config.close = free;
    config.user = place;
    const ntr_status status = ntr_stream_reader_new(&config, out);
    if (!*out) free(place);
    return status;
}

static ntr_status open_stream(void *user, ntr_stream_reader **out) {
    return cli_replay_stream(user, out);
}

static bool proceed(void *user, uint64_t done) {
    const struct cli_replay *r = user;

    return !r->proceed || r->proceed(r->proceed_user, done);
}

/* ---- opening */

static bool write_all(FILE *file, ntr_bytes bytes) {
    return bytes.size == 0 || fwrite(bytes.data, 1, bytes.size, file) == bytes.size;
}

/* Copies the stream to a temporary file: input that can be read only once (standard input, a pipe), or whose bytes are
 * not those of the stream (perf.data, the files of producers' tools). */
static int copy_stream(struct cli_replay *r) {
    FILE *file = tmpfile();
    ntr_bytes piece;
    bool last = false;

    if (!file) return cli_fail("%s: cannot make a temporary file: %s", r->stream_path, strerror(errno));
    while (!last && !r->trace.failed)
        if (cli_trace_feed(&r->trace, &piece, &last) && !write_all(file, piece)) break;
    const bool good = last && fflush(file) == 0 && !ferror(file);
    if (good)
        r->stream_file = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
    else if (!r->trace.failed)
        cli_note("%s: cannot write a temporary file: %s", r->stream_path, strerror(errno));
    fclose(file);
    return r->stream_file < 0 ? CLI_FAILED : CLI_OK;
}

static int open_file(struct cli_replay *r, const char *path) {
    struct stat info;

    r->stream_path = r->trace.bundle ? ntr_bundle_stream_path(r->trace.bundle) : path;
    const bool is_file = stat(r->stream_path, &info) == 0 && S_ISREG(info.st_mode);
    if (strcmp(path, "-") == 0 || !is_file || cli_trace_is_copy(&r->trace) || r->trace.container.name)
        return copy_stream(r);
    r->stream_file = open(r->stream_path, O_RDONLY | O_CLOEXEC);
    return r->stream_file < 0 ? cli_fail("%s: cannot open: %s", r->stream_path, strerror(errno)) : CLI_OK;
}

bool cli_replay_has_common_clock(const struct cli_replay *r) {
    return !cli_trace_has_own_clocks(&r->trace);
}

static int make_replay(struct cli_replay *r) {
    ntr_decoder_config decoder;
    ntr_replay_config config;
    ntr_status status;

    ntr_decoder_config_init(&decoder);
    decoder.params = r->trace.params;
    decoder.program = r->trace.program;
    ntr_replay_config_init(&config);
    config.decoder = &decoder;
    config.functions = r->functions;
    config.open = open_stream;
    config.proceed = proceed;
    config.user = r;
    config.by_time = cli_replay_has_common_clock(r);
    status = ntr_replay_new(&config, &r->replay);
    return r->replay ? CLI_OK : cli_fail("%s: %s", r->stream_path, ntr_status_text(status));
}

int cli_replay_open_input(struct cli_replay *r, const char *path, const struct cli_replay_options *options) {
    *r = (struct cli_replay){.options = options, .stream_file = -1, .trace.input.fd = -1};
    if (cli_trace_open(&r->trace, path, &options->stream, &options->images) != CLI_OK) return CLI_FAILED;
    if (cli_trace_program(&r->trace, &options->images, &options->stream, true) != CLI_OK) return CLI_FAILED;
    if (cli_debug_files_load(r->trace.program, options->debug_path) != CLI_OK) return CLI_FAILED;
    if (open_file(r, path) != CLI_OK) return CLI_FAILED;
    cli_progress_end(&r->trace.progress);
    ntr_debug_info_new(r->trace.program, &cli_memory, &r->debug);
    if (!r->debug) return cli_fail("%s: out of memory", path);
    if (options->debug_path) ntr_debug_info_set_path(r->debug, options->debug_path);
    ntr_functions_new(r->debug, &cli_memory, &r->functions);
    return r->functions ? CLI_OK : cli_fail("%s: out of memory", path);
}

int cli_replay_open(struct cli_replay *r, const char *path, const struct cli_replay_options *options) {
    const int status = cli_replay_open_input(r, path, options);

    return status == CLI_OK ? make_replay(r) : status;
}

uint64_t cli_replay_bytes(const struct cli_replay *r) {
    struct stat info;
    ntr_stream_reader *reader = r->trace.input.reader;
    const bool plain = reader && ntr_stream_reader_start(reader) == NTR_OK && !ntr_stream_reader_is_compressed(reader);

    return plain && fstat(r->stream_file, &info) == 0 ? (uint64_t)info.st_size : 0;
}

void cli_replay_close(struct cli_replay *r) {
    ntr_replay_free(r->replay);
    ntr_functions_free(r->functions);
    cli_debug_info_close(r->debug);
    if (r->stream_file >= 0) close(r->stream_file);
    cli_trace_close(&r->trace);
}

int cli_replay_status(const struct cli_replay *r) {
    const char *why = r->replay ? ntr_replay_error(r->replay) : "";

    if (!*why) return CLI_OK;
    cli_note("%s: %s", r->stream_path, why);
    return CLI_DEFECTS;
}
