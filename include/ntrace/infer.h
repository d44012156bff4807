/* Infer: what a reader has to know of a stream and cannot see in it, from the stream and the program it ran.
 *
 * The program is the strongest witness: only with the right parameters does I-CNT always end where an instruction
 * ends and every jump where code is. Each choice comes with its evidence and how sure it is; what the stream does not
 * tell keeps its default and is said to be untold. */
#ifndef NTRACE_INFER_H
#define NTRACE_INFER_H

#include <ntrace/allocator.h>
#include <ntrace/bytes.h>
#include <ntrace/params.h>
#include <ntrace/program.h>
#include <ntrace/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ntr_parameter {
    NTR_PARAMETER_DIALECT = 0,
    NTR_PARAMETER_SRC_BITS,
    NTR_PARAMETER_TIMESTAMPS,
    NTR_PARAMETER_TS_WIDTH,
    NTR_PARAMETER_MODE, /* BTM or HTM: told, but no member of ntr_params */
    NTR_PARAMETER_IMPLICIT_RETURN,
    NTR_PARAMETER_SEQUENTIAL_JUMP,
    NTR_PARAMETER_EXTEND_ADDR,
    NTR_PARAMETER_ALL_JUMPS,
    NTR_PARAMETER_XLEN,
    NTR_PARAMETERS,
} ntr_parameter;

typedef enum ntr_sureness {
    NTR_SURENESS_GIVEN = 0, /* by the caller; not looked at */
    NTR_SURENESS_SURE,      /* every other value contradicts the stream */
    NTR_SURENESS_LIKELY,
    NTR_SURENESS_NO_MATTER, /* what was looked at reads the same either way */
    NTR_SURENESS_UNKNOWN,    /* the stream does not tell; the value is the default */
} ntr_sureness;

typedef struct ntr_choice {
    uint8_t sureness;   /* ntr_sureness */
    char value[24];     /* as people write it, e.g. "4", "full", "p550" */
    char evidence[160]; /* one phrase */
} ntr_choice;

typedef struct ntr_inference {
    ntr_params params;
    ntr_choice choices[NTR_PARAMETERS]; /* by ntr_parameter */
} ntr_inference;

typedef struct ntr_infer_config {
    size_t size;                /* sizeof(ntr_infer_config) */
    ntr_params params;          /* what is given; */
    uint32_t given;             /*   1 << ntr_parameter of each */
    bool mid_stream;            /* the stream starts in the middle of a message */
    const ntr_program *program; /* NULL: there is none */
    const ntr_allocator *allocator;
} ntr_infer_config;

/* Infer from the first part of the stream (all of it when it is short). Errors: NTR_E_MEMORY, NTR_E_INVALID. */
NTR_API ntr_status ntr_infer(const ntr_infer_config *config, ntr_bytes stream, ntr_inference *inference);

/* "src-bits": the parameter's name on the command line. Static storage; NULL for a value that is none. */
NTR_API const char *ntr_parameter_name(unsigned parameter);

/* "sure", "likely", "does not matter", "not told", "given". Static storage; NULL for a value that is none. */
NTR_API const char *ntr_sureness_name(unsigned sureness);

#ifdef __cplusplus
}
#endif
#endif
