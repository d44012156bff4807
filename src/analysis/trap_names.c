#include "analysis/trap_names.h"

const char *ntr_trap_dispatched(ntr_functions *functions, const ntr_stack_moment *moment, const ntr_stack_frame *frame,
                                const ntr_role_info *info) {
    const ntr_event *e = moment->event;
    if (!moment->parent || e->kind != NTR_EVENT_SPAN || e->end != NTR_SPAN_INDIRECT_CALL) return NULL;
    if (info->role == NTR_OS_INTERRUPT || info->role == NTR_OS_CONTROLLER) return NULL;
    if (ntr_functions_role(functions, moment->parent->function).role != NTR_OS_DISPATCH) return NULL;
    const ntr_function *f = ntr_functions_get(functions, frame->function);
    return f ? f->name : NULL;
}

static void enter_exception(ntr_trap_naming *trap, const ntr_role_info *info) {
    if (info->role == NTR_OS_SYSCALL && !trap->call && (trap->ecall || !trap->name)) {
        trap->name = info->shown;
        trap->call = true;
    } else if (info->role == NTR_OS_EXCEPTION && !trap->name) {
        trap->name = info->shown;
        trap->ecall = ntr_cause_is_ecall(info->cause);
    }
}

void ntr_trap_naming_enter(ntr_trap_naming *trap, ntr_functions *functions, const ntr_stack_moment *moment,
                           const ntr_stack_frame *frame) {
    if (moment->resumed) return;
    const ntr_role_info info = ntr_functions_role(functions, frame->function);
    if (trap->kind == NTR_FRAME_EXCEPTION) {
        enter_exception(trap, &info);
    } else if (!trap->name) {
        trap->name = info.role == NTR_OS_INTERRUPT ? info.shown : ntr_trap_dispatched(functions, moment, frame, &info);
    }
}
