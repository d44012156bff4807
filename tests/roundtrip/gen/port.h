/* The hart's trace ingress port: groups what was executed into blocks and cycles, lets events happen, and
 * keeps the record of it all. The record is the truth with which decoders are compared. */
#ifndef NTRACE_TESTS_PORT_H
#define NTRACE_TESTS_PORT_H

#include "hart.h"
#include <ntrace/ingress.h>

typedef struct gen_port_options {
    unsigned itype_width;  /* 3 or 4 */
    bool all_jumps;        /* a 3-bit port reports direct jumps as taken branches */
    unsigned retires;      /* maximum of instructions ... */
    unsigned blocks;       /* ... and of blocks in a cycle */
    unsigned instructions; /* length of the run */
    /* Chances in a thousand, for each instruction or cycle. */
    unsigned exceptions, interrupts, no_iaddr;
    unsigned triggers, notifies, external, switches, requests, halts, resets, idles, ticks;
} gen_port_options;

/* What happens at the encoder, in order. */
typedef enum gen_op_kind {
    GEN_OP_BLOCK,    /* a block is pushed */
    GEN_OP_TRACING,  /* software sets trTeInstTracing to `value` */
    GEN_OP_TRIGGER,  /* external trigger: `value` = NTR_TRIGGER_* */
    GEN_OP_SYNC,     /* a sync with reason `value` is requested */
    GEN_OP_TICK,     /* `value` cycles without ingress */
} gen_op_kind;

typedef struct gen_op {
    gen_op_kind kind;
    unsigned value;
    ntr_ingress block;
    bool qualified;         /* the block passes the (external) filter */
    uint32_t first, count;  /* its instructions: run.pc[first ..] */
    uint64_t next;          /* address after them: the next instruction, or the one that trapped */
} gen_op;

typedef struct gen_run {
    gen_op *op;
    size_t ops;
    uint64_t *pc; /* of every instruction retired */
    uint8_t *halfwords;
    bool *uninferable; /* a register jump or trap return */
    uint32_t pcs;
    uint64_t end; /* where execution is after the last block */
} gen_run;

gen_run *gen_run_new(gen_hart *hart, const gen_port_options *options, prng *random);
void gen_run_free(gen_run *run);

#endif
