#include "partial/blocks.h"

#include "base/allocator.h"
#include "base/bytes.h"

#include <string.h>

enum { FULL = 48 << 10 };

static void put(ntr_block_writer *w, const void *data, size_t size) {
    if (w->status) return;
    if (w->used + size > NTR_BLOCK_MAX) {
        w->status = NTR_E_LIMIT;
    } else if (ntr_reserve(w->allocator, (void **)&w->bytes, &w->capacity, w->used + size + NTR_BLOCK_SUM_SIZE, 1)) {
        w->status = NTR_E_MEMORY;
    } else {
        memcpy(w->bytes + w->used, data, size);
        w->used += size;
    }
}

static void put_little(ntr_block_writer *w, uint64_t value, size_t size) {
    uint8_t bytes[8];
    ntr_little_put(bytes, value, size);
    put(w, bytes, size);
}

static void write_block(ntr_block_writer *w) {
    if (w->status || !w->used) return;
    const uint32_t size = (uint32_t)(w->used - NTR_BLOCK_HEAD_SIZE);
    w->bytes[0] = w->kind;
    ntr_little_put(w->bytes + 1, size, 4);
    const uint64_t sum = ntr_partial_hash(0, w->bytes, w->used);
    put_little(w, sum, NTR_BLOCK_SUM_SIZE);
    if (!w->status) w->status = w->output->write(w->output->user, w->bytes, w->used);
    w->used = 0;
}

void ntr_block_writer_flush(ntr_block_writer *w) {
    write_block(w);
}

void ntr_block_writer_start(ntr_block_writer *w, const ntr_output *output, const ntr_allocator *allocator) {
    static const uint8_t version = NTR_PARTIAL_VERSION;
    *w = (ntr_block_writer){.allocator = allocator, .output = output};
    w->status = output->write(output->user, NTR_PARTIAL_MAGIC, strlen(NTR_PARTIAL_MAGIC));
    if (!w->status) w->status = output->write(output->user, &version, 1);
}

void ntr_block_record(ntr_block_writer *w, uint8_t kind) {
    static const uint8_t head[NTR_BLOCK_HEAD_SIZE];
    if (w->used && (w->kind != kind || w->used >= (w->full ? w->full : FULL))) write_block(w);
    if (w->used) return;
    w->kind = kind;
    w->before = (ntr_record){0};
    put(w, head, NTR_BLOCK_HEAD_SIZE);
}

void ntr_block_number(ntr_block_writer *w, uint64_t number) {
    uint8_t bytes[10];
    size_t size = 0;
    do {
        bytes[size++] = (uint8_t)((number & 0x7f) | (number > 0x7f ? 0x80 : 0));
        number >>= 7;
    } while (number);
    put(w, bytes, size);
}

void ntr_block_text(ntr_block_writer *w, const char *text) {
    const size_t size = text ? strlen(text) : 0;
    ntr_block_number(w, size);
    if (size) put(w, text, size);
}

void ntr_block_fields(ntr_block_writer *w, uint8_t kind, const ntr_record *record, unsigned keys, unsigned fields) {
    ntr_block_record(w, kind);
    for (unsigned i = 0; i < fields; i++)
        ntr_block_number(w, i < keys ? ntr_block_zigzag(record->v[i] - w->before.v[i]) : record->v[i]);
    w->before = *record;
}

ntr_status ntr_block_writer_finish(ntr_block_writer *w) {
    ntr_block_record(w, NTR_BLOCK_END);
    write_block(w);
    ntr_dealloc(w->allocator, w->bytes);
    w->bytes = NULL;
    return w->status;
}
