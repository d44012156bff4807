#include "export/perf_bytes.h"

#include "base/allocator.h"
#include "base/bytes.h"

#include <string.h>

void ntr_perf_add_bytes(ntr_perf_bytes *b, const void *bytes, size_t size) {
    b->failed |= ntr_reserve(b->allocator, (void **)&b->data, &b->capacity, b->size + size, 1) != 0;
    if (b->failed) return;
    memcpy(b->data + b->size, bytes, size);
    b->size += size;
}

static void add_number(ntr_perf_bytes *b, uint64_t value, unsigned size) {
    uint8_t bytes[8];

    ntr_little_put(bytes, value, size);
    ntr_perf_add_bytes(b, bytes, size);
}

void ntr_perf_add_u16(ntr_perf_bytes *b, uint64_t value) {
    add_number(b, value, 2);
}

void ntr_perf_add_u32(ntr_perf_bytes *b, uint64_t value) {
    add_number(b, value, 4);
}

void ntr_perf_add_u64(ntr_perf_bytes *b, uint64_t value) {
    add_number(b, value, 8);
}

void ntr_perf_add_name(ntr_perf_bytes *b, const char *name) {
    static const char zeros[8];
    size_t size = strlen(name) + 1;

    ntr_perf_add_bytes(b, name, size);
    ntr_perf_add_bytes(b, zeros, -size % 8);
}

size_t ntr_perf_begin_record(ntr_perf_bytes *b, unsigned type, unsigned misc) {
    size_t at = b->size;

    ntr_perf_add_u32(b, type);
    ntr_perf_add_u16(b, misc);
    ntr_perf_add_u16(b, 0);
    return at;
}

void ntr_perf_end_record(ntr_perf_bytes *b, size_t at) {
    if (b->failed) return;
    ntr_little_put(b->data + at + 6, b->size - at, 2);
}
