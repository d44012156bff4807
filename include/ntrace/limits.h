/* Limits of what is read from one input. A small hostile file can stand for more data than memory holds; limits.def
 * lists where that is so, with defaults that files of real programs stay below. Whatever exceeds a limit is an error,
 * or is left out and named.
 *
 * Example:
 *
 *     ntr_limits limits = {0};
 *     limits.values[NTR_LIMIT_DEBUG_OUTPUT] = UINT64_C(4) << 30;
 *     ntr_program_set_limits(program, &limits);
 */
#ifndef NTRACE_LIMITS_H
#define NTRACE_LIMITS_H

#include <ntrace/status.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ntr_limit {
#define NTR_LIMIT(constant, name, value, highest, what) NTR_LIMIT_##constant,
#include <ntrace/limits.def>
#undef NTR_LIMIT
    NTR_LIMIT_COUNT
} ntr_limit;

/* The limits by their numbers; 0: the default. A zeroed struct has all defaults. */
typedef struct ntr_limits {
    uint64_t values[32];
} ntr_limits;

/* Returns a limit, or 0 if there is none of this number. `limits` may be NULL: the defaults. A value above the highest
 * one of limits.def counts as that. */
NTR_API uint64_t ntr_limits_get(const ntr_limits *limits, ntr_limit limit);

#ifdef __cplusplus
}
#endif
#endif
