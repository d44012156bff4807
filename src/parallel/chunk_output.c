#include "parallel/chunk_output.h"

#include "base/allocator.h"

/* PART_BYTES: fits a second-level cache. */
enum { PART_BYTES = 256 << 10, ALIGNMENT = 8 };

void ntr_parts_begin(ntr_parts *parts, const ntr_allocator *allocator) {
    *parts = (ntr_parts){.allocator = allocator};
    pthread_mutex_init(&parts->lock, NULL);
}

void ntr_parts_end(ntr_parts *parts) {
    while (parts->spare) {
        ntr_part *part = parts->spare;
        parts->spare = part->next;
        ntr_dealloc(parts->allocator, part);
    }
    pthread_mutex_destroy(&parts->lock);
}

static ntr_part *take_spare(ntr_parts *parts) {
    pthread_mutex_lock(&parts->lock);
    ntr_part *part = parts->spare;
    if (part) parts->spare = part->next;
    pthread_mutex_unlock(&parts->lock);
    return part;
}

void ntr_parts_free(ntr_parts *parts, ntr_part *part) {
    if (part->room != PART_BYTES) {
        ntr_dealloc(parts->allocator, part);
        return;
    }
    pthread_mutex_lock(&parts->lock);
    part->next = parts->spare;
    parts->spare = part;
    pthread_mutex_unlock(&parts->lock);
}

static ntr_part *get(ntr_parts *parts, size_t room) {
    ntr_part *part = room == PART_BYTES ? take_spare(parts) : NULL;
    if (!part && room <= SIZE_MAX - sizeof *part) part = ntr_realloc(parts->allocator, NULL, 1, sizeof *part + room);
    if (part) *part = (ntr_part){.room = room};
    return part;
}

static void append(ntr_chunk_output *output, ntr_part *part) {
    if (output->last)
        output->last->next = part;
    else
        output->first = part;
    output->last = part;
    output->open = NULL;
}

/* Begin a run in the last part. */
static void begin_run(ntr_chunk_output *output, unsigned what) {
    ntr_part *part = output->last;
    output->open = (ntr_output_run *)(void *)(part->bytes + part->used);
    *output->open = (ntr_output_run){.what = what, .key = output->key};
    part->used += sizeof *output->open;
    output->size += sizeof *output->open;
}

/* Align the end of the last part, where the next run begins. */
static void end_run(ntr_chunk_output *output) {
    size_t aligned = (output->last->used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    output->size += aligned - output->last->used;
    output->last->used = aligned;
    output->open = NULL;
}

static size_t left(const ntr_part *part) {
    return part && part->room > part->used ? part->room - part->used : 0;
}

void *ntr_chunk_output_room(ntr_chunk_output *output, ntr_parts *parts, unsigned what, size_t least, size_t *room) {
    size_t head = sizeof(ntr_output_run);
    if (output->open && (output->open->what != what || output->open->key != output->key)) end_run(output);
    if (left(output->last) < (output->open ? least : head + least)) {
        if (least > SIZE_MAX - head - ALIGNMENT) return NULL;
        ntr_part *part = get(parts, head + least + ALIGNMENT > PART_BYTES ? head + least + ALIGNMENT : PART_BYTES);
        if (!part) return NULL;
        append(output, part);
    }
    if (!output->open) begin_run(output, what);
    *room = left(output->last);
    return output->last->bytes + output->last->used;
}

void ntr_chunk_output_used(ntr_chunk_output *output, size_t size) {
    output->open->size += size;
    output->last->used += size;
    output->size += size;
}

void ntr_chunk_output_move(ntr_chunk_output *to, ntr_chunk_output *from) {
    if (!from->first) return;
    append(to, from->first);
    to->last = from->last;
    to->size += from->size;
    *from = (ntr_chunk_output){.key = from->key};
}

void ntr_chunk_output_move_full(ntr_chunk_output *to, ntr_chunk_output *from) {
    ntr_part *filled = from->last;
    ntr_output_run *open = from->open;
    while (from->first != filled) {
        ntr_part *part = ntr_chunk_output_take(from);
        part->next = NULL;
        append(to, part);
        to->size += part->used;
    }
    from->open = open;
}

ntr_part *ntr_chunk_output_take(ntr_chunk_output *output) {
    ntr_part *part = output->first;
    if (!part) return NULL;
    output->first = part->next;
    if (!output->first) output->last = NULL;
    output->size -= part->used;
    return part;
}

const ntr_output_run *ntr_part_run(const ntr_part *part, size_t *at) {
    size_t begin = (*at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (begin >= part->used) return NULL;
    const ntr_output_run *run = (const ntr_output_run *)(const void *)(part->bytes + begin);
    *at = begin + sizeof *run + run->size;
    return run;
}

void ntr_chunk_output_drop(ntr_chunk_output *output, ntr_parts *parts) {
    for (ntr_part *part; (part = ntr_chunk_output_take(output));) ntr_parts_free(parts, part);
    output->open = NULL;
}
