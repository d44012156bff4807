/* --auto: infers stream parameters that no option gives and reports each one with its certainty and evidence. */
#ifndef CLI_OPTIONS_AUTO_H
#define CLI_OPTIONS_AUTO_H

#include "options/stream_options.h"

#include <ntrace/bytes.h>
#include <ntrace/fit.h>
#include <ntrace/program.h>

/* Size of the part of a stream, from its beginning, that is used to infer parameters, in bytes. */
#define CLI_AUTO_BYTES (1u << 20)

/* What an inference found beside the parameters it adopted. */
struct cli_auto_found {
    bool misfit; /* the program is not the one that ran: no parameters explain the stream with it, and none are adopted
                  */
    bool inferred; /* parameters were inferred; `likeliest`, without regard to how certain they are */
    ntr_params fitting; /* of a misfit: those with which most messages fit */
    ntr_params likeliest;
};

/* Infers the parameters that `stream` does not give and stores them in `params`, which already holds the given ones.
 * `header`: the set of parameters that a file header gives. `name` is the name of the stream in messages; `program` may
 * be NULL. *found is set; NULL: do not ask. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_auto_params(const struct cli_stream *stream, uint32_t header, const char *name, ntr_bytes beginning,
                    const ntr_program *program, ntr_params *params, struct cli_auto_found *found);

/* The same for a stream without any parameter: the defaults are kept unless they contradict the stream and others, sure
 * or likely, do not. One line reports those, or that none fits clearly better; once for each name. `header`: the set of
 * parameters that are known all the same. */
int cli_auto_defaults(const char *name, uint32_t header, ntr_bytes beginning, const ntr_program *program,
                      ntr_params *params, struct cli_auto_found *found);

/* Returns whether other parameters than `params`, those that are given included, explain the stream with this program
 * far better than *fit says: the parameters are wrong, and not the program. `line` has them as options. *fit is set to
 * the best fit of all that were tried, and *params to its parameters. `likeliest`: what an inference without given
 * parameters has found; NULL: none was made. */
bool cli_auto_explains(ntr_bytes beginning, bool last, const ntr_program *program, const ntr_params *likeliest,
                       ntr_params *params, ntr_fit *fit, char *line, size_t room);

/* Replaces values in `params` that no option gives, if the inference is sure of others or finds them likely; `line` has
 * them as options. Returns false if there are none. */
bool cli_auto_others(const struct cli_stream *stream, ntr_bytes beginning, const ntr_program *program,
                     ntr_params *params, char *line, size_t room);

#endif
