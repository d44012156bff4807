#include "io/input_zstd.h"
#include "options/diagnostics.h"

#include <string.h>

bool cli_zstd_seen(const uint8_t *data, size_t size) {
    static const uint8_t magic[CLI_ZSTD_MAGIC_SIZE] = {0x28, 0xb5, 0x2f, 0xfd};

    return size >= sizeof magic && memcmp(data, magic, sizeof magic) == 0;
}

#ifdef HAVE_ZSTD

#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/* 128 MiB: what `zstd` without --ultra and --long writes; a hostile frame cannot ask for more. */
#define WINDOW_LOG_MAX 27

/* A few bytes that become more than this much are no trace: zstd can make 32,000 bytes out of one. */
#define FREE_SIZE (UINT64_C(1) << 30)
#define RATIO_MAX 1000

struct cli_zstd {
    const char *name;
    ZSTD_DCtx *context;
    ZSTD_inBuffer in;
    uint64_t passed; /* compressed bytes before `in` */
    uint64_t made;
    size_t wanted; /* ZSTD_decompressStream's hint: 0 at the end of a frame */
    bool full;     /* the last call filled the buffer: more may be waiting inside */
    size_t capacity;
    uint8_t *buffer;
};

int cli_zstd_open(struct cli_zstd **zstd, const char *name) {
    struct cli_zstd *z = calloc(1, sizeof *z);

    if (z) {
        z->name = name;
        z->capacity = 2 * ZSTD_DStreamOutSize();
        z->buffer = malloc(z->capacity);
        z->context = ZSTD_createDCtx();
    }
    if (!z || !z->buffer || !z->context) {
        cli_zstd_close(z);
        return cli_fail("%s: out of memory", name);
    }
    ZSTD_DCtx_setParameter(z->context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    *zstd = z;
    return CLI_OK;
}

void cli_zstd_give(struct cli_zstd *zstd, const uint8_t *data, size_t size) {
    zstd->passed += zstd->in.size;
    zstd->in = (ZSTD_inBuffer){data, size, 0};
}

static int check_ratio(const struct cli_zstd *z) {
    if (z->made <= FREE_SIZE || (z->made - FREE_SIZE) / RATIO_MAX <= z->passed + z->in.pos) return CLI_OK;
    return cli_fail(
        "%s: compressed byte 0x%llx: more than %u bytes out of each; if this is wanted, decompress it first "
        "(zstd -d)",
        z->name, (unsigned long long)(z->passed + z->in.pos), RATIO_MAX);
}

int cli_zstd_next(struct cli_zstd *z, ntr_bytes *span) {
    ZSTD_outBuffer out = {z->buffer, z->capacity, 0};
    bool more = true;

    while (more && out.pos < out.size && (z->in.pos < z->in.size || z->full)) {
        z->wanted = ZSTD_decompressStream(z->context, &out, &z->in);
        z->full = out.pos == out.size;
        more = !ZSTD_isError(z->wanted);
    }
    *span = (ntr_bytes){z->buffer, out.pos};
    z->made += out.pos;
    if (more) return check_ratio(z);
    if (ZSTD_getErrorCode(z->wanted) == ZSTD_error_memory_allocation) return cli_fail("%s: out of memory", z->name);
    cli_note("%s: compressed byte 0x%llx: expected zstd data, found damage: %s", z->name,
             (unsigned long long)(z->passed + z->in.pos), ZSTD_getErrorName(z->wanted));
    return CLI_DEFECTS;
}

int cli_zstd_finish(const struct cli_zstd *z, uint64_t size) {
    if (z->wanted == 0) return CLI_OK;
    return cli_fail("%s: compressed byte 0x%llx: expected the rest of a zstd frame, found the end of the file", z->name,
                    (unsigned long long)size);
}

void cli_zstd_close(struct cli_zstd *z) {
    if (!z) return;
    ZSTD_freeDCtx(z->context);
    free(z->buffer);
    free(z);
}

#else

int cli_zstd_open(struct cli_zstd **zstd, const char *name) {
    *zstd = NULL;
    return cli_fail("%s: expected a plain stream, found zstd data, and this ntrace was built without zstd; "
                    "decompress it first (zstd -d)",
                    name);
}

void cli_zstd_give(struct cli_zstd *zstd, const uint8_t *data, size_t size) {
    (void)zstd, (void)data, (void)size;
}

int cli_zstd_next(struct cli_zstd *zstd, ntr_bytes *span) {
    (void)zstd, (void)span;
    return CLI_FAILED;
}

int cli_zstd_finish(const struct cli_zstd *zstd, uint64_t size) {
    (void)zstd, (void)size;
    return CLI_FAILED;
}

void cli_zstd_close(struct cli_zstd *zstd) {
    (void)zstd;
}

#endif
