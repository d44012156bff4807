/* Context: the privilege mode and the contexts of a hart, as Ownership messages report them. N-Trace 1.0 section 5.
 *
 * What a hart sees at an address depends on its context: images of a program may be bound to one. */
#ifndef NTRACE_CONTEXT_H
#define NTRACE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ntr_context {
    uint64_t scontext, hcontext;
    uint8_t prv;   /* 0 U, 1 S, 3 M; NTR_PRV_UNKNOWN before the first Ownership */
    uint8_t v;     /* 1: VU, VS */
    bool has_scontext, has_hcontext; /* false: not known yet, matches every image */
} ntr_context;
#define NTR_PRV_UNKNOWN 0xff

#endif
