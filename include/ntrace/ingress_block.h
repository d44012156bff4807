/* Ingress block: what a hart reports to its trace encoder through the trace ingress port. The encoder takes these;
 * ingress.h makes them. */
#ifndef NTRACE_INGRESS_BLOCK_H
#define NTRACE_INGRESS_BLOCK_H

#include <ntrace/isa.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* priv of the ingress port. */
typedef enum ntr_priv {
    NTR_PRIV_U = 0,
    NTR_PRIV_S = 1,
    NTR_PRIV_M = 3,
    NTR_PRIV_D = 4,
    NTR_PRIV_VU = 5,
    NTR_PRIV_VS = 6,
} ntr_priv;

/* ctype of the ingress port. */
typedef enum ntr_ctype {
    NTR_CTYPE_UNREPORTED = 0,
    NTR_CTYPE_IMPRECISE = 1,
    NTR_CTYPE_PRECISE = 2,
    NTR_CTYPE_ASYNC = 3,
} ntr_ctype;

enum {
    NTR_TRIGGER_ON = 1u << 0,     /* start tracing with the oldest instruction of this cycle */
    NTR_TRIGGER_OFF = 1u << 1,    /* stop after the newest */
    NTR_TRIGGER_NOTIFY = 1u << 2, /* report the address of the block's last instruction */
};

/* The address is not known (no program counter is odd). */
#define NTR_ADDRESS_UNKNOWN UINT64_MAX

/* One block: a contiguous run of retired instructions and how it ended (block-retirement form).
 *
 * Blocks of one cycle come oldest first; priv, contexts, time, halted, reset and the triggers on and off
 * belong to the cycle and are the same in all its blocks. A record with iretire 0 and itype 0 only
 * carries the sideband (halted, reset, trigger, time). */
typedef struct ntr_ingress {
    uint64_t iaddr;      /* first instruction; iretire 0 and itype 1: the instruction that trapped; iretire 0 and
                          * itype 2, or halted: where execution will go on (see no_iaddr) */
    uint32_t iretire;    /* halfwords retired */
    uint8_t ilastsize;   /* last instruction is 2^ilastsize halfwords */
    uint8_t itype;       /* ntr_itype, 3- or 4-bit */
    uint8_t priv;        /* ntr_priv */
    uint8_t ctype;       /* ntr_ctype */
    uint8_t trigger;     /* NTR_TRIGGER_* set */
    bool sijump;         /* register jump whose target LUI/AUIPC directly before it made */
    bool halted, reset;
    bool cycle;          /* first block of a new cycle (all but the 2nd.. blocks of a multi-block cycle) */
    bool no_iaddr;       /* iaddr is not valid; only with iretire 0 and itype 0 or 2 */
    uint64_t scontext, hcontext;
    uint64_t time;       /* ticks */
    uint64_t cause, tval, impdef; /* for filters only; no message carries them */
} ntr_ingress;

#ifdef __cplusplus
}
#endif
#endif
