/* The stream file being written: whole messages, in the order in which they come. */
#ifndef CLI_RUN_STREAM_H
#define CLI_RUN_STREAM_H

#include "io/compressor.h"

#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run_stream {
    int fd;
    const char *path;
    struct cli_compressor *compressor; /* NULL: plain */
    uint64_t offset; /* where the next message begins, not compressed */
    size_t used;
    int error; /* errno of the first failure; what comes after it is dropped */
    uint8_t buffer[1 << 18];
};

/* The stream is all zeros before. Returns CLI_OK, or CLI_FAILED after telling why. `path` must outlive the stream. */
int run_stream_open(struct run_stream *stream, const char *path, bool compress);

/* An ntr_message_sink; `user` is the stream. */
ntr_status run_stream_put(void *user, const uint8_t *bytes, size_t size);

/* Room for so many bytes of messages (far fewer than the buffer has), to be written in place and then told. */
uint8_t *run_stream_room(struct run_stream *stream, size_t size);
void run_stream_wrote(struct run_stream *stream, size_t size);

/* Write what is still here. Returns as above. */
int run_stream_close(struct run_stream *stream);

void run_stream_release(struct run_stream *stream);

#endif
