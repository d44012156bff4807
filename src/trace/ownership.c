#include "trace/ownership.h"

bool ntr_ownership_follow(ntr_context *context, uint64_t process) {
    switch (ntr_ownership_format(process)) {
    case NTR_FORMAT_PRIVILEGE: break;
    case NTR_FORMAT_SCONTEXT:
        context->scontext = process >> NTR_PROCESS_CONTEXT;
        context->has_scontext = true;
        break;
    case NTR_FORMAT_HCONTEXT:
        context->hcontext = process >> NTR_PROCESS_CONTEXT;
        context->has_hcontext = true;
        break;
    default: return false;
    }
    context->prv = process >> NTR_PROCESS_PRV & 3;
    context->v = process >> NTR_PROCESS_V & 1;
    return true;
}
