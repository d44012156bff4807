/* Stream reader: the bytes of a trace stream, decompressed if they are compressed with zstd.
 *
 * The compressed bytes come from a callback, so that a stream can be a file, a pipe or memory;
 * ntr_bundle_stream_open (bundle.h) makes a reader of the stream of a bundle. The bytes are returned in pieces of
 * bounded size: memory use depends neither on the length of the stream nor on the size in the header of a compressed
 * frame. Compression is detected by the first four bytes, which no N-Trace stream starts with. */
#ifndef NTRACE_STREAM_READER_H
#define NTRACE_STREAM_READER_H

#include <ntrace/allocator.h>
#include <ntrace/bytes.h>
#include <ntrace/limits.h>
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

    /* Reads up to `capacity` bytes of the file and sets *got: at least 1, or 0 at its end. NTR_END ends the stream
     * here; an incomplete compressed frame is then not an error. Any error ends the reader with that error; with
     * NTR_E_IO, errno is the reason. */
    ntr_status (*read)(void *user, uint8_t *to, size_t capacity, size_t *got);

    /* Moves to a byte offset of the file. Returns false if this is not possible; the bytes before it are then read and
     * dropped. NULL: never possible. */
    bool (*seek)(void *user, uint64_t offset);

    /* Called by ntr_stream_reader_free; may be NULL. */
    void (*close)(void *user);

    void *user; /* passed to the callbacks */
    size_t buffer_size; /* bytes read at once; 0: 64 KiB */
    const ntr_allocator *allocator; /* copied; NULL: malloc. libzstd always uses malloc */
    const ntr_limits *limits; /* of the output of a compressed stream; copied; NULL: the defaults */
} ntr_stream_reader_config;

/* Sets the size, and every other member to 0. Inline, so that the size is the one of the caller's header. */
static inline void ntr_stream_reader_config_init(ntr_stream_reader_config *config) {
    memset(config, 0, sizeof *config);
    config->size = sizeof *config;
}

/* Makes a reader; it reads nothing yet. Errors, without a call of `close`: NTR_E_INVALID (no `read`), NTR_E_MEMORY. */
NTR_API ntr_status ntr_stream_reader_new(const ntr_stream_reader_config *config, ntr_stream_reader **out);

/* Closes and frees the reader; NULL is allowed. */
NTR_API void ntr_stream_reader_free(ntr_stream_reader *reader);

/* Reads the first bytes and detects compression. Optional: the first ntr_stream_reader_next does the same. Errors:
 * those of `read`, NTR_E_MEMORY, NTR_E_UNSUPPORTED (a compressed stream, and the library was built without zstd). */
NTR_API ntr_status ntr_stream_reader_start(ntr_stream_reader *reader);

/* Reads the next piece of the stream, valid until the next call. *last: no data follows; the piece may be empty.
 *
 * With every error the piece is empty and *last is set; later calls return the same error. Errors: those of
 * ntr_stream_reader_start; NTR_E_DECOMPRESS (the compressed data is damaged or ends inside a frame; all bytes before
 * the damage have been returned and can be decoded); NTR_E_LIMIT (the data is larger than the limit ZST_OUTPUT and more
 * than 1000 times the compressed size). */
NTR_API ntr_status ntr_stream_reader_next(ntr_stream_reader *reader, ntr_bytes *piece, bool *last);

/* The same into memory of the caller: up to `capacity` bytes, *got of them, which is 0 with every error. Both functions
 * may be called in turn. */
NTR_API ntr_status ntr_stream_reader_read(ntr_stream_reader *reader, uint8_t *to, size_t capacity, size_t *got,
                                          bool *last);

/* Skips the next bytes of the stream: with `seek` if the stream is not compressed, else by reading. The next
 * ntr_stream_reader_next returns an error. */
NTR_API void ntr_stream_reader_skip(ntr_stream_reader *reader, uint64_t bytes);

/* Returns true if the stream is compressed; false before ntr_stream_reader_start. */
NTR_API bool ntr_stream_reader_is_compressed(const ntr_stream_reader *reader);

/* Returns the position in the file, in bytes (of a compressed file: compressed bytes). For reports of progress. */
NTR_API uint64_t ntr_stream_reader_position(const ntr_stream_reader *reader);

/* Returns one sentence about the last error, or "". The reader owns the text. */
NTR_API const char *ntr_stream_reader_error(const ntr_stream_reader *reader);

#ifdef __cplusplus
}
#endif
#endif
