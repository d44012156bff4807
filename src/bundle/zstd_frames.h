/* Where the frames of zstd data end, without decompressing them (RFC 8878, section 3.1). Frames can be skipped if it is
 * known how long their content is. The header of the frame says so (`zstd FILE`, pzstd and tools for seekable files
 * write it, `zstd` from a pipe does not), or a skippable frame behind it, which other tools ignore: the magic number
 * 0x184d2a5b, the size 16, "NTRACEFL", and the length in 8 bytes; all numbers are little-endian. The streams of ntrace
 * have these, as they are compressed before the length of a frame is known. */
#ifndef NTR_BUNDLE_ZSTD_FRAMES_H
#define NTR_BUNDLE_ZSTD_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads `size` bytes of the file at `at`. Returns false when they cannot be had. */
typedef bool (*ntr_zstd_read_at)(void *user, uint64_t at, uint8_t *to, size_t size);

/* Finds the frame that begins at `at`: its end in the file, and the length of its content. Returns false if there is
 * none, or if its header does not say how long the content is, and nothing behind it. `end` is behind the skippable
 * frame with the length. */
bool ntr_zstd_frame_find(ntr_zstd_read_at read, void *user, uint64_t at, uint64_t *end, uint64_t *content);

/* Makes the skippable frame with the length of the content of the frame before it. */
enum { NTR_ZSTD_LENGTH_SIZE = 24 };
void ntr_zstd_frame_length(uint8_t frame[NTR_ZSTD_LENGTH_SIZE], uint64_t content);

#endif
