/* Stream reader: the bytes of a trace stream, decompressed where they are compressed with zstd.
 *
 * The compressed bytes come from a callback, so that a stream can be a file, a pipe or memory; ntr_bundle_stream_open
 * (bundle.h) makes a reader of a bundle's stream. The result is given out in spans of bounded size: memory use does
 * not depend on the length of the stream, nor on what a compressed frame claims to hold. Compression is detected by
 * the first four bytes, which no N-Trace stream starts with. */
#ifndef NTRACE_STREAM_READER_H
#define NTRACE_STREAM_READER_H

#include <ntrace/allocator.h>
#include <ntrace/bytes.h>
#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_stream_reader ntr_stream_reader;

typedef struct ntr_stream_reader_config {
    size_t size; /* sizeof(ntr_stream_reader_config) */

    /* Reads up to `room` bytes of the file and sets *got: at least 1, or 0 at its end. NTR_END: stop here; the bytes
     * read so far are taken as the whole stream, without a complaint about an incomplete frame. Any error ends the
     * reader with that error; with NTR_E_IO, errno is the reason. */
    ntr_status (*read)(void *user, uint8_t *to, size_t room, size_t *got);

    /* Continues the file at a byte offset. False: not possible; the bytes before it are then read and dropped. NULL:
     * never possible. */
    bool (*seek)(void *user, uint64_t offset);

    /* Called by ntr_stream_reader_free; may be NULL. */
    void (*close)(void *user);

    void *user;                     /* passed to the callbacks */
    size_t buffer_size;             /* bytes read at once; 0: 64 KiB */
    const ntr_allocator *allocator; /* copied; NULL: malloc. libzstd always uses malloc */
} ntr_stream_reader_config;

/* Sets the size, and every other member to 0. Inline, so that the size is the one of the caller's header. */
static inline void ntr_stream_reader_config_init(ntr_stream_reader_config *config) {
    memset(config, 0, sizeof *config);
    config->size = sizeof *config;
}

/* Nothing is read yet. NULL on failure; errors (*status, may be NULL): NTR_E_INVALID (no `read`), NTR_E_MEMORY. `close`
 * is not called then. */
NTR_API ntr_stream_reader *ntr_stream_reader_new(const ntr_stream_reader_config *config, ntr_status *status);
NTR_API void ntr_stream_reader_free(ntr_stream_reader *reader); /* NULL is allowed */

/* Reads the first bytes and detects compression. Optional: the first ntr_stream_reader_next does the same. Errors: those
 * of `read`, NTR_E_MEMORY, NTR_E_UNSUPPORTED (a compressed stream, and the library was built without zstd). */
NTR_API ntr_status ntr_stream_reader_start(ntr_stream_reader *reader);

/* The next span of the stream, valid until the next call. *last: nothing follows; the span may be empty.
 *
 * Every error gives an empty span with *last set and is returned again by further calls: those of
 * ntr_stream_reader_start; NTR_E_DECOMPRESS when the compressed data is damaged or ends inside a frame (all bytes
 * before the damage have been given out and can be decoded); NTR_E_LIMIT when more than 1 GiB came out and more than
 * 1000 times the compressed size. */
NTR_API ntr_status ntr_stream_reader_next(ntr_stream_reader *reader, ntr_bytes *span, bool *last);

/* Leaves out the next bytes of the stream: by `seek` where the stream is not compressed, else they are read and
 * dropped. A failure is returned by the next ntr_stream_reader_next. */
NTR_API void ntr_stream_reader_skip(ntr_stream_reader *reader, uint64_t bytes);

/* Whether the stream is compressed; false before ntr_stream_reader_start. */
NTR_API bool ntr_stream_reader_is_compressed(const ntr_stream_reader *reader);

/* Position in the file: bytes read or skipped so far, compressed where the file is. For progress. */
NTR_API uint64_t ntr_stream_reader_position(const ntr_stream_reader *reader);

/* One sentence about the failure; "" when there was none. Lives as long as the reader. */
NTR_API const char *ntr_stream_reader_error(const ntr_stream_reader *reader);

#ifdef __cplusplus
}
#endif
#endif
