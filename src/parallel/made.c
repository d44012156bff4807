#include "parallel/made.h"

#include "base/allocator.h"

#include <stdint.h>
#include <string.h>

enum { SMALL = 1 << 10, LARGE = 1 << 18 };

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
    if (part->room != LARGE) {
        ntr_dealloc(parts->allocator, part);
        return;
    }
    pthread_mutex_lock(&parts->lock);
    part->next = parts->spare;
    parts->spare = part;
    pthread_mutex_unlock(&parts->lock);
}

static ntr_part *get(ntr_parts *parts, unsigned what, size_t room) {
    ntr_part *part = room == LARGE ? take_spare(parts) : NULL;
    if (!part && room <= SIZE_MAX - sizeof *part) part = ntr_realloc(parts->allocator, NULL, 1, sizeof *part + room);
    if (part) *part = (ntr_part){.what = what, .room = room};
    return part;
}

/* Large where there is more and more of the same, else what is needed. */
static size_t room_for(const ntr_made *made, unsigned what, size_t size) {
    if (size > LARGE) return size;
    if (made->last && made->last->what == what) return LARGE;
    return size < SMALL ? SMALL : size;
}

static ntr_part *add_part(ntr_made *made, ntr_parts *parts, unsigned what, size_t size) {
    size_t room = room_for(made, what, size);
    ntr_part *part = get(parts, what, room);
    if (!part) return NULL;
    if (made->last)
        made->last->next = part;
    else
        made->first = part;
    return made->last = part;
}

ntr_status ntr_made_put(ntr_made *made, ntr_parts *parts, unsigned what, const void *data, size_t size) {
    ntr_part *part = made->last;
    if (size == 0) return NTR_OK;
    if (!part || part->what != what || part->room - part->used < size) part = add_part(made, parts, what, size);
    if (!part) return NTR_E_MEMORY;
    memcpy(part->bytes + part->used, data, size);
    part->used += size;
    made->size += size;
    return NTR_OK;
}

void ntr_made_move(ntr_made *to, ntr_made *from) {
    if (!from->first) return;
    if (to->last)
        to->last->next = from->first;
    else
        to->first = from->first;
    to->last = from->last;
    to->size += from->size;
    *from = (ntr_made){0};
}

ntr_part *ntr_made_take(ntr_made *made) {
    ntr_part *part = made->first;
    if (!part) return NULL;
    made->first = part->next;
    if (!made->first) made->last = NULL;
    made->size -= part->used;
    return part;
}

void ntr_made_drop(ntr_made *made, ntr_parts *parts) {
    for (ntr_part *part; (part = ntr_made_take(made));) ntr_parts_free(parts, part);
}
