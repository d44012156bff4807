/* An execution as steps, the units in which two executions are compared (<ntrace/difference.h>). */
#ifndef NTR_ANALYSIS_STEPS_H
#define NTR_ANALYSIS_STEPS_H

#include <ntrace/difference.h>

struct ntr_steps {
    ntr_execution source;
    const ntr_program *program; /* lengths of instructions, when runs are expanded */
    bool expand;                /* give out single instructions instead of runs */
    ntr_status status;          /* NTR_OK, or what the callback returned at the end of the execution */
    uint64_t gaps;
    ntr_execution_step pending; /* a run that the next span may continue, or the step after a finished run */
    bool have_pending;
    uint64_t timed_message; /* the message of the last end that encoders report at once */
    ntr_execution_step run; /* expand: the run that is given out, */
    uint64_t pc, left;      /* ... its next instruction, and how many there are */
};

/* The next step; NTR_STEP_END at the end and after an error (`status` is negative), again and again. */
ntr_execution_step ntr_steps_next(struct ntr_steps *steps);

#endif
