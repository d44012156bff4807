/* Sets of stream parameters. A set has bit 1 << ntr_parameter for each. */
#ifndef NTR_DIALECT_PARAMS_H
#define NTR_DIALECT_PARAMS_H

#include <ntrace/params.h>

/* The parameters that ntr_infer cannot find. */
#define INFERRED(id)     0u
#define NOT_INFERRED(id) 1u << NTR_PARAMETER_##id
static const uint32_t NTR_PARAMETERS_NOT_INFERRED = 0
#define NTR_PARAM(id, member, name, kind, least, most, words, initial, found, ...) | found(id)
#include <ntrace/params.def>
#undef NTR_PARAM
    ;
#undef INFERRED
#undef NOT_INFERRED

/* Copy the parameters of the set. */
void ntr_params_copy(ntr_params *to, const ntr_params *from, uint32_t set);

#endif
