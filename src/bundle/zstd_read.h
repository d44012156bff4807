/* Decompression of zstd data in bounded memory: compressed spans in, decompressed spans out. Frames may follow one
 * another. Without libzstd (zstd_none.c) a reader cannot be made. */
#ifndef NTR_BUNDLE_ZSTD_READ_H
#define NTR_BUNDLE_ZSTD_READ_H

#include <ntrace/allocator.h>
#include <ntrace/bytes.h>
#include <ntrace/status.h>

struct ntr_zstd_reader;

/* Errors: NTR_E_MEMORY, NTR_E_UNSUPPORTED. */
ntr_status ntr_zstd_reader_new(struct ntr_zstd_reader **reader, const ntr_allocator *allocator);
void ntr_zstd_reader_free(struct ntr_zstd_reader *reader); /* NULL is allowed */

/* Give compressed bytes, which must live until they are used up: until ntr_zstd_reader_next gives an empty span. */
void ntr_zstd_reader_feed(struct ntr_zstd_reader *reader, const uint8_t *data, size_t size);

/* Before the first bytes: they are from this position of the file. */
void ntr_zstd_reader_moved(struct ntr_zstd_reader *reader, uint64_t position);

/* The next decompressed span; empty: more compressed bytes are needed. Errors: NTR_E_DECOMPRESS (damage; all bytes
 * before it have been given out), NTR_E_LIMIT (the output is too large for the input), NTR_E_MEMORY. */
ntr_status ntr_zstd_reader_next(struct ntr_zstd_reader *reader, ntr_bytes *span);

/* The same into `to`; *got is the size of what was decompressed. */
ntr_status ntr_zstd_reader_read(struct ntr_zstd_reader *reader, uint8_t *to, size_t capacity, size_t *got);

/* At the end of the compressed bytes: NTR_OK, or NTR_E_DECOMPRESS when they end inside a frame. */
ntr_status ntr_zstd_reader_finish(struct ntr_zstd_reader *reader);

/* One sentence about the last error. */
const char *ntr_zstd_reader_error(const struct ntr_zstd_reader *reader);

#endif
