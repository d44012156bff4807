/* --shard I/N: the I-th of N parts of a trace, for many workers that know nothing of each other. A
 * trace is cut at points of its index, so that parts have about the same number of bytes (ntr_partial_cut). */
#ifndef CLI_IO_SHARD_H
#define CLI_IO_SHARD_H

#include "io/trace.h"

#include <ntrace/partial.h>

struct cli_shard {
    uint32_t number, count; /* part `number` of `count`, from 1 */
    ntr_partial_part part;
};

/* Parses "I/N". Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_shard_parse(struct cli_shard *shard, const char *text);

/* Chooses the part and lets the decoder and the input, both new, begin before it; with `from_start`, at the beginning
 * of the stream. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_shard_open(struct cli_shard *shard, struct cli_trace *trace, const char *path, ntr_decoder *decoder,
                   bool from_start);

/* Decodes the part, whose callbacks are set. Returns NTR_END, NTR_NEED_MORE when reading failed or was stopped, or an
 * error. */
ntr_status cli_shard_run(struct cli_shard *shard, struct cli_trace *trace, ntr_decoder *decoder);

#endif
