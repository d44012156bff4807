/* A trace in CoreSight frames, or in the memory of a CoreSight TMC (ETR, ETF, ETB). */
#ifndef CLI_IO_FRAMES_H
#define CLI_IO_FRAMES_H

#include "io/input.h"
#include "options/stream_options.h"

#include <ntrace/frames.h>
#include <ntrace/params.h>

#include <stdio.h>

/* If the input has frames, by the options or by its content, writes the stream inside them to a temporary file: *fd, at
 * whose beginning it is then, and *frames are set. `ahead`: bytes of the input that have been read, `last`: all.
 * Otherwise *frames is NULL. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_frames_open(struct cli_input *input, const char *path, const struct cli_stream *stream, ntr_bytes ahead,
                    bool last, ntr_frames **frames, int *fd);

/* Sets the width of SRC if the frames show it and no option gives it; `surely`: only if it is certain. Returns the set
 * of parameters that are known. */
uint32_t cli_frames_source(const ntr_frames *frames, const struct cli_stream *stream, bool surely, ntr_params *params);

/* Returns CLI_OK, or CLI_FAILED after reporting that messages of two trace IDs have the same SRC. */
int cli_frames_check(const ntr_frames *frames, const char *name, const ntr_params *params);

#endif
