/* An execution as steps, the units in which two executions are compared (<ntrace/difference.h>). */
#ifndef NTR_ANALYSIS_STEPS_H
#define NTR_ANALYSIS_STEPS_H

#include <ntrace/difference.h>

struct ntr_steps {
    ntr_execution source;
    const ntr_program *program; /* lengths of instructions, when runs are expanded */
    bool expand;                /* return single instructions instead of runs */
    ntr_status status;          /* NTR_OK, or what the callback returned at the end of the execution */
    uint64_t gaps;
    ntr_execution_step pending; /* a run that the next span may continue, or the step after a finished run */
    bool have_pending;
    uint64_t timed_message; /* the last message that ends at a point which encoders report without delay */
    ntr_execution_step run; /* expand: the current run, */
    uint64_t pc, left;      /* ... its next instruction, and the number of remaining ones */
};

/* Returns the next step. At the end and after an error (`status` is negative), every call returns NTR_STEP_END. */
ntr_execution_step ntr_steps_next(struct ntr_steps *steps);

#endif
