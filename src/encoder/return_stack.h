/* Return stack for implicit returns. N-Trace 1.0 section 11.2.
 *
 * A call pushes its return address, a return pops it. If the return goes to that address, no message is sent: the
 * decoder has the same stack and infers the target. The stack is a ring of `depth` entries; when it is full, a push
 * overwrites the oldest entry. Invariant: the decoder's stack has the same entries, as both are cleared by a
 * synchronizing message. In the mode NTR_RETURN_COUNT addresses are not compared: only the number of entries
 * matters. Example: main calls f, f returns to main: the stack is empty, and the stream has no message for the
 * return.
 *
 * The functions are inline because the capture engine follows calls and returns with them, block by block. */
#ifndef NTR_ENCODER_RETURN_STACK_H
#define NTR_ENCODER_RETURN_STACK_H

#include <stdbool.h>
#include <stdint.h>

#define NTR_ENC_STACK_MAX 32

typedef struct ntr_enc_stack {
    uint64_t address[NTR_ENC_STACK_MAX];
    uint8_t top, count, depth;
} ntr_enc_stack;

static inline void ntr_enc_stack_push(ntr_enc_stack *s, uint64_t address) {
    s->top = (uint8_t)(s->top + 1 < s->depth ? s->top + 1 : 0);
    s->address[s->top] = address;
    s->count = (uint8_t)(s->count + (s->count < s->depth));
}

/* Returns false when the stack is empty. */
static inline bool ntr_enc_stack_pop(ntr_enc_stack *s, uint64_t *address) {
    if (!s->count) return false;
    *address = s->address[s->top];
    s->top = (uint8_t)((s->top ? s->top : s->depth) - 1);
    s->count--;
    return true;
}

/* Pops the newest address if it is this one. Returns whether it was. */
static inline bool ntr_enc_stack_pop_if(ntr_enc_stack *s, uint64_t address) {
    uint64_t popped;
    return s->count && s->address[s->top] == address && ntr_enc_stack_pop(s, &popped);
}

#endif
