/* Sets of stream parameters. A set has bit 1 << ntr_parameter for each. */
#ifndef NTR_DIALECT_PARAMS_H
#define NTR_DIALECT_PARAMS_H

#include <ntrace/params.h>

/* The parameters that ntr_infer cannot find. */
#define INFERRED(id)                                                                            0u
#define NOT_INFERRED(id)                                                                        1u << NTR_PARAMETER_##id
#define NTR_PARAM(id, type, member, name, kind, least, most, words, initial, scope, found, ...) | found(id)
static const uint32_t NTR_PARAMETERS_NOT_INFERRED = 0
#include <ntrace/params.def>
    ;
#undef NTR_PARAM
#undef INFERRED
#undef NOT_INFERRED

/* The parameters that change how messages are read. */
#define MESSAGES(id)                                                                     1u << NTR_PARAMETER_##id
#define EXECUTION(id)                                                                    0u
#define NTR_PARAM(id, type, member, name, kind, least, most, words, initial, scope, ...) | scope(id)
static const uint32_t NTR_PARAMETERS_OF_MESSAGES = 0
#include <ntrace/params.def>
    ;
#undef NTR_PARAM
#undef MESSAGES
#undef EXECUTION

/* Copy the parameters of the set. */
NTR_API void ntr_params_copy(ntr_params *to, const ntr_params *from, uint32_t set);

#endif
