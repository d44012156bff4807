#include "trace/ownership.h"

bool ntr_ownership_follow(ntr_context *context, uint64_t process) {
    switch (ntr_ownership_format(process)) {
    case NTR_OWNERSHIP_PRIVILEGE: break;
    case NTR_OWNERSHIP_SCONTEXT:
        context->scontext = process >> 5;
        context->has_scontext = true;
        break;
    case NTR_OWNERSHIP_HCONTEXT:
        context->hcontext = process >> 5;
        context->has_hcontext = true;
        break;
    default: return false;
    }
    context->prv = process >> 2 & 3;
    context->v = process >> 4 & 1;
    return true;
}
