/* Comparison of two executions, for example of a trace of a design and a trace of its model.
 *
 * Executions are compared as steps, independent of their division into messages. A step is straight-line code up to a
 * control transfer (consecutive spans without a control transfer are joined), a gap, or a stop of the trace. In a
 * comparison with a list of program counters a step is one instruction. After a difference the comparison continues at
 * the nearest place where both executions agree again; after a gap, at the place from which most of what follows is
 * equal.
 *
 * Differences are found in this order: another execution, another context, another time. A context that one side does
 * not know is not a difference. Times are compared only where every encoder sends a message at once: at uninferable
 * jumps, returns that were not inferred, and traps.
 *
 * One object compares one source (hart). It is used by one thread at a time.
 *
 * Growth: the library owns the structs that it gives out; new members come at their end. Configs carry their size. */
#ifndef NTRACE_DIFFERENCE_H
#define NTRACE_DIFFERENCE_H

#include <ntrace/allocator.h>
#include <ntrace/context.h>
#include <ntrace/event.h>
#include <ntrace/program.h>
#include <ntrace/status.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One of the two executions: exactly one of the callbacks is set. Each returns NTR_OK, NTR_END at the end, or an error,
 * which ends the comparison. */
typedef struct ntr_execution {
    size_t size; /* sizeof(ntr_execution) */

    /* Stores the next event of the decoder (ntr_decoder_read), of one source. It must be valid until the next call. */
    ntr_status (*next_event)(void *user, const ntr_event **event);

    /* Stores the next entry of a list of program counters, and its line number for ntr_execution_step.message. */
    ntr_status (*next_address)(void *user, uint64_t *address, uint64_t *line);

    void *user; /* first argument of the callback */
} ntr_execution;

typedef enum ntr_execution_step_kind {
    NTR_STEP_RUN = 0, /* straight-line code */
    NTR_STEP_GAP, /* a part of the execution that is not known */
    NTR_STEP_STOP, /* the trace stops */
    NTR_STEP_INSTRUCTION, /* one instruction; only in comparisons with a list */
    NTR_STEP_END, /* the execution is at its end; the other members are 0 */
} ntr_execution_step_kind;

typedef struct ntr_execution_step {
    uint8_t kind; /* ntr_execution_step_kind */
    uint8_t end; /* RUN: ntr_span_end */
    bool timed; /* RUN: `time` is the time at which it ended */
    uint64_t address; /* of the first instruction; GAP: the last address that is certain; STOP: the next one */
    uint64_t target; /* RUN: where control went; 0: not known */
    uint64_t instructions; /* RUN: their number; halfwords where the code is not known */
    uint64_t time;
    uint64_t offset, message; /* of the message that ends the step; list: 0 and the line */
    ntr_context context;
} ntr_execution_step;

typedef enum ntr_difference_kind {
    NTR_DIFFERENCE_EXECUTION = 0,
    NTR_DIFFERENCE_GAP, /* one execution is not known at this point */
    NTR_DIFFERENCE_CONTEXT,
    NTR_DIFFERENCE_TIME,
} ntr_difference_kind;

typedef struct ntr_difference {
    uint8_t kind; /* ntr_difference_kind */
    bool last; /* the executions do not agree again within NTR_DIFFERENCE_WINDOW steps; the rest is not compared */
    uint64_t equal; /* number of equal instructions before the difference */
    const ntr_execution_step *a, *b; /* the steps that differ */
} ntr_difference;

/* Maximum number of steps of each side that are searched for a point at which both executions agree again. */
#define NTR_DIFFERENCE_WINDOW 32768

typedef struct ntr_comparison ntr_comparison;

typedef struct ntr_comparison_config {
    size_t size; /* sizeof(ntr_comparison_config) */
    const ntr_execution *a, *b;
    const ntr_program *program; /* required for comparisons with a list: instruction lengths, and which instructions
                                 * do not retire (ECALL, EBREAK) and may be missing; not owned */
    bool ignore_time;
    const ntr_allocator *allocator; /* copied; NULL: malloc */
} ntr_comparison_config;

/* Set the size, and every other member to 0. Inline, so that the size is the one of the caller's header. */
static inline void ntr_execution_init(ntr_execution *execution) {
    memset(execution, 0, sizeof *execution);
    execution->size = sizeof *execution;
}

static inline void ntr_comparison_config_init(ntr_comparison_config *config) {
    memset(config, 0, sizeof *config);
    config->size = sizeof *config;
}

/* Makes a comparison. The structs are copied. Errors: NTR_E_INVALID (an execution is missing or does not have exactly
 * one callback, or a list is compared without a program), NTR_E_MEMORY. */
NTR_API ntr_status ntr_comparison_new(const ntr_comparison_config *config, ntr_comparison **out);
NTR_API void ntr_comparison_free(ntr_comparison *comparison); /* NULL is allowed */

/* Finds the next difference. *difference and its steps are valid until the next call. Returns NTR_END when there is
 * none. Errors: as the callbacks. */
NTR_API ntr_status ntr_comparison_next(ntr_comparison *comparison, const ntr_difference **difference);

/* Returns the number of equal instructions found so far. */
NTR_API uint64_t ntr_comparison_equal(const ntr_comparison *comparison);

/* Returns the number of gaps found so far in the first (0) or second (1) execution. */
NTR_API uint64_t ntr_comparison_gaps(const ntr_comparison *comparison, unsigned side);

/* Returns a description of the error, or "" when there was none. */
NTR_API const char *ntr_comparison_error(const ntr_comparison *comparison);

#ifdef __cplusplus
}
#endif
#endif
