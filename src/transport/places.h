/* A set of the states that a small automaton may be in: how readers find their place after a cut. */
#ifndef NTR_TRANSPORT_PLACES_H
#define NTR_TRANSPORT_PLACES_H

#include <stdint.h>

#define PLACE(place) (1u << (place))

/* The state after `place` when `bit` comes, or the state `dead` when it cannot come there. */
typedef unsigned (*next_place)(unsigned place, unsigned bit);

/* All states that the states of `places` lead to; the dead ones are gone. */
static inline uint32_t places_step(uint32_t places, unsigned bit, next_place next, unsigned dead) {
    uint32_t after = 0;
    for (; places; places &= places - 1) after |= PLACE(next((unsigned)__builtin_ctz(places), bit));
    return after & ~PLACE(dead);
}

#endif
