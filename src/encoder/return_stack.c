/* Calls remembered for implicit returns. N-Trace 1.0 section 11.2.
 *
 * A ring: the oldest entry is dropped when it is full. Counting keeps the number of entries alone. */
#include "encoder/state.h"

void ntr_enc_stack_push(ntr_encoder *e, uint64_t address) {
    return_stack *s = &e->stack;
    unsigned depth = e->params.return_stack;
    s->top = (uint8_t)((s->top + 1u) % depth);
    s->address[s->top] = address;
    if (s->count < depth) s->count++;
}

bool ntr_enc_stack_pop(ntr_encoder *e, uint64_t *address) {
    return_stack *s = &e->stack;
    unsigned depth = e->params.return_stack;
    if (!s->count) return false;
    *address = s->address[s->top];
    s->top = (uint8_t)((s->top + depth - 1) % depth);
    s->count--;
    return true;
}

void ntr_enc_stack_clear(ntr_encoder *e) { e->stack.count = 0; }
