/* Ingress block: what a hart reports to its trace encoder through the trace ingress port (N-Trace 1.0 section 1).
 * encoder.h takes these blocks, ingress.h makes them. */
#ifndef NTRACE_INGRESS_BLOCK_H
#define NTRACE_INGRESS_BLOCK_H

#include <ntrace/isa.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `priv` of the ingress port: privilege mode; D is debug mode. */
typedef enum ntr_priv {
    NTR_PRIV_U = 0,
    NTR_PRIV_S = 1,
    NTR_PRIV_M = 3,
    NTR_PRIV_D = 4,
    NTR_PRIV_VU = 5,
    NTR_PRIV_VS = 6,
} ntr_priv;

/* `ctype` of the ingress port: how a change of context is reported. */
typedef enum ntr_ctype {
    NTR_CTYPE_UNREPORTED = 0,
    NTR_CTYPE_IMPRECISE = 1,
    NTR_CTYPE_PRECISE = 2,
    NTR_CTYPE_ASYNC = 3,
} ntr_ctype;

enum {
    NTR_TRIGGER_ON = 1u << 0,     /* tracing starts with the oldest instruction of this cycle */
    NTR_TRIGGER_OFF = 1u << 1,    /* tracing stops after the newest instruction of this cycle */
    NTR_TRIGGER_NOTIFY = 1u << 2, /* a synchronizing message reports the end of the block */
};

/* An address that is not known. It is odd, so that it differs from every program counter. */
#define NTR_ADDRESS_UNKNOWN UINT64_MAX

/* One block: consecutive retired instructions and how they ended (block retirement).
 *
 * The blocks of a cycle come oldest first. priv, contexts, time, halted, reset and the triggers on and off belong to
 * the cycle and are the same in all its blocks. A record with iretire 0 and itype 0 carries only the sideband
 * signals (halted, reset, trigger, time). */
typedef struct ntr_ingress {
    uint64_t iaddr;      /* address of the first instruction. With iretire 0: itype 1, the instruction that trapped;
                     * itype 2 or halted, the address where execution continues */
    uint32_t iretire;    /* retired halfwords */
    uint8_t ilastsize;   /* the last instruction has 2^ilastsize halfwords */
    uint8_t itype;       /* ntr_itype, 3- or 4-bit */
    uint8_t priv;        /* ntr_priv */
    uint8_t ctype;       /* ntr_ctype */
    uint8_t trigger;     /* NTR_TRIGGER_* set */
    bool sijump;         /* a register jump with a target made by LUI or AUIPC directly before it */
    bool halted, reset;
    bool cycle;          /* first block of a cycle */
    bool no_iaddr;       /* iaddr is not valid; only with iretire 0 and itype 0 or 2 */
    uint64_t scontext, hcontext;
    uint64_t time;       /* ticks */
    uint64_t cause, tval, impdef; /* inputs of filters; no message carries them */
} ntr_ingress;

#ifdef __cplusplus
}
#endif
#endif
