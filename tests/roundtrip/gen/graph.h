/* A random program: functions of random control flow, as machine code in a few memory regions. */
#ifndef NTRACE_TESTS_GRAPH_H
#define NTRACE_TESTS_GRAPH_H

#include "code.h"

#define GEN_REGIONS_MAX   4
#define GEN_FUNCTIONS_MAX 24

typedef struct gen_graph_options {
    unsigned xlen;      /* 32 or 64 */
    bool compressed;
    bool far;           /* regions at the ends of the address space, too */
    bool odd_returns;   /* code whose returns do not pair with its calls: ret after auipc, jumps out of functions */
    unsigned functions; /* 1 .. GEN_FUNCTIONS_MAX */
    unsigned size;      /* roughly, constructs in a function */
} gen_graph_options;

typedef struct gen_region {
    uint64_t base;
    uint8_t *bytes;
    size_t size;
    int32_t *at; /* for each halfword the index of the instruction that starts there, or -1 */
} gen_region;

typedef struct gen_function {
    uint32_t first, count; /* its instructions */
    bool handler;          /* ends in a trap return */
} gen_function;

typedef struct gen_graph {
    gen_graph_options options;
    gen_region region[GEN_REGIONS_MAX];
    unsigned regions;
    gen_function function[GEN_FUNCTIONS_MAX];
    unsigned functions;
    gen_insn *insn;
    uint32_t insns;
} gen_graph;

gen_graph *gen_graph_new(const gen_graph_options *options, prng *random);
void gen_graph_free(gen_graph *graph);

/* The instruction at `pc`, or NULL. */
const gen_insn *gen_graph_at(const gen_graph *graph, uint64_t pc);

/* How a branch decides (gen_insn.pattern). */
enum {
    GEN_NEVER,
    GEN_RARELY,
    GEN_EVENLY,
    GEN_MOSTLY,
    GEN_ALWAYS,
    GEN_ALTERNATE,
    GEN_EVERY_THIRD,
    GEN_LOOP,
    GEN_LONG_LOOP,
    GEN_PATTERNS
};

#endif
