/* Names of traps: the functions that run in a trap say what it is (roles.def). */
#ifndef NTR_ANALYSIS_TRAP_NAMES_H
#define NTR_ANALYSIS_TRAP_NAMES_H

#include "analysis/functions.h"

/* A trap that is not over. All zero but `kind`: not named yet. */
typedef struct ntr_trap_naming {
    const char *name; /* NULL: not known yet; valid as long as the functions */
    uint8_t kind;     /* ntr_frame_kind: NTR_FRAME_EXCEPTION or NTR_FRAME_INTERRUPT */
    bool call;        /* it is named as a system call */
    bool ecall;       /* it is known to be an environment call */
} ntr_trap_naming;

/* A function is entered, in this frame, in the trap. The first handler names an interrupt; a system call has a better
 * name than the exception through which it is made. */
void ntr_trap_naming_enter(ntr_trap_naming *trap, ntr_functions *functions, const ntr_stack_moment *moment,
                           const ntr_stack_frame *frame);

/* Returns the name of the device's handler, when a dispatcher of interrupts calls it through a pointer; NULL: it does
 * not. */
const char *ntr_trap_dispatched(ntr_functions *functions, const ntr_stack_moment *moment, const ntr_stack_frame *frame,
                                const ntr_role_info *info);

#endif
