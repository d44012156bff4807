#include "io/atomic_file.h"
#include "io/input.h"
#include "io/follow.h"
#include "io/progress.h"
#include "options/diagnostics.h"

#include <errno.h>
#include <fcntl.h>
#include <ntrace/bundle.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_SIZE (64u * 1024u) /* small enough to stay in the L2 cache together with the data of a decoder */
#define PIECE_MIN  64u

/* Waits until the file can be read. Returns false if a stop was requested and there is nothing to read: a signal that
 * arrives before poll does not interrupt it. */
static bool wait_for_input(int fd) {
    enum { STOP_INTERVAL_MS = 200 };
    struct pollfd one = {fd, POLLIN, 0};

    for (;;) {
        const bool stopped = cli_progress_stopped();
        const int ready = poll(&one, 1, stopped ? 0 : STOP_INTERVAL_MS);
        if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
        if (ready == 0 && stopped) return false;
    }
}

/* Callback of the stream reader. After a stop request, uncompressed input ends when read would wait; compressed input
 * ends immediately, because it may expand to much more than was read. */
static ntr_status read_some(void *user, uint8_t *to, size_t size, size_t *got) {
    struct cli_input *input = user;
    bool compressed = input->reader && ntr_stream_reader_is_compressed(input->reader);

    *got = 0;
    while (!(compressed && cli_progress_stopped())) {
        const bool follows = cli_follow_on();
        if (!follows && !wait_for_input(input->fd)) return NTR_END;
        ssize_t n = follows ? cli_follow_read(&input->fd, input->name, to, size) : read(input->fd, to, size);
        if (n >= 0) {
            *got = (size_t)n;
            return NTR_OK;
        }
        if (errno != EINTR) return NTR_E_IO;
        if (cli_progress_stopped()) return NTR_END;
    }
    return NTR_END;
}

static bool seek(void *user, uint64_t offset) {
    const struct cli_input *input = user;

    return offset <= input->size_hint && lseek(input->fd, (off_t)offset, SEEK_SET) >= 0;
}

static int fail_read(const struct cli_input *input) {
    return cli_fail("%s: %s", input->name, ntr_stream_reader_error(input->reader));
}

/* Small files get a small buffer: `ntrace merge` may have thousands of them open. */
static size_t buffer_size(uint64_t size) {
    return size == 0 || size >= PIECE_SIZE ? PIECE_SIZE : size < PIECE_MIN ? PIECE_MIN : (size_t)size + 1;
}

static int make_reader(struct cli_input *input) {
    ntr_stream_reader_config config;

    ntr_stream_reader_config_init(&config);
    config.read = read_some;
    config.seek = seek;
    config.user = input;
    config.limits = cli_limits();
    config.buffer_size = buffer_size(input->size_hint);
    ntr_stream_reader_new(&config, &input->reader);
    if (!input->reader) return cli_fail("out of memory");
    return ntr_stream_reader_start(input->reader) == NTR_OK ? CLI_OK : fail_read(input);
}

int cli_open_regular(const char *path, uint64_t most) {
    struct stat about = {0};
    int file, error = 0;

    if (stat(path, &about) != 0) return -1;
    if (!S_ISREG(about.st_mode)) { /* opening some devices has an effect */
        errno = EINVAL;
        return -1;
    }
    if ((file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)) < 0) return -1;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
        error = EINVAL; /* it was replaced */
    else if (about.st_size < 0 || (uint64_t)about.st_size > most)
        error = EFBIG;
    if (!error) return file;
    close(file);
    errno = error;
    return -1;
}

static bool standard_used;

