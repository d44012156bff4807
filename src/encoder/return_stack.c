/* Return stack for implicit returns. N-Trace 1.0 section 11.2.
 *
 * A call pushes its return address, a return pops it. If the return goes to that address, no message is sent: the
 * decoder has the same stack and infers the target. The stack is a ring of `return_stack` entries; when it is full,
 * a push overwrites the oldest entry. Invariant: the decoder's stack has the same entries, as both are cleared by a
 * synchronizing message. In the mode NTR_RETURN_COUNT addresses are not compared: only the number of entries
 * matters. Example: main calls f, f returns to main: the stack is empty, and the stream has no message for the
 * return. */
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
