/* Runs: many blocks given to the encoder in one call, for the capture engine, which knows from its block chain where code
 * leads. A run is a sequence of blocks that need no message of their own, up to and including one that may need one.
 *
 * Paths that repeat go one step further: where nothing has been counted since the last message, the message of a run that
 * ends in a register jump depends on the run and the jump target alone. The capture engine keeps such messages
 * (capture/message_cache.h), writes them to the stream itself, and reports them with ntr_enc_push_repeats.
 *
 * The functions are exported because the capture engine is in libntrace-tools. No installed header declares them, and they
 * may change with every version. */
#ifndef NTR_ENCODER_RUN_H
#define NTR_ENCODER_RUN_H

#include <ntrace/encoder.h>

typedef struct ntr_enc_run {
    uint64_t iaddr;    /* first instruction */
    uint64_t end;      /* behind the last instruction: where a call returns to */
    uint32_t iretire;  /* halfwords, 1 .. 2^15 - 1 */
    uint8_t ilastsize; /* last instruction is 2^ilastsize halfwords */
    uint8_t itype;     /* how it ends, 4-bit form */
    bool sijump;       /* as in ntr_ingress */
    uint8_t branches;  /* conditional branches retired in it, without one that itype describes; up to 64 */
    uint64_t outcomes; /* of these branches, 1: taken (never in BTM), the newest in bit 0 */
    uint64_t time;     /* ticks at its end */
} ntr_enc_run;

/* Does this configuration allow runs: no FIFO, no filter, no Ownership, no all-jumps, no 3-bit itype, I-CNT of at least
 * 16 bits that is reported by ResourceFull, no periodic sync by cycles or at the exact block? */
NTR_API bool ntr_enc_takes_runs(const ntr_encoder *encoder);

/* Encode a run: the messages are those of its blocks pushed one by one, except for where exactly ResourceFull reports an
 * I-CNT, and for time, which is that of the run's end. The hart is neither halted nor in reset. Errors: NTR_E_STATE (runs
 * are not allowed), NTR_E_INGRESS, the sink's. */
NTR_API ntr_status ntr_enc_push_run(ntr_encoder *encoder, const ntr_enc_run *run);

/* How many branches, 0..64, the next run should have at most, so that messages carry the time of the block that caused
 * them; 0: push a block by itself. Without timestamps 64. I-CNT, and a history register that is reported together with
 * others (repeated_history), are not taken into account. */
NTR_API unsigned ntr_enc_run_branches(const ntr_encoder *encoder);

/* The run just pushed ended in a register jump to `next`: send its message now. Returns the size (up to 8) of the message
 * and its bytes when they depend on the run, its first address and `next` alone; else 0. */
NTR_API unsigned ntr_enc_push_next(ntr_encoder *encoder, uint64_t next, uint8_t message[8]);

/* How many messages of ntr_enc_push_next may now be repeated, when the first run begins at `iaddr`: UINT64_MAX, or fewer
 * with periodic syncs; 0: the next run needs more than such a message. */
NTR_API uint64_t ntr_enc_repeatable(const ntr_encoder *encoder, uint64_t iaddr);

/* Runs whose messages were written to the sink's stream by the caller. */
typedef struct ntr_enc_repeats {
    uint64_t runs, bytes, halfwords;
    uint64_t next; /* target of the last jump */
} ntr_enc_repeats;

/* Count these runs. Errors: NTR_E_STATE (this configuration has no such messages), an earlier error of the sink. */
NTR_API ntr_status ntr_enc_push_repeats(ntr_encoder *encoder, const ntr_enc_repeats *repeats);

#endif
