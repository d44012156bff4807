/* Functions by address, for those who ask for every span. */
#ifndef NTR_ANALYSIS_FUNCTIONS_H
#define NTR_ANALYSIS_FUNCTIONS_H

#include <ntrace/callstack.h>

/* Code of one function in one context; it never changes once it was told. */
typedef struct ntr_function_range {
    uint64_t low, high; /* addresses [low, high) */
    uint32_t number;
} ntr_function_range;

/* The part that `address` is in. `number` is UINT32_MAX, and the range empty, when out of memory. */
ntr_function_range ntr_functions_range(ntr_functions *functions, const ntr_context *context, uint64_t address);

#endif
