/* A hart that executes a random program: outcomes of branches, targets of register jumps, traps and
 * returns are drawn, not computed. */
#ifndef NTRACE_TESTS_HART_H
#define NTRACE_TESTS_HART_H

#include "graph.h"

typedef struct gen_hart_options {
    bool wrong_returns;    /* sometimes a return goes elsewhere */
    unsigned compare_bits; /* ... but only to an address that differs in these low bits (from bit 1 on) */
    bool supervisor, hypervisor; /* privilege levels besides M */
} gen_hart_options;

typedef struct gen_trap_frame {
    uint64_t epc;
    uint8_t priv;
} gen_trap_frame;

#define GEN_TRAPS_MAX 16

typedef struct gen_hart {
    const gen_graph *graph;
    gen_hart_options options;
    prng random;
    uint64_t pc;
    uint8_t priv; /* ntr_priv */
    uint64_t scontext, hcontext;
    const gen_insn *before; /* retired just before; NULL after a trap or a start */
    uint64_t *stack;        /* where the open calls return to */
    size_t depth, capacity;
    gen_trap_frame frame[GEN_TRAPS_MAX];
    unsigned frames;
    uint32_t *left; /* per branch: how often it will still be taken, or a count */
} gen_hart;

typedef struct gen_step {
    const gen_insn *insn;
    bool retired;    /* false: it trapped; nothing happened yet */
    bool taken;
    bool sequential; /* a register jump whose register the instruction before it set */
} gen_step;

gen_hart *gen_hart_new(const gen_graph *graph, const gen_hart_options *options, prng *random);
void gen_hart_free(gen_hart *hart);

/* Execute the instruction at pc. */
gen_step gen_hart_step(gen_hart *hart);

/* Trap: to a handler. */
void gen_hart_trap(gen_hart *hart);

/* Reset, or a debugger that starts something else. */
void gen_hart_restart(gen_hart *hart);

#endif