int cli_input_open(struct cli_input *input, const char *path) {
    struct stat info = {0};
    bool standard = strcmp(path, "-") == 0;

    *input = (struct cli_input){.name = standard ? "standard input" : path, .fd = STDIN_FILENO};
    if (standard && standard_used) return cli_fail("-: standard input can be read only once");
    standard_used |= standard;
    if (cli_follow_on() && (input->fd = cli_follow_connect(path)) != -2) {
        if (input->fd < 0) return CLI_FAILED;
        return make_reader(input);
    }
    input->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (input->fd < 0 && errno == ENOENT && strncmp(path, "tcp:", strlen("tcp:")) == 0)
        return cli_fail(
            "%s: expected a file or a bundle, found the address of a stream; 'ntrace decode -f %s' reads it "
            "while it comes",
            path, path);
    if (input->fd < 0) return cli_fail("%s: cannot open: %s", path, strerror(errno));
    if (!standard) cli_input_guard_add(path);
    if (fstat(input->fd, &info) == 0) {
        if (S_ISDIR(info.st_mode)) {
            cli_input_close(input);
            if (ntr_bundle_seen(path))
                return cli_fail("%s: expected a stream, found a bundle; its file capture.json names the stream in it "
                                "(trace.nex)",
                                path);
            return cli_fail("%s: expected a trace, found a directory", path);
        }
        if (S_ISREG(info.st_mode)) input->size_hint = (uint64_t)info.st_size;
    }
    int status = make_reader(input);
    if (status != CLI_OK) cli_input_close(input);
    return status;
}

int cli_input_adopt(struct cli_input *input, const char *name, int fd) {
    struct stat info = {0};

    *input = (struct cli_input){.name = name, .fd = fd};
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) input->size_hint = (uint64_t)info.st_size;
    int status = make_reader(input);
    if (status != CLI_OK) cli_input_close(input);
    return status;
}

/* Reports an error of the stream reader. */
static int check_read(struct cli_input *input, ntr_status status) {
    if (status == NTR_OK) return CLI_OK;
    if (status != NTR_E_DECOMPRESS) return fail_read(input);
    cli_note("%s: %s", input->name, ntr_stream_reader_error(input->reader));
    input->damaged = true;
    return CLI_OK;
}

int cli_input_next(struct cli_input *input, ntr_bytes *piece, bool *last) {
    return check_read(input, ntr_stream_reader_next(input->reader, piece, last));
}

int cli_input_read(struct cli_input *input, uint8_t *to, size_t capacity, size_t *got, bool *last) {
    return check_read(input, ntr_stream_reader_read(input->reader, to, capacity, got, last));
}

uint64_t cli_input_position(const struct cli_input *input) {
    return input->reader ? ntr_stream_reader_position(input->reader) : 0;
}

void cli_input_close(struct cli_input *input) {
    if (input->fd > STDIN_FILENO) close(input->fd);
    ntr_stream_reader_free(input->reader);
    *input = (struct cli_input){.fd = -1};
}

/* Appends a piece to a text. Returns false when out of memory; the text is then unchanged. */
static bool append(char **text, size_t *used, ntr_bytes piece) {
    char *grown = realloc(*text, *used + piece.size + 1);

    if (!grown) return false;
    if (piece.data) memcpy(grown + *used, piece.data, piece.size);
    *used += piece.size;
    grown[*used] = 0;
    *text = grown;
    return true;
}

/* `limit`: the name of the limit, or NULL. */
static char *read_whole(const char *path, uint64_t max, const char *limit, size_t *size) {
    struct cli_input input;
    ntr_bytes piece;
    bool last = false;
    char *text = NULL, name[80] = "";

    *size = 0;
    if (limit) snprintf(name, sizeof name, " (limit %s)", limit);
    if (cli_input_open(&input, path) != CLI_OK) return NULL;
    while (!last) {
        if (cli_input_next(&input, &piece, &last) != CLI_OK || input.damaged) {
            free(text);
            text = NULL;
            break;
        }
        const bool fits = piece.size <= max - *size;
        if (!fits || !append(&text, size, piece)) {
            if (fits)
                cli_note("%s: out of memory", input.name);
            else
                cli_note("%s: expected at most %llu bytes%s, found more", input.name, (unsigned long long)max, name);
            free(text);
            text = NULL;
            break;
        }
    }
    cli_input_close(&input);
    return text;
}

char *cli_input_whole(const char *path, uint64_t max, size_t *size) {
    return read_whole(path, max, NULL, size);
}

char *cli_input_limited(const char *path, enum cli_limit limit, size_t *size) {
    return read_whole(path, cli_limit(limit), cli_limit_name(limit), size);
}
