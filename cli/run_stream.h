/* The stream file being written: whole messages, in the order in which they come. */
#ifndef CLI_RUN_STREAM_H
#define CLI_RUN_STREAM_H

#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run_stream {
    int fd;
    const char *path;
    uint64_t offset; /* where the next message begins */
    size_t used;
    int error; /* errno of the first failure; what comes after it is dropped */
    uint8_t buffer[1 << 18];
};

/* Returns CLI_OK, or CLI_FAILED after telling why. `path` must outlive the stream. */
int run_stream_open(struct run_stream *stream, const char *path);

/* An ntr_message_sink; `user` is the stream. */
ntr_status run_stream_put(void *user, const uint8_t *bytes, size_t size);

int run_stream_close(struct run_stream *stream);

#endif
