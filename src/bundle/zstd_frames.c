#include "bundle/zstd.h"

#include "base/bytes.h"

#include <string.h>

enum { FIXED = 5, BLOCK_HEAD = 3, CHECKSUM = 4, SKIPPABLE_HEAD = 8, CONTENT_MOST = 8 };
enum { RLE = 1, RESERVED = 3 }; /* types of blocks */
#define FRAME_MAGIC     0xfd2fb528u
#define SKIPPABLE_MAGIC 0x184d2a50u /* the lowest 4 bits are free */

/* What the skippable frame with a length begins with. */
static const uint8_t length_head[] = {0x5b, 0x2a, 0x4d, 0x18, 16, 0, 0, 0, 'N', 'T', 'R', 'A', 'C', 'E', 'F', 'L'};

/* Goes over the blocks of a frame. */
static bool find_end(ntr_zstd_read_at read, void *user, uint64_t *at) {
    for (;;) {
        uint8_t bytes[BLOCK_HEAD];
        if (!read(user, *at, bytes, sizeof bytes)) return false;
        const uint64_t head = ntr_little(bytes, sizeof bytes), type = head >> 1 & 3;
        if (type == RESERVED) return false;
        *at += sizeof bytes + (type == RLE ? 1 : head >> 3);
        if (head & 1) return true;
    }
}

/* The content of a skippable frame is no part of the stream. */
static bool find_skippable(ntr_zstd_read_at read, void *user, uint64_t at, uint64_t *end, uint64_t *content) {
    uint8_t bytes[SKIPPABLE_HEAD];
    if (!read(user, at, bytes, sizeof bytes)) return false;
    *end = at + sizeof bytes + ntr_little(bytes + 4, 4);
    *content = 0;
    return true;
}

void ntr_zstd_frame_length(uint8_t frame[NTR_ZSTD_LENGTH_SIZE], uint64_t content) {
    memcpy(frame, length_head, sizeof length_head);
    ntr_little_put(frame + sizeof length_head, content, NTR_ZSTD_LENGTH_SIZE - sizeof length_head);
}

/* Reads the length behind the end of a frame. */
static bool find_length(ntr_zstd_read_at read, void *user, uint64_t *end, uint64_t *content) {
    uint8_t frame[NTR_ZSTD_LENGTH_SIZE];
    if (!read(user, *end, frame, sizeof frame) || memcmp(frame, length_head, sizeof length_head) != 0) return false;
    *content = ntr_little(frame + sizeof length_head, sizeof frame - sizeof length_head);
    *end += sizeof frame;
    return true;
}

bool ntr_zstd_frame_find(ntr_zstd_read_at read, void *user, uint64_t at, uint64_t *end, uint64_t *content) {
    static const uint8_t identifier_sizes[] = {0, 1, 2, 4}, content_sizes[] = {0, 2, 4, 8};
    uint8_t head[FIXED], size[CONTENT_MOST];

    if (!read(user, at, head, sizeof head)) return false;
    if ((ntr_little(head, 4) & ~UINT64_C(15)) == SKIPPABLE_MAGIC) return find_skippable(read, user, at, end, content);
    if (ntr_little(head, 4) != FRAME_MAGIC) return false;
    const bool single = head[4] >> 5 & 1, checksum = head[4] >> 2 & 1;
    const size_t length = single && !(head[4] >> 6) ? 1 : content_sizes[head[4] >> 6];
    const uint64_t place =
        at + sizeof head + !single + identifier_sizes[head[4] & 3]; /* a window comes first, if not single */
    if (length && !read(user, place, size, length)) return false;
    *content = ntr_little(size, length) + (length == 2 ? 256 : 0);
    *end = place + length;
    if (!find_end(read, user, end)) return false;
    *end += checksum ? CHECKSUM : 0;
    return length || find_length(read, user, end, content);
}
