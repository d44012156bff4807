/* A set of states of a small automaton, as a bit mask. Readers use it to find the alignment of a stream: they follow
 * all states in which the stream may be, and each received bit removes those in which the bit is not allowed. */
#ifndef NTR_TRANSPORT_STATE_SET_H
#define NTR_TRANSPORT_STATE_SET_H

#include <stdint.h>

#define STATE(state) (1u << (state))

/* Returns the state that follows `state` after `bit`, or the state `dead` when `bit` is not allowed. */
typedef unsigned (*next_state)(unsigned state, unsigned bit);

/* Returns the successors of all states in `states`, without the state `dead`. */
static inline uint32_t states_step(uint32_t states, unsigned bit, next_state next, unsigned dead) {
    uint32_t after = 0;
    for (; states; states &= states - 1) after |= STATE(next((unsigned)__builtin_ctz(states), bit));
    return after & ~STATE(dead);
}

#endif
