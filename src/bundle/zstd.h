/* Compressed streams: frames, reading and writing. */
#ifndef NTR_BUNDLE_ZSTD_H
#define NTR_BUNDLE_ZSTD_H

#include <ntrace/allocator.h>
#include <ntrace/limits.h>
#include <ntrace/bytes.h>
#include <ntrace/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Where the frames of zstd data end, without decompressing them (RFC 8878, section 3.1). Frames can be skipped if
 * it is known how long their content is. The header of the frame says so (`zstd FILE`, pzstd and tools for seekable
 * files write it, `zstd` from a pipe does not), or a skippable frame behind it, which other tools ignore: the magic
 * number 0x184d2a5b, the size 16, "NTRACEFL", and the length in 8 bytes; all numbers are little-endian. The streams of
 * ntrace have these, as they are compressed before the length of a frame is known. */

/* Reads `size` bytes of the file at `at`. Returns false when they cannot be had. */
typedef bool (*ntr_zstd_read_at)(void *user, uint64_t at, uint8_t *to, size_t size);

/* Finds the frame that begins at `at`: its end in the file, and the length of its content. Returns false if there is
 * none, or if its header does not say how long the content is, and nothing behind it. `end` is behind the skippable
 * frame with the length. */
bool ntr_zstd_frame_find(ntr_zstd_read_at read, void *user, uint64_t at, uint64_t *end, uint64_t *content);

/* Makes the skippable frame with the length of the content of the frame before it. */
enum { NTR_ZSTD_LENGTH_SIZE = 24 };
void ntr_zstd_frame_length(uint8_t frame[NTR_ZSTD_LENGTH_SIZE], uint64_t content);

/* ---- Decompression of zstd data in bounded memory: compressed pieces in, decompressed pieces out. Frames may follow
 * one another. Without libzstd (zstd_none.c) a reader cannot be made. */

struct ntr_zstd_reader;

/* `limits` may be NULL. Errors: NTR_E_MEMORY, NTR_E_UNSUPPORTED. */
ntr_status ntr_zstd_reader_new(struct ntr_zstd_reader **reader, const ntr_limits *limits,
                               const ntr_allocator *allocator);
void ntr_zstd_reader_free(struct ntr_zstd_reader *reader); /* NULL is allowed */

/* Give compressed bytes, which must live until they are used up: until ntr_zstd_reader_next gives an empty piece. */
void ntr_zstd_reader_feed(struct ntr_zstd_reader *reader, const uint8_t *data, size_t size);

/* Before the first bytes: they are from this position of the file. */
void ntr_zstd_reader_moved(struct ntr_zstd_reader *reader, uint64_t position);

/* The next decompressed piece; empty: more compressed bytes are needed. Errors: NTR_E_DECOMPRESS (damage; all bytes
 * before it have been given out), NTR_E_LIMIT (the output is too large for the input), NTR_E_MEMORY. */
ntr_status ntr_zstd_reader_next(struct ntr_zstd_reader *reader, ntr_bytes *piece);

/* The same into `to`; *got is the size of what was decompressed. */
ntr_status ntr_zstd_reader_read(struct ntr_zstd_reader *reader, uint8_t *to, size_t capacity, size_t *got);

/* At the end of the compressed bytes: NTR_OK, or NTR_E_DECOMPRESS when they end inside a frame. */
ntr_status ntr_zstd_reader_finish(struct ntr_zstd_reader *reader);

/* One sentence about the last error. */
const char *ntr_zstd_reader_error(const struct ntr_zstd_reader *reader);

/* ---- Compression with zstd. Without libzstd (zstd_none.c) a compressor cannot be made. */

struct ntr_zstd_writer;

/* Was the library built with libzstd? */
bool ntr_zstd_can_write(void);

/* Takes compressed bytes. */
typedef void (*ntr_zstd_sink)(void *user, const uint8_t *bytes, size_t size);

/* Errors: NTR_E_MEMORY, NTR_E_UNSUPPORTED. */
ntr_status ntr_zstd_writer_new(struct ntr_zstd_writer **writer, ntr_zstd_sink sink, void *user,
                               const ntr_allocator *allocator);
void ntr_zstd_writer_free(struct ntr_zstd_writer *writer, const ntr_allocator *allocator); /* NULL is allowed */

/* Compress bytes. `last`: nothing follows; the sink gets everything that is held back. Errors: NTR_E_MEMORY. */
ntr_status ntr_zstd_writer_put(struct ntr_zstd_writer *writer, const uint8_t *bytes, size_t size, bool last);

#endif
