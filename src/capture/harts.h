/* From what the guest's vCPUs executed to one N-Trace stream: each is a hart with an encoder of its own, or a hart of
 * a modelled system. */
#ifndef CLI_RUN_HARTS_H
#define CLI_RUN_HARTS_H

#include "capture/code.h"
#include "bundle/stream_write.h"
#include "capture/system.h"

#include "channel/channel.h"

#include <ntrace/encoder.h>

struct run_block;
struct run_hart;

/* A loop that the guest counts and has not told yet. */
struct run_look {
    const uint32_t *at; /* nothing has been told since the ring ended here */
    uint32_t number;    /* 0: none runs */
    uint64_t count;     /* executions seen by the last look, without those taken */
    uint64_t taken;     /* that were encoded already */
};

struct run_harts {
    struct channel *channel;
    const ntr_encoder_config *config; /* of every encoder, but for src_id */
    struct run_stream *stream;
    struct run_system *system; /* or NULL: then `config` makes an encoder for each hart */
    struct run_code code;
    struct run_block *blocks; /* by number */
    struct run_step *steps;
    uint32_t block_capacity;
    struct run_hart *harts; /* by vCPU index; CHANNEL_LANES of them */
    struct run_look look;
    uint32_t traced;        /* at most so many: SRC has room for no more */
    bool in_runs;           /* the encoders take runs of blocks */
    bool rewritten;         /* code changed, and nobody knows where in the stream */
    bool lost;              /* a table of the channel was full */
    bool untraced;          /* there were more threads than `traced` */
    ntr_status failure;     /* of an encoder, or out of memory */
};

/* Errors: NTR_E_MEMORY. */
ntr_status run_harts_init(struct run_harts *harts, struct channel *channel, const ntr_encoder_config *config,
                          struct run_stream *stream, struct run_system *system);
void run_harts_release(struct run_harts *harts);

/* Encode what is in the rings now; if not all, then only batches that the guest has left. Returns whether there was
 * anything. */
bool run_harts_drain(struct run_harts *harts, bool all);

/* There was nothing: encode what a loop has run that is only counted, however long it runs. To be called again and again,
 * with a nap in between. */
void run_harts_look(struct run_harts *harts);

/* The guest has ended, and everything is drained. `by_fault`: by a signal that an instruction raises. */
void run_harts_finish(struct run_harts *harts, bool by_fault);

/* How many vCPUs executed something, and whether the index-th one did and is in the stream; with which SRC. */
uint32_t run_harts_count(const struct run_harts *harts);
bool run_harts_source(const struct run_harts *harts, uint32_t index, uint16_t *src);

#endif
