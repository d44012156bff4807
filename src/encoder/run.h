/* Runs: many blocks given to the encoder in one call. The capture engine uses them, as its block chain
 * (block_chain.h) knows the successor of a block. A run is a sequence of blocks that need no message, up to and
 * including a block that may need one.
 *
 * Repeated paths: if nothing has been counted since the last message, the message of a run that ends in a register
 * jump depends on the run and the jump target alone. The capture engine keeps such messages
 * (capture/message_cache.h), writes them to the stream itself, and reports them with ntr_enc_push_repeats.
 *
 * The functions are exported because the capture engine is in libntrace-tools. No installed header declares them,
 * and they may change with every version. */
#ifndef NTR_ENCODER_RUN_H
#define NTR_ENCODER_RUN_H

#include <ntrace/encoder.h>

typedef struct ntr_enc_run {
    uint64_t iaddr;    /* first instruction */
    uint64_t end;      /* address after the last instruction; a call returns there */
    uint32_t iretire;  /* halfwords, 1 .. 2^15 - 1 */
    uint8_t ilastsize; /* last instruction is 2^ilastsize halfwords */
    uint8_t itype;     /* of the last block, 4-bit form */
    bool sijump;       /* as in ntr_ingress */
    uint8_t branches;  /* conditional branches retired in it, without the one of `itype`; up to 64 */
    uint64_t outcomes; /* of these branches; 1: taken (never in BTM); the newest in bit 0 */
    uint64_t time;     /* at its end, in ticks */
} ntr_enc_run;

/* Returns true if the configuration allows runs: no FIFO, no filter, no Ownership, no all-jumps, no 3-bit itype,
 * I-CNT of at least 16 bits that is reported by ResourceFull, no periodic synchronization by cycles or at the exact
 * block. */
NTR_API bool ntr_enc_takes_runs(const ntr_encoder *encoder);

/* Encodes a run. The messages are those of its blocks pushed one by one, with two differences: ResourceFull may
 * report I-CNT at another block, and the time of all messages is that of the end of the run. The hart is neither
 * halted nor in reset. Errors: NTR_E_STATE (runs are not allowed), NTR_E_INGRESS, errors of the sink. */
NTR_API ntr_status ntr_enc_push_run(ntr_encoder *encoder, const ntr_enc_run *run);

/* Returns how many branches (0..64) the next run may have so that messages carry the time of the block that caused
 * them. 0: push a single block. 64 without timestamps. The limit does not consider I-CNT and registers that are held
 * back (repeated_history). */
NTR_API unsigned ntr_enc_run_branches(const ntr_encoder *encoder);

/* Sends the message of the last run now, which ended in a register jump to `next`. Returns the size (up to 8) and
 * the bytes of the message if they depend on the run, its first address and `next` alone; else 0. */
NTR_API unsigned ntr_enc_push_next(ntr_encoder *encoder, uint64_t next, uint8_t message[8]);

/* Returns how many messages of ntr_enc_push_next may be repeated now, if the first run begins at `iaddr`:
 * UINT64_MAX, or fewer with periodic synchronization. 0: the next run needs other messages. */
NTR_API uint64_t ntr_enc_repeatable(const ntr_encoder *encoder, uint64_t iaddr);

/* Runs whose messages the caller has written to the stream of the sink. */
typedef struct ntr_enc_repeats {
    uint64_t runs, bytes, halfwords;
    uint64_t next; /* target of the last jump */
} ntr_enc_repeats;

/* Counts these runs. Errors: NTR_E_STATE (the configuration has no such messages), an earlier error of the sink. */
NTR_API ntr_status ntr_enc_push_repeats(ntr_encoder *encoder, const ntr_enc_repeats *repeats);

#endif
