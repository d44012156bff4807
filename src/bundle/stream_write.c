#include "bundle/stream_write.h"
#include "bundle/files.h"
#include "bundle/zstd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* An ntr_zstd_sink. */
static void write_all(void *user, const uint8_t *bytes, size_t size) {
    struct ntr_bundle_writer *writer = user;

    if (!writer->error && !ntr_write_all(writer->fd, bytes, size)) writer->error = errno;
}

ntr_status ntr_bundle_writer_open(struct ntr_bundle_writer *writer, const char *path, bool compress,
                                  const ntr_allocator *allocator) {
    writer->fd = -1;
    ntr_status status = compress ? ntr_zstd_writer_new(&writer->compressor, write_all, writer, allocator) : NTR_OK;
    if (status != NTR_OK) return status;
    writer->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return writer->fd >= 0 ? NTR_OK : NTR_E_IO;
}

static void flush(struct ntr_bundle_writer *writer, bool last) {
    if (!writer->compressor)
        write_all(writer, writer->buffer, writer->used);
    else if (!writer->error && ntr_zstd_writer_put(writer->compressor, writer->buffer, writer->used, last) != NTR_OK)
        writer->error = ENOMEM;
    writer->used = 0;
}

uint8_t *ntr_bundle_writer_room(struct ntr_bundle_writer *writer, size_t size) {
    if (size > sizeof writer->buffer - writer->used) flush(writer, false);
    return writer->buffer + writer->used;
}

void ntr_bundle_writer_advance(struct ntr_bundle_writer *writer, size_t size) {
    writer->used += size;
    writer->offset += size;
}

ntr_status ntr_bundle_writer_put(void *user, const uint8_t *bytes, size_t size) {
    struct ntr_bundle_writer *writer = user;

    memcpy(ntr_bundle_writer_room(writer, size), bytes, size);
    ntr_bundle_writer_advance(writer, size);
    return NTR_OK;
}

void ntr_bundle_writer_save(struct ntr_bundle_writer *writer) {
    flush(writer, false);
}

ntr_status ntr_bundle_writer_close(struct ntr_bundle_writer *writer) {
    flush(writer, true);
    if (close(writer->fd) && !writer->error) writer->error = errno;
    writer->fd = -1;
    errno = writer->error;
    return writer->error ? NTR_E_IO : NTR_OK;
}

void ntr_bundle_writer_release(struct ntr_bundle_writer *writer, const ntr_allocator *allocator) {
    if (writer->fd > 0) close(writer->fd);
    ntr_zstd_writer_free(writer->compressor, allocator);
    writer->compressor = NULL;
    writer->fd = -1;
}
