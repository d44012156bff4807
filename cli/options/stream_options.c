#include "options/stream_options.h"
#include "options/diagnostics.h"

#include <string.h>

#define S struct cli_stream
const struct cli_option cli_stream_options[] = {
    CLI_STRING(0, "dialect", "NAME", S, dialect,
               "what the encoder speaks (default ntrace-1.0; 'ntrace help dialects' lists the names)"),
    CLI_NUMBER(0, "src-bits", "N", S, src_bits, 0, 12, -1,
               "width of the SRC field, 0 to 12 (default: the dialect's, 0)"),
    CLI_SET(0, "timestamps", S, timestamps, -1, NTR_TIMESTAMPS_ON, "messages carry TSTAMP"),
    CLI_SET(0, "no-timestamps", S, timestamps, -1, NTR_TIMESTAMPS_OFF,
            "no message carries TSTAMP: bytes after the payload are a defect (default: taken where seen)"),
    CLI_NUMBER(0, "ts-width", "N", S, ts_width, 1, 64, -1,
               "bits of the time counter, for its rollover (default: the dialect's, 64)"),
    CLI_CHOICE(0, "implicit-return", "off|count|partial|full", S, implicit_return, -1,
               "how the encoder leaves out returns (trTeInstImplicitReturnMode)"),
    CLI_NUMBER(0, "return-stack", "N", S, return_stack, 0, INT32_MAX, -1,
               "depth of the call stack to assume (default 0: as deep as needed)"),
    CLI_FLAG(0, "sequential-jump", S, sequential_jump,
             "sequentially inferable jumps are left out (trTeInstEnSequentialJump)"),
    CLI_FLAG(0, "extend-addr", S, extend_addr, "addresses are sent without repeated top bits (trTeInstExtendAddrMSB)"),
    CLI_FLAG(0, "all-jumps", S, all_jumps, "direct jumps are traced like taken branches (trTeInstEnAllJumps)"),
    CLI_CHOICE(0, "xlen", "32|64", S, xlen, -1, "width of the hart (default: as the ELF says, else 64)"),
    CLI_FLAG(
        0, "auto", S, infer,
        "find out from the stream (and the program) what no option tells, and say what was found and how sure that is"),
    {0},
};
#undef S

int cli_stream_params(const struct cli_stream *stream, const ntr_params *base, ntr_params *params) {
    const ntr_dialect *dialect = NULL;

    if (stream->dialect && !(dialect = ntr_dialect_find(stream->dialect)))
        return cli_fail("--dialect: expected a name from 'ntrace help dialects', found '%s'", stream->dialect);
    if (base && !dialect)
        *params = *base;
    else
        ntr_params_init(params, dialect);

    if (stream->src_bits >= 0) params->src_bits = (uint8_t)stream->src_bits;
    if (stream->timestamps >= 0) params->timestamps = (uint8_t)stream->timestamps;
    if (stream->ts_width >= 0) params->ts_width = (uint8_t)stream->ts_width;
    if (stream->implicit_return >= 0) params->implicit_return = (uint8_t)stream->implicit_return;
    if (stream->return_stack >= 0) params->return_stack = (uint32_t)stream->return_stack;
    if (stream->xlen >= 0) params->xlen = stream->xlen == 0 ? 32 : 64;
    if (stream->sequential_jump) params->sequential_jump = true;
    if (stream->extend_addr) params->extend_addr = true;
    if (stream->all_jumps) params->all_jumps = true;

    ntr_status status = ntr_params_check(params);
    return status == NTR_OK ? CLI_OK : cli_fail("stream options: %s", ntr_status_text(status));
}
