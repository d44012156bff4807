#include "capture/arrivals.h"
#include "base/allocator.h"
#include "wire/framing.h"

#define MARK_FIRST (UINT64_C(1) << 62) /* above all offsets */

struct ntr_capture_mark {
    uint64_t messages, offset;
    size_t next; /* mark of the same source, + 1; 0: none */
};

void ntr_capture_arrivals_release(struct ntr_capture_arrivals *a) {
    ntr_dealloc(a->allocator, a->marks);
    a->marks = NULL;
    a->count = a->capacity = 0;
}

/* Marks whose messages have all arrived. */
static void reach(struct ntr_capture_arrivals *a, struct ntr_capture_source_arrivals *source, uint64_t offset) {
    while (source->next && a->marks[source->next - 1].messages <= source->messages) {
        struct ntr_capture_mark *mark = &a->marks[source->next - 1];
        mark->offset = offset;
        source->next = mark->next;
    }
}

uint64_t ntr_capture_arrivals_mark(struct ntr_capture_arrivals *a, unsigned src, uint64_t messages) {
    struct ntr_capture_source_arrivals *source = &a->sources[src % NTR_ARRIVALS_SOURCES];

    if (source->last && source->last == a->count && a->marks[source->last - 1].messages == messages)
        return MARK_FIRST + source->last - 1;
    if (ntr_reserve(a->allocator, (void **)&a->marks, &a->capacity, a->count + 1, sizeof *a->marks)) return 0;
    a->marks[a->count++] = (struct ntr_capture_mark){.messages = messages, .offset = source->offset};
    if (messages <= source->messages) return MARK_FIRST + a->count - 1; /* they have arrived */
    if (source->next)
        a->marks[source->last - 1].next = a->count;
    else
        source->next = a->count;
    source->last = a->count;
    return MARK_FIRST + a->count - 1;
}

unsigned ntr_capture_arrivals_source(const struct ntr_capture_arrivals *a, ntr_bytes message) {
    uint64_t bits = 0;

    for (size_t i = 1; i < message.size && i <= 2; i++)
        bits |= (uint64_t)(message.data[i] >> NTR_MSEO_BITS) << (i - 1) * NTR_MDO_BITS;
    return (unsigned)bits & ((1u << a->src_bits) - 1);
}

void ntr_capture_arrivals_put(struct ntr_capture_arrivals *a, ntr_bytes message, uint64_t end) {
    struct ntr_capture_source_arrivals *source =
        &a->sources[ntr_capture_arrivals_source(a, message) % NTR_ARRIVALS_SOURCES];

    source->messages++;
    source->offset = end;
    reach(a, source, end);
}

void ntr_capture_arrivals_skip(struct ntr_capture_arrivals *a, unsigned src, uint64_t messages, uint64_t offset) {
    struct ntr_capture_source_arrivals *source = &a->sources[src % NTR_ARRIVALS_SOURCES];

    source->messages += messages;
    source->offset = offset;
    reach(a, source, offset);
}

void ntr_capture_arrivals_finish(struct ntr_capture_arrivals *a, uint64_t end) {
    uint64_t least = 0;

    for (unsigned i = 0; i < NTR_ARRIVALS_SOURCES; i++) {
        a->sources[i].messages = UINT64_MAX;
        reach(a, &a->sources[i], end);
    }
    for (size_t i = 0; i < a->count; i++) {
        if (a->marks[i].offset < least) a->marks[i].offset = least;
        least = a->marks[i].offset;
    }
}

void ntr_capture_arrivals_resolve(void *user, uint64_t *position) {
    const struct ntr_capture_arrivals *a = user;

    if (*position >= MARK_FIRST && *position - MARK_FIRST < a->count)
        *position = a->marks[*position - MARK_FIRST].offset;
}
