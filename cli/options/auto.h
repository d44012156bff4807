/* --auto: what the options do not tell of a stream, from the stream itself; says what was found and how sure. */
#ifndef CLI_OPTIONS_AUTO_H
#define CLI_OPTIONS_AUTO_H

#include "options/stream_options.h"

#include <ntrace/bytes.h>
#include <ntrace/program.h>

/* How much of the beginning of a stream is looked at. */
#define CLI_AUTO_BYTES (1u << 20)

/* Complete `params`, which hold what the options gave. `name`: of the stream; `program` may be NULL. Returns
 * CLI_OK, or CLI_FAILED after telling why. */
int cli_auto_params(const struct cli_stream *stream, const char *name, ntr_bytes beginning, const ntr_program *program,
                    ntr_params *params);

#endif
