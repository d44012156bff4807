/* Return stack for implicit returns. N-Trace 1.0 section 11.2.
 *
 * A call pushes its return address, a return pops it. If the return goes to that address, no message is sent: the
 * decoder has the same stack and infers the target. The stack is a ring of `depth` entries; when it is full, a push
 * overwrites the oldest entry. Invariant: the decoder's stack has the same entries, as both are cleared by a
 * synchronizing message. In the mode NTR_RETURN_COUNT addresses are not compared: only the number of entries
 * matters. Example: main calls f, f returns to main: the stack is empty, and the stream has no message for the
 * return.
 *
 * Section 11.2 allows this only if an earlier message reported the call: the oldest `reported` entries are of such
 * calls. The newest call is not, if no message with I-CNT was sent after it; its return then has a message, which pops
 * the entry in the decoder too. `early` allows both in one message (OQ-18).
 *
 * A stack of depth 0, of an encoder without implicit returns, stays empty and infers nothing. */
#ifndef NTR_ENCODER_RETURN_STACK_H
#define NTR_ENCODER_RETURN_STACK_H

#include <stdbool.h>
#include <stdint.h>

#define NTR_ENC_STACK_MAX 32

typedef struct ntr_enc_stack {
    uint64_t address[NTR_ENC_STACK_MAX];
    uint8_t top, count, depth;
    uint8_t reported; /* at most `count` */
    bool early;
} ntr_enc_stack;

static inline void ntr_enc_stack_push(ntr_enc_stack *s, uint64_t address) {
    s->top = (uint8_t)(s->top + 1 < s->depth ? s->top + 1 : 0);
    s->address[s->top] = address;
    if (s->count < s->depth)
        s->count++;
    else if (s->reported)
        s->reported--; /* the oldest entry is lost */
}

/* A message with the I-CNT of all calls so far was sent. */
static inline void ntr_enc_stack_report(ntr_enc_stack *s) {
    s->reported = s->count;
}

/* Returns whether a return may be inferred by the newest entry. */
static inline bool ntr_enc_stack_infers(const ntr_enc_stack *s) {
    return s->count && (s->early || s->count == s->reported);
}

/* Returns false when the stack is empty. */
static inline bool ntr_enc_stack_pop(ntr_enc_stack *s, uint64_t *address) {
    if (!s->count) return false;
    *address = s->address[s->top];
    s->top = (uint8_t)((s->top ? s->top : s->depth) - 1);
    s->count--;
    if (s->reported > s->count) s->reported = s->count;
    return true;
}

/* Pops the newest address if a return to this address may be inferred by it. Returns whether it was. */
static inline bool ntr_enc_stack_pop_if(ntr_enc_stack *s, uint64_t address) {
    uint64_t popped;
    return ntr_enc_stack_infers(s) && s->address[s->top] == address && ntr_enc_stack_pop(s, &popped);
}

#endif
