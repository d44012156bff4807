#include "analysis/xz_size.h"

#include <lzma.h>

enum { DECODER_BYTES = 128 << 20, XZ_PIECE = 32 << 10 };

uint64_t ntr_xz_size(const uint8_t *bytes, size_t size, uint64_t most) {
    lzma_stream stream = LZMA_STREAM_INIT;
    uint8_t piece[XZ_PIECE];
    lzma_ret status = lzma_auto_decoder(&stream, DECODER_BYTES, 0);

    stream.next_in = bytes;
    stream.avail_in = size;
    while (status == LZMA_OK && stream.total_out <= most) {
        stream.next_out = piece;
        stream.avail_out = sizeof piece;
        status = lzma_code(&stream, LZMA_FINISH);
    }
    const uint64_t expanded = status == LZMA_MEMLIMIT_ERROR ? UINT64_MAX : stream.total_out;
    lzma_end(&stream);
    return expanded;
}
