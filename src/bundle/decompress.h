/* Files that were compressed as a whole: archives of a guest, modules of a kernel. Without libarchive
 * (decompress_none.c) there is nothing that decompresses. */
#ifndef NTR_BUNDLE_DECOMPRESS_H
#define NTR_BUNDLE_DECOMPRESS_H

#include <ntrace/bytes.h>
#include <ntrace/status.h>

#include <stdint.h>

enum { NTR_DECOMPRESS_REASON = 256 };

/* Appends what is compressed in `bytes` (gzip, bzip2, lzma, xz, lz4, zstd) to `file`, at most `most` bytes. Errors:
 * NTR_E_DECOMPRESS, NTR_E_UNSUPPORTED (there is no libarchive), both with a sentence in `why`; NTR_E_LIMIT; NTR_E_IO,
 * errno says why; NTR_E_MEMORY. */
ntr_status ntr_decompress(ntr_bytes bytes, int file, uint64_t most, char why[NTR_DECOMPRESS_REASON]);

#endif
