/* A live connection: a file that grows and becomes shorter, a pipe, or streams that end and are connected again. What
 * is read is what was sent, with one byte between two connections, and it can be decoded.
 *
 * Input: 1 byte: kind and size of reads; parameters and a program as in `decode`; then operations, each done when there
 * is nothing to read: 0x00 to 0xbf: so many bytes are sent; more: the connection ends, or the file becomes empty; 0xff:
 * no server for a while. */
#include "fuzz.h"

#include "io/follow.h"
#include "io/progress.h"
#include "io/server.h"
#include "options/diagnostics.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { KIND_FILE, KIND_PIPE, KIND_STREAM, LIVE_KINDS };
enum {
    OP_END = 0xc0,
    OP_AWAY = 0xff,
    AWAY_TRIES = 3,
    PIECE_MAX = 64,
    FOLLOW_READS = 400,
    LIVE_BETWEEN = 2 /* follow.c: a byte that no message has */
};

static struct {
    fuzz_tape tape;
    unsigned kind, away;
    int sender;          /* -1: the connection has ended */
    fuzz_bytes expected; /* what is to be read */
} live;

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    const size_t behind = fuzz_behind_program(data, size, 1 + FUZZ_PARAMS_BYTES);
    return behind < size ? behind : SIZE_MAX;
}

/* ---- in the place of cli/io/server.c, progress.c, options/diagnostics.c and the clock */

static int connect_live(void) {
    int ends[2];
    fuzz_must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "a pair of sockets");
    live.sender = ends[1];
    return ends[0];
}

int cli_server_connect(const char *place) {
    fuzz_must(strcmp(place, "HOST:1") == 0, "the place is that of the path");
    return connect_live();
}

int cli_server_try(const char *place) {
    fuzz_must(live.sender < 0 && strcmp(place, "HOST:1") == 0, "only a connection that has ended is made again");
    if (live.away && live.away--) return -1;
    const uint8_t between = LIVE_BETWEEN;
    fuzz_add(&live.expected, &between, 1);
    return connect_live();
}

void cli_note(const char *format, ...) {
    fuzz_must(format[0] != 0, "a note has a text");
}

void cli_progress_catch_stop(void) {}

bool cli_progress_stopped(void) {
    return false;
}

int fuzz_poll(struct pollfd *sockets, nfds_t count, int milliseconds);
int fuzz_poll(struct pollfd *sockets, nfds_t count, int milliseconds) { /* poll of follow.c: what is there now */
    const struct timespec none = {0, 0};
    fuzz_must(milliseconds >= 0, "waiting ends");
    return ppoll(sockets, count, &none, NULL);
}

int fuzz_sleep(const struct timespec *time, struct timespec *left);
int fuzz_sleep(const struct timespec *time, struct timespec *left) { /* nanosleep of follow.c */
    (void)left;
    fuzz_must(time->tv_nsec < 1000000000, "a time is valid");
    return 0;
}

/* ---- the sender */

static void hang_up(void) {
    if (live.sender >= 0) close(live.sender);
    live.sender = -1;
}

static void send_bytes(ntr_bytes bytes) {
    fuzz_must(write(live.sender, bytes.data, bytes.size) == (ssize_t)bytes.size, "there is room");
    fuzz_add(&live.expected, bytes.data, bytes.size);
}

/* Returns false at the end of the input. While there is no connection, there is nothing to do. */
static bool next_operation(void *user) {
    (void)user;
    if (live.sender < 0) return true;
    if (live.tape.at == live.tape.size) return false;
    const unsigned operation = fuzz_byte(&live.tape);
    if (operation < OP_END) {
        send_bytes(fuzz_part(&live.tape, operation));
    } else if (live.kind == KIND_FILE) {
        fuzz_must(ftruncate(live.sender, 0) == 0 && lseek(live.sender, 0, SEEK_SET) == 0, "the file becomes empty");
    } else {
        hang_up();
        live.away = operation == OP_AWAY ? AWAY_TRIES : 0;
    }
    return true;
}

/* ---- the reader */

static int open_live(const char **path) {
    int ends[2];
    *path = live.kind == KIND_STREAM ? "tcp:HOST:1" : "file";
    if (live.kind == KIND_STREAM) return cli_follow_connect(*path);
    if (live.kind == KIND_FILE) {
        ends[0] = open(fuzz_file((ntr_bytes){NULL, 0}, &ends[1]), O_RDONLY | O_CLOEXEC); /* a position of its own */
    } else {
        fuzz_must(pipe(ends) == 0, "a pipe");
    }
    live.sender = ends[1];
    return ends[0];
}

static void follow(size_t piece, fuzz_bytes *found) {
    const char *path;
    uint8_t buffer[PIECE_MAX];
    cli_follow_begin(next_operation, NULL);
    int fd = open_live(&path);
    fuzz_must(fd >= 0, "an input");
    for (ssize_t n; (n = cli_follow_read(&fd, path, buffer, piece)) != 0;) {
        fuzz_must(n > 0 && (size_t)n <= piece, "reads do not fail");
        fuzz_add(found, buffer, (size_t)n);
    }
    if (fd >= 0) close(fd);
    hang_up();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_bytes found = {0};
    ntr_decoder_config config;
    live.tape = (fuzz_tape){data, size, 0};
    live.expected = (fuzz_bytes){0};
    live.away = 0;
    live.sender = -1;
    const uint8_t head = fuzz_byte(&live.tape);
    live.kind = head % LIVE_KINDS;
    ntr_decoder_config_init(&config);
    config.params = fuzz_params(&live.tape);
    ntr_program *program = fuzz_program(&live.tape, config.params.xlen);
    config.program = program;
    follow(1 + head / LIVE_KINDS % PIECE_MAX, &found);
    fuzz_must(found.size == live.expected.size &&
                  (!found.size || memcmp(found.data, live.expected.data, found.size) == 0),
              "what is read is what was sent");
    if (program) fuzz_decode(&config, (ntr_bytes){found.data, found.size}, 7, FOLLOW_READS);
    ntr_program_free(program);
    free(found.data);
    free(live.expected.data);
    return 0;
}
