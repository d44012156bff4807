/* In place of zstd.c in a build without libzstd: compressed streams are refused. */
#include "bundle/zstd.h"

ntr_status ntr_zstd_reader_new(struct ntr_zstd_reader **reader, const ntr_limits *limits,
                               const ntr_allocator *allocator) {
    (void)limits, (void)allocator;
    *reader = NULL;
    return NTR_E_UNSUPPORTED;
}

void ntr_zstd_reader_free(struct ntr_zstd_reader *reader) {
    (void)reader;
}

void ntr_zstd_reader_feed(struct ntr_zstd_reader *reader, const uint8_t *data, size_t size) {
    (void)reader, (void)data, (void)size;
}

void ntr_zstd_reader_moved(struct ntr_zstd_reader *reader, uint64_t position) {
    (void)reader;
    (void)position;
}

ntr_status ntr_zstd_reader_next(struct ntr_zstd_reader *reader, ntr_bytes *piece) {
    (void)reader, (void)piece;
    return NTR_E_UNSUPPORTED;
}

ntr_status ntr_zstd_reader_read(struct ntr_zstd_reader *reader, uint8_t *to, size_t capacity, size_t *got) {
    (void)reader, (void)to, (void)capacity;
    *got = 0;
    return NTR_E_UNSUPPORTED;
}

ntr_status ntr_zstd_reader_finish(struct ntr_zstd_reader *reader) {
    (void)reader;
    return NTR_E_UNSUPPORTED;
}

const char *ntr_zstd_reader_error(const struct ntr_zstd_reader *reader) {
    (void)reader;
    return "";
}

bool ntr_zstd_can_write(void) {
    return false;
}

ntr_status ntr_zstd_writer_new(struct ntr_zstd_writer **writer, ntr_zstd_sink sink, void *user,
                               const ntr_allocator *allocator) {
    (void)sink, (void)user, (void)allocator;
    *writer = NULL;
    return NTR_E_UNSUPPORTED;
}

void ntr_zstd_writer_free(struct ntr_zstd_writer *writer, const ntr_allocator *allocator) {
    (void)writer, (void)allocator;
}

ntr_status ntr_zstd_writer_put(struct ntr_zstd_writer *writer, const uint8_t *bytes, size_t size, bool last) {
    (void)writer, (void)bytes, (void)size, (void)last;
    return NTR_E_UNSUPPORTED;
}
