/* Inference of stream parameters from the stream and the traced program.
 *
 * The program gives the strongest evidence: only with the right parameters does every I-CNT end at an instruction
 * boundary and every jump lead to code. Each choice has evidence and a confidence. A parameter that the stream does not
 * determine keeps its default. */
#ifndef NTRACE_INFER_H
#define NTRACE_INFER_H

#include <ntrace/config.h>
#include <ntrace/allocator.h>
#include <ntrace/bytes.h>
#include <ntrace/params.h>
#include <ntrace/program.h>
#include <ntrace/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ntr_confidence {
    NTR_CONFIDENCE_GIVEN = 0, /* given by the caller, or a parameter that is never inferred */
    NTR_CONFIDENCE_SURE,      /* every other value contradicts the stream */
    NTR_CONFIDENCE_LIKELY,
    NTR_CONFIDENCE_NO_MATTER, /* the inspected part decodes to the same execution with every value */
    NTR_CONFIDENCE_UNKNOWN,   /* the stream does not determine it; the value is the default */
} ntr_confidence;

typedef struct ntr_choice {
    uint8_t confidence; /* ntr_confidence */
    char value[24];     /* as text, e.g. "4", "full", "p550" */
    char evidence[160]; /* in one phrase */
} ntr_choice;

typedef struct ntr_inference {
    ntr_params params;
    ntr_choice choices[NTR_PARAMETERS_MAX]; /* by ntr_parameter */
    ntr_choice mode;                    /* trace mode, which is not a parameter: "btm", "htm", "btm+htm", "either" */
} ntr_inference;

typedef struct ntr_infer_config {
    size_t size;                /* sizeof(ntr_infer_config) */
    ntr_params params;          /* values of the given parameters */
    uint32_t given;             /* set of the given parameters: bit 1 << ntr_parameter */
    bool mid_stream;            /* the stream starts inside a message (wrapped buffer) */
    const ntr_program *program; /* NULL: no program is known */
    const ntr_allocator *allocator;
} ntr_infer_config;

static inline void ntr_infer_config_init(ntr_infer_config *config) {
    memset(config, 0, sizeof *config);
    config->size = sizeof *config;
    ntr_params_init(&config->params, NULL);
}

/* Infer parameters from the first part of the stream (all of a short one). Errors: NTR_E_MEMORY, NTR_E_INVALID. */
NTR_API ntr_status ntr_infer(const ntr_infer_config *config, ntr_bytes stream, ntr_inference *inference);

/* Returns "sure", "likely", "does not matter", "not determined" or "given". Static storage; NULL for other values. */
NTR_API const char *ntr_confidence_name(unsigned confidence);

#ifdef __cplusplus
}
#endif
#endif
