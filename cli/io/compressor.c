#include "io/compressor.h"
#include "options/diagnostics.h"

#ifdef HAVE_ZSTD

#include <stdlib.h>
#include <zstd.h>

enum { LEVEL = 1 }; /* traces come quickly, and most of what can be gained is gained here */

struct cli_compressor {
    ZSTD_CCtx *context;
    cli_compressed sink;
    void *user;
    size_t capacity;
    uint8_t *buffer;
};

int cli_compressor_open(struct cli_compressor **compressor, cli_compressed sink, void *user) {
    struct cli_compressor *c = calloc(1, sizeof *c);

    if (c) {
        c->sink = sink;
        c->user = user;
        c->capacity = ZSTD_CStreamOutSize();
        c->buffer = malloc(c->capacity);
        c->context = ZSTD_createCCtx();
    }
    if (!c || !c->buffer || !c->context) {
        cli_compressor_close(c);
        return cli_fail("out of memory");
    }
    ZSTD_CCtx_setParameter(c->context, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(c->context, ZSTD_c_checksumFlag, 1);
    *compressor = c;
    return CLI_OK;
}

bool cli_compressor_put(struct cli_compressor *c, const uint8_t *bytes, size_t size, bool last) {
    ZSTD_inBuffer in = {bytes, size, 0};
    size_t left = 1;

    while (last ? left != 0 : in.pos < in.size) {
        ZSTD_outBuffer out = {c->buffer, c->capacity, 0};
        left = ZSTD_compressStream2(c->context, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left)) return false;
        if (out.pos) c->sink(c->user, c->buffer, out.pos);
    }
    return true;
}

void cli_compressor_close(struct cli_compressor *c) {
    if (!c) return;
    ZSTD_freeCCtx(c->context);
    free(c->buffer);
    free(c);
}

#else

int cli_compressor_open(struct cli_compressor **compressor, cli_compressed sink, void *user) {
    (void)compressor, (void)sink, (void)user;
    return cli_fail("--compress: this ntrace was built without zstd");
}

bool cli_compressor_put(struct cli_compressor *compressor, const uint8_t *bytes, size_t size, bool last) {
    (void)compressor, (void)bytes, (void)size, (void)last;
    return false;
}

void cli_compressor_close(struct cli_compressor *compressor) {
    (void)compressor;
}

#endif
