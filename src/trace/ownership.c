#include "trace/ownership.h"

#include "dialect/rules.h"

static void set_scontext(ntr_context *context, uint64_t value) {
    context->scontext = value;
    context->has_scontext = true;
}

static void set_hcontext(ntr_context *context, uint64_t value) {
    context->hcontext = value;
    context->has_hcontext = true;
}

/* FORMAT 0 carries a context in some dialects. */
static void follow_format_0(const ntr_params *params, ntr_context *context, uint64_t value) {
    unsigned which = ntr_context0_of(params);
    if (which == NTR_CONTEXT0_SCONTEXT) set_scontext(context, value);
    if (which == NTR_CONTEXT0_HCONTEXT) set_hcontext(context, value);
}

bool ntr_ownership_follow(const ntr_params *params, ntr_context *context, uint64_t process) {
    uint64_t value = process >> NTR_PROCESS_CONTEXT;
    switch (ntr_ownership_format(process)) {
    case NTR_FORMAT_PRIVILEGE: follow_format_0(params, context, value); break;
    case NTR_FORMAT_SCONTEXT: set_scontext(context, value); break;
    case NTR_FORMAT_HCONTEXT: set_hcontext(context, value); break;
    default: return false;
    }
    context->prv = process >> NTR_PROCESS_PRV & 3;
    context->v = process >> NTR_PROCESS_V & 1;
    return true;
}
