/* Writing the stream of a bundle: whole messages, in the order in which they come, plain or compressed. */
#ifndef NTR_BUNDLE_STREAM_WRITE_H
#define NTR_BUNDLE_STREAM_WRITE_H

#include <ntrace/allocator.h>
#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ntr_zstd_writer;

struct ntr_bundle_writer { /* large: to be allocated */
    int fd;
    struct ntr_zstd_writer *compressor; /* NULL: the stream is written as it is */
    uint64_t offset;                    /* of the next message, before compression */
    size_t used;
    int error; /* errno of the first failure; bytes after it are dropped */
    uint8_t buffer[1 << 18];
};

/* Create the file. The writer is all zero before. Errors: NTR_E_IO (with errno), NTR_E_MEMORY, NTR_E_UNSUPPORTED
 * (compression in a build without zstd). */
ntr_status ntr_bundle_writer_open(struct ntr_bundle_writer *writer, const char *path, bool compress,
                                  const ntr_allocator *allocator);

/* An ntr_message_sink; `user` is the writer. `size` is less than that of the buffer. Always NTR_OK: a failure shows
 * when the writer is closed. */
ntr_status ntr_bundle_writer_put(void *user, const uint8_t *bytes, size_t size);

/* Returns space for `size` bytes (less than the buffer has), to be filled in place. ntr_bundle_writer_advance says
 * how many bytes there are. */
uint8_t *ntr_bundle_writer_room(struct ntr_bundle_writer *writer, size_t size);
void ntr_bundle_writer_advance(struct ntr_bundle_writer *writer, size_t size);

/* Write what is buffered, so that it is not lost when this process is killed. With compression, a part of it may stay
 * in the compressor. */
void ntr_bundle_writer_save(struct ntr_bundle_writer *writer);

/* Write what is buffered and close the file. Errors: NTR_E_IO with errno, of this or an earlier write. */
ntr_status ntr_bundle_writer_close(struct ntr_bundle_writer *writer);

/* Free what the writer holds, closed or not. */
void ntr_bundle_writer_release(struct ntr_bundle_writer *writer, const ntr_allocator *allocator);

#endif
