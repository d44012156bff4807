/* Dialects: what older silicon and tools emit that N-Trace 1.0 does not, as const data. */
#ifndef NTRACE_DIALECT_H
#define NTRACE_DIALECT_H

#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which rows of messages.def a stream of this dialect may hold (a set). */
enum {
    NTR_MESSAGES_1_0 = 1u << 0,
    NTR_MESSAGES_SIFIVE = 1u << 1,
};

typedef struct ntr_dialect {
    const char *name;
    const char *summary; /* one line for people */

    /* Defaults for ntr_params. */
    uint8_t src_bits;
    uint8_t ts_width;
    uint8_t implicit_return; /* ntr_implicit_return */
    uint8_t timestamps;      /* ntr_timestamps */
    uint32_t return_stack;

    /* Differences from N-Trace 1.0. */
    uint8_t messages;            /* NTR_MESSAGES_* set */
    uint8_t addr_bits;           /* addresses have this many bits and are sign-extended, without extend_addr; 0: 1.0 */
    bool ts_xor;                 /* TSTAMP of non-sync messages is an XOR, not a difference */
    bool rcode_counts;           /* ResourceFull RCODE 8 / 9: so many not-taken / taken branches */
    bool zero_idle;              /* 0x00 between messages is skipped like idle */
    bool swap_is_call;           /* co-routine swap: always explicit, push only */
    bool branch_on_jump;         /* BTM DirectBranch may end on a direct jump */
    bool jalr_to_next_silent;    /* BTM: no message for JALR to the next instruction */
    bool history_whole;          /* HTM: a branch after the end of HIST is of unknown outcome, not "not taken" */
    bool trap_counts;            /* ECALL and EBREAK count as retired; their trap is sent like an indirect jump */
    bool sync_branch_from_faddr; /* TCODE 29: outcome of the very last branch may be missing from HIST */
} ntr_dialect;

/* The dialect of this name, or NULL. */
NTR_API const ntr_dialect *ntr_dialect_find(const char *name);

/* The index-th dialect (0 is N-Trace 1.0), or NULL past the last. */
NTR_API const ntr_dialect *ntr_dialect_at(size_t index);

#ifdef __cplusplus
}
#endif
#endif
