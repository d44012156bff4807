/* Compression through libzstd, in frames of about 16 MiB of content. How long the content is, is known only when the
 * frame is complete: a skippable frame behind it says so (zstd_frames.h). */
#include "bundle/zstd_write.h"
#include "base/allocator.h"
#include "bundle/zstd_frames.h"

#include <zstd.h>

enum { LEVEL = 1 }; /* traces come quickly, and higher levels gain little */
enum {
    FRAME_CONTENT = 16 << 20
}; /* shorter ones make the file of a program with much repetition larger: 8 MiB 0.7 %, 16 MiB 0.3 % */

bool ntr_zstd_can_write(void) {
    return true;
}

struct ntr_zstd_writer {
    ZSTD_CCtx *context;
    ntr_zstd_sink sink;
    void *user;
    size_t capacity;
    uint8_t *buffer;
    uint64_t framed; /* content of the current frame */
};

ntr_status ntr_zstd_writer_new(struct ntr_zstd_writer **writer, ntr_zstd_sink sink, void *user,
                               const ntr_allocator *allocator) {
    struct ntr_zstd_writer *z = ntr_alloc(allocator, 1, sizeof *z);

    *writer = z;
    if (!z) return NTR_E_MEMORY;
    z->sink = sink;
    z->user = user;
    z->capacity = ZSTD_CStreamOutSize();
    z->buffer = ntr_alloc(allocator, z->capacity, 1);
    z->context = ZSTD_createCCtx();
    if (z->buffer && z->context) {
        ZSTD_CCtx_setParameter(z->context, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(z->context, ZSTD_c_checksumFlag, 1);
        return NTR_OK;
    }
    ntr_zstd_writer_free(z, allocator);
    *writer = NULL;
    return NTR_E_MEMORY;
}

void ntr_zstd_writer_free(struct ntr_zstd_writer *z, const ntr_allocator *allocator) {
    if (!z) return;
    ZSTD_freeCCtx(z->context);
    ntr_dealloc(allocator, z->buffer);
    ntr_dealloc(allocator, z);
}

static ntr_status compress(struct ntr_zstd_writer *z, const uint8_t *bytes, size_t size, bool last) {
    ZSTD_inBuffer in = {bytes, size, 0};
    size_t left = 1;

    while (last ? left != 0 : in.pos < in.size) {
        ZSTD_outBuffer out = {z->buffer, z->capacity, 0};
        left = ZSTD_compressStream2(z->context, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left)) return NTR_E_MEMORY;
        if (out.pos) z->sink(z->user, z->buffer, out.pos);
    }
    return NTR_OK;
}

ntr_status ntr_zstd_writer_put(struct ntr_zstd_writer *z, const uint8_t *bytes, size_t size, bool last) {
    const bool full = z->framed + size >= FRAME_CONTENT && !last;
    const ntr_status status = compress(z, bytes, size, last || full);

    z->framed += size;
    if (status != NTR_OK || !full) return status;
    uint8_t length[NTR_ZSTD_LENGTH_SIZE];
    ntr_zstd_frame_length(length, z->framed);
    z->sink(z->user, length, sizeof length);
    z->framed = 0;
    return NTR_OK;
}
