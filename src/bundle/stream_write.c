#include "bundle/stream_write.h"
#include "options/diagnostics.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void write_all(void *user, const uint8_t *bytes, size_t size) {
    struct run_stream *stream = user;

    for (size_t at = 0; at < size && !stream->error;) {
        ssize_t n = write(stream->fd, bytes + at, size - at);
        if (n >= 0)
            at += (size_t)n;
        else if (errno != EINTR)
            stream->error = errno;
    }
}

int run_stream_open(struct run_stream *stream, const char *path, bool compress) {
    stream->path = path;
    stream->offset = stream->used = 0;
    stream->error = 0;
    if (compress && cli_compressor_open(&stream->compressor, write_all, stream) != CLI_OK) return CLI_FAILED;
    stream->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return stream->fd >= 0 ? CLI_OK : cli_fail("%s: %s", path, strerror(errno));
}

static void flush(struct run_stream *stream, bool last) {
    if (!stream->compressor)
        write_all(stream, stream->buffer, stream->used);
    else if (!stream->error && !cli_compressor_put(stream->compressor, stream->buffer, stream->used, last))
        stream->error = ENOMEM;
    stream->used = 0;
}

uint8_t *run_stream_room(struct run_stream *stream, size_t size) {
    if (size > sizeof stream->buffer - stream->used) flush(stream, false);
    return stream->buffer + stream->used;
}

void run_stream_wrote(struct run_stream *stream, size_t size) {
    stream->used += size;
    stream->offset += size;
}

ntr_status run_stream_put(void *user, const uint8_t *bytes, size_t size) {
    struct run_stream *stream = user;

    memcpy(run_stream_room(stream, size), bytes, size);
    run_stream_wrote(stream, size);
    return NTR_OK;
}

int run_stream_close(struct run_stream *stream) {
    flush(stream, true);
    if (close(stream->fd) && !stream->error) stream->error = errno;
    return stream->error ? cli_fail("%s: %s", stream->path, strerror(stream->error)) : CLI_OK;
}

void run_stream_release(struct run_stream *stream) {
    cli_compressor_close(stream->compressor);
}
