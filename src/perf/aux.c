/* The AUX data: which buffers there are, which part of each an AUX record describes, and who wrote it.
 *
 * An AUXTRACE record has a part of the endless stream of a buffer: bytes [offset, offset + size), padded to 8 bytes.
 * An AUX record says which part the driver wrote at once; it is matched with a buffer by CPU, or by thread. */
#include "perf/state.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <inttypes.h>
#include <stdlib.h>

enum { AUX_TRUNCATED = 1, AUX_OVERWRITE = 2, AUX_PARTIAL = 4, AUX_COLLISION = 8, AUX_FORMAT_SHIFT = 8 };
enum { AUX_MISSING = AUX_TRUNCATED | AUX_PARTIAL | AUX_COLLISION };

/* ---- buffers */

/* The blocks are sorted by buffer. */
static ntr_status add_block(struct ntr_perf_data *data, size_t number) {
    const struct ntr_perf_block *block = &data->file.blocks[number];
    struct ntr_perf_buffer *last = data->buffer_count ? &data->buffers[data->buffer_count - 1] : NULL;

    if (last && last->index == block->index) {
        last->block_count++;
        return NTR_OK;
    }
    if (data->buffer_count == NTR_SOURCES_MAX) return NTR_E_LIMIT;
    struct ntr_perf_buffer *buffer = NTR_PERF_ADD(data, buffers, buffer_count, buffer_capacity);
    if (!buffer) return NTR_E_MEMORY;
    buffer->index = block->index;
    buffer->cpu = block->cpu;
    buffer->tid = block->tid;
    buffer->blocks = number;
    buffer->block_count = 1;
    return NTR_OK;
}

/* By buffer, then place. */
static int by_place(const void *a, const void *b) {
    const struct ntr_perf_block *x = a, *y = b;

    if (x->index != y->index) return x->index < y->index ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static struct ntr_perf_fragment *add_fragment(struct ntr_perf_data *data, struct ntr_perf_buffer *buffer) {
    if (ntr_reserve(data->allocator, (void **)&buffer->fragments, &buffer->fragment_capacity,
                    buffer->fragment_count + 1, sizeof *buffer->fragments))
        return NULL;
    struct ntr_perf_fragment *f = &buffer->fragments[buffer->fragment_count++];
    *f = (struct ntr_perf_fragment){.pid = NTR_PERF_NOBODY, .end = UINT64_MAX};
    return f;
}

/* ---- fragments */

/* The number of the last block that begins at `offset` or before it. */
static size_t block_at(const struct ntr_perf_data *data, const struct ntr_perf_buffer *buffer, uint64_t offset) {
    size_t low = 0, high = buffer->block_count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(data->file.blocks[buffer->blocks + middle].offset <= offset ? &low : &high) = middle;
    }
    return low;
}

/* Finds the bytes [offset, offset + size) of the buffer, as far as they are there without a hole. They are copied when
 * they lie in several blocks. */
static ntr_status find_bytes(struct ntr_perf_data *data, const struct ntr_perf_buffer *buffer,
                             struct ntr_perf_fragment *f) {
    const struct ntr_perf_block *blocks = &data->file.blocks[buffer->blocks];
    uint64_t at = f->offset, wanted = f->size, found = 0;

    f->size = 0;
    for (size_t i = block_at(data, buffer, at); i < buffer->block_count && found < wanted; i++) {
        const struct ntr_perf_block *b = &blocks[i];
        if (at < b->offset || at - b->offset >= b->size) break;
        uint64_t inside = at - b->offset, some = b->size - inside;
        if (some > wanted - found) some = wanted - found;
        if (found == 0 && some == wanted) {
            f->bytes = b->bytes + inside;
            f->size = wanted;
            return NTR_OK;
        }
        uint8_t *copy = ntr_realloc(data->allocator, f->copy, (size_t)(found + some), 1);
        if (!copy) return NTR_E_MEMORY;
        memcpy(copy + found, b->bytes + inside, (size_t)some);
        f->bytes = f->copy = copy;
        f->size = found += some;
        at += some;
    }
    f->loss |= found < wanted;
    return NTR_OK;
}

