#include "parallel/made.h"

#include "base/allocator.h"

#include <stdint.h>
#include <string.h>

enum { ROOM_FIRST = 1 << 10, ROOM_MOST = 1 << 18 };

/* A part with room for at least `size`, larger the more there is already. */
static ntr_part *add_part(ntr_made *made, const ntr_allocator *allocator, unsigned what, size_t size) {
    size_t room = made->size < ROOM_FIRST ? ROOM_FIRST : made->size > ROOM_MOST ? ROOM_MOST : made->size;
    if (room < size) room = size;
    if (room > SIZE_MAX - sizeof(ntr_part)) return NULL;
    ntr_part *part = ntr_realloc(allocator, NULL, 1, sizeof *part + room);
    if (!part) return NULL;
    *part = (ntr_part){.what = what, .room = room};
    if (made->last)
        made->last->next = part;
    else
        made->first = part;
    return made->last = part;
}

ntr_status ntr_made_put(ntr_made *made, const ntr_allocator *allocator, unsigned what, const void *data, size_t size) {
    ntr_part *part = made->last;
    if (size == 0) return NTR_OK;
    if (!part || part->what != what || part->room - part->used < size) part = add_part(made, allocator, what, size);
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

void ntr_made_drop(ntr_made *made, const ntr_allocator *allocator) {
    for (ntr_part *part; (part = ntr_made_take(made));) ntr_dealloc(allocator, part);
}
