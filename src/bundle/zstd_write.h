/* Compression with zstd. Without libzstd (zstd_none.c) a compressor cannot be made. */
#ifndef NTR_BUNDLE_ZSTD_WRITE_H
#define NTR_BUNDLE_ZSTD_WRITE_H

#include <ntrace/allocator.h>
#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
