/* Context: the privilege mode of a hart and the values of its context registers. N-Trace 1.0 section 5.
 *
 * Ownership messages report it. What a hart executes at an address depends on it: an image of a program may be bound
 * to one context. A context is a value: copy it freely. */
#ifndef NTRACE_CONTEXT_H
#define NTRACE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct ntr_context {
    uint64_t scontext, hcontext; /* 0 when not known */
    uint8_t prv;                 /* 0 U, 1 S, 3 M; NTR_PRV_UNKNOWN before the first Ownership message */
    uint8_t v;                   /* virtualization mode; 1: VU or VS */
    bool has_scontext, has_hcontext; /* false: not known yet, matches every image */
    uint8_t reserved[4];         /* must be 0 */
} ntr_context;

#define NTR_PRV_UNKNOWN 0xff

/* An initializer for an unknown context. */
#define NTR_CONTEXT_UNKNOWN {.prv = NTR_PRV_UNKNOWN}

/* Returns whether all members are equal. The struct has no padding. */
static inline bool ntr_context_equal(const ntr_context *a, const ntr_context *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

/* A position that matches images whatever their `from` and `until` are. */
#define NTR_POSITION_ANY UINT64_MAX

/* A place in the execution: an address, as a context sees it at a stream offset. Programs that replace each other
 * (execve), libraries that are loaded where another one was, and code that is generated again give one address several
 * meanings; every look-up of code, names, lines and types therefore takes a place. */
typedef struct ntr_place {
    const ntr_context *context; /* NULL matches every image */
    uint64_t position; /* stream offset of the event; NTR_POSITION_ANY matches every image */
    uint64_t address;
} ntr_place;

static inline ntr_place ntr_place_at(const ntr_context *context, uint64_t position, uint64_t address) {
    ntr_place place;
    place.context = context;
    place.position = position;
    place.address = address;
    return place;
}

#endif