static struct ntr_perf_buffer *buffer_for(struct ntr_perf_data *data, const struct ntr_perf_record *r) {
    for (size_t i = 0; i < data->buffer_count; i++) {
        const struct ntr_perf_buffer *b = &data->buffers[i];
        if (b->cpu != NTR_PERF_NOBODY ? b->cpu == r->cpu : b->tid == r->tid) return &data->buffers[i];
    }
    return data->buffer_count == 1 ? &data->buffers[0] : NULL;
}

static ntr_status add_aux(struct ntr_perf_data *data, const struct ntr_perf_record *r, size_t *missing) {
    struct ntr_perf_cursor c = ntr_perf_cursor_at(r->body, r->body_size);
    uint64_t offset = ntr_perf_u64(&c), size = ntr_perf_u64(&c), flags = ntr_perf_u64(&c);
    struct ntr_perf_buffer *buffer = buffer_for(data, r);

    if (c.broken || !buffer) return NTR_OK;
    const struct ntr_perf_fragment *before =
        buffer->fragment_count ? &buffer->fragments[buffer->fragment_count - 1] : NULL;
    uint64_t begin = before && before->end > buffer->started ? before->end : buffer->started,
             end = before ? before->offset + before->size : 0;
    bool apart = before && end != offset;
    if (size == 0) return NTR_OK;
    if (flags & AUX_OVERWRITE) offset -= size < offset ? size : offset; /* `offset` is the end */
    struct ntr_perf_fragment *f = add_fragment(data, buffer);
    if (!f) return NTR_E_MEMORY;
    f->offset = offset;
    f->size = size;
    f->begin = begin;
    f->end = r->time;
    f->pid = r->pid;
    f->wrapped = (flags & AUX_OVERWRITE) != 0;
    f->loss = (flags & AUX_MISSING) != 0;
    *missing += f->loss;
    f->apart = apart;
    f->format = (uint8_t)(flags >> AUX_FORMAT_SHIFT);
    return find_bytes(data, buffer, f);
}

/* A buffer without AUX records: each block as it is. */
static ntr_status take_blocks(struct ntr_perf_data *data, struct ntr_perf_buffer *buffer) {
    const struct ntr_perf_block *blocks = &data->file.blocks[buffer->blocks];

    for (size_t i = 0; i < buffer->block_count; i++) {
        struct ntr_perf_fragment *f = add_fragment(data, buffer);
        if (!f) return NTR_E_MEMORY;
        f->offset = blocks[i].offset;
        f->size = blocks[i].size;
        f->apart = i && blocks[i - 1].offset + blocks[i - 1].size != f->offset;
        f->bytes = blocks[i].bytes;
    }
    return NTR_OK;
}

/* ITRACE_START: the trace of the next fragment begins here. */
static void note_start(struct ntr_perf_data *data, const struct ntr_perf_record *r) {
    struct ntr_perf_buffer *buffer = buffer_for(data, r);

    if (buffer) buffer->started = r->time;
}

ntr_status ntr_perf_aux_find(struct ntr_perf_data *data) {
    struct ntr_perf_file *file = &data->file;
    size_t missing = 0;

    if (file->block_count) qsort(file->blocks, file->block_count, sizeof *file->blocks, by_place);
    for (size_t i = 0; i < file->block_count; i++) TRY(add_block(data, i));
    for (size_t i = 0; i < file->record_count; i++) {
        if (file->records[i].type == NTR_PERF_AUX) TRY(add_aux(data, &file->records[i], &missing));
        if (file->records[i].type == NTR_PERF_ITRACE_START) note_start(data, &file->records[i]);
    }
    for (size_t i = 0; i < data->buffer_count; i++)
        if (!data->buffers[i].fragment_count) TRY(take_blocks(data, &data->buffers[i]));
    data->trace_missing = missing != 0;
    if (!missing) return NTR_OK;
    return ntr_perf_lose(
        data, "%zu AUX record%s: trace is missing before or after it (flags truncated, partial or collision)", missing,
        missing == 1 ? "" : "s");
}
