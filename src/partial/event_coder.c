#include "partial/event_coder.h"

#include "base/allocator.h"

#include <string.h>

bool ntr_event_coder_open(ntr_event_coder *c, const ntr_allocator *allocator) {
    *c = (ntr_event_coder){.allocator = allocator};
    c->predicted = ntr_alloc(allocator, (size_t)1 << NTR_CODER_BITS, sizeof *c->predicted);
    return c->predicted != NULL;
}

void ntr_event_coder_release(ntr_event_coder *c) {
    ntr_dealloc(c->allocator, c->shapes);
    ntr_dealloc(c->allocator, c->contexts);
    ntr_dealloc(c->allocator, c->predicted);
    *c = (ntr_event_coder){.allocator = c->allocator};
}

void ntr_event_coder_restart(ntr_event_coder *c) {
    c->shape_count = c->context_count = 0;
    c->last[0] = c->last[1] = 0;
    c->at = (ntr_event_step){0};
    memset(c->predicted, 0, ((size_t)1 << NTR_CODER_BITS) * sizeof *c->predicted);
}

size_t ntr_event_coder_shape(ntr_event_coder *c, const ntr_event_shape *shape) {
    if (ntr_reserve(c->allocator, (void **)&c->shapes, &c->shape_capacity, c->shape_count + 1, sizeof *shape))
        return SIZE_MAX;
    c->shapes[c->shape_count] = *shape;
    return c->shape_count++;
}

size_t ntr_event_coder_context(ntr_event_coder *c, const ntr_context *context) {
    if (ntr_reserve(c->allocator, (void **)&c->contexts, &c->context_capacity, c->context_count + 1, sizeof *context))
        return SIZE_MAX;
    c->contexts[c->context_count] = *context;
    return c->context_count++;
}
