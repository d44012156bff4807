/* --src-bits, --dialect, ...: the parameters of a stream, shared by every command that reads one. */
#ifndef CLI_OPTIONS_STREAM_OPTIONS_H
#define CLI_OPTIONS_STREAM_OPTIONS_H

#include "options/options.h"

#include <ntrace/params.h>

struct cli_stream {
    int64_t src_bits, return_stack, ts_width; /* -1: not given */
    int timestamps, implicit_return, xlen;    /* -1: not given */
    int sequential_jump, extend_addr, all_jumps;
    int infer; /* --auto */
    const char *dialect;
};

extern const struct cli_option cli_stream_options[];

/* The parameters that the options say. `base`: what the input itself says (a bundle), or NULL. Returns
 * CLI_OK, or CLI_FAILED after telling why. */
int cli_stream_params(const struct cli_stream *stream, const ntr_params *base, ntr_params *params);

#endif
