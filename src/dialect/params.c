#include <ntrace/params.h>
#include "dialect/dialects.h"

#include <string.h>

enum { SRC_BITS_MAX = 12, TS_WIDTH_MAX = 64 };

void ntr_params_init(ntr_params *params, const ntr_dialect *dialect) {
    if (!dialect) dialect = &ntr_dialect_ntrace_1_0;
    memset(params, 0, sizeof *params);
    params->size = sizeof *params;
    params->dialect = dialect;
    params->src_bits = dialect->src_bits;
    params->timestamps = dialect->timestamps;
    params->ts_width = dialect->ts_width;
    params->implicit_return = dialect->implicit_return;
    params->return_stack = dialect->return_stack;
}

ntr_status ntr_params_check(const ntr_params *params) {
    if (!params || params->size != sizeof *params) return NTR_E_INVALID;
    if (params->src_bits > SRC_BITS_MAX || params->ts_width > TS_WIDTH_MAX) return NTR_E_RANGE;
    if (params->timestamps > NTR_TIMESTAMPS_OFF || params->implicit_return > NTR_RETURN_FULL) return NTR_E_RANGE;
    if (params->xlen != 0 && params->xlen != 32 && params->xlen != 64) return NTR_E_RANGE;
    return NTR_OK;
}
