/* --shard I/N: the I-th of N parts of a trace, for many workers that know nothing of each other.
 *
 * A trace is cut at points of its index, so that parts have about the same number of bytes. The decoder of a part
 * begins at the last points before it, one for each source: what it returns before the part begins is dropped. The
 * state in which it then is, is a guess: it is right unless a gap of the trace reaches from before the points into the
 * part. The state at the end of the part before, which is known when the parts are put together, must be the same. */
#ifndef CLI_IO_SHARD_H
#define CLI_IO_SHARD_H

#include "io/trace.h"

#include <ntrace/partial.h>

struct cli_shard {
    uint32_t number, count;     /* part `number` of `count`, from 1 */
    uint64_t begin, end;        /* bytes of the stream; `end` UINT64_MAX: its end; exact after cli_shard_run */
    uint64_t at;                /* offset of the next byte to decode */
    bool begun;
    char begin_state[NTR_DECODER_STATE_SIZE], end_state[NTR_DECODER_STATE_SIZE];
    ntr_partial_digest digest;  /* of the bytes of the part */
};

/* Parses "I/N". Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_shard_parse(struct cli_shard *shard, const char *text);

/* Chooses the part and lets the decoder and the input, both new, begin before it; with `from_start`, at the beginning
 * of the stream. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_shard_open(struct cli_shard *shard, struct cli_trace *trace, const char *path, ntr_decoder *decoder,
                   bool from_start);

struct cli_shard_work {
    ntr_status (*drain)(void *user); /* reads everything from the decoder; returns NTR_NEED_MORE, NTR_END or an error */
    ntr_status (*begin)(void *user); /* the part begins: drops what was read so far. NTR_OK or an error */
    void *user;
};

/* Decodes the part. Returns NTR_END, NTR_NEED_MORE when reading failed or was stopped, or an error of `work`. */
ntr_status cli_shard_run(struct cli_shard *shard, struct cli_trace *trace, ntr_decoder *decoder,
                         const struct cli_shard_work *work);

#endif
