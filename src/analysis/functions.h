/* Private lookup of functions by address, for modules that process each span. */
#ifndef NTR_ANALYSIS_FUNCTIONS_H
#define NTR_ANALYSIS_FUNCTIONS_H

#include "analysis/roles.h"

#include <ntrace/callstack.h>

/* What the function does in an operating system. */
ntr_role_info ntr_functions_role(ntr_functions *functions, uint32_t number);

/* NULL: not known. */
const ntr_tasks *ntr_functions_tasks(const ntr_functions *functions);

/* A range of code of one function in one context. A range that was returned stays valid; it may be a part of one that is
 * returned later. */
typedef struct ntr_function_range {
    uint64_t low, high; /* addresses [low, high) */
    uint32_t number;
} ntr_function_range;

/* Returns the range that contains `address`. When out of memory, `number` is UINT32_MAX and the range is empty. */
ntr_function_range ntr_functions_range(ntr_functions *functions, const ntr_context *context, uint64_t address);

#endif
