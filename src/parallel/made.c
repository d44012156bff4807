#include "parallel/made.h"

#include "base/allocator.h"

/* PART: stays in a second-level cache. */
enum { PART = 256 << 10, ALIGNMENT = 8 };

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
    if (part->room != PART) {
        ntr_dealloc(parts->allocator, part);
        return;
    }
    pthread_mutex_lock(&parts->lock);
    part->next = parts->spare;
    parts->spare = part;
    pthread_mutex_unlock(&parts->lock);
}

static ntr_part *get(ntr_parts *parts, size_t room) {
    ntr_part *part = room == PART ? take_spare(parts) : NULL;
    if (!part && room <= SIZE_MAX - sizeof *part) part = ntr_realloc(parts->allocator, NULL, 1, sizeof *part + room);
    if (part) *part = (ntr_part){.room = room};
    return part;
}

static void append(ntr_made *made, ntr_part *part) {
    if (made->last)
        made->last->next = part;
    else
        made->first = part;
    made->last = part;
    made->open = NULL;
}

/* Begin a run in the last part. */
static void begin_run(ntr_made *made, unsigned what) {
    ntr_part *part = made->last;
    made->open = (ntr_run_head *)(void *)(part->bytes + part->used);
    *made->open = (ntr_run_head){.what = what, .key = made->key};
    part->used += sizeof *made->open;
    made->size += sizeof *made->open;
}

/* The last part's next run begins aligned. */
static void end_run(ntr_made *made) {
    size_t aligned = (made->last->used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    made->size += aligned - made->last->used;
    made->last->used = aligned;
    made->open = NULL;
}

static size_t left(const ntr_part *part) {
    return part && part->room > part->used ? part->room - part->used : 0;
}

void *ntr_made_room(ntr_made *made, ntr_parts *parts, unsigned what, size_t least, size_t *room) {
    size_t head = sizeof(ntr_run_head);
    if (made->open && (made->open->what != what || made->open->key != made->key)) end_run(made);
    if (left(made->last) < (made->open ? least : head + least)) {
        if (least > SIZE_MAX - head - ALIGNMENT) return NULL;
        ntr_part *part = get(parts, head + least + ALIGNMENT > PART ? head + least + ALIGNMENT : PART);
        if (!part) return NULL;
        append(made, part);
    }
    if (!made->open) begin_run(made, what);
    *room = left(made->last);
    return made->last->bytes + made->last->used;
}

void ntr_made_used(ntr_made *made, size_t size) {
    made->open->size += size;
    made->last->used += size;
    made->size += size;
}

void ntr_made_move(ntr_made *to, ntr_made *from) {
    if (!from->first) return;
    append(to, from->first);
    to->last = from->last;
    to->size += from->size;
    *from = (ntr_made){.key = from->key};
}

void ntr_made_move_full(ntr_made *to, ntr_made *from) {
    ntr_part *filled = from->last;
    ntr_run_head *open = from->open;
    while (from->first != filled) {
        ntr_part *part = ntr_made_take(from);
        part->next = NULL;
        append(to, part);
        to->size += part->used;
    }
    from->open = open;
}

ntr_part *ntr_made_take(ntr_made *made) {
    ntr_part *part = made->first;
    if (!part) return NULL;
    made->first = part->next;
    if (!made->first) made->last = NULL;
    made->size -= part->used;
    return part;
}

const ntr_run_head *ntr_part_run(const ntr_part *part, size_t *at) {
    size_t begin = (*at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (begin >= part->used) return NULL;
    const ntr_run_head *run = (const ntr_run_head *)(const void *)(part->bytes + begin);
    *at = begin + sizeof *run + run->size;
    return run;
}

void ntr_made_drop(ntr_made *made, ntr_parts *parts) {
    for (ntr_part *part; (part = ntr_made_take(made));) ntr_parts_free(parts, part);
    made->open = NULL;
}
