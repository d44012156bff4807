/* Stream parameters: what a decoder must know about the encoder's configuration and cannot see in the stream.
 *
 * N-Trace 1.0 sections 4 (SRC), 7 (addresses, timestamps), 11 (optimizations). A zero-filled struct with `size` set
 * is the plain N-Trace 1.0 stream of a single hart. <ntrace/params.def> has a row for each parameter. */
#ifndef NTRACE_PARAMS_H
#define NTRACE_PARAMS_H

#include <ntrace/dialect.h>
#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether messages may end in TSTAMP. The end of a message shows it, so by default TSTAMP is read where it is
 * present. */
typedef enum ntr_timestamps {
    NTR_TIMESTAMPS_SEEN = 0, /* read TSTAMP where it is present */
    NTR_TIMESTAMPS_ON,       /* a synchronizing message without TSTAMP makes a note */
    NTR_TIMESTAMPS_OFF,      /* bytes after the last field are a defect */
} ntr_timestamps;

/* trTeInstImplicitReturnMode (section 11.2). */
typedef enum ntr_implicit_return {
    NTR_RETURN_OFF = 0,
    NTR_RETURN_COUNT = 1,
    NTR_RETURN_PARTIAL = 2,
    NTR_RETURN_FULL = 3,
} ntr_implicit_return;

/* What DADDR of data messages 5 and 6 is. It is always a full address in 13 and 14. docs/dialects.md section 5.1. */
typedef enum ntr_data_address {
    NTR_DATA_ADDRESS_SEEN = 0, /* full, up to the first 13 or 14 of the source; then XOR */
    NTR_DATA_ADDRESS_FULL,
    NTR_DATA_ADDRESS_XOR, /* XOR with the address of the previous data message */
} ntr_data_address;

#define NTR_SOURCES_MAX 4096 /* SRC has 12 bits at most */

/* The members are the rows of <ntrace/params.def>, which says what each means. */
typedef struct ntr_params {
    size_t size; /* sizeof(ntr_params) */
    union {
        struct {
#define NTR_PARAM(id, type, member, ...) type member;
#include <ntrace/params.def>
#undef NTR_PARAM
        };
        uint64_t reserved[12]; /* space for later rows; other structs contain this one, so its size never changes */
    };
} ntr_params;

/* The members of ntr_params, for sets of parameters (1 << parameter) and tables. */
typedef enum ntr_parameter {
#define NTR_PARAM(id, ...) NTR_PARAMETER_##id,
#include <ntrace/params.def>
#undef NTR_PARAM
    NTR_PARAMETERS,
} ntr_parameter;

#define NTR_PARAMETERS_MAX 32 /* bits of a set */

/* Sets the defaults of a dialect (NULL: N-Trace 1.0). */
NTR_API void ntr_params_init(ntr_params *params, const ntr_dialect *dialect);

/* Checks the members. Errors: NTR_E_RANGE (a member is outside its limits), NTR_E_INVALID (NULL, or a wrong size). */
NTR_API ntr_status ntr_params_check(const ntr_params *params);

/* Sets the parameter of this name ("src-bits") from text: a number (also 0x...), a word of its list ("full"), "off" or
 * "on", the name of a dialect. "0" means "not given" if the parameter is a number. Setting a dialect does
 * not set its defaults; ntr_params_init does. Errors: NTR_E_NAME (no such parameter), NTR_E_SYNTAX, NTR_E_RANGE. */
NTR_API ntr_status ntr_params_set(ntr_params *params, const char *name, const char *text);

/* Writes the value of the parameter of this name as text that ntr_params_set accepts. Returns the length, or
 * NTR_E_NAME, NTR_E_SPACE, NTR_E_RANGE (the member is outside its limits). */
NTR_API int ntr_params_get(const ntr_params *params, const char *name, char *out, size_t capacity);

/* Returns the set (1 << ntr_parameter) of parameters that differ. A dialect of NULL is N-Trace 1.0. */
NTR_API uint32_t ntr_params_difference(const ntr_params *a, const ntr_params *b);

/* Returns the name of a parameter, "src-bits", or NULL when there is no such parameter. Static storage. */
NTR_API const char *ntr_parameter_name(unsigned parameter);

#ifdef __cplusplus
}
#endif
#endif
