#include "bundle/zstd.h"
#include "base/allocator.h"

#include <stdbool.h>
#include <stdio.h>
#include <zstd.h>
#include <zstd_errors.h>

/* ---- Decompression through libzstd. */

/* zstd can expand one byte to 32,000 bytes. Output beyond the limit ZST_OUTPUT and more than RATIO_MAX times as long as
 * the input is refused, as it would exhaust the memory or disk of the reader. */
#define RATIO_MAX 1000

enum { WINDOW_LOG_MIN = 10 }; /* that of libzstd */

struct ntr_zstd_reader {
    ntr_allocator allocator_copy;
    const ntr_allocator *allocator; /* NULL: malloc */
    ZSTD_DCtx *context;
    ZSTD_inBuffer in;
    int window_log;
    uint64_t free_size; /* output that is not compared with the input */
    uint64_t fed; /* compressed bytes given before `in` */
    uint64_t produced; /* decompressed bytes given out */
    size_t wanted; /* result of the last ZSTD_decompressStream; 0: the end of a frame */
    bool full; /* the last call filled `buffer`: libzstd may hold more output */
    size_t capacity;
    uint8_t *buffer;
    char error[192];
};

/* The default is that of `zstd` without --ultra and --long. A frame with a larger window is refused. */
static int window_log(uint64_t bytes) {
    int log = WINDOW_LOG_MIN;

    while (bytes >> log > 1) log++;
    return log;
}

ntr_status ntr_zstd_reader_new(struct ntr_zstd_reader **reader, const ntr_limits *limits,
                               const ntr_allocator *allocator) {
    struct ntr_zstd_reader *z = ntr_alloc(allocator, 1, sizeof *z);

    *reader = z;
    if (!z) return NTR_E_MEMORY;
    if (allocator) {
        z->allocator_copy = *allocator;
        z->allocator = &z->allocator_copy;
    }
    z->window_log = window_log(ntr_limits_get(limits, NTR_LIMIT_ZST_WINDOW));
    z->free_size = ntr_limits_get(limits, NTR_LIMIT_ZST_OUTPUT);
    z->capacity = 2 * ZSTD_DStreamOutSize();
    z->buffer = ntr_alloc(allocator, z->capacity, 1);
    z->context = ZSTD_createDCtx();
    if (z->buffer && z->context) {
        ZSTD_DCtx_setParameter(z->context, ZSTD_d_windowLogMax, z->window_log);
        return NTR_OK;
    }
    ntr_zstd_reader_free(z);
    *reader = NULL;
    return NTR_E_MEMORY;
}

void ntr_zstd_reader_free(struct ntr_zstd_reader *z) {
    if (!z) return;
    ntr_allocator copy = z->allocator_copy;
    const ntr_allocator *allocator = z->allocator ? &copy : NULL;
    ZSTD_freeDCtx(z->context);
    ntr_dealloc(allocator, z->buffer);
    ntr_dealloc(allocator, z);
}

static uint64_t position(const struct ntr_zstd_reader *z) {
    return z->fed + z->in.pos;
}

void ntr_zstd_reader_feed(struct ntr_zstd_reader *z, const uint8_t *data, size_t size) {
    z->fed += z->in.size;
    z->in = (ZSTD_inBuffer){data, size, 0};
}

void ntr_zstd_reader_moved(struct ntr_zstd_reader *z, uint64_t position) {
    z->fed = position;
}

static ntr_status check_ratio(struct ntr_zstd_reader *z) {
    if (z->produced <= z->free_size || (z->produced - z->free_size) / RATIO_MAX <= position(z)) return NTR_OK;
    snprintf(
        z->error, sizeof z->error,
        "compressed byte 0x%llx: expected at most %llu bytes (limit zst-output) and then %u for each compressed byte, "
        "found more",
        (unsigned long long)position(z), (unsigned long long)z->free_size, RATIO_MAX);
    return NTR_E_LIMIT;
}

/* `wanted` holds an error of libzstd. */
static ntr_status fail(struct ntr_zstd_reader *z) {
    if (ZSTD_getErrorCode(z->wanted) == ZSTD_error_memory_allocation) {
        snprintf(z->error, sizeof z->error, "out of memory");
        return NTR_E_MEMORY;
    }
    if (ZSTD_getErrorCode(z->wanted) == ZSTD_error_frameParameter_windowTooLarge) {
        snprintf(
            z->error, sizeof z->error,
            "compressed byte 0x%llx: expected a window of at most %llu bytes (limit zst-window), found a larger one",
            (unsigned long long)position(z), 1ULL << z->window_log);
        return NTR_E_DECOMPRESS;
    }
    snprintf(z->error, sizeof z->error, "compressed byte 0x%llx: expected zstd data, found damage: %s",
             (unsigned long long)position(z), ZSTD_getErrorName(z->wanted));
    return NTR_E_DECOMPRESS;
}

ntr_status ntr_zstd_reader_read(struct ntr_zstd_reader *z, uint8_t *to, size_t capacity, size_t *got) {
    ZSTD_outBuffer out = {to, capacity, 0};
    bool good = !ZSTD_isError(z->wanted);

    while (good && out.pos < out.size && (z->in.pos < z->in.size || z->full)) {
        z->wanted = ZSTD_decompressStream(z->context, &out, &z->in);
        z->full = out.pos == out.size;
        good = !ZSTD_isError(z->wanted);
    }
    *got = out.pos;
    z->produced += out.pos;
    if (good) return check_ratio(z);
    return out.pos ? NTR_OK : fail(z); /* bytes before the damage are returned first */
}

ntr_status ntr_zstd_reader_next(struct ntr_zstd_reader *z, ntr_bytes *piece) {
    piece->data = z->buffer;
    return ntr_zstd_reader_read(z, z->buffer, z->capacity, &piece->size);
}

ntr_status ntr_zstd_reader_finish(struct ntr_zstd_reader *z) {
    if (z->wanted == 0) return NTR_OK;
    snprintf(z->error, sizeof z->error,
             "compressed byte 0x%llx: expected the rest of a zstd frame, found the end of the file",
             (unsigned long long)position(z));
    return NTR_E_DECOMPRESS;
}

const char *ntr_zstd_reader_error(const struct ntr_zstd_reader *z) {
    return z->error;
}

/* ---- Compression through libzstd, in frames of about 16 MiB of content. How long the content is, is known only when
 * the frame is complete: a skippable frame behind it says so (zstd.h). */

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
