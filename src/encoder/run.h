/* Runs: many blocks given to the encoder in one call. The capture engine uses them, as its block chain
 * (block_chain.h) knows the successor of a block. A run is a sequence of blocks that need no message, up to and
 * including a block that may need one. With implicit returns, calls and the returns that the return stack predicts are
 * part of a run: the caller asks the encoder to extend the run by them, one by one, while it collects it.
 *
 * The functions are exported because the capture engine is in libntrace-tools. No installed header declares them,
 * and they may change with every version. */
#ifndef NTR_ENCODER_RUN_H
#define NTR_ENCODER_RUN_H

#include <ntrace/encoder.h>

enum { NTR_ENC_RUN_HALFWORDS = (1 << 15) - 1 }; /* of a run, at most */

typedef struct ntr_enc_run {
    uint64_t iaddr;    /* first instruction */
    uint64_t end;      /* address after the last instruction; a call returns there */
    uint32_t iretire;  /* halfwords, 1 .. NTR_ENC_RUN_HALFWORDS */
    uint8_t ilastsize; /* last instruction is 2^ilastsize halfwords */
    uint8_t itype;     /* of the last block, 4-bit form */
    bool sijump;       /* as in ntr_ingress */
    uint8_t branches;  /* conditional branches retired in it, without the one of `itype`; up to 64 */
    uint64_t outcomes; /* of these branches; 1: taken (never in BTM); the newest in bit 0 */
    uint64_t time;     /* at its end, in ticks */
} ntr_enc_run;

/* Returns true if the configuration allows runs: no FIFO, no filter, no all-jumps, no 3-bit itype, I-CNT of
 * at least 16 bits that is reported by ResourceFull, no periodic synchronization by cycles or at the exact
 * block. */
NTR_API bool ntr_enc_takes_runs(const ntr_encoder *encoder);

/* Encodes a run. The messages are those of its blocks pushed one by one, with two differences: ResourceFull may
 * report I-CNT at another block, and the time of all messages is that of the end of the run. The hart is neither
 * halted nor in reset. Its privilege mode and contexts are those of the last Ownership message: a change of them is
 * pushed with a block. Errors: NTR_E_STATE (runs are not allowed), NTR_E_INGRESS, errors of the sink. */
NTR_API ntr_status ntr_enc_push_run(ntr_encoder *encoder, const ntr_enc_run *run);

/* Returns how many branches (0..64) the next run may have so that messages carry the time of the block that caused
 * them. 0: push a single block. 64 without timestamps. The limit does not consider I-CNT and registers that are held
 * back (repeated_history). */
NTR_API unsigned ntr_enc_run_branches(const ntr_encoder *encoder);

/* A run begins at `iaddr`; `time` is that of the end of its first block. Sends what waits for this address: the message
 * of the jump that ended the last run, or ProgTraceSync. Optional, but for a run with calls and returns: a
 * synchronizing message clears the return stack. Errors: NTR_E_STATE, NTR_E_INGRESS, errors of the sink. */
NTR_API ntr_status ntr_enc_begin_run(ntr_encoder *encoder, uint64_t iaddr, uint64_t time);

/* Execution is at `iaddr`, and what was executed before it has been pushed: sends what waits for this address, like
 * ntr_enc_begin_run, and opens a trace window if none is open; then the privilege mode (ntr_priv) and the contexts of
 * the hart, unless the stream has them. Without runs it only opens a window. No effect with filters. For
 * ntr_encoder_access of a block that is pushed later. Errors: NTR_E_INGRESS, errors of the sink. */
NTR_API ntr_status ntr_enc_reach(ntr_encoder *encoder, uint64_t iaddr, uint64_t time, unsigned priv, uint64_t scontext,
                                 uint64_t hcontext);

/* The run goes on through a call, which returns to `address`: the return stack follows. */
NTR_API void ntr_enc_extend_by_call(ntr_encoder *encoder, uint64_t address);

/* Returns whether the run goes on through a return to `next`: the return stack predicts it, and follows. If not, the
 * stack stays as it is, and the run ends with the return. */
NTR_API bool ntr_enc_extend_by_return(ntr_encoder *encoder, uint64_t next);

/* Has the stream this privilege mode and scontext, so that a run can be in them? True without Ownership messages. */
NTR_API bool ntr_enc_has_reported(const ntr_encoder *encoder, unsigned priv, uint64_t scontext, uint64_t hcontext);

/* Has a periodic synchronization waited for a branch message for one more period? */
NTR_API bool ntr_enc_sync_is_late(const ntr_encoder *encoder);

/* From here on, messages have SRC with so many bits. The stream so far does not: the caller gives it to those messages,
 * too. */
NTR_API void ntr_enc_set_src_bits(ntr_encoder *encoder, unsigned src_bits);

#endif
