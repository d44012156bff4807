/* --auto: infers stream parameters that no option gives and reports each one with its certainty and evidence. */
#ifndef CLI_OPTIONS_AUTO_H
#define CLI_OPTIONS_AUTO_H

#include "options/stream_options.h"

#include <ntrace/bytes.h>
#include <ntrace/program.h>

/* Size of the part of a stream, from its beginning, that is used to infer parameters, in bytes. */
#define CLI_AUTO_BYTES (1u << 20)

/* Infers the parameters that `stream` does not give and stores them in `params`, which already holds the given ones.
 * `header`: the set of parameters that a file header gives. `name` is the name of the stream in messages; `program` may
 * be NULL. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_auto_params(const struct cli_stream *stream, uint32_t header, const char *name, ntr_bytes beginning,
                    const ntr_program *program, ntr_params *params);

/* The same for a stream without any parameter: only values that contradict the defaults and are sure or likely are
 * taken. One line reports them, if there are any. */
int cli_auto_defaults(const char *name, ntr_bytes beginning, const ntr_program *program, ntr_params *params);

#endif
