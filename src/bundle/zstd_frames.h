/* Where the frames of zstd data end, without decompressing them (RFC 8878, section 3.1). Frames whose header says how long their content
 * is can be skipped: `zstd FILE`, pzstd and tools for seekable files write it, `zstd` from a pipe does not. */
#ifndef NTR_BUNDLE_ZSTD_FRAMES_H
#define NTR_BUNDLE_ZSTD_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads `size` bytes of the file at `at`. Returns false when they cannot be had. */
typedef bool (*ntr_zstd_read_at)(void *user, uint64_t at, uint8_t *to, size_t size);

/* Finds the frame that begins at `at`: its end in the file, and the length of its content. Returns false if there is none, or if its
 * header does not say how long the content is. */
bool ntr_zstd_frame_find(ntr_zstd_read_at read, void *user, uint64_t at, uint64_t *end, uint64_t *content);

#endif
