/* --src-bits, --dialect, ...: the parameters of a stream, for every command that reads one. The options are made from
 * <ntrace/params.def>. */
#ifndef CLI_OPTIONS_STREAM_OPTIONS_H
#define CLI_OPTIONS_STREAM_OPTIONS_H

#include "options/options.h"

#include <ntrace/encoder.h>
#include <ntrace/params.h>

/* Where the stream is: CLI_FROM_AUTO recognizes a file by its content. */
enum cli_from { CLI_FROM_AUTO, CLI_FROM_RAW, CLI_FROM_CORESIGHT, CLI_FROM_TMC };

/* The registers of a CoreSight TMC whose memory was read, as text; NULL: not given. */
struct cli_tmc {
    const char *registers; /* file or folder that contains them */
    const char *write_pointer, *status, *base, *bytes;
};

#define CLI_TMC_OPTIONS(S, m)                                                                                          \
    CLI_STRING(0, "ram-registers", "PATH", S, m.registers,                                                             \
               "memory of an ETR, ETF or ETB: its registers rsz, sts, rwp, dba and axictl: JSON, text, or the folder " \
               "mgmt/ of Linux (default: FILE.json beside the trace)"),                                                \
        CLI_STRING(0, "ram-write-pointer", "ADDR", S, m.write_pointer, "the same: RWP with RWPHI"),                    \
        CLI_STRING(0, "ram-status", "N", S, m.status, "the same: STS; bit 0 (Full) says that the buffer has wrapped"), \
        CLI_STRING(0, "ram-base", "ADDR", S, m.base,                                                                   \
                   "the same: DBA, the address of the buffer, or of its scatter-gather table (default 0)"),            \
        CLI_STRING(0, "ram-size", "N", S, m.bytes,                                                                     \
                   "the same: size of the buffer in bytes, RSZ * 4 (default: of the file)")

struct cli_stream {
    const char *given[NTR_PARAMETERS]; /* indexed by ntr_parameter: the value as text, or NULL if no option gives it */
    int infer; /* --auto */
    int verbose; /* --verbose */
    int plain; /* --plain */
    int from; /* enum cli_from */
    const char *trace_id; /* --trace-id: a number, or NULL */
    struct cli_tmc tmc;
};

extern const struct cli_option cli_stream_options[];

/* Returns the set of parameters that options give: bit 1 << ntr_parameter of each. */
uint32_t cli_stream_given(const struct cli_stream *stream);

/* Sets `params` from the options. Parameters that no option gives are those of `base` (from a bundle; NULL: the
 * defaults of the dialect). Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_stream_params(const struct cli_stream *stream, const ntr_params *base, ntr_params *params);

/* ---- The encoder options of <ntrace/encoder.h> as a group of command line options. */

struct cli_encoder {
    struct cli_list list;
};

/* Returns the option table for cli_group.rows; the member is a struct cli_encoder. */
const struct cli_option *cli_encoder_rows(void);

/* The value of this option, given last; NULL: it was not given. */
const char *cli_encoder_value(const struct cli_encoder *given, const char *name);

/* Was this option given? */
bool cli_encoder_gives(const struct cli_encoder *given, const char *name);

/* Applies the given options to `config` in order. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_encoder_configure(const struct cli_encoder *given, ntr_encoder_config *config);

#endif
